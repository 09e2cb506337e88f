//! Cache reports in every format: for a terminal, as JSON, as rows, as a page, and as Markdown.
//!
//! **Takes** the answers of the cache model ([`CacheRun`]) and how they should look. **Gives** bytes to a writer.
//! **Never** computes what a log did not say: sums, groups and missed budgets come from `analyse`.

mod difference;
mod html;
mod human;
mod json;
mod markdown;
mod numbers;
mod pick;
mod read;
mod row;
#[cfg(test)]
mod sample;
mod story;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use read::Merged;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::analyse::answer::{BudgetMiss, CacheReport, Grouping, HeaderChange};
use crate::analyse::cache::PriceTable;

use super::{Escapes, Look, Safe, Unheard};
use crate::line::Seq;

/// Which log it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheSession {
    /// The version the header line names.
    pub(crate) version: Option<u64>,
    /// The dialect in one word.
    pub(crate) dialect: String,
}

impl CacheSession {
    /// `v0 released`, `v4`.
    fn in_words(&self) -> String {
        match self.version {
            Some(version) if !self.dialect.starts_with('v') => {
                format!("v{version} {}", Safe(&self.dialect))
            }
            _ => Safe(&self.dialect).to_string(),
        }
    }
}

/// The cache report of one input.
#[derive(Clone, Debug)]
pub(crate) struct CacheFile {
    /// The path as the user gave it, or as the merged report names it.
    pub(crate) path: PathBuf,
    /// What the log is; absent where its header was not understood.
    pub(crate) session: Option<CacheSession>,
    /// The verdict on the file, as `verify` words it: what limits the answer.
    pub(crate) outcome: String,
    /// Why there is no report of it.
    pub(crate) error: Option<String>,
    /// SHA-256 of the bytes as they were read, in hexadecimal, where asked for.
    pub(crate) digest: Option<String>,
    /// The answer; empty where the log must be rejected or could not be read.
    pub(crate) report: CacheReport,
    /// Budgets it missed.
    pub(crate) misses: Vec<BudgetMiss>,
    /// What headers change whose change broke a prefix, by the header's event; only where the format shows them.
    pub(crate) changes: BTreeMap<Seq, HeaderChange>,
}

impl CacheFile {
    /// Whether the file is a log whose requests can be reported on.
    fn is_answered(&self) -> bool {
        self.error.is_none() && matches!(self.outcome.as_str(), "clean" | "findings")
    }
}

/// What a report holds besides its logs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    /// By what requests are grouped.
    pub(crate) by: Option<Grouping>,
    /// Whether only busts are shown.
    pub(crate) only: Option<OnlyBusts>,
    /// Whether the window's statistic is shown.
    pub(crate) window: Option<ExplainWindow>,
}

/// Only busts are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnlyBusts;

/// The window's statistic is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExplainWindow;

/// The cache reports of one run.
#[derive(Debug)]
pub(crate) struct CacheRun<'r> {
    /// The exit code that was decided.
    pub(crate) exit_code: u8,
    /// One for each input, in input order.
    pub(crate) files: &'r [CacheFile],
    /// Files that a walk found and that are no session logs.
    pub(crate) passed_over: &'r [PathBuf],
    /// Where prices come from; absent where reports of other runs are put together.
    pub(crate) prices: Option<&'r PriceTable>,
    /// What is shown of them.
    pub(crate) parts: Parts,
}

impl CacheRun<'_> {
    fn reports(&self) -> Vec<&CacheReport> {
        self.files.iter().map(|file| &file.report).collect()
    }
}

/// The formats of cache reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheFormat {
    /// For a terminal.
    Human,
    /// One JSON object for the run.
    Json,
    /// One JSON object per request.
    Jsonl,
    /// One page that needs nothing else.
    Html,
    /// Markdown for an issue or a pull request.
    Markdown,
}

/// Writes cache reports.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_cache(
    run: &CacheRun<'_>,
    format: CacheFormat,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let escapes = match format {
        CacheFormat::Human | CacheFormat::Markdown => Escapes::Text,
        CacheFormat::Json | CacheFormat::Jsonl => Escapes::Json,
        CacheFormat::Html => Escapes::Html,
    };
    let out = &mut Unheard::before(out, escapes);
    match format {
        CacheFormat::Human => human::write(run, look, out),
        CacheFormat::Json => json::write(run, look, out),
        CacheFormat::Jsonl => json::write_rows(run, look, out),
        CacheFormat::Html => html::write(run, look, out),
        CacheFormat::Markdown => markdown::write(run, look, out),
    }
}
