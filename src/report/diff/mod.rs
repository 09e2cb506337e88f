//! What changed between headers, in one of the formats.
//!
//! **Takes** timelines and comparisons, decided ([`DiffReport`]). **Gives** text, JSON (`dsh-audit/diff-headers/v1`) or Markdown.
//! **Never** compares anything itself.

mod cells;
mod human;
mod hunks;
mod json;
mod markdown;
mod parts;
mod phrases;
mod rows;
mod signs;
mod views;
mod words;

use std::io;
use std::path::PathBuf;

use super::{Escapes, FileReport, Look, Unheard};
use crate::analyse::answer::{HeaderPair, Timeline};

/// The headers of one log.
#[derive(Debug)]
pub(crate) struct DiffFile {
    /// The log, and the findings that limit the answer.
    pub(crate) report: FileReport,
    /// Its headers; absent where the log yields none.
    pub(crate) timeline: Option<Timeline>,
}

/// Headers of two origins side by side.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// Why they are compared.
    pub(crate) kind: Relation,
    /// Where the first ones stand.
    pub(crate) old: PathBuf,
    /// Where the second ones stand; absent where there is no such log.
    pub(crate) new: Option<PathBuf>,
    /// Headers that stand for each other.
    pub(crate) pairs: Vec<HeaderPair>,
}

/// Why headers of two origins are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// It was asked for.
    Between,
    /// The second is a child of the first.
    Fork,
    /// The first are locked.
    Lock,
}

impl Relation {
    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Relation::Between => "between",
            Relation::Fork => "fork",
            Relation::Lock => "lock",
        }
    }
}

impl Comparison {
    /// Whether anything differs.
    pub(crate) fn differs(&self) -> bool {
        self.new.is_none() || self.pairs.iter().any(HeaderPair::differs)
    }
}

/// The answers of one run.
#[derive(Debug)]
pub(crate) struct DiffReport<'r> {
    /// The exit code that was decided.
    pub(crate) exit_code: u8,
    /// Whether timelines were asked for, or only comparisons.
    pub(crate) shows_timelines: bool,
    /// One for each input, in input order.
    pub(crate) files: &'r [DiffFile],
    /// Headers of two origins side by side.
    pub(crate) comparisons: &'r [Comparison],
}

/// How it should look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiffLook {
    /// Colours, columns, and how much.
    pub(crate) look: Look,
    /// One line for each change.
    pub(crate) stat: bool,
}

/// The formats of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffFormat {
    /// For a terminal.
    Human,
    /// One JSON object for the run.
    Json,
    /// Markdown for a pull request.
    Markdown,
}

/// Writes the answers.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write(
    report: &DiffReport<'_>,
    format: DiffFormat,
    look: DiffLook,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let escapes = match format {
        DiffFormat::Human | DiffFormat::Markdown => Escapes::Text,
        DiffFormat::Json => Escapes::Json,
    };
    let out = &mut Unheard::before(out, escapes);
    match format {
        DiffFormat::Human => human::write(report, look, out),
        DiffFormat::Json => json::write(report, out),
        DiffFormat::Markdown => markdown::write(report, out),
    }
}
