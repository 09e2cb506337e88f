//! Why the bytes of a log cannot be had.
//!
//! **Takes** the system's refusals. **Gives** [`SourceError`]. **Never** names the path: the edge knows what the user called it.

use std::error::Error;
use std::path::Path;
use std::{fmt, io};

/// A reason that ends the audit of one log. Reads well behind "cannot read `x`: ".
#[derive(Debug)]
pub enum SourceError {
    /// There is nothing of that name.
    NotFound,
    /// The name is a symbolic link to nothing.
    BrokenLink,
    /// It is a directory.
    Directory,
    /// The permissions do not allow it.
    Denied,
    /// It is a stream, and was read before.
    AlreadyRead,
    /// A line needs more memory than there is; the size asked for, in bytes.
    Memory(usize),
    /// The file cannot be mapped, and nothing else was allowed.
    Map(io::Error),
    /// Opening or reading failed for another reason.
    Read(io::Error),
    /// What has to be kept of the log neither fits in memory nor in the directory for temporary files.
    Keep(io::Error),
}

impl SourceError {
    /// Sorts what the system said about opening `path`.
    pub(super) fn opening(path: &Path, error: io::Error) -> SourceError {
        match error.kind() {
            io::ErrorKind::NotFound if path.symlink_metadata().is_ok_and(|at| at.is_symlink()) => {
                SourceError::BrokenLink
            }
            io::ErrorKind::NotFound => SourceError::NotFound,
            io::ErrorKind::PermissionDenied => SourceError::Denied,
            io::ErrorKind::IsADirectory => SourceError::Directory,
            _ => SourceError::Read(error),
        }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::NotFound => f.write_str("no such file or directory"),
            SourceError::BrokenLink => f.write_str("symbolic link to nothing"),
            SourceError::Directory => f.write_str("is a directory"),
            SourceError::Denied => f.write_str("permission denied"),
            SourceError::AlreadyRead => f.write_str("a stream can be read only once"),
            SourceError::Memory(size) => write!(f, "no memory for a line of {size} bytes"),
            SourceError::Map(_) => f.write_str("cannot map the file into memory"),
            SourceError::Read(_) => f.write_str("reading failed"),
            SourceError::Keep(_) => {
                f.write_str("no room for what must be kept, in memory or among temporary files")
            }
        }
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SourceError::Map(error) | SourceError::Read(error) | SourceError::Keep(error) => {
                Some(error)
            }
            _ => None,
        }
    }
}
