//! Headers for a comment on a pull request.
//!
//! **Takes** a [`DiffReport`]. **Gives** a heading, patterns, a table of what changed, and each change as a fenced diff. **Never** lets
//! text of a log become markup, a mention, a link or HTML.

use std::io::{self, Write};

use super::cells::{Blanks, harmless};
use super::phrases::{Values, phrases};
use super::{Comparison, DiffFile, DiffReport, Relation, words};
use crate::analyse::answer::{
    HeaderChange, HeaderPair, HeaderRow, LineChange, Pattern, PatternKind, Side, TextChange,
    Timeline, ToolChange, ToolPlace, ValueChange,
};
use crate::report::safe::{MarkdownText, Safe, SafePath};
use crate::report::words as common;
use crate::report::words::{count, grouped};

/// Most lines of all fenced diffs of one log: a comment has an end.
const MOST_LINES: usize = 400;

/// Writes the run.
pub(super) fn write(report: &DiffReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let outcome = match report.exit_code {
        0 => "passed",
        1 => "failed",
        2 => "not complete",
        _ => "not supported",
    };
    writeln!(out, "## dsh-audit diff-headers: {outcome}")?;
    for file in report.files.iter().filter(|_| report.shows_timelines) {
        write_file(file, out)?;
    }
    report
        .comparisons
        .iter()
        .try_for_each(|comparison| write_comparison(comparison, out))
}

fn write_file(file: &DiffFile, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n### {}\n", MarkdownText(SafePath(&file.report.path)))?;
    let Some(timeline) = &file.timeline else {
        return writeln!(out, "{}", common::outcome(&file.report));
    };
    let headers = count(timeline.rows.len() as u64, "header");
    let requests = count(timeline.requests, "request");
    let distinct = grouped(timeline.distinct);
    writeln!(out, "{headers}, {distinct} different, {requests}.")?;
    for pattern in &timeline.patterns {
        write_pattern(pattern, out)?;
    }
    write_table(timeline, out)?;
    let mut left = MOST_LINES;
    let mut is_shown = vec![false; timeline.patterns.len()];
    for row in &timeline.rows {
        // What a pattern explains is shown once.
        let shown = row.pattern.and_then(|at| is_shown.get_mut(at));
        if shown.is_some_and(|shown| std::mem::replace(shown, true)) {
            continue;
        }
        write_change_of(row, &mut left, out)?;
    }
    if left == 0 {
        writeln!(out, "\nFurther differences are not shown.")?;
    }
    Ok(())
}

fn write_pattern(pattern: &Pattern, out: &mut dyn Write) -> io::Result<()> {
    let text = words::pattern(pattern);
    write!(out, "\n- **{}**", MarkdownText(Safe(&text)))?;
    let spot = match &pattern.kind {
        PatternKind::Volatile { spot, .. } | PatternKind::Flap { spot, .. } => {
            words::unquoted(spot)
        }
        PatternKind::ComeAndGo { .. } | PatternKind::Order => return writeln!(out),
    };
    if spot.values.is_empty() {
        return writeln!(out);
    }
    let values = spot.values.join(" · ");
    let text = format!("{}⟨{values}⟩{}", spot.before, spot.after);
    writeln!(out, ": {}", code(&harmless(&text, 0, Blanks::Wide)))
}

fn write_table(timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n| seq | step | after | verdict | what | prompt |")?;
    writeln!(out, "| ---: | --- | ---: | --- | --- | --- |")?;
    let known = |row: &&HeaderRow| row.pattern.is_none();
    let rows = timeline.rows.len();
    let folded = rows > 40;
    for row in timeline.rows.iter().filter(|row| !folded || known(row)) {
        let change = row.change.as_ref();
        let what = match change.filter(|change| !change.is_empty()) {
            Some(change) => phrases(change, Values::Told).join(" · "),
            None if row.since.is_none() => words::size(row),
            None => String::new(),
        };
        let mut notes = words::notes(row);
        notes.insert(0, what);
        notes.retain(|note| !note.is_empty());
        let kept = change.and_then(|change| change.kept.as_ref());
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            row.seq,
            words::place(row),
            row.since.map_or(String::new(), words::since),
            row.verdict.as_str(),
            MarkdownText(Safe(&notes.join(", "))),
            kept.map_or(String::new(), words::kept_briefly)
        )?;
    }
    if folded {
        let left = timeline.rows.iter().filter(|row| !known(row)).count();
        writeln!(
            out,
            "\n{} that a pattern above explains are left out.",
            count(left as u64, "row")
        )?;
    }
    Ok(())
}

fn write_change_of(row: &HeaderRow, left: &mut usize, out: &mut dyn Write) -> io::Result<()> {
    let Some(change) = &row.change else {
        return Ok(());
    };
    let (kept, briefly) = match &change.kept {
        Some(kept) => (
            words::kept(kept),
            format!(", {}", words::kept_briefly(kept)),
        ),
        None => (String::new(), String::new()),
    };
    let title = format!("seq {}, {}{briefly}", row.seq, words::place(row));
    write_change(&title, &kept, change, left, out)
}

/// Writes a change as a fenced diff, if it has lines to show. `title` is of our own words: it stands in HTML.
fn write_change(
    title: &str,
    words: &str,
    change: &HeaderChange,
    left: &mut usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = lines_of(change);
    if lines.is_empty() || *left == 0 {
        return Ok(());
    }
    let shown = lines.len().min(*left);
    *left -= shown;
    let text: Vec<String> = lines
        .iter()
        .take(shown)
        .map(|(sign, text)| {
            let text = harmless(text, 0, Blanks::Wide);
            match *sign {
                "@" => format!("@@ {text} @@"),
                sign => format!("{sign} {text}"),
            }
        })
        .collect();
    let fence = fence_around(&text);
    writeln!(out, "\n<details><summary>{title}</summary>\n")?;
    if !words.is_empty() {
        writeln!(out, "{}.\n", MarkdownText(Safe(words)))?;
    }
    writeln!(out, "{fence}diff")?;
    text.iter()
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    writeln!(out, "{fence}\n\n</details>")
}

/// The lines of a change: a sign, and text that is still hostile.
fn lines_of(change: &HeaderChange) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for member in &change.config {
        let side = |value: &Option<String>, is_default: bool| {
            let note = if is_default { " (adapter default)" } else { "" };
            let value = value.as_ref();
            value.map(|value| format!("config {}: {value}{note}", member.name))
        };
        lines.extend(side(&member.old, member.old_is_default).map(|text| ("-", text)));
        lines.extend(side(&member.new, member.new_is_default).map(|text| ("+", text)));
    }
    if let Some(text) = &change.system {
        text_lines("system", text, &mut lines);
    }
    if let Some(tools) = &change.tools {
        let named = |tool: &ToolPlace| format!("tool {}", tool.name);
        lines.extend(tools.removed.iter().map(|tool| ("-", named(tool))));
        lines.extend(tools.added.iter().map(|tool| ("+", named(tool))));
        lines.extend(tools.moved.iter().map(|tool| {
            let (from, to) = (tool.from + 1, tool.to + 1);
            (" ", format!("tool {} moved: {from} → {to}", tool.name))
        }));
        tools
            .changed
            .iter()
            .for_each(|tool| tool_lines(tool, &mut lines));
    }
    for message in change.prefix.iter().flat_map(|prefix| &prefix.messages) {
        let at = message.new.or(message.old).unwrap_or(0) + 1;
        let name = format!("prefix message {at} ({})", message.role);
        match &message.text {
            Some(text) => text_lines(&name, text, &mut lines),
            None => lines.push(("@", name)),
        }
        message
            .values
            .iter()
            .for_each(|value| value_lines(value, &mut lines));
    }
    lines
}

fn text_lines(name: &str, text: &TextChange, out: &mut Vec<(&'static str, String)>) {
    for hunk in &text.hunks {
        let at = hunk
            .lines
            .first()
            .and_then(|line| line.new.as_ref().or(line.old.as_ref()));
        let at = at.map_or(0, |side| side.number);
        let section = hunk.section.as_deref().unwrap_or_default();
        out.push((
            "@",
            format!("{name} line {at} {section}").trim_end().to_string(),
        ));
        for group in hunk.lines.chunk_by(|a, b| a.same == b.same) {
            let side = |get: fn(&LineChange) -> &Option<Side>| {
                let sides = group.iter().filter_map(move |line| get(line).as_ref());
                sides.map(|side| {
                    side.pieces
                        .iter()
                        .map(|piece| piece.text.as_str())
                        .collect::<String>()
                })
            };
            if group.first().is_some_and(|line| line.same) {
                out.extend(side(|line| &line.new).map(|text| (" ", text)));
                continue;
            }
            out.extend(side(|line| &line.old).map(|text| ("-", text)));
            out.extend(side(|line| &line.new).map(|text| ("+", text)));
        }
    }
    if text.left_out > 0 {
        out.push((
            "@",
            format!("{name}: {} not shown", count(text.left_out, "line")),
        ));
    }
}

fn tool_lines(tool: &ToolChange, out: &mut Vec<(&'static str, String)>) {
    if let Some(text) = &tool.description {
        text_lines(&format!("tool {} /description", tool.name), text, out);
    }
    if !tool.values.is_empty() {
        out.push(("@", format!("tool {}", tool.name)));
    }
    tool.values.iter().for_each(|value| value_lines(value, out));
}

fn value_lines(value: &ValueChange, out: &mut Vec<(&'static str, String)>) {
    for (sign, pieces) in [("-", &value.old), ("+", &value.new)] {
        let Some(pieces) = pieces else { continue };
        let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        out.push((sign, format!("{}: {text}", value.pointer)));
    }
}

fn write_comparison(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let old = MarkdownText(SafePath(&comparison.old));
    let (old, verdict) = (
        old.to_string(),
        if comparison.differs() {
            "differs"
        } else {
            "the same"
        },
    );
    let title = match (&comparison.new, comparison.kind) {
        (None, _) => format!("{old} is locked, and not among the inputs"),
        (Some(new), kind) => {
            let new = MarkdownText(SafePath(new)).to_string();
            match kind {
                Relation::Between => format!("{old} ↔ {new}"),
                Relation::Fork => format!("{new}, child of {old}"),
                Relation::Lock => format!("{new} against its lock"),
            }
        }
    };
    writeln!(out, "\n### {title}: {verdict}\n")?;
    let mut left = MOST_LINES;
    for pair in comparison.pairs.iter().filter(|pair| pair.differs()) {
        write_pair(pair, &mut left, out)?;
    }
    Ok(())
}

fn write_pair(pair: &HeaderPair, left: &mut usize, out: &mut dyn Write) -> io::Result<()> {
    let (name, what) = (words::pair_name(pair), words::pair(pair, Values::Told));
    writeln!(out, "- {name}: {}", MarkdownText(Safe(&what)))?;
    write_change(&name, "", &pair.change, left, out)
}

/// Text as code, between more backticks than it holds in a row.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

/// A fence longer than any run of backticks in the lines.
fn fence_around(lines: &[String]) -> String {
    let runs = lines.iter().flat_map(|line| line.split(|c| c != '`'));
    "`".repeat(runs.map(str::len).max().unwrap_or(0).max(2) + 1)
}
