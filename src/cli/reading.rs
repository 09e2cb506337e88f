//! How files are opened.
//!
//! **Takes** a file and what the arguments say of reading. **Gives** a [`Source`], or why there is none.
//! **Never** reads a line.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::log::Parser;
use crate::source::{Input, InputDigest, MmapMode, Source, SourceError, SourceOptions};

use super::discover::Found;

/// How files are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Whether files are mapped.
    pub(crate) mmap: Mapping,
    /// Longest line, in bytes.
    pub(crate) max_line: u64,
    /// Most bytes a compressed log may hold.
    pub(crate) max_decompressed: u64,
    /// Most findings kept of a file.
    pub(crate) max_findings: usize,
    /// Whether the input's SHA-256 is wanted.
    pub(crate) digest: InputDigest,
    /// How lines are taken apart.
    pub(crate) parser: Parser,
}

/// Whether a file is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// If nobody has written to it for some seconds.
    Auto,
    /// If it can be.
    Always,
    /// Not at all.
    Never,
}

/// Opens a file that is no input, or one that was read already: captured requests, a parent.
///
/// # Errors
///
/// It cannot be read; the message says why in one line.
pub(crate) fn open_again(path: &Path, reading: &Reading) -> Result<Source, String> {
    let written = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    let options = options_of(reading, written.ok());
    Source::open(&Input::Path(path.to_path_buf()), &options).map_err(cannot_read)
}

/// Opens an input.
///
/// # Errors
///
/// It cannot be read; the message says why in one line.
pub(crate) fn open(found: &Found, reading: &Reading) -> Result<Source, String> {
    let options = options_of(reading, found.modified);
    let input = if found.is_stdin() {
        Input::Stdin
    } else {
        Input::Path(found.path.clone())
    };
    Source::open(&input, &options).map_err(cannot_read)
}

fn options_of(reading: &Reading, written: Option<SystemTime>) -> SourceOptions {
    SourceOptions {
        mmap: match reading.mmap {
            Mapping::Always => MmapMode::Always,
            Mapping::Never => MmapMode::Never,
            Mapping::Auto if is_quiet(written) => MmapMode::Auto,
            Mapping::Auto => MmapMode::Never,
        },
        max_line: reading.max_line,
        max_decompressed: reading.max_decompressed,
        digest: reading.digest,
        ..SourceOptions::default()
    }
}

/// Whether nobody has written to a file for some seconds: the harness shortens a log after a failed append, and a mapped
/// file must not shrink.
#[expect(
    clippy::disallowed_methods,
    reason = "the one clock: it chooses how bytes are read, not which"
)]
fn is_quiet(written: Option<SystemTime>) -> bool {
    const QUIET: Duration = Duration::from_secs(10);
    let ago = written.and_then(|at| SystemTime::now().duration_since(at).ok());
    ago.is_some_and(|ago| ago > QUIET)
}

/// Why a file cannot be read, in one line.
pub(crate) fn cannot_read(error: SourceError) -> String {
    let mut message = format!("cannot read: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    message
}
