//! Whether a file is still the one that was opened.
//!
//! **Takes** an open file and its path. **Gives** what to compare after reading. **Never** reads more than the file's last bytes, and
//! never moves the place where others read on.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A regular file as it was when it was opened.
pub(super) struct Stamp {
    file: File,
    path: PathBuf,
    /// Length at open: what counts as the log.
    pub(super) len: u64,
    modified: Option<SystemTime>,
    identity: Identity,
    /// The last bytes of the log, where the system reads them without moving the place of others.
    end: Option<Vec<u8>>,
}

/// So many last bytes tell an appended file from one that was cut and appended to.
const END: u64 = 4096;

/// What tells two files apart, where the system says it.
type Identity = Option<(u64, u64)>;

impl Stamp {
    /// Remembers `file`, which was opened at `path` and has this `metadata`.
    pub(super) fn of(file: File, path: &Path, metadata: &Metadata) -> Stamp {
        let end = end_of(&file, metadata.len());
        Stamp {
            file,
            end,
            path: path.to_owned(),
            len: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(metadata),
        }
    }

    /// The open file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Whether the bytes read may not be the bytes of one moment: the path names another file or none, the file is shorter, it is as
    /// long and was written, or it ends differently where it ended. A longer file was appended to, and its first [`len`](Stamp::len)
    /// bytes count; but the harness cuts off a batch that it could not write whole, and appends the next one in its place.
    ///
    /// # Errors
    ///
    /// When the open file cannot be asked.
    pub(super) fn has_changed(&self) -> io::Result<bool> {
        let now = self.file.metadata()?;
        let moved = !std::fs::metadata(&self.path).is_ok_and(|at| identity(&at) == self.identity);
        let written = now.len() == self.len && now.modified().ok() != self.modified;
        Ok(moved || now.len() < self.len || written || end_of(&self.file, self.len) != self.end)
    }
}

/// The last bytes of a file's first `len`; fewer where it is shorter by now, none where they cannot be had.
#[cfg(unix)]
fn end_of(file: &File, len: u64) -> Option<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let start = len.saturating_sub(END);
    let mut end = vec![0; usize::try_from(len - start).ok()?];
    let mut filled = 0;
    while let Some(rest) = end.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, start + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    end.truncate(filled);
    Some(end)
}

#[cfg(not(unix))]
fn end_of(_: &File, _: u64) -> Option<Vec<u8>> {
    None
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn stamp(path: &Path) -> Stamp {
        let file = File::open(path).expect("open");
        let metadata = file.metadata().expect("metadata");
        Stamp::of(file, path, &metadata)
    }

    #[test]
    fn growing_is_no_change_and_everything_else_is() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("log");
        std::fs::write(&path, "one\n").expect("write");
        let at_open = stamp(&path);
        assert!(!at_open.has_changed().expect("stat"));

        let mut file = File::options().append(true).open(&path).expect("open");
        file.write_all(b"two\n").expect("append");
        assert!(!at_open.has_changed().expect("stat"), "grown");

        file.set_len(2).expect("truncate");
        assert!(at_open.has_changed().expect("stat"), "shrunk");

        file.write_all(b"a\ntwo\n").expect("append");
        assert!(at_open.has_changed().expect("stat"), "cut, then grown");

        let at_open = stamp(&path);
        file.set_modified(SystemTime::UNIX_EPOCH).expect("touch");
        assert!(at_open.has_changed().expect("stat"), "written");

        let at_open = stamp(&path);
        std::fs::write(dir.path().join("other"), "on").expect("write");
        std::fs::rename(dir.path().join("other"), &path).expect("rename");
        assert!(at_open.has_changed().expect("stat"), "replaced");

        let at_open = stamp(&path);
        std::fs::remove_file(&path).expect("remove");
        assert!(at_open.has_changed().expect("stat"), "gone");
    }
}
