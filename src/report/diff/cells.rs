//! Text in the columns of a terminal.
//!
//! **Takes** hostile text in pieces. **Gives** rows of [`Ink`] that fit. **Never** lets a character through that a terminal acts on, and
//! never measures a wide one as narrow.

use std::fmt;

use unicode_width::UnicodeWidthChar;

use crate::report::columns::width;
use crate::report::paint::{Paint, Tone};
use crate::report::safe::{Safe, is_hostile};

/// Columns between tab stops.
const TAB: usize = 4;

/// Harmless text in one tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ink {
    pub(super) text: String,
    pub(super) tone: Option<Tone>,
}

impl Ink {
    /// Text of our own.
    pub(super) fn of(text: impl Into<String>, tone: Option<Tone>) -> Ink {
        Ink {
            text: text.into(),
            tone,
        }
    }

    pub(super) fn width(&self) -> usize {
        width(&self.text)
    }

    /// The ink as it is written.
    pub(super) fn on(&self, paint: Paint) -> impl fmt::Display {
        match self.tone {
            Some(tone) if !self.text.is_empty() => paint.tone(tone, &self.text).to_string(),
            _ => self.text.clone(),
        }
    }
}

/// How tabs and other characters without a look are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blanks {
    /// Tabs as blanks up to the next stop.
    Wide,
    /// All of them as escapes: they are what differs.
    Shown,
}

/// Makes one line of hostile text harmless. `column` is where it begins.
pub(super) fn harmless(text: &str, column: usize, blanks: Blanks) -> String {
    if blanks == Blanks::Shown || !text.contains('\t') {
        return Safe(text).to_string();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for (at, part) in text.split('\t').enumerate() {
        if at > 0 {
            let fill = TAB - (column + width(&out)) % TAB;
            out.extend(std::iter::repeat_n(' ', fill));
        }
        out.push_str(&Safe(part).to_string());
    }
    out
}

/// Whether a text would look like nothing, although it is there.
pub(super) fn is_invisible(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_hostile(c))
}

/// Breaks inks into rows of at most `columns`; at blanks where that is near.
pub(super) fn wrapped(inks: &[Ink], columns: usize) -> Vec<Vec<Ink>> {
    let columns = columns.max(8);
    let mut rows = vec![Vec::new()];
    let mut used = 0;
    for ink in inks {
        let mut rest = ink.text.as_str();
        while !rest.is_empty() {
            if used == 0 && rows.len() > 1 {
                rest = rest.trim_start_matches(' ');
            }
            let (head, tail) = taken(rest, columns - used, used == 0);
            let head = if tail.is_empty() {
                head
            } else {
                head.trim_end_matches(' ')
            };
            if !head.is_empty() {
                used += width(head);
                if let Some(row) = rows.last_mut() {
                    row.push(Ink::of(head, ink.tone));
                }
            }
            rest = tail;
            if !rest.is_empty() {
                rows.push(Vec::new());
                used = 0;
            }
        }
    }
    rows
}

/// The beginning of a text that fits into so many columns, and the rest. `must` takes a character even if it does not fit.
fn taken(text: &str, columns: usize, must: bool) -> (&str, &str) {
    let mut used = 0;
    let mut blank = None;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            let cut = match must {
                // A word that is longer than a row is cut.
                true => blank.filter(|blank| *blank * 2 >= at).unwrap_or(at),
                false => blank.unwrap_or(0),
            };
            let cut = if cut == 0 && must { c.len_utf8() } else { cut };
            return text.split_at(cut);
        }
        if c == ' ' {
            blank = Some(at + 1);
        }
    }
    (text, "")
}

/// Inks cut to `columns`, with an ellipsis where something is left out.
pub(super) fn fitted(inks: &[Ink], columns: usize) -> Vec<Ink> {
    if inks.iter().map(Ink::width).sum::<usize>() <= columns {
        return inks.to_vec();
    }
    let mut out = Vec::new();
    let mut left = columns.saturating_sub(1);
    for ink in inks {
        let mut used = 0;
        let fits = ink.text.char_indices().find(|(_, c)| {
            used += c.width().unwrap_or(0);
            used > left
        });
        let Some((cut, _)) = fits else {
            left -= ink.width();
            out.push(ink.clone());
            continue;
        };
        out.push(Ink::of(ink.text.split_at(cut).0, ink.tone));
        break;
    }
    out.push(Ink::of("…", Some(Tone::Faint)));
    out
}

/// A row with blanks behind it up to `columns`.
pub(super) fn padded(row: &[Ink], columns: usize, paint: Paint) -> String {
    let used: usize = row.iter().map(Ink::width).sum();
    let mut out: String = row.iter().map(|ink| ink.on(paint).to_string()).collect();
    out.extend(std::iter::repeat_n(' ', columns.saturating_sub(used)));
    out
}

/// A row as it is.
pub(super) fn plain(row: &[Ink], paint: Paint) -> String {
    padded(row, 0, paint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: &[Vec<Ink>]) -> Vec<String> {
        let text = |row: &Vec<Ink>| row.iter().map(|ink| ink.text.as_str()).collect();
        rows.iter().map(text).collect()
    }

    #[test]
    fn wide_characters_and_tabs_are_measured() {
        assert_eq!(width("漢字a"), 5);
        assert_eq!(harmless("a\tb\t漢", 0, Blanks::Wide), "a   b   漢");
        assert_eq!(harmless("\t", 2, Blanks::Wide), "  ");
        assert_eq!(harmless("a\t\u{202e}", 0, Blanks::Shown), "a\\t\\u{202e}");
    }

    #[test]
    fn rows_break_at_blanks_and_never_inside_a_character() {
        let rows = wrapped(&[Ink::of("one two three", None)], 9);
        assert_eq!(texts(&rows), ["one two", "three"]);
        let rows = wrapped(&[Ink::of("漢漢漢漢漢", None)], 8);
        assert_eq!(texts(&rows), ["漢漢漢漢", "漢"]);
        assert_eq!(texts(&wrapped(&[], 9)), [""]);
        let rows = wrapped(&[Ink::of("one two", None), Ink::of("  (three)", None)], 11);
        assert_eq!(texts(&rows), ["one two", "(three)"]);
    }

    #[test]
    fn what_does_not_fit_ends_with_an_ellipsis() {
        let row = fitted(&[Ink::of("abc", None), Ink::of("漢字", None)], 6);
        assert_eq!(texts(&[row]), ["abc漢…"]);
        let row = fitted(&[Ink::of("abc", None)], 3);
        assert_eq!(texts(&[row]), ["abc"]);
    }
}
