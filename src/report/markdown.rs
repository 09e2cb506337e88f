//! Markdown that can be pasted into an issue or a pull request.
//!
//! **Takes** a [`Report`]. **Gives** a heading, a table of files, and a list of findings for each file that has some.
//! **Never** lets text of a log become markup, a mention, a link or HTML.

use std::io::{self, Write};

use crate::finding::Finding;

use super::safe::{MarkdownText, Safe, SafePath};
use super::{Excerpts, FileReport, Look, Report, words};

/// Writes the run.
pub(super) fn write(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let outcome = outcome(report.exit_code);
    writeln!(out, "## dsh-audit {}: {outcome}\n", report.command)?;
    let levels = words::levels(report.counts());
    let levels = if levels.is_empty() {
        "nothing to report".to_string()
    } else {
        levels
    };
    writeln!(
        out,
        "{}: {levels}.\n",
        words::count(report.files.len() as u64, "file")
    )?;
    write_table(report, out)?;
    for file in report.files {
        write_file(file, look, out)?;
    }
    write_unused(report, out)
}

/// What an exit code means, in a word or two.
pub(super) fn outcome(exit_code: u8) -> &'static str {
    match exit_code {
        0 => "passed",
        1 => "failed",
        2 => "not complete",
        _ => "not supported",
    }
}

/// Text as code, whatever it holds.
pub(super) fn code(text: &str) -> String {
    let fence = fence_around(text);
    format!("{fence} {text} {fence}")
}

fn write_table(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    if report.files.is_empty() {
        return Ok(());
    }
    writeln!(out, "| log | result | dialect | turns | steps | requests |")?;
    writeln!(out, "| --- | --- | --- | ---: | ---: | ---: |")?;
    for file in report.files {
        let path = MarkdownText(SafePath(&file.path));
        write!(out, "| {path} | {} ", words::outcome(file))?;
        match &file.session {
            Some(facts) => writeln!(
                out,
                "| {} | {} | {} | {} |",
                facts.dialect, facts.turns, facts.steps, facts.requests
            )?,
            None => writeln!(out, "|  |  |  |  |")?,
        }
    }
    Ok(())
}

fn write_file(file: &FileReport, look: Look, out: &mut dyn Write) -> io::Result<()> {
    if file.verdict.findings.is_empty() && file.error.is_none() {
        return Ok(());
    }
    writeln!(out, "\n### {}\n", MarkdownText(SafePath(&file.path)))?;
    if let Some(error) = &file.error {
        writeln!(out, "- **unreadable**: {}", MarkdownText(Safe(error)))?;
    }
    for finding in &file.verdict.findings {
        write_finding(finding, look, out)?;
    }
    Ok(())
}

fn write_finding(finding: &Finding, look: Look, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "- **{}** `{}` {}: {}",
        finding.level.as_str(),
        finding.rule.id(),
        finding.rule.name,
        MarkdownText(Safe(&finding.message))
    )?;
    let place = words::place(&finding.at);
    if !place.is_empty() {
        write!(out, " ({place})")?;
    }
    writeln!(out)?;
    if let (Some(excerpt), Excerpts::Shown) = (&finding.at.excerpt, look.excerpt)
        && !excerpt.text.is_empty()
    {
        let before = if excerpt.cut_before { "…" } else { "" };
        let after = if excerpt.cut_after { "…" } else { "" };
        let text = format!("{before}{}{after}", Safe(&excerpt.text));
        writeln!(out, "  <br>{}", code(&text))?;
    }
    for related in &finding.related {
        let place = words::place(&related.at);
        writeln!(
            out,
            "  - see: {} ({place})",
            MarkdownText(Safe(&related.message))
        )?;
    }
    if let Some(help) = &finding.help {
        writeln!(out, "  - help: {}", MarkdownText(Safe(help)))?;
    }
    Ok(())
}

/// A code fence longer than any run of backticks in `text`.
fn fence_around(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest + 1)
}

fn write_unused(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    if report.unused.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### Unused in the baseline\n")?;
    for (fingerprint, accepted) in report.unused {
        let code = MarkdownText(Safe(&accepted.code));
        writeln!(
            out,
            "- {code} {} `{fingerprint}`",
            MarkdownText(Safe(&accepted.place))
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence_around("a"), "`");
        assert_eq!(fence_around("a ``` b"), "````");
    }
}
