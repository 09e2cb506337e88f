//! Where results and notes go.
//!
//! **Takes** what a renderer writes. **Gives** it to standard output or a file, and notes to standard error.
//! **Never** writes over an input, and never lets a reader that went away change the outcome.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::report::{Escapes, Safe, Unheard};

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// A file, which is replaced.
    File(PathBuf),
    /// A file, which is continued.
    End(PathBuf),
}

impl Sink {
    /// Lets `render` write.
    ///
    /// # Errors
    ///
    /// The file cannot be made or the bytes cannot be written; a closed pipe is no error. A file is then what it was before.
    pub(crate) fn write(
        &self,
        render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        let result = match self {
            Sink::Stdout => buffered(io::stdout().lock(), render),
            Sink::File(path) => replace(path, render),
            Sink::End(path) => continue_at_end(path, render),
        };
        self.outcome(result)
    }

    fn outcome(&self, result: io::Result<()>) -> Result<(), String> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(format!("cannot write {}: {error}", self.name())),
        }
    }

    fn name(&self) -> String {
        match self {
            Sink::Stdout => "standard output".into(),
            Sink::File(path) | Sink::End(path) => path.to_string_lossy().into_owned(),
        }
    }
}

/// Writes a file anew: beside it first, so that one that cannot be written whole stays as it was. What is no regular file, and what
/// has no room beside it, is written in its place.
fn replace(path: &Path, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // Through links: they stay, and lead to the new file. Where one leads to nothing only the system can make that.
    let leads_nowhere = path.is_symlink() && !path.exists();
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let before = fs::metadata(&target).ok();
    let is_regular = before.as_ref().is_none_or(fs::Metadata::is_file);
    let can_be_replaced = is_regular && !leads_nowhere;
    let beside = if can_be_replaced {
        beside(&target)
    } else {
        None
    };
    let Some(mut new) = beside else {
        return File::create(path).and_then(|file| buffered(file, render));
    };
    buffered(new.as_file_mut(), render)?;
    if let Some(before) = before {
        new.as_file().set_permissions(before.permissions())?;
    }
    new.persist(&target).map(drop).map_err(|error| error.error)
}

/// A new file in the directory of `target`.
fn beside(target: &Path) -> Option<NamedTempFile> {
    let directory = match target.parent()? {
        here if here.as_os_str().is_empty() => Path::new("."),
        directory => directory,
    };
    let mut builder = Builder::new();
    builder.prefix(".dsh-audit-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory).ok()
}

/// Writes behind what is in a file. What did not arrive whole is taken off again.
fn continue_at_end(
    path: &Path,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let before = file.seek(SeekFrom::End(0));
    let result = buffered(&file, render);
    if let (Err(_), Ok(before)) = (&result, before) {
        // What is no regular file cannot be cut.
        let _ = file.set_len(before);
    }
    result
}

/// Bytes that are collected before they are written.
const BUFFER: usize = 64 * 1024;

fn buffered(
    to: impl Write,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, to);
    render(&mut out)?;
    out.flush()
}

/// Whether writing to `target` would destroy one of the inputs, whatever the two are called.
pub(crate) fn is_an_input<'p>(target: &Path, inputs: impl IntoIterator<Item = &'p Path>) -> bool {
    let Some(target) = identity_of(target) else {
        return false;
    };
    inputs
        .into_iter()
        .any(|input| identity_of(input).is_some_and(|input| input == target))
}

/// An option that names a file, and the file.
pub(crate) type Named<'p> = (&'static str, Option<&'p Path>);

/// Checks that what is to be written is no file that another option names.
///
/// # Errors
///
/// It is; the message is one line.
pub(crate) fn refuse_same(target: Named<'_>, others: &[Named<'_>]) -> Result<(), String> {
    let (option, Some(path)) = target else {
        return Ok(());
    };
    // A device loses nothing.
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let same = others.iter().find(|(_, other)| {
        // One that is not there yet has a name alone.
        other.is_some_and(|other| other == path || is_an_input(path, [other]))
    });
    match same {
        Some((other, _)) => Err(format!(
            "{option} and {other} name the same file: {}",
            path.display()
        )),
        None => Ok(()),
    }
}

/// What tells two files apart. A name does not: a file can have several.
#[cfg(unix)]
fn identity_of(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity_of(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Says on standard error why there is no complete audit.
pub(crate) fn error(message: impl Display) {
    say(format_args!("error: {}", Safe(&message.to_string())));
}

/// Says something else on standard error.
pub(crate) fn note(message: impl Display) {
    say(format_args!("note: {}", Safe(&message.to_string())));
}

/// Lets `render` write to standard error.
pub(crate) fn on_stderr(render: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    // If nobody reads standard error, nobody is told that either.
    let _ = buffered(Unheard::before(io::stderr().lock(), Escapes::Text), render);
}

fn say(line: impl Display) {
    on_stderr(|out| writeln!(out, "{line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes, and then none for one reason.
    struct Room {
        taken: Vec<u8>,
        left: usize,
        then: io::ErrorKind,
    }

    impl Write for Room {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let len = bytes.len().min(self.left);
            if len == 0 && !bytes.is_empty() {
                return Err(self.then.into());
            }
            self.taken.extend_from_slice(&bytes[..len]);
            self.left -= len;
            Ok(len)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn writing_may_end_at_any_byte() {
        let text: Vec<u8> = (0..BUFFER + 1000)
            .map(|at| b'a' + (at % 23) as u8)
            .collect();
        let near_the_ends = [
            0..400,
            BUFFER - 400..BUFFER + 400,
            text.len() - 400..text.len(),
        ];
        for left in near_the_ends.into_iter().flatten() {
            for then in [io::ErrorKind::BrokenPipe, io::ErrorKind::StorageFull] {
                let mut room = Room {
                    taken: Vec::new(),
                    left,
                    then,
                };
                let result = buffered(&mut room, |out| {
                    text.chunks(97).try_for_each(|piece| out.write_all(piece))
                });
                assert!(result.is_err(), "{left}");
                assert_eq!(room.taken, text[..left], "{left}");
                let outcome = Sink::Stdout.outcome(result);
                match then {
                    io::ErrorKind::BrokenPipe => assert_eq!(outcome, Ok(())),
                    _ => assert!(
                        outcome
                            .is_err_and(|text| text.starts_with("cannot write standard output: "))
                    ),
                }
            }
        }
    }
}
