//! Whether a file is still the one that was opened.
//!
//! **Takes** an open file and its path. **Gives** what to compare after reading. **Never** reads the file's bytes.

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
}

/// What tells two files apart, where the system says it.
type Identity = Option<(u64, u64)>;

impl Stamp {
    /// Remembers `file`, which was opened at `path` and has this `metadata`.
    pub(super) fn of(file: File, path: &Path, metadata: &Metadata) -> Stamp {
        Stamp {
            file,
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

    /// Whether the bytes read may not be the bytes of one moment: the path names another file or none, the file is shorter, or it is
    /// as long and was written. A longer file was appended to; its first [`len`](Stamp::len) bytes count.
    ///
    /// # Errors
    ///
    /// When the open file cannot be asked.
    pub(super) fn has_changed(&self) -> io::Result<bool> {
        let now = self.file.metadata()?;
        let moved = !std::fs::metadata(&self.path).is_ok_and(|at| identity(&at) == self.identity);
        let written = now.len() == self.len && now.modified().ok() != self.modified;
        Ok(moved || now.len() < self.len || written)
    }
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
