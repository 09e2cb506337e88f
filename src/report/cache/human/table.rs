//! Tables without lines, each row in a tone.
//!
//! **Takes** cells that are harmless already. **Gives** aligned text, indented by two. **Never** breaks a cell: a column that
//! is too wide is cut, the last one first.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::super::super::Look;
use super::super::super::columns::{cut_end, cut_start, width};
use super::super::super::paint::Tone;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Text.
    Left,
    /// A name whose end tells most: cut at its beginning.
    Name,
    /// Numbers.
    Right,
}

/// Columns to which text is cut before a column is left out.
const NARROWEST: usize = 6;

/// Rows with their tones.
#[derive(Debug)]
pub(super) struct Rows {
    sides: Vec<Side>,
    rows: Vec<(Vec<String>, Option<Tone>)>,
}

/// Columns between two columns.
const GAP: usize = 2;

impl Rows {
    /// A table that begins with its heading.
    pub(super) fn headed(columns: &[(&str, Side)]) -> Rows {
        let names = columns.iter().map(|(name, _)| (*name).to_string());
        Rows {
            sides: columns.iter().map(|(_, side)| *side).collect(),
            rows: vec![(names.collect(), Some(Tone::Faint))],
        }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, cells: Vec<String>, tone: Option<Tone>) {
        self.rows.push((cells, tone));
    }

    /// How many rows there are, without the heading.
    pub(super) fn len(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// Drops columns in which nothing stands.
    pub(super) fn drop_empty(&mut self) {
        for at in (0..self.sides.len()).rev() {
            let is_empty =
                |(cells, _): &(Vec<String>, _)| cells.get(at).is_none_or(String::is_empty);
            if self.rows.iter().skip(1).all(is_empty) {
                self.drop_column(at);
            }
        }
    }

    fn drop_column(&mut self, at: usize) {
        self.sides.remove(at);
        for (cells, _) in &mut self.rows {
            if at < cells.len() {
                cells.remove(at);
            }
        }
    }

    /// Writes the table.
    pub(super) fn write(mut self, look: Look, out: &mut dyn Write) -> io::Result<()> {
        self.fit(look.width.saturating_sub(2));
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled);
        for (cells, _) in &self.rows {
            table.add_row(cells);
        }
        for (at, side) in self.sides.iter().enumerate() {
            if let Some(column) = table.column_mut(at) {
                column.set_padding((if at == 0 { 0 } else { GAP as u16 }, 0));
                column.set_cell_alignment(match side {
                    Side::Left | Side::Name => CellAlignment::Left,
                    Side::Right => CellAlignment::Right,
                });
            }
        }
        let text = table.to_string();
        for (line, (_, tone)) in text.lines().zip(&self.rows) {
            let line = line.trim_end();
            match tone {
                Some(tone) => writeln!(out, "  {}", look.paint.tone(*tone, line))?,
                None => writeln!(out, "  {line}")?,
            }
        }
        Ok(())
    }

    /// Cuts text columns, the last one first, until the table fits; where that is not enough, the last columns go.
    fn fit(&mut self, columns: usize) {
        for at in (0..self.sides.len()).rev() {
            let too_many = self.width().saturating_sub(columns);
            let cut = match self.sides.get(at) {
                _ if too_many == 0 => return,
                Some(Side::Left) => cut_end,
                Some(Side::Name) => cut_start,
                Some(Side::Right) | None => continue,
            };
            let wide = self.widths().get(at).copied().unwrap_or(0);
            let keep = wide.saturating_sub(too_many).max(NARROWEST);
            for (cells, _) in &mut self.rows {
                if let Some(cell) = cells.get_mut(at) {
                    *cell = cut(cell, keep);
                }
            }
        }
        while self.sides.len() > 1 && self.width() > columns {
            self.drop_column(self.sides.len() - 1);
        }
    }

    fn width(&self) -> usize {
        let wide = self.widths();
        wide.iter().sum::<usize>() + GAP * wide.len().saturating_sub(1)
    }

    fn widths(&self) -> Vec<usize> {
        let of_column = |at: usize| {
            let cells = self.rows.iter().filter_map(|(cells, _)| cells.get(at));
            cells.map(|cell| width(cell)).max().unwrap_or(0)
        };
        (0..self.sides.len()).map(of_column).collect()
    }
}
