//! The headers of logs for a terminal: patterns first, then the timeline, each change below its row.
//!
//! **Takes** a [`DiffReport`]. **Gives** text in the columns there are. **Never** prints the same change again and again: what a
//! pattern explains is shown once, with its values.

use std::io::{self, Write};

use super::cells::{Blanks, Ink, fitted, harmless, plain, wrapped};
use super::hunks::Most;
use super::parts::Parts;
use super::rows::{INDENT, notes, told, write_rows};
use super::{Comparison, DiffFile, DiffLook, DiffReport, Relation, words};
use crate::analyse::answer::{HeaderPair, Pattern, PatternKind, Spot, Timeline};
use crate::report::paint::Tone;
use crate::report::safe::{Safe, SafePath};
use crate::report::words::{count, grouped};
use crate::report::{Detail, words as common};

/// Writes the run.
pub(super) fn write(
    report: &DiffReport<'_>,
    look: DiffLook,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut before = None;
    let files = report.files.iter().filter(|_| report.shows_timelines);
    for file in files {
        let is_quiet = look.look.detail == Detail::Quiet;
        let timeline = file.timeline.as_ref();
        if is_quiet && !timeline.is_some_and(Timeline::has_changes) {
            continue;
        }
        let is_brief = look.stat || (report.files.len() > 1 && timeline.is_none_or(is_single));
        if before
            .replace(is_brief)
            .is_some_and(|before| !before || !is_brief)
        {
            writeln!(out)?;
        }
        write_file(file, is_brief, look, out)?;
    }
    let mut is_first = before.is_none();
    for comparison in report.comparisons {
        if !std::mem::take(&mut is_first) && !look.stat {
            writeln!(out)?;
        }
        write_comparison(comparison, look, out)?;
    }
    Ok(())
}

/// Whether there is nothing to say but what the first header is.
fn is_single(timeline: &Timeline) -> bool {
    timeline.rows.len() <= 1 && timeline.left_out == 0
}

fn write_file(
    file: &DiffFile,
    is_brief: bool,
    look: DiffLook,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paint = look.look.paint;
    let path = paint.tone(Tone::Strong, SafePath(&file.report.path));
    let Some(timeline) = &file.timeline else {
        let outcome = common::outcome(&file.report);
        return writeln!(out, "{path}  {}", paint.tone(Tone::Bad, outcome));
    };
    let facts = file.report.session.as_ref();
    let dialect = facts.map_or(String::new(), |facts| match facts.version {
        Some(version) if !facts.dialect.starts_with('v') => {
            format!("v{version} {}, ", facts.dialect)
        }
        _ => format!("{}, ", facts.dialect),
    });
    let headers = match timeline.rows.len() as u64 {
        0 => "no header".to_string(),
        1 => "1 header".to_string(),
        number => format!(
            "{} headers, {} different",
            grouped(number),
            grouped(timeline.distinct)
        ),
    };
    let requests = count(timeline.requests, "request");
    let facts = paint.tone(Tone::Faint, format!("{dialect}{requests}"));
    if let Some(row) = timeline
        .rows
        .first()
        .filter(|_| is_brief && is_single(timeline))
    {
        let size = harmless(&words::size(row), 0, Blanks::Shown);
        let gap = if size.is_empty() { "" } else { "  " };
        let notes = notes(row);
        return writeln!(
            out,
            "{path}  {headers}{gap}{size}{}  {facts}",
            notes.on(paint)
        );
    }
    writeln!(out, "{path}  {headers}  {facts}")?;
    for pattern in &timeline.patterns {
        write_pattern(pattern, look, out)?;
    }
    if !timeline.patterns.is_empty() && !look.stat {
        writeln!(out)?;
    }
    write_rows(timeline, look, out)
}

fn write_pattern(pattern: &Pattern, look: DiffLook, out: &mut dyn Write) -> io::Result<()> {
    let paint = look.look.paint;
    let span = format!("  seq {} … {}", pattern.first, pattern.last);
    let row = [
        Ink::of("  ↻ ", Some(Tone::Doubt)),
        Ink::of(
            Safe(&words::pattern(pattern)).to_string(),
            Some(Tone::Doubt),
        ),
        Ink::of(span, Some(Tone::Faint)),
    ];
    writeln!(out, "{}", plain(&fitted(&row, look.look.width), paint))?;
    let (spot, joint) = match &pattern.kind {
        PatternKind::Volatile { spot, .. } => (spot, " · "),
        PatternKind::Flap { spot, .. } if spot.distinct == 2 => (spot, " ⇄ "),
        PatternKind::Flap { spot, .. } => (spot, " · "),
        PatternKind::ComeAndGo { .. } | PatternKind::Order => return Ok(()),
    };
    if spot.values.is_empty() {
        return Ok(());
    }
    let inks = spot_inks(&words::unquoted(spot), joint);
    for row in wrapped(&inks, look.look.width.saturating_sub(6)) {
        writeln!(out, "      {}", plain(&row, paint))?;
    }
    Ok(())
}

/// A place with its values: `It is ⟨9:00 · 9:01 … 9:59⟩ now`.
fn spot_inks(spot: &Spot, joint: &str) -> Vec<Ink> {
    let ink = |text: &str| Ink::of(harmless(text, 0, Blanks::Wide), None);
    let mut inks = Vec::new();
    if let Some(section) = &spot.section {
        let section = harmless(section, 0, Blanks::Wide);
        inks.push(Ink::of(format!("{section}  "), Some(Tone::Calm)));
    }
    inks.push(ink(&spot.before));
    let last = spot.values.len().saturating_sub(1);
    for (at, text) in spot.values.iter().enumerate() {
        let between = match at {
            0 => "⟨",
            at if at == last && spot.distinct > spot.values.len() as u64 => " … ",
            _ => joint,
        };
        inks.push(Ink::of(between, Some(Tone::Faint)));
        let value = harmless(text, 0, Blanks::Shown);
        inks.push(Ink::of(value, Some(Tone::Doubt)));
    }
    inks.push(Ink::of("⟩", Some(Tone::Faint)));
    inks.push(ink(&spot.after));
    inks
}

fn write_comparison(
    comparison: &Comparison,
    look: DiffLook,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paint = look.look.paint;
    let old = SafePath(&comparison.old);
    let title = match (&comparison.new, comparison.kind) {
        (Some(new), Relation::Between) => format!("{old} ↔ {}", SafePath(new)),
        (Some(new), Relation::Fork) => format!("{} ← {old}", SafePath(new)),
        (Some(new), Relation::Lock) => format!("{} against its lock", SafePath(new)),
        (None, _) => format!("{old} is locked, and not among the inputs"),
    };
    let verdict = match comparison.differs() {
        false => paint.tone(Tone::Good, "the same"),
        true => paint.tone(Tone::Bad, "differs"),
    };
    writeln!(out, "{}  {verdict}", paint.tone(Tone::Strong, title))?;
    let is_verbose = look.look.detail >= Detail::Verbose;
    for pair in &comparison.pairs {
        if !pair.differs() && !is_verbose && comparison.kind == Relation::Lock {
            continue;
        }
        write_pair(pair, look, out)?;
    }
    Ok(())
}

fn write_pair(pair: &HeaderPair, look: DiffLook, out: &mut dyn Write) -> io::Result<()> {
    let (paint, width) = (look.look.paint, look.look.width);
    let what = words::pair(pair, told(look.stat));
    let tone = if pair.differs() {
        Tone::Doubt
    } else {
        Tone::Good
    };
    let mut inks = vec![
        Ink::of(format!("  {}  ", words::pair_name(pair)), Some(Tone::Faint)),
        Ink::of(harmless(&what, 0, Blanks::Shown), Some(tone)),
    ];
    if !pair.redacted.is_empty() {
        let parts: Vec<&str> = pair.redacted.iter().map(|part| part.as_str()).collect();
        let text = format!("  (redacted: {})", parts.join(", "));
        inks.push(Ink::of(text, Some(Tone::Faint)));
    }
    for (at, row) in wrapped(&inks, width.saturating_sub(INDENT))
        .iter()
        .enumerate()
    {
        let margin = if at == 0 { 0 } else { INDENT };
        writeln!(out, "{:margin$}{}", "", plain(row, paint).trim_end())?;
    }
    if !look.stat {
        let parts = Parts {
            paint,
            width,
            indent: INDENT,
            most: Most::of(look.look.of_a_code != usize::MAX),
        };
        parts.change(&pair.change, out)?;
    }
    Ok(())
}
