//! Prints results in one of the formats, and makes every byte that came from a log harmless on the way.
//!
//! **Takes** decided results ([`Report`]) and how they should look ([`Look`]). **Gives** bytes to an [`io::Write`].
//! **Never** decides: counts, outcomes and the exit code were fixed before it is called.

mod cache;
mod columns;
pub(crate) mod diff;
mod formats;
mod github;
mod human;
mod json;
mod markdown;
mod migration;
mod page;
mod paint;
mod requests;
mod roff;
mod rules;
mod safe;
#[cfg(test)]
mod sample;
mod sarif;
pub(crate) mod schema;
mod snippet;
#[cfg(test)]
mod tests;
mod tree;
mod unheard;
mod words;

pub(crate) use cache::{
    CacheFile, CacheFormat, CacheRun, CacheSession, ExplainWindow, Merged as MergedCaches,
    OnlyBusts, Parts as CacheParts, write_cache,
};
pub(crate) use formats::{FormatRow, write_formats, write_formats_json};
pub(crate) use json::JsonText;
pub(crate) use migration::{LostRequest, MigrationFacts};
pub(crate) use page::write_page;
pub(crate) use paint::Paint;
pub(crate) use requests::{RequestRow, Sending, What};
pub(crate) use roff::write_rules_section;
pub(crate) use rules::{write_rules, write_rules_json};
pub(crate) use safe::Safe;
pub(crate) use unheard::{Escapes, Unheard};
pub(crate) use words::count;

use std::io;
use std::path::PathBuf;

use crate::finding::Rule;
use crate::verdict::{Accepted, Counts, Fingerprint, Verdict};

/// Name and version of the program, as it stands in every report.
pub(crate) const TOOL: &str = concat!("dsh-audit ", env!("CARGO_PKG_VERSION"));

/// What a log is, for the head of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionFacts {
    /// The session's id. Hostile until sanitised, like all text of a log.
    pub(crate) id: String,
    /// The version the header line names.
    pub(crate) version: Option<u64>,
    /// The dialect in one word: `seed`, `between`, `released`, `mixed`, `v1` … `v4`.
    pub(crate) dialect: &'static str,
    /// Number of events.
    pub(crate) events: u64,
    /// Number of turns.
    pub(crate) turns: u64,
    /// Number of steps.
    pub(crate) steps: u64,
    /// Number of requests.
    pub(crate) requests: u64,
    /// The id of the session it was forked from or started by. Hostile, too.
    pub(crate) parent: Option<String>,
    /// How much of it is the parent's; absent if its header was not read.
    pub(crate) inherited: Option<Inherited>,
}

/// How much of a log is its parent's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inherited {
    /// Number of events.
    pub(crate) events: u64,
    /// Number of turns.
    pub(crate) turns: u64,
    /// Number of steps.
    pub(crate) steps: u64,
    /// Number of requests.
    pub(crate) requests: u64,
}

/// The result of one input.
#[derive(Clone, Debug)]
pub(crate) struct FileReport {
    /// The path as the user gave it or the walk found it; `-` is standard input.
    pub(crate) path: PathBuf,
    /// What the log is; absent where its header was not understood.
    pub(crate) session: Option<SessionFacts>,
    /// What it amounts to.
    pub(crate) verdict: Verdict,
    /// Why there is no complete audit of it.
    pub(crate) error: Option<String>,
    /// SHA-256 of the bytes as they were read, in hexadecimal, where asked for.
    pub(crate) digest: Option<String>,
    /// Lower generations of the same session beside it, left aside.
    pub(crate) older: Vec<PathBuf>,
    /// The parent session's log, where it is among the inputs.
    pub(crate) parent: Option<PathBuf>,
    /// What it has of the generation before it, where that is among the inputs.
    pub(crate) migration: Option<MigrationFacts>,
}

/// The results of one run.
#[derive(Debug)]
pub(crate) struct Report<'r> {
    /// The command, as in `dsh-audit verify`.
    pub(crate) command: &'static str,
    /// The exit code that was decided.
    pub(crate) exit_code: u8,
    /// How human text sets the files out.
    pub(crate) setting: Setting,
    /// One result for each input, in input order.
    pub(crate) files: &'r [FileReport],
    /// Files that a walk found and that are no session logs.
    pub(crate) passed_over: &'r [PathBuf],
    /// Lines of the baseline that nothing matched.
    pub(crate) unused: &'r [(Fingerprint, Accepted)],
    /// All rules, for formats that carry them.
    pub(crate) catalogue: &'r [&'static Rule],
}

impl Report<'_> {
    /// Findings of all files by level.
    pub(crate) fn counts(&self) -> Counts {
        self.files
            .iter()
            .fold(Counts::default(), |sum, file| sum.plus(file.verdict.counts))
    }

    /// Findings that the baseline accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.files
            .iter()
            .map(|file| file.verdict.accepted.len())
            .sum()
    }
}

/// The formats of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For a terminal.
    Human,
    /// One JSON object for the run.
    Json,
    /// One JSON object per file.
    Jsonl,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// Markdown for an issue or a pull request.
    Markdown,
}

/// How human text sets the files out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// One after the other, each with its findings.
    List,
    /// Forks under their parents, without findings.
    Tree,
}

/// How a report should look. None of it changes what is reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Whether colours are used.
    pub(crate) paint: Paint,
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Whether excerpts of the log are shown.
    pub(crate) excerpt: Excerpts,
    /// How many findings of one code a file shows in human text.
    pub(crate) of_a_code: usize,
    /// How much is said.
    pub(crate) detail: Detail,
}

/// Whether excerpts of the log are part of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excerpts {
    /// They are, bounded.
    Shown,
    /// No content of a log is printed.
    Hidden,
}

/// How much human text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Files with findings only.
    Quiet,
    /// A line for each file, and the findings.
    Normal,
    /// Also what was left aside.
    Verbose,
}

/// Writes a report of findings.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write(
    report: &Report<'_>,
    format: Format,
    look: Look,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let escapes = match format {
        Format::Human | Format::Markdown => Escapes::Text,
        Format::Json | Format::Jsonl | Format::Sarif => Escapes::Json,
        Format::Github => Escapes::Commands,
    };
    let out = &mut Unheard::before(out, escapes);
    match format {
        Format::Human => human::write(report, look, out),
        Format::Json => json::write(report, look, out),
        Format::Jsonl => json::write_lines(report, look, out),
        Format::Sarif => sarif::write(report, look, out),
        Format::Github => github::write(report, look, out),
        Format::Markdown => markdown::write(report, look, out),
    }
}

/// Writes findings that limit another command's answer, for standard error.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_limits(
    file: &FileReport,
    look: Look,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    human::write_file(file, look, out)
}

/// Writes the Markdown summary of a run, for a job's page.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_summary(
    report: &Report<'_>,
    look: Look,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    markdown::write(report, look, out)
}
