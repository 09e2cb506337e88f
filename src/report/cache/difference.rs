//! The two sides of a break, told apart where they differ.
//!
//! **Takes** two harmless texts. **Gives** what both begin and end with, and what lies between. **Never** cuts a character.

use super::super::columns::{cut_end, cut_start, first_columns, split, width};

/// One side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// What the other side begins with too.
    pub(super) start: String,
    /// What differs.
    pub(super) changed: String,
    /// What the other side ends with too.
    pub(super) end: String,
}

/// Both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// As it was.
    pub(super) before: Piece,
    /// As it is.
    pub(super) after: Piece,
}

impl Difference {
    /// Tells two texts apart, at the bounds of words.
    pub(super) fn of(before: &str, after: &str) -> Difference {
        let same = |one: char, other: char| one == other;
        let start: usize = before
            .chars()
            .zip(after.chars())
            .take_while(|(one, other)| same(*one, *other))
            .map(|(c, _)| c.len_utf8())
            .sum();
        let start = word_start(before, after, start);
        let rest = |text: &str| text.get(start..).unwrap_or_default().to_string();
        let (old, new) = (rest(before), rest(after));
        let end: usize = old
            .chars()
            .rev()
            .zip(new.chars().rev())
            .take_while(|(one, other)| same(*one, *other))
            .map(|(c, _)| c.len_utf8())
            .sum();
        let end = word_end(&old, &new, end);
        let piece = |text: &str| {
            let (head, rest) = text.split_at(start);
            let (changed, tail) = rest.split_at(rest.len() - end);
            Piece {
                start: head.into(),
                changed: changed.into(),
                end: tail.into(),
            }
        };
        Difference {
            before: piece(before),
            after: piece(after),
        }
    }
}

/// Where both texts' common beginning of `at` bytes ends, if no word is to be cut.
fn word_start(one: &str, other: &str, at: usize) -> usize {
    let (head, _) = split(one, at);
    let goes_on = |text: &str| {
        let (_, rest) = split(text, at);
        rest.starts_with(char::is_alphanumeric)
    };
    match goes_on(one) || goes_on(other) {
        true => head.trim_end_matches(char::is_alphanumeric).len(),
        false => at,
    }
}

/// The length of both texts' common end of `len` bytes, if no word is to be cut.
fn word_end(one: &str, other: &str, len: usize) -> usize {
    let (_, tail) = split(one, one.len() - len);
    let goes_on = |text: &str| {
        let (head, _) = split(text, text.len() - len);
        head.ends_with(char::is_alphanumeric)
    };
    match goes_on(one) || goes_on(other) {
        true => tail.trim_start_matches(char::is_alphanumeric).len(),
        false => len,
    }
}

impl Piece {
    /// Whether nothing stands on this side.
    pub(super) fn is_empty(&self) -> bool {
        self.start.is_empty() && self.changed.is_empty() && self.end.is_empty()
    }

    /// The side in at most `columns`, with what differs in view.
    pub(super) fn cut(&self, columns: usize) -> Piece {
        let start = cut_start(&self.start, columns / 3);
        let left = columns.saturating_sub(width(&start));
        let changed = cut_end(&self.changed, left);
        let left = left.saturating_sub(width(&changed));
        let end = match first_columns(&self.end, left) {
            (_, false) => self.end.clone(),
            (_, true) => cut_end(&self.end, left),
        };
        Piece {
            start,
            changed,
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_what_lies_between() {
        let difference = Difference::of("at 09:13:55, é", "at 09:14:02, é");
        assert_eq!(difference.before.start, "at 09:");
        assert_eq!(difference.before.changed, "13:55");
        assert_eq!(difference.after.changed, "14:02");
        assert_eq!(difference.after.end, ", é");
        let added = Difference::of("a, a", "a, a, a");
        assert_eq!(added.before.changed, "");
        assert_eq!(added.after.changed, ", a");
        let words = Difference::of("(reads)", "(runs)");
        assert_eq!(words.before.changed, "reads");
        assert_eq!(words.after.end, ")");
    }

    #[test]
    fn what_differs_stays_in_view() {
        let before = format!("{} X {}", "a ".repeat(50), "b ".repeat(50));
        let after = before.replace('X', "漢字");
        for piece in [
            Difference::of(&before, &after).before,
            Difference::of(&before, &after).after,
        ] {
            let cut = piece.cut(30);
            assert_eq!(cut.changed, piece.changed);
            assert!(width(&cut.start) + width(&cut.changed) + width(&cut.end) <= 30);
            assert!(cut.start.starts_with('…') && cut.end.ends_with('…'));
        }
    }
}
