//! Where results and notes go.
//!
//! **Takes** what a renderer writes. **Gives** it to standard output or a file, and notes to standard error.
//! **Never** writes over an input, and never lets a reader that went away change the outcome.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::report::Safe;

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

/// What became of a writer's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// All of it arrived.
    All,
    /// The reader closed the pipe: nothing more needs to be written.
    ReaderGone,
}

impl Sink {
    /// Lets `render` write.
    ///
    /// # Errors
    ///
    /// The file cannot be made or the bytes cannot be written; a closed pipe is no error.
    pub(crate) fn write(
        &self,
        render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Written, String> {
        let result = match self {
            Sink::Stdout => buffered(io::stdout().lock(), render),
            Sink::File(path) => File::create(path).and_then(|file| buffered(file, render)),
            Sink::End(path) => OpenOptions::new()
                .append(true)
                .create(true)
                .open(path)
                .and_then(|file| buffered(file, render)),
        };
        match result {
            Ok(()) => Ok(Written::All),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Written::ReaderGone),
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

fn buffered(
    to: impl Write,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 * 1024, to);
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
    let _ = buffered(io::stderr().lock(), render);
}

fn say(line: impl Display) {
    on_stderr(|out| writeln!(out, "{line}"));
}
