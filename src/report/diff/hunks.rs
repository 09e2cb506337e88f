//! A text that differs, line by line.
//!
//! **Takes** a [`TextChange`]. **Gives** hunks, stacked or side by side. **Never** prints a line of the log that did not become harmless.

use std::io::{self, Write};

use super::cells::{Blanks, Ink, fitted, harmless, is_invisible, padded, plain, wrapped};
use crate::analyse::answer::{Hunk, LineChange, Piece, Side, TextChange};
use crate::report::columns::width;
use crate::report::paint::{Paint, Tone};
use crate::report::words::count;

/// Columns from which two sides stand beside each other.
const BESIDE: usize = 140;
/// Most rows that one line takes.
const ROWS: usize = 12;
/// Columns of equal text that stay on each side of a difference.
const NEAR: usize = 32;

/// How hunks are laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sheet {
    pub(super) paint: Paint,
    /// Columns there are.
    pub(super) width: usize,
    /// Columns that stay free on the left.
    pub(super) indent: usize,
    /// How much is shown.
    pub(super) most: Most,
}

/// How much of a change a person is shown; `--no-limit` lifts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// Lines of one text, with their context.
    pub(super) lines: usize,
    /// Tools, sections or values of one list.
    pub(super) things: usize,
}

impl Most {
    /// For a person, unless all is wanted.
    pub(super) fn of(is_limited: bool) -> Most {
        match is_limited {
            true => Most {
                lines: 160,
                things: 16,
            },
            false => Most {
                lines: usize::MAX,
                things: usize::MAX,
            },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Old,
    New,
}

impl Edge {
    fn mark(self) -> (&'static str, Tone, Tone) {
        match self {
            Edge::Old => ("-", Tone::Gone, Tone::GoneWord),
            Edge::New => ("+", Tone::Came, Tone::CameWord),
        }
    }
}

impl Sheet {
    /// Writes all hunks of a text, and what was left out of them.
    pub(super) fn text(&self, text: &TextChange, out: &mut dyn Write) -> io::Result<()> {
        let digits = text
            .hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .map(number)
            .max();
        let digits = digits.unwrap_or(0).to_string().len();
        let mut left = self.most.lines;
        let mut hidden = 0;
        for (at, hunk) in text.hunks.iter().enumerate() {
            let (lines, rest) = hunk.lines.split_at(hunk.lines.len().min(left));
            left -= lines.len();
            hidden += rest.iter().filter(|line| !line.same).count() as u64;
            if lines.is_empty() {
                continue;
            }
            if at > 0 || hunk.section.is_some() {
                self.heading(hunk, digits, out)?;
            }
            let is_pair =
                |line: &LineChange| line.old.is_some() && line.new.is_some() && !line.same;
            match self.width >= BESIDE && lines.iter().any(is_pair) {
                true => self.beside(lines, digits, out)?,
                false => self.stacked(lines, digits, out)?,
            }
        }
        if hidden > 0 {
            let left = count(hidden, "further changed line");
            let line = format!("… {left} (--no-limit shows all)");
            self.faint(&line, out)?;
        }
        if text.left_out > 0 {
            let left = count(text.left_out, "changed line");
            let line = format!("… {left} not shown: too much of it");
            self.faint(&line, out)?;
        }
        if text.coarse.is_some() {
            let bytes = text.coarse.map_or("", |coarse| coarse.as_str());
            self.faint(&format!("… coarser than it could be ({bytes})"), out)?;
        }
        Ok(())
    }

    fn margin(&self) -> String {
        " ".repeat(self.indent)
    }

    fn faint(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{}{}",
            self.margin(),
            self.paint.tone(Tone::Faint, text)
        )
    }

    fn heading(&self, hunk: &Hunk, digits: usize, out: &mut dyn Write) -> io::Result<()> {
        let section = hunk.section.as_deref().unwrap_or_default();
        let ink = Ink::of(harmless(section, 0, Blanks::Wide), Some(Tone::Calm));
        let dots = Ink::of(format!("{:>digits$} ", "⋯"), Some(Tone::Faint));
        let row = fitted(&[dots, ink], self.width.saturating_sub(self.indent));
        writeln!(
            out,
            "{}{}",
            self.margin(),
            plain(&row, self.paint).trim_end()
        )
    }

    fn stacked(&self, lines: &[LineChange], digits: usize, out: &mut dyn Write) -> io::Result<()> {
        for group in lines.chunk_by(|a, b| a.same == b.same) {
            if group.first().is_some_and(|line| line.same) {
                for side in group.iter().filter_map(|line| line.new.as_ref()) {
                    self.context(side, digits, out)?;
                }
                continue;
            }
            // One line before and after stands together; more are told apart by side.
            let is_pair = group.len() == 1;
            for line in group {
                if let Some(side) = &line.old {
                    self.line(side, line, Edge::Old, digits, out)?;
                }
                if is_pair && let Some(side) = &line.new {
                    self.line(side, line, Edge::New, digits, out)?;
                }
            }
            if is_pair {
                self.underlined(group.first(), digits, out)?;
                continue;
            }
            for line in group {
                if let Some(side) = &line.new {
                    self.line(side, line, Edge::New, digits, out)?;
                }
            }
        }
        Ok(())
    }

    fn columns(&self, digits: usize) -> usize {
        self.width.saturating_sub(self.indent + digits + 3).max(16)
    }

    fn context(&self, side: &Side, digits: usize, out: &mut dyn Write) -> io::Result<()> {
        let row = fitted(&inks(&side.pieces, None, None), self.columns(digits));
        let number = self
            .paint
            .tone(Tone::Faint, format!("{:>digits$}", side.number));
        let line = format!("{}{number}   {}", self.margin(), plain(&row, self.paint));
        writeln!(out, "{}", line.trim_end())
    }

    fn line(
        &self,
        side: &Side,
        line: &LineChange,
        edge: Edge,
        digits: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (mark, tone, _) = edge.mark();
        let rows = rows_of(side, line, edge, self.columns(digits));
        let number = self
            .paint
            .tone(tone, format!("{:>digits$} {mark}", side.number));
        for (at, row) in rows.iter().enumerate() {
            let text = plain(row, self.paint);
            let line = match at {
                0 => format!("{}{number} {text}", self.margin()),
                _ => format!("{}{:digits$}   {text}", self.margin(), ""),
            };
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Without colours, marks under a line the words that came.
    fn underlined(
        &self,
        line: Option<&LineChange>,
        digits: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some((line, side)) = line.and_then(|line| Some((line, line.new.as_ref()?))) else {
            return Ok(());
        };
        let rows = rows_of(side, line, Edge::New, self.columns(digits));
        if self.paint == Paint::Colour || rows.len() != 1 || line.old.is_none() {
            return Ok(());
        }
        let row = rows.first().map(Vec::as_slice).unwrap_or_default();
        let mark = |ink: &Ink| match ink.tone {
            Some(Tone::CameWord) => "~".repeat(ink.width()),
            _ => " ".repeat(ink.width()),
        };
        let marks: String = row.iter().map(mark).collect();
        if marks.trim().is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "{}{:digits$}   {}",
            self.margin(),
            "",
            marks.trim_end()
        )
    }

    fn beside(&self, lines: &[LineChange], digits: usize, out: &mut dyn Write) -> io::Result<()> {
        let columns = (self.width - self.indent - 3) / 2 - digits - 3;
        for line in lines {
            let side = |side: &Option<Side>, edge| match side {
                None => vec![Vec::new()],
                Some(side) if line.same => vec![fitted(&inks(&side.pieces, None, None), columns)],
                Some(side) => rows_of(side, line, edge, columns),
            };
            let (old, new) = (side(&line.old, Edge::Old), side(&line.new, Edge::New));
            for at in 0..old.len().max(new.len()) {
                let half = |rows: &[Vec<Ink>], side: &Option<Side>, edge: Edge| {
                    let (mark, tone, _) = edge.mark();
                    let number = match side {
                        Some(side) if at == 0 && line.same => self
                            .paint
                            .tone(Tone::Faint, format!("{:>digits$}  ", side.number))
                            .to_string(),
                        Some(side) if at == 0 => self
                            .paint
                            .tone(tone, format!("{:>digits$} {mark}", side.number))
                            .to_string(),
                        _ => " ".repeat(digits + 2),
                    };
                    let row = rows.get(at).map(Vec::as_slice).unwrap_or_default();
                    format!("{number} {}", padded(row, columns, self.paint))
                };
                let bar = self.paint.tone(Tone::Faint, "│");
                let row = format!(
                    "{}{} {bar} {}",
                    self.margin(),
                    half(&old, &line.old, Edge::Old),
                    half(&new, &line.new, Edge::New)
                );
                writeln!(out, "{}", row.trim_end())?;
            }
        }
        Ok(())
    }
}

fn number(line: &LineChange) -> u64 {
    let of = |side: &Option<Side>| side.as_ref().map_or(0, |side| side.number);
    of(&line.old).max(of(&line.new))
}

/// The rows of a line that differs.
fn rows_of(side: &Side, line: &LineChange, edge: Edge, columns: usize) -> Vec<Vec<Ink>> {
    let (_, tone, word) = edge.mark();
    // A line that is all new needs no marks in it.
    let has_pair = line.old.is_some() && line.new.is_some();
    let word = if has_pair { word } else { tone };
    let pieces = match has_pair {
        true => without_shared_return(line, &elided(&side.pieces)),
        false => side.pieces.clone(),
    };
    let mut rows = wrapped(&inks(&pieces, Some(tone), Some(word)), columns);
    if rows.len() > ROWS {
        let left = rows.split_off(ROWS - 1);
        let hidden: usize = left.iter().flatten().map(Ink::width).sum();
        let note = format!("… {} more", count(hidden as u64, "character"));
        rows.push(vec![Ink::of(note, Some(Tone::Faint))]);
    }
    rows
}

/// Long equal text between differences is shortened: what differs is to be seen.
fn elided(pieces: &[Piece]) -> Vec<Piece> {
    let last = pieces.len().saturating_sub(1);
    let shorten = |(at, piece): (usize, &Piece)| {
        let chars = piece.text.chars().count();
        // At an end of the line, only the side that touches a difference is of interest.
        let (head, tail) = match (at == 0, at == last) {
            (true, false) => (0, NEAR),
            (false, true) => (NEAR, 0),
            _ => (NEAR, NEAR),
        };
        let keeps_all = piece.changed || chars <= head + tail + NEAR;
        let text = match keeps_all {
            true => piece.text.clone(),
            false => {
                let start: String = piece.text.chars().take(head).collect();
                let end: String = piece.text.chars().skip(chars - tail).collect();
                format!("{start}…{end}")
            }
        };
        Piece {
            changed: piece.changed,
            text,
        }
    };
    pieces.iter().enumerate().map(shorten).collect()
}

/// A carriage return that both sides end with says nothing.
fn without_shared_return(line: &LineChange, pieces: &[Piece]) -> Vec<Piece> {
    let ends = |side: &Option<Side>| {
        let piece = side.as_ref().and_then(|side| side.pieces.last());
        piece.is_some_and(|piece| !piece.changed && piece.text.ends_with('\r'))
    };
    let mut pieces = pieces.to_vec();
    if ends(&line.old)
        && ends(&line.new)
        && let Some(last) = pieces.last_mut()
    {
        last.text = last.text.trim_end_matches('\r').to_string();
    }
    pieces
}

/// Pieces as harmless inks. Blanks are shown where they are what differs.
fn inks(pieces: &[Piece], same: Option<Tone>, changed: Option<Tone>) -> Vec<Ink> {
    let mut column = 0;
    let mut out = Vec::with_capacity(pieces.len());
    let is_context = changed.is_none();
    for piece in pieces {
        let text = match is_context {
            true => piece.text.strip_suffix('\r').unwrap_or(&piece.text),
            false => &piece.text,
        };
        let is_marked = piece.changed && !is_context;
        let blanks = match is_marked && (is_invisible(text) || text.ends_with('\r')) {
            true => Blanks::Shown,
            false => Blanks::Wide,
        };
        let mut text = harmless(text, column, blanks);
        if is_marked && !text.is_empty() && text.chars().all(|c| c == ' ') {
            text = "·".repeat(text.len());
        }
        column += width(&text);
        out.push(Ink::of(text, if piece.changed { changed } else { same }));
    }
    out
}

/// Pieces on one row, for a value.
pub(super) fn value_rows(
    pieces: &[Piece],
    is_old: bool,
    has_pair: bool,
    columns: usize,
) -> Vec<Vec<Ink>> {
    let side = Side {
        number: 0,
        pieces: pieces.to_vec(),
    };
    let line = LineChange {
        old: (is_old || has_pair).then(|| side.clone()),
        new: (!is_old || has_pair).then(|| side.clone()),
        same: false,
    };
    rows_of(
        &side,
        &line,
        if is_old { Edge::Old } else { Edge::New },
        columns,
    )
}
