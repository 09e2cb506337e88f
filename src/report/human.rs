//! Text for a terminal: a line for each file, its findings drawn, and a sum.
//!
//! **Takes** a [`Report`]. **Gives** text in the columns there are.
//! **Never** prints a byte of a log that did not pass the sanitiser.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::finding::{Finding, Level, Place, Related};
use crate::verdict::Outcome;

use super::columns::width;
use super::paint::{Paint, Tone};
use super::safe::{Safe, SafePath};
use super::snippet::{Snippet, Window};
use super::{
    Detail, Excerpts, FileReport, Look, Report, SessionFacts, Setting, migration, tree, words,
};

/// Writes the run.
pub(super) fn write(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    match report.setting {
        Setting::List => {
            for file in report.files {
                write_file(file, look, out)?;
            }
        }
        Setting::Tree => tree::write(report, look, out)?,
    }
    if look.detail == Detail::Quiet {
        return Ok(());
    }
    write_asides(report, look, out)?;
    if report.files.len() != 1 {
        write_sum(report, look, out)?;
    }
    write_way_on(report, look, out)
}

/// Writes one file: its line, then its findings.
pub(super) fn write_file(file: &FileReport, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let findings = &file.verdict.findings;
    if look.detail == Detail::Quiet && !is_wrong(file) {
        return Ok(());
    }
    write_head(file, look, out)?;
    if look.detail >= Detail::Verbose {
        for older in &file.older {
            let line = format!("  left aside: {}, a lower generation", SafePath(older));
            writeln!(out, "{}", look.paint.tone(Tone::Faint, line))?;
        }
    }
    if let Some(facts) = &file.migration {
        migration::write(facts, look, out)?;
    }
    let mut shown: BTreeMap<u16, usize> = BTreeMap::new();
    let mut was_drawn = false;
    for finding in findings {
        let of_this_code = shown.entry(finding.rule.code).or_default();
        *of_this_code += 1;
        let is_hidden = look.detail == Detail::Quiet && finding.level == Level::Note;
        if *of_this_code > look.of_a_code || is_hidden {
            continue;
        }
        let is_drawn = finding.level > Level::Note;
        if is_drawn || was_drawn {
            writeln!(out)?;
        }
        was_drawn = is_drawn;
        write_finding(file, finding, look, out)?;
    }
    for (code, number) in shown {
        if number > look.of_a_code {
            let left = number - look.of_a_code;
            writeln!(
                out,
                "  … and {left} more of DSH{code:04} (--no-limit shows them)"
            )?;
        }
    }
    let kept = findings.len() as u64;
    if file.verdict.counts.total() > kept {
        let left = words::count(file.verdict.counts.total() - kept, "finding");
        writeln!(out, "  … and {left} beyond --max-findings")?;
    }
    if findings.iter().any(|finding| finding.level > Level::Note) {
        writeln!(out)?;
    }
    Ok(())
}

/// Whether there is more to say of a file than notes.
fn is_wrong(file: &FileReport) -> bool {
    let counts = file.verdict.counts;
    let is_read = matches!(file.verdict.outcome, Outcome::Clean | Outcome::Findings);
    !is_read || file.verdict.fails || counts.error + counts.warning > 0
}

/// The sign before a file, and its tone.
pub(super) fn mark(file: &FileReport) -> (&'static str, Tone) {
    match file.verdict.outcome {
        Outcome::Clean => ("✓", Tone::Good),
        Outcome::Findings if file.verdict.counts.error > 0 || file.verdict.fails => {
            ("✗", Tone::Bad)
        }
        Outcome::Findings if file.verdict.counts.warning > 0 => ("!", Tone::Doubt),
        Outcome::Findings => ("✓", Tone::Good),
        Outcome::Rejected | Outcome::Unsupported | Outcome::Unreadable => ("✗", Tone::Bad),
        Outcome::Foreign => ("?", Tone::Doubt),
    }
}

fn write_head(file: &FileReport, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let (mark, tone) = mark(file);
    let path = SafePath(&file.path).to_string();
    let outcome = words::outcome(file);
    let taken = width(&format!("{mark} {path}  {outcome}"));
    let (mark, outcome) = (look.paint.tone(tone, mark), look.paint.tone(tone, outcome));
    write!(
        out,
        "{mark} {}  {outcome}",
        look.paint.tone(Tone::Strong, path)
    )?;
    if let Some(facts) = &file.session {
        let session = format!("  {}", in_numbers(facts));
        if taken + width(&session) > look.width {
            writeln!(out)?;
        }
        write!(out, "{}", look.paint.tone(Tone::Faint, session))?;
    }
    writeln!(out)?;
    if let Some(error) = &file.error {
        writeln!(out, "  {}", Safe(error))?;
    }
    if let Some(digest) = &file.digest {
        writeln!(
            out,
            "  {}",
            look.paint.tone(Tone::Faint, format!("sha256 {digest}"))
        )?;
    }
    Ok(())
}

/// What a session is and holds, in a few words.
fn in_numbers(facts: &SessionFacts) -> String {
    let version = match facts.version {
        Some(version) if !facts.dialect.starts_with('v') => format!("v{version} "),
        _ => String::new(),
    };
    let inherited = facts.inherited.unwrap_or_default();
    format!(
        "{version}{}, {}, {}, {}",
        facts.dialect,
        words::count(facts.turns, "turn"),
        words::count(facts.steps, "step"),
        words::shared(facts.requests, "request", inherited.requests)
    )
}

fn write_finding(
    file: &FileReport,
    finding: &Finding,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    if finding.level == Level::Note {
        return write_note(finding, look, out);
    }
    let code = format!("{} {}", finding.rule.id(), finding.rule.name);
    let mut snippet = Snippet::bare(finding, code);
    let label = label_of(&finding.at);
    let window = window_of(file, &finding.at, &label, look);
    let drawn = window.is_some();
    if let Some(window) = window {
        snippet = snippet.with_window(window, label);
    }
    let mut text = String::new();
    let theme = match look.paint {
        Paint::Colour => GraphicalTheme::unicode(),
        Paint::Plain => GraphicalTheme::unicode_nocolor(),
    };
    GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_links(false)
        .without_syntax_highlighting()
        .without_primary_span_start()
        .render_report(&mut text, &snippet)
        .map_err(io::Error::other)?;
    // miette sets the code apart with an empty line; here it is the message's heading.
    let text = text.replacen("\n\n", "\n", 1);
    writeln!(out, "{}", text.trim_end_matches('\n'))?;
    let place = words::place(&finding.at);
    if !drawn && !place.is_empty() {
        writeln!(out, "  at {place}{}", pointer_of(&finding.at))?;
    }
    for related in &finding.related {
        let text = text_of_related(related, look);
        let lines = words::wrapped(&text, look.width.saturating_sub(SEE.len()));
        write_hanging(&look.paint.tone(Tone::Calm, SEE), &lines, SEE.len(), out)?;
    }
    Ok(())
}

fn text_of_related(related: &Related, look: Look) -> String {
    let place = in_brackets(&words::place(&related.at));
    let shown = match (&related.at.excerpt, look.excerpt) {
        (Some(excerpt), Excerpts::Shown) => {
            let dots = |cut: bool| if cut { "…" } else { "" };
            let (before, after) = (dots(excerpt.cut_before), dots(excerpt.cut_after));
            format!(": {before}{}{after}", Safe(&excerpt.text))
        }
        _ => String::new(),
    };
    format!("{}{place}{shown}", Safe(&related.message))
}

/// What stands before a further place.
const SEE: &str = "  see: ";

/// Writes lines behind a head, those after the first under the first.
fn write_hanging(
    head: &dyn fmt::Display,
    lines: &[String],
    indent: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (at, line) in lines.iter().enumerate() {
        match at {
            0 => writeln!(out, "{head}{line}")?,
            _ => writeln!(out, "{:indent$}{line}", "")?,
        }
    }
    Ok(())
}

fn in_brackets(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!(" ({place})")
    }
}

fn write_note(finding: &Finding, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let head = format!("  note {} ", finding.rule.id());
    let place = in_brackets(&words::place(&finding.at));
    let text = format!("{}: {}{place}", finding.rule.name, Safe(&finding.message));
    let lines = words::wrapped(&text, look.width.saturating_sub(head.len()));
    write_hanging(&look.paint.tone(Tone::Calm, &head), &lines, head.len(), out)
}

fn window_of(file: &FileReport, at: &Place, label: &str, look: Look) -> Option<Window> {
    if look.excerpt == Excerpts::Hidden {
        return None;
    }
    let excerpt = at
        .excerpt
        .as_ref()
        .filter(|excerpt| !excerpt.text.is_empty())?;
    let line = at.line?;
    let name = match at.bytes {
        Some(bytes) => format!(
            "{}:{line} · byte {}",
            SafePath(&file.path),
            bytes.span().start
        ),
        None => format!("{}:{line}", SafePath(&file.path)),
    };
    // Columns that the frame takes: the line number, a space on each side, the bar and a space.
    let frame = line.to_string().len() + 5;
    Some(Window::new(
        name,
        line.0,
        excerpt,
        look.width.saturating_sub(frame).max(20),
        label,
    ))
}

fn label_of(at: &Place) -> String {
    format!("{}{}", words::logical(at), pointer_of(at))
}

fn pointer_of(at: &Place) -> String {
    at.pointer
        .as_deref()
        .map_or(String::new(), |pointer| format!(" at {}", Safe(pointer)))
}

fn write_asides(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    if !report.passed_over.is_empty() {
        let number = words::count(report.passed_over.len() as u64, "file");
        let how = if look.detail >= Detail::Verbose {
            ":"
        } else {
            " (-v names them)"
        };
        writeln!(out, "{number} found on the way, no session logs{how}")?;
        if look.detail >= Detail::Verbose {
            for path in report.passed_over {
                writeln!(out, "  {}", SafePath(path))?;
            }
        }
    }
    for (fingerprint, accepted) in report.unused {
        writeln!(
            out,
            "unused in the baseline: {} {} ({fingerprint})",
            Safe(&accepted.code),
            Safe(&accepted.place)
        )?;
    }
    Ok(())
}

/// Names the command that tells more of the worst finding.
fn write_way_on(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let findings = report.files.iter().flat_map(|file| &file.verdict.findings);
    let drawn = findings.filter(|finding| finding.level > Level::Note);
    // Of the worst the first.
    let Some(worst) = drawn.min_by_key(|finding| Reverse(finding.level)) else {
        return Ok(());
    };
    let line = format!(
        "dsh-audit explain {} says what it means and what to do.",
        worst.rule.id()
    );
    writeln!(out, "{}", look.paint.tone(Tone::Faint, line))
}

fn write_sum(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let outcomes = [
        Outcome::Clean,
        Outcome::Findings,
        Outcome::Rejected,
        Outcome::Unsupported,
        Outcome::Foreign,
        Outcome::Unreadable,
    ];
    let mut parts = Vec::new();
    for outcome in outcomes {
        let number = report
            .files
            .iter()
            .filter(|file| file.verdict.outcome == outcome)
            .count();
        if number > 0 {
            let word = match outcome {
                Outcome::Findings => "with findings",
                Outcome::Foreign => "no session log",
                other => other.as_str(),
            };
            parts.push(format!("{} {word}", words::grouped(number as u64)));
        }
    }
    let files = words::count(report.files.len() as u64, "file");
    let levels = words::levels(report.counts());
    let levels = if levels.is_empty() {
        levels
    } else {
        format!(" · {levels}")
    };
    let accepted = match report.accepted() {
        0 => String::new(),
        number => format!(" · {number} accepted by the baseline"),
    };
    let sum = format!("{files}: {}{levels}{accepted}", parts.join(", "));
    for line in words::wrapped(&sum, look.width) {
        writeln!(out, "{}", look.paint.tone(Tone::Strong, line))?;
    }
    Ok(())
}
