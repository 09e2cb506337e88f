//! Annotations of GitHub Actions: one workflow command per finding.
//!
//! **Takes** a [`Report`]. **Gives** `::error file=…,line=…,title=…::message` lines and a last plain line.
//! **Never** lets text of a log end a command or begin one.

use std::io::{self, Write};

use crate::finding::{Finding, Level};

use super::safe::{CommandProperty, CommandText, Safe, SafePath};
use super::{FileReport, Look, Report, words};

/// Writes the run.
pub(super) fn write(report: &Report<'_>, _look: Look, out: &mut dyn Write) -> io::Result<()> {
    for file in report.files {
        if let Some(error) = &file.error {
            let path = CommandProperty(SafePath(&file.path));
            writeln!(
                out,
                "::error file={path},title=unreadable::{}",
                CommandText(Safe(error))
            )?;
        }
        for finding in &file.verdict.findings {
            write_finding(file, finding, out)?;
        }
    }
    let files = words::count(report.files.len() as u64, "file");
    let levels = words::levels(report.counts());
    let levels = if levels.is_empty() {
        "nothing to report".to_string()
    } else {
        levels
    };
    writeln!(out, "dsh-audit {}: {files}, {levels}", report.command)
}

fn write_finding(file: &FileReport, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let kind = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    write!(
        out,
        "::{kind} file={}",
        CommandProperty(SafePath(&file.path))
    )?;
    if let Some(line) = finding.at.line {
        write!(out, ",line={line}")?;
    }
    let title = format!("{} {}", finding.rule.id(), finding.rule.name);
    let mut text = Safe(&finding.message).to_string();
    let place = words::place(&finding.at);
    if !place.is_empty() {
        text.push_str(&format!(" ({place})"));
    }
    for related in &finding.related {
        let place = words::place(&related.at);
        text.push_str(&format!("\nsee: {} ({place})", Safe(&related.message)));
    }
    if let Some(help) = &finding.help {
        text.push_str(&format!("\nhelp: {}", Safe(help)));
    }
    writeln!(
        out,
        ",title={}::{}",
        CommandProperty(title),
        CommandText(text)
    )
}
