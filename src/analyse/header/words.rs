//! What differs within a line.
//!
//! **Takes** two lines. **Gives** both in pieces. **Never** splits a character.

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::limits::Limits;
use super::shown::shown;
use crate::analyse::answer::{Coarse, Piece};

/// The class of a character by its first byte: runs of word characters and of blanks are tokens, anything else is one alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Blank,
    /// A mark; and a character of a script that is written without blanks, or of none.
    Alone,
}

fn class(byte: u8) -> Class {
    match byte {
        b' ' | b'\t' => Class::Blank,
        // From U+3000 on, and beyond the first plane: CJK, Hangul, lone halves, symbols.
        0xE3..=0xED | 0xF0.. => Class::Alone,
        b'_' | 0x80.. => Class::Word,
        byte if byte.is_ascii_alphanumeric() => Class::Word,
        _ => Class::Alone,
    }
}

/// The tokens of a text, in order; together they are the text.
pub(super) fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let is_inside = |byte: &u8| byte & 0xC0 == 0x80;
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let class_of_first = class(*first);
        let mut end = 1 + behind.iter().take_while(|byte| is_inside(byte)).count();
        while class_of_first != Class::Alone
            && rest
                .get(end)
                .is_some_and(|byte| class(*byte) == class_of_first)
        {
            let behind = rest.get(end + 1..).unwrap_or_default();
            end += 1 + behind.iter().take_while(|byte| is_inside(byte)).count();
        }
        let (token, behind) = rest.split_at(end);
        out.push(token);
        rest = behind;
    }
    out
}

/// Both texts in pieces: what differs is marked.
pub(super) fn pieces(
    old: &[u8],
    new: &[u8],
    limits: &Limits,
) -> (Vec<Piece>, Vec<Piece>, Option<Coarse>) {
    if old == new {
        return (whole(old, false), whole(new, false), None);
    }
    let (a, b) = (tokens(old), tokens(new));
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a_rest, b_rest) = (a.get(start..).unwrap_or(&[]), b.get(start..).unwrap_or(&[]));
    let pairs = a_rest.iter().rev().zip(b_rest.iter().rev());
    let end = pairs.take_while(|(a, b)| a == b).count();
    let a_mid = a_rest.get(..a_rest.len() - end).unwrap_or(&[]);
    let b_mid = b_rest.get(..b_rest.len() - end).unwrap_or(&[]);
    let coarse = if a_mid.len() + b_mid.len() > limits.tokens {
        Some(Coarse::Size)
    } else {
        limits.passed()
    };
    let ops = if coarse.is_some() {
        vec![DiffOp::Replace {
            old_index: 0,
            old_len: a_mid.len(),
            new_index: 0,
            new_len: b_mid.len(),
        }]
    } else {
        joined(
            capture_diff_slices_deadline(Algorithm::Myers, a_mid, b_mid, limits.until()),
            a_mid,
        )
    };
    let mut sides = (Pieces::default(), Pieces::default());
    sides.0.push(a.get(..start).unwrap_or(&[]), false);
    sides.1.push(b.get(..start).unwrap_or(&[]), false);
    for op in ops {
        let changed = !matches!(op, DiffOp::Equal { .. });
        sides
            .0
            .push(a_mid.get(op.old_range()).unwrap_or(&[]), changed);
        sides
            .1
            .push(b_mid.get(op.new_range()).unwrap_or(&[]), changed);
    }
    sides
        .0
        .push(a_rest.get(a_mid.len()..).unwrap_or(&[]), false);
    sides
        .1
        .push(b_rest.get(b_mid.len()..).unwrap_or(&[]), false);
    (sides.0.finish(), sides.1.finish(), coarse)
}

/// Takes equal stretches without a word between two differences as part of them: single blanks and marks that happen to agree
/// only make confetti.
fn joined(ops: Vec<DiffOp>, old: &[&[u8]]) -> Vec<DiffOp> {
    let has_word = |op: &DiffOp| {
        let tokens = old.get(op.old_range()).unwrap_or(&[]);
        tokens.iter().any(|token| {
            token
                .first()
                .is_some_and(|byte| class(*byte) == Class::Word || *byte >= 0x80)
        })
    };
    let mut out: Vec<DiffOp> = Vec::with_capacity(ops.len());
    let last = ops.len().saturating_sub(1);
    for (at, op) in ops.into_iter().enumerate() {
        let is_equal = matches!(op, DiffOp::Equal { .. });
        let absorbed = is_equal && at > 0 && at < last && !has_word(&op);
        match out.last_mut() {
            Some(before) if (absorbed || !is_equal) && !matches!(before, DiffOp::Equal { .. }) => {
                *before = DiffOp::Replace {
                    old_index: before.old_range().start,
                    old_len: op.old_range().end - before.old_range().start,
                    new_index: before.new_range().start,
                    new_len: op.new_range().end - before.new_range().start,
                };
            }
            _ => out.push(op),
        }
    }
    out
}

/// A whole text as one piece; an empty one as none.
pub(super) fn whole(text: &[u8], changed: bool) -> Vec<Piece> {
    if text.is_empty() {
        return Vec::new();
    }
    vec![Piece {
        changed,
        text: shown(text),
    }]
}

#[derive(Default)]
struct Pieces {
    done: Vec<Piece>,
    bytes: Vec<u8>,
    changed: bool,
}

impl Pieces {
    fn push(&mut self, tokens: &[&[u8]], changed: bool) {
        if tokens.is_empty() {
            return;
        }
        if changed != self.changed {
            self.cut();
            self.changed = changed;
        }
        for token in tokens {
            self.bytes.extend_from_slice(token);
        }
    }

    fn cut(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.done.extend(whole(&bytes, self.changed));
    }

    fn finish(mut self) -> Vec<Piece> {
        self.cut();
        self.done
    }
}

/// How much two lines have in common, in thousandths: words by their bytes, wherever they stand.
pub(super) fn likeness(old: &[u8], new: &[u8]) -> u32 {
    let total = old.len() + new.len();
    if old == new || total == 0 {
        return 1000;
    }
    // Very long lines: what both begin and end with tells enough.
    if total > 64 * 1024 {
        let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let limit = old.len().min(new.len()) - start;
        let pairs = old.iter().rev().zip(new.iter().rev()).take(limit);
        let end = pairs.take_while(|(a, b)| a == b).count();
        return (2000 * (start + end) / total) as u32;
    }
    let sorted = |text| {
        let mut tokens = tokens(text);
        tokens.sort_unstable();
        tokens
    };
    let (a, b) = (sorted(old), sorted(new));
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                common += x.len();
                i += 1;
                j += 1;
            }
        }
    }
    (2000 * common / total) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(pieces: &[Piece]) -> String {
        pieces
            .iter()
            .map(|piece| match piece.changed {
                true => format!("[{}]", piece.text),
                false => piece.text.clone(),
            })
            .collect()
    }

    fn both(old: &str, new: &str) -> (String, String) {
        let (a, b, _) = pieces(old.as_bytes(), new.as_bytes(), &Limits::default());
        (marked(&a), marked(&b))
    }

    #[test]
    fn only_the_words_that_differ_are_marked() {
        assert_eq!(
            both("now 12:00:01, in /srv", "now 12:00:02, in /srv"),
            (
                "now 12:00:[01], in /srv".into(),
                "now 12:00:[02], in /srv".into()
            )
        );
        assert_eq!(
            both("use tabs", "never use tabs"),
            ("use tabs".into(), "[never ]use tabs".into())
        );
        assert_eq!(
            both("漢字 a", "漢語 a"),
            ("漢[字] a".into(), "漢[語] a".into())
        );
    }

    #[test]
    fn blanks_that_agree_do_not_split_a_difference() {
        assert_eq!(
            both("a one two b", "a three four b"),
            ("a [one two] b".into(), "a [three four] b".into())
        );
    }

    #[test]
    fn too_much_is_marked_whole() {
        let limits = Limits {
            tokens: 2,
            ..Limits::default()
        };
        let (a, _, coarse) = pieces(b"a b c d", b"a x c y", &limits);
        assert_eq!(
            (marked(&a).as_str(), coarse),
            ("a [b c d]", Some(Coarse::Size))
        );
    }

    #[test]
    fn likeness_counts_common_words() {
        assert_eq!(likeness(b"", b""), 1000);
        assert_eq!(likeness(b"abc", b"xyz"), 0);
        assert!(likeness(b"the quick brown fox", b"the quick red fox") > 700);
    }
}
