//! The rows of a timeline for a terminal, each change below its row.
//!
//! **Takes** a [`Timeline`]. **Gives** rows in the columns there are. **Never** shows again what a pattern explains: long runs of it
//! fold into one line.

use std::io::{self, Write};

use super::cells::{Blanks, Ink, fitted, harmless, plain, wrapped};
use super::hunks::Most;
use super::parts::Parts;
use super::phrases::{Values, phrases};
use super::{DiffLook, words};
use crate::analyse::answer::{HeaderRow, Timeline, Verdict};
use crate::report::paint::Tone;
use crate::report::words::{count, grouped};

/// How many rows of one pattern are shown in a run, before they are folded.
const SHOWN: usize = 2;
/// Columns in front of a row's words.
pub(super) const INDENT: usize = 4;

/// Writes the rows of a timeline, each with its change below.
pub(super) fn write_rows(
    timeline: &Timeline,
    look: DiffLook,
    out: &mut dyn Write,
) -> io::Result<()> {
    let seqs = timeline
        .rows
        .iter()
        .map(|row| row.seq.0.to_string().len())
        .max();
    let columns = Columns {
        seq: seqs.unwrap_or(0).max(3),
        place: timeline
            .rows
            .iter()
            .map(|row| words::place(row).len())
            .max()
            .unwrap_or(0),
        verdict: timeline
            .rows
            .iter()
            .map(|row| row.verdict.as_str().len())
            .max()
            .unwrap_or(0),
    };
    let mut shown = vec![0_usize; timeline.patterns.len()];
    let mut has_details = false;
    let mut rows = timeline.rows.iter().peekable();
    while let Some(row) = rows.next() {
        if std::mem::take(&mut has_details) {
            writeln!(out)?;
        }
        let seen = row.pattern.and_then(|at| shown.get_mut(at));
        let seen = seen.map_or(0, |seen| {
            *seen += 1;
            *seen
        });
        let folds = look.look.of_a_code != usize::MAX;
        // A run of rows that one pattern explains folds, where it is long.
        if seen > SHOWN && folds {
            let mut run = vec![row];
            while let Some(next) = rows.next_if(|next| next.pattern == row.pattern) {
                run.push(next);
            }
            if run.len() > 1 {
                write_fold(&run, look, out)?;
                continue;
            }
        }
        // What a pattern's first row has shown is not shown again.
        has_details = write_row(row, columns, look, folds && seen > 1, out)?;
    }
    if timeline.left_out > 0 {
        let left = count(timeline.left_out, "row");
        let line = format!("    {left} of other parts not shown");
        writeln!(out, "{}", look.look.paint.tone(Tone::Faint, line))?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Columns {
    seq: usize,
    place: usize,
    verdict: usize,
}

fn write_fold(run: &[&HeaderRow], look: DiffLook, out: &mut dyn Write) -> io::Result<()> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return Ok(());
    };
    let line = format!(
        "    ⋮ {} more of the same ↻, seq {} … {} (--no-limit shows them)",
        grouped(run.len() as u64),
        first.seq,
        last.seq
    );
    writeln!(out, "{}", look.look.paint.tone(Tone::Faint, line))
}

/// Writes a row, and below it what it changes. Gives whether details stand there.
fn write_row(
    row: &HeaderRow,
    columns: Columns,
    look: DiffLook,
    is_known: bool,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let (paint, width) = (look.look.paint, look.look.width);
    let kept = row.change.as_ref().and_then(|change| change.kept.as_ref());
    let mut head = row_head(row, columns);
    if look.stat {
        let kept = kept.map_or(String::new(), words::kept_briefly);
        head.push(Ink::of(format!("{kept:<15}"), Some(Tone::Strong)));
    }
    let told = told(look.stat || is_known);
    let tail = [
        Ink::of(harmless(&summary(row, told), 0, Blanks::Shown), None),
        notes(row),
    ];
    let indent: usize = head.iter().map(Ink::width).sum();
    let room = width.saturating_sub(indent);
    let rows = match look.stat {
        true => vec![fitted(&tail, room)],
        false => wrapped(&tail, room),
    };
    for (at, row) in rows.iter().enumerate() {
        match at {
            0 => write!(out, "{}", plain(&head, paint))?,
            _ => write!(out, "{:indent$}", "")?,
        }
        writeln!(out, "{}", plain(row, paint).trim_end())?;
    }
    if look.stat {
        return Ok(false);
    }
    if let Some(kept) = kept {
        let text = harmless(&words::kept(kept), 0, Blanks::Shown);
        let ink = Ink::of(text, Some(Tone::Strong));
        let row = fitted(&[ink], width.saturating_sub(INDENT));
        writeln!(out, "{}{}", " ".repeat(INDENT), plain(&row, paint))?;
    }
    let Some(change) = row.change.as_ref().filter(|_| !is_known) else {
        return Ok(false);
    };
    let parts = Parts {
        paint,
        width,
        indent: INDENT,
        most: Most::of(look.look.of_a_code != usize::MAX),
    };
    parts.change(change, out)
}

/// What stands before a row's words.
fn row_head(row: &HeaderRow, columns: Columns) -> Vec<Ink> {
    let Columns {
        seq,
        place,
        verdict,
    } = columns;
    let since = row.since.map_or(String::new(), words::since);
    let head = format!(
        "{:>seq$}  {:<place$}  {since:>8}  ",
        row.seq,
        words::place(row)
    );
    let tone = match row.verdict {
        Verdict::Initial => Tone::Calm,
        Verdict::Same => Tone::Good,
        Verdict::Change => Tone::Doubt,
        Verdict::Drift | Verdict::ChangeWithoutChange => Tone::Bad,
        Verdict::Hidden => Tone::Faint,
    };
    vec![
        Ink::of(head, Some(Tone::Faint)),
        Ink::of(format!("{:<verdict$}", row.verdict.as_str()), Some(tone)),
        Ink::of("  ", None),
    ]
}

/// Whether a row tells values: it does where no details follow.
pub(super) fn told(is_alone: bool) -> Values {
    match is_alone {
        true => Values::Told,
        false => Values::Below,
    }
}

/// What else is to be said of a row.
pub(super) fn notes(row: &HeaderRow) -> Ink {
    let notes = words::notes(row);
    let text = match notes.is_empty() {
        true => String::new(),
        false => format!("  ({})", harmless(&notes.join(", "), 0, Blanks::Shown)),
    };
    Ink::of(text, Some(Tone::Faint))
}

fn summary(row: &HeaderRow, values: Values) -> String {
    match (&row.change, row.verdict) {
        (_, Verdict::Initial) => words::size(row),
        (Some(change), _) if !change.is_empty() => phrases(change, values).join(" · "),
        (_, Verdict::Hidden) => "nothing that can be seen".to_string(),
        _ => "nothing".to_string(),
    }
}
