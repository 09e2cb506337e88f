//! Cache reports for a terminal: each log with its rate over time, its requests and its busts; then sums over all.
//!
//! **Takes** a [`CacheRun`]. **Gives** text in the columns there are. **Never** prints text of a log that did not pass the
//! sanitiser, and never more logs or rows than a person reads: what is left out is counted.

mod busts;
mod log;
mod requests;
mod spark;
mod sums;
mod table;

use std::io::{self, Write};

use crate::analyse::fleet;

use super::super::paint::Tone;
use super::super::safe::{Safe, SafePath};
use super::super::words::{count, wrapped};
use super::super::{Detail, Look};
use super::story::NOT_SHOWN;
use super::words::price_source;
use super::{CacheFile, CacheRun};

/// Writes the run.
pub(super) fn write(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    for file in run.files.iter().filter(|file| file.error.is_some()) {
        write_error(file, look, out)?;
    }
    if run.parts.only.is_some() {
        busts::write_all(run, look, out)?;
    } else {
        write_logs(run, look, out)?;
        if run.files.len() > 1 {
            sums::write_overview(run, look, out)?;
        }
    }
    if let Some(by) = run.parts.by {
        sums::write_groups(run, by, look, out)?;
    }
    if run.parts.window.is_some() {
        sums::write_window(run, look, out)?;
    }
    write_asides(run, look, out)?;
    write_end(run, look, out)
}

fn write_error(file: &CacheFile, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let mark = look.paint.tone(Tone::Bad, "✗");
    let path = look
        .paint
        .tone(Tone::Strong, SafePath(&file.path))
        .to_string();
    writeln!(out, "{mark} {path}")?;
    let error = Safe(file.error.as_deref().unwrap_or_default()).to_string();
    for line in wrapped(&error, look.width.saturating_sub(2)) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

/// Writes the logs, worst first.
fn write_logs(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let mut shown = 0;
    let mut left_out = 0;
    for at in fleet::worst_first(&run.reports()) {
        let Some(file) = run.files.get(at).filter(|file| file.error.is_none()) else {
            continue;
        };
        if look.detail == Detail::Quiet && is_quiet(file) {
            continue;
        }
        if shown == look.of_a_code {
            left_out += 1;
            continue;
        }
        shown += 1;
        log::write(file, look, out)?;
    }
    if left_out > 0 {
        let left_out = count(left_out, "log");
        writeln!(
            out,
            "… and {left_out} with less to say (--no-limit shows them)\n"
        )?;
    }
    Ok(())
}

fn is_quiet(file: &CacheFile) -> bool {
    file.report.totals.busts() == 0 && file.misses.is_empty()
}

fn write_asides(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    if look.detail == Detail::Quiet || run.passed_over.is_empty() {
        return Ok(());
    }
    let number = count(run.passed_over.len() as u64, "file");
    if look.detail < Detail::Verbose {
        return writeln!(
            out,
            "{number} found on the way, no session logs (-v names them)\n"
        );
    }
    writeln!(out, "{number} found on the way, no session logs:")?;
    for path in run.passed_over {
        writeln!(out, "  {}", SafePath(path))?;
    }
    writeln!(out)
}

fn write_end(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    if look.detail == Detail::Quiet {
        return Ok(());
    }
    let not_shown = format!("What a log cannot show: {}.", NOT_SHOWN.join("; "));
    for text in price_source(run).into_iter().chain([not_shown]) {
        for line in wrapped(&text, look.width) {
            writeln!(out, "{}", look.paint.tone(Tone::Faint, line))?;
        }
    }
    Ok(())
}
