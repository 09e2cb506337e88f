//! The work on one file: the only place where the command line meets the rooms that read logs.
//!
//! **Takes** an input and how to read it. **Gives** [`Answer`]: what the log is, and its findings.
//! **Never** prints, and never lets one file's trouble reach another.

use crate::finding::{Finding, Rule};
use crate::report::SessionFacts;
use crate::rules;
use crate::verdict::Standing;

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
    /// Which parser reads a line.
    pub(crate) parser: Parser,
    /// Whether the input's SHA-256 is wanted.
    pub(crate) digest: Digest,
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

/// Which parser reads a line. Both give the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parser {
    /// Scanners for the shapes that the harness writes, the general one for the rest.
    Fast,
    /// The general one.
    General,
}

/// Whether the SHA-256 of the input's bytes is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digest {
    /// It is.
    Wanted,
    /// It is not.
    Unwanted,
}

/// What one file is and holds.
#[derive(Debug)]
pub(crate) struct Answer {
    /// What it turned out to be.
    pub(crate) standing: Standing,
    /// What its log is, if the header was understood.
    pub(crate) session: Option<SessionFacts>,
    /// Everything the rules say, in the order of places.
    pub(crate) findings: Vec<Finding>,
    /// SHA-256 of the bytes as read, in hexadecimal.
    pub(crate) digest: Option<String>,
}

/// Audits one file.
///
/// # Errors
///
/// There is no complete audit; the message says why in one line.
pub(crate) fn audit(found: &Found, reading: &Reading) -> Result<Answer, String> {
    let _ = (found, reading);
    Err("this build reads no logs yet".into())
}

/// Every rule, in the order of codes.
pub(crate) fn catalogue() -> &'static [&'static Rule] {
    rules::CATALOGUE
}

/// The rule that a code (`DSH0302`, `0302`, `302`) or a name stands for.
pub(crate) fn find_rule(code_or_name: &str) -> Option<&'static Rule> {
    rules::find(code_or_name)
}
