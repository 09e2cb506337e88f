//! Which lines of two texts differ.
//!
//! **Takes** two texts that are not equal. **Gives** blocks of lines, by number. **Never** looks at what both begin and end with.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::limits::Limits;
use crate::analyse::answer::Coarse;

/// Lines of one text that stand where lines of the other stand. Numbers count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Where two texts differ.
#[derive(Debug)]
pub(super) struct LineDiff<'t> {
    /// Bytes that both begin with; a multiple of whole characters.
    pub(super) same_start: usize,
    /// The blocks, in order.
    pub(super) blocks: Vec<Block>,
    pub(super) coarse: Option<Coarse>,
    /// The lines between what both begin and end with.
    pub(super) old: Window<'t>,
    pub(super) new: Window<'t>,
}

/// The lines of a text in which a difference may stand, and those around them on demand.
#[derive(Debug)]
pub(super) struct Window<'t> {
    text: &'t [u8],
    /// Number of the first line.
    first: usize,
    lines: Vec<&'t [u8]>,
    start: usize,
    end: usize,
    /// Number of lines of the whole text.
    pub(super) total: usize,
}

/// Number of lines of a text; of an empty one none.
pub(super) fn count_lines(text: &[u8]) -> usize {
    if text.is_empty() {
        return 0;
    }
    memchr_iter(b'\n', text).count() + 1
}

fn split(text: &[u8], is_empty: bool) -> Vec<&[u8]> {
    if is_empty {
        return Vec::new();
    }
    text.split(|byte| *byte == b'\n').collect()
}

/// How many bytes two texts begin with alike.
pub(super) fn common_start(a: &[u8], b: &[u8]) -> usize {
    const STRIDE: usize = 64;
    let whole = a.chunks_exact(STRIDE).zip(b.chunks_exact(STRIDE));
    let skipped = whole.take_while(|(a, b)| a == b).count() * STRIDE;
    let rest = a.iter().zip(b).skip(skipped);
    skipped + rest.take_while(|(a, b)| a == b).count()
}

fn common_end(a: &[u8], b: &[u8]) -> usize {
    const STRIDE: usize = 64;
    let whole = a.rchunks_exact(STRIDE).zip(b.rchunks_exact(STRIDE));
    let skipped = whole.take_while(|(a, b)| a == b).count() * STRIDE;
    let rest = a.iter().rev().zip(b.iter().rev()).skip(skipped);
    skipped + rest.take_while(|(a, b)| a == b).count()
}

fn is_inside_character(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte & 0xC0 == 0x80)
}

/// Compares two texts by lines.
pub(super) fn diff<'t>(old: &'t [u8], new: &'t [u8], limits: &Limits) -> LineDiff<'t> {
    let bytes = common_start(old, new);
    let mut same_start = bytes;
    while same_start > 0
        && (is_inside_character(old.get(same_start)) || is_inside_character(new.get(same_start)))
    {
        same_start -= 1;
    }
    let start = memrchr(b'\n', old.get(..bytes).unwrap_or_default()).map_or(0, |at| at + 1);
    let (old_rest, new_rest) = (
        old.get(bytes..).unwrap_or_default(),
        new.get(bytes..).unwrap_or_default(),
    );
    let tail = common_end(old_rest, new_rest);
    // The line feed where the common end begins closes the last line that may differ.
    let cut = memchr(
        b'\n',
        old_rest.get(old_rest.len() - tail..).unwrap_or_default(),
    );
    let kept = cut.map_or(0, |cut| tail - cut);
    let window = |text: &'t [u8]| Window {
        text,
        first: memchr_iter(b'\n', text.get(..start).unwrap_or_default()).count(),
        lines: split(
            text.get(start..text.len() - kept).unwrap_or_default(),
            text.is_empty(),
        ),
        start,
        end: text.len() - kept,
        total: count_lines(text),
    };
    let (old, new) = (window(old), window(new));
    let ops =
        capture_diff_slices_deadline(Algorithm::Histogram, &old.lines, &new.lines, limits.until());
    let blocks = ops
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| Block {
            old: shifted(op.old_range(), old.first),
            new: shifted(op.new_range(), new.first),
        })
        .collect();
    LineDiff {
        same_start,
        blocks: merged(blocks),
        coarse: limits.passed(),
        old,
        new,
    }
}

fn shifted(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// Blocks that touch as one.
fn merged(blocks: Vec<Block>) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        match out.last_mut() {
            Some(last) if last.old.end == block.old.start && last.new.end == block.new.start => {
                last.old.end = block.old.end;
                last.new.end = block.new.end;
            }
            _ => out.push(block),
        }
    }
    out
}

impl<'t> Window<'t> {
    /// The line with this number, if it stands in the window.
    pub(super) fn line(&self, number: usize) -> Option<&'t [u8]> {
        self.lines.get(number.checked_sub(self.first)?).copied()
    }

    /// Up to `count` lines in front of the window, in order, with their numbers.
    pub(super) fn before(&self, count: usize) -> Vec<(usize, &'t [u8])> {
        let mut found = Vec::new();
        let mut rest = self.text.get(..self.start).unwrap_or_default();
        let mut number = self.first;
        while found.len() < count {
            let Some(body) = rest.strip_suffix(b"\n") else {
                break;
            };
            let at = memrchr(b'\n', body).map_or(0, |at| at + 1);
            number -= 1;
            found.push((number, body.get(at..).unwrap_or_default()));
            rest = body.get(..at).unwrap_or_default();
        }
        found.reverse();
        found
    }

    /// Up to `count` lines behind the window, with their numbers.
    pub(super) fn after(&self, count: usize) -> Vec<(usize, &'t [u8])> {
        let rest = self.text.get(self.end..).unwrap_or_default();
        let Some(rest) = rest.strip_prefix(b"\n") else {
            return Vec::new();
        };
        let number = self.first + self.lines.len();
        let lines = rest.split(|byte| *byte == b'\n').take(count);
        lines
            .enumerate()
            .map(|(at, line)| (number + at, line))
            .collect()
    }

    /// Number of the first line of the window.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Number behind the last line of the window.
    pub(super) fn behind(&self) -> usize {
        self.first + self.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
        diff(old.as_bytes(), new.as_bytes(), &Limits::default())
            .blocks
            .into_iter()
            .map(|block| (block.old, block.new))
            .collect()
    }

    #[test]
    fn blocks_are_whole_lines() {
        assert_eq!(blocks("a\nb\nc", "a\nx\nc"), [(1..2, 1..2)]);
        assert_eq!(blocks("a\nb\n", "a\nx\nb\n"), [(1..1, 1..2)]);
        assert_eq!(blocks("a", "a\nb"), [(1..1, 1..2)]);
        assert_eq!(blocks("a\n\nb", "a\nb"), [(1..2, 1..1)]);
        assert_eq!(blocks("a\nb", "a\nb\n"), [(2..2, 2..3)]);
        assert_eq!(blocks("", "a"), [(0..0, 0..1)]);
        assert_eq!(
            blocks("1\na\n2\nb\n3", "1\nx\n2\ny\n3"),
            [(1..2, 1..2), (3..4, 3..4)]
        );
    }

    #[test]
    fn the_first_difference_never_splits_a_character() {
        let diff = diff("aé".as_bytes(), "aè".as_bytes(), &Limits::default());
        assert_eq!(diff.same_start, 1);
    }

    #[test]
    fn lines_around_the_window_are_found() {
        let found = diff(
            b"0\n1\n2\n3\n4\n5\n6",
            b"0\n1\n2\nx\n4\n5\n6",
            &Limits::default(),
        );
        assert_eq!(found.old.before(2), [(1, &b"1"[..]), (2, b"2")]);
        assert_eq!(found.old.after(2), [(4, &b"4"[..]), (5, b"5")]);
        assert_eq!(found.old.after(9).len(), 3);
        assert_eq!(found.old.line(3), Some(&b"3"[..]));
        assert_eq!(found.old.total, 7);
    }

    #[test]
    fn common_ends_are_counted_over_strides() {
        let long = "x".repeat(1000);
        let (a, b) = (format!("{long}a{long}"), format!("{long}b{long}"));
        assert_eq!(common_start(a.as_bytes(), b.as_bytes()), 1000);
        assert_eq!(common_end(a.as_bytes(), b.as_bytes()), 1000);
        assert_eq!(common_start(b"abc", b"abc"), 3);
    }
}
