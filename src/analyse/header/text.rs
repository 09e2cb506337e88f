//! What differs between two texts.
//!
//! **Takes** decoded text. **Gives** [`TextChange`]: hunks with the words that differ, and sections. **Never** takes longer than its
//! limits allow: then it is coarser, and says so.

use std::ops::Range;

use super::limits::Limits;
use super::lines::{self, Block, LineDiff, Window};
use super::sections::{self, Section};
use super::words;
use crate::analyse::answer::{Coarse, Hunk, LineChange, Side, TextChange, TextSize};

/// A compared text.
#[derive(Debug)]
pub(super) struct Compared {
    pub(super) change: TextChange,
    /// The blocks of lines in which it differs; none where there are too many to follow.
    pub(super) blocks: Vec<Edit>,
}

/// A block of lines that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
    /// Where as many lines came as went: each of them before and after.
    pub(super) lines: Vec<(Vec<u8>, Vec<u8>)>,
    /// The heading it stands under.
    pub(super) section: Option<String>,
}

/// Most blocks, and most lines of one, that are followed over time.
const FOLLOWED: (usize, usize) = (64, 16);

/// Compares two texts. Equal ones are found equal by their bytes.
pub(super) fn compare(old: &[u8], new: &[u8], limits: &Limits) -> Option<Compared> {
    if old == new {
        return None;
    }
    let diff = lines::diff(old, new, limits);
    let (old_sections, new_sections) = (sections::sections(old), sections::sections(new));
    let mut hunks = Hunks {
        diff: &diff,
        sections: &new_sections,
        text: new,
        limits,
        left: limits.lines,
        left_out: 0,
        coarse: diff.coarse,
    };
    let found = hunks.all();
    let (left_out, coarse) = (hunks.left_out, hunks.coarse);
    let count = |range: fn(&Block) -> &Range<usize>| -> u64 {
        diff.blocks
            .iter()
            .map(|block| range(block).len() as u64)
            .sum()
    };
    let change = TextChange {
        old: size(old, &diff.old),
        new: size(new, &diff.new),
        same_start: diff.same_start as u64,
        removed: count(|block| &block.old),
        added: count(|block| &block.new),
        hunks: found,
        left_out,
        sections: sections::compare(&old_sections, &new_sections),
        coarse,
    };
    Some(Compared {
        change,
        blocks: hunks.edits(),
    })
}

fn size(text: &[u8], window: &Window<'_>) -> TextSize {
    TextSize {
        bytes: text.len() as u64,
        lines: window.total as u64,
    }
}

/// Puts blocks with their context together.
struct Hunks<'d, 't> {
    diff: &'d LineDiff<'t>,
    sections: &'d [Section<'t>],
    text: &'t [u8],
    limits: &'d Limits,
    /// How many lines may still be shown.
    left: usize,
    left_out: u64,
    coarse: Option<Coarse>,
}

impl Hunks<'_, '_> {
    fn all(&mut self) -> Vec<Hunk> {
        let near = 2 * self.limits.context;
        let groups = self
            .diff
            .blocks
            .chunk_by(|a, b| b.new.start - a.new.end <= near);
        groups.map(|group| self.hunk(group)).collect()
    }

    fn hunk(&mut self, group: &[Block]) -> Hunk {
        let mut lines = Vec::new();
        let mut from = None;
        for block in group {
            match from {
                None => self.before(block, &mut lines),
                Some((old, new)) => self.between(old..block.old.start, new, &mut lines),
            }
            self.block(block, &mut lines);
            from = Some((block.old.end, block.new.end));
        }
        if let Some((old, new)) = from {
            self.after(old, new, &mut lines);
        }
        Hunk {
            section: group.first().and_then(|block| self.section(block)),
            lines,
        }
    }

    fn section(&self, block: &Block) -> Option<String> {
        let at = self.offset(block.new.start)?;
        sections::section_at(self.sections, at).map(Section::heading)
    }

    fn edits(&self) -> Vec<Edit> {
        if self.diff.blocks.len() > FOLLOWED.0 {
            return Vec::new();
        }
        let edit = |block: &Block| {
            let is_followed = block.old.len() == block.new.len() && block.old.len() <= FOLLOWED.1;
            let pairs = block.old.clone().zip(block.new.clone());
            let pairs = pairs.filter_map(|(old, new)| {
                let (old, new) = (self.diff.old.line(old)?, self.diff.new.line(new)?);
                Some((old.to_vec(), new.to_vec()))
            });
            Edit {
                old: block.old.clone(),
                new: block.new.clone(),
                lines: if is_followed {
                    pairs.collect()
                } else {
                    Vec::new()
                },
                section: self.section(block),
            }
        };
        self.diff.blocks.iter().map(edit).collect()
    }

    /// Where a line of the later text begins.
    fn offset(&self, number: usize) -> Option<usize> {
        let line = self.diff.new.line(number)?;
        Some(line.as_ptr() as usize - self.text.as_ptr() as usize)
    }

    fn before(&self, block: &Block, out: &mut Vec<LineChange>) {
        let in_window = block.old.start - self.diff.old.first();
        let count = self.limits.context;
        let shift = |old: usize| block.new.start - (block.old.start - old);
        if in_window < count {
            for (number, line) in self.diff.old.before(count - in_window) {
                out.push(context(number, shift(number), line));
            }
        }
        let start = block.old.start - in_window.min(count);
        self.between(start..block.old.start, shift(start), out);
    }

    fn after(&self, old: usize, new: usize, out: &mut Vec<LineChange>) {
        let count = self.limits.context;
        let in_window = (self.diff.old.behind() - old).min(count);
        self.between(old..old + in_window, new, out);
        for (number, line) in self.diff.old.after(count - in_window) {
            out.push(context(number, new + (number - old), line));
        }
    }

    /// Lines of the window that are the same.
    fn between(&self, old: Range<usize>, new: usize, out: &mut Vec<LineChange>) {
        for (at, number) in old.enumerate() {
            if let Some(line) = self.diff.old.line(number) {
                out.push(context(number, new + at, line));
            }
        }
    }

    fn block(&mut self, block: &Block, out: &mut Vec<LineChange>) {
        let size = block.old.len().max(block.new.len());
        if size > self.left {
            self.left_out += (block.old.len() + block.new.len()) as u64;
            return;
        }
        self.left -= size;
        let old = self.lines_of(&self.diff.old, &block.old);
        let new = self.lines_of(&self.diff.new, &block.new);
        let mut at = (0, 0);
        for (i, j) in pairs(&old, &new) {
            self.alone(
                &old,
                at.0..i,
                block.old.start,
                &new,
                at.1..j,
                block.new.start,
                out,
            );
            let (Some(a), Some(b)) = (old.get(i), new.get(j)) else {
                continue;
            };
            let (a, b, coarse) = words::pieces(a, b, self.limits);
            self.coarse = self.coarse.or(coarse);
            out.push(LineChange {
                old: Some(side(block.old.start + i, a)),
                new: Some(side(block.new.start + j, b)),
                same: false,
            });
            at = (i + 1, j + 1);
        }
        let rest = (at.0..old.len(), at.1..new.len());
        self.alone(
            &old,
            rest.0,
            block.old.start,
            &new,
            rest.1,
            block.new.start,
            out,
        );
    }

    fn lines_of<'w>(&self, window: &Window<'w>, range: &Range<usize>) -> Vec<&'w [u8]> {
        range
            .clone()
            .filter_map(|number| window.line(number))
            .collect()
    }

    /// Lines that have no counterpart, side by side as they come.
    #[expect(clippy::too_many_arguments, reason = "two sides of three each")]
    fn alone(
        &self,
        old: &[&[u8]],
        olds: Range<usize>,
        old_start: usize,
        new: &[&[u8]],
        news: Range<usize>,
        new_start: usize,
        out: &mut Vec<LineChange>,
    ) {
        let one = |lines: &[&[u8]], at: usize, start: usize| {
            lines
                .get(at)
                .map(|line| side(start + at, words::whole(line, true)))
        };
        for i in olds {
            out.push(LineChange {
                old: one(old, i, old_start),
                new: None,
                same: false,
            });
        }
        for j in news {
            out.push(LineChange {
                old: None,
                new: one(new, j, new_start),
                same: false,
            });
        }
    }
}

fn side(number: usize, pieces: Vec<crate::analyse::answer::Piece>) -> Side {
    Side {
        number: number as u64 + 1,
        pieces,
    }
}

fn context(old: usize, new: usize, line: &[u8]) -> LineChange {
    let pieces = words::whole(line, false);
    LineChange {
        old: Some(side(old, pieces.clone())),
        new: Some(side(new, pieces)),
        same: true,
    }
}

/// Least likeness, in thousandths, of two lines that are one line before and after.
const ALIKE: u32 = 400;
/// Largest block, in pairs of lines, whose pairs are searched.
const SEARCHED: usize = 4_096;

/// Which lines of a block are one line before and after: pairs in order.
fn pairs(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    if old.len() * new.len() > SEARCHED {
        let same = old.len() == new.len();
        return (0..if same { old.len() } else { 0 })
            .filter(|at| {
                let pair = old.get(*at).zip(new.get(*at));
                pair.is_some_and(|(a, b)| words::likeness(a, b) >= ALIKE)
            })
            .map(|at| (at, at))
            .collect();
    }
    best_pairs(old, new)
}

/// The pairs, in order, that are most alike together.
fn best_pairs(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let likeness: Vec<u32> = old
        .iter()
        .flat_map(|a| new.iter().map(|b| words::likeness(a, b)))
        .map(|likeness| if likeness >= ALIKE { likeness } else { 0 })
        .collect();
    let alike = |i: usize, j: usize| likeness.get(i * new.len() + j).copied().unwrap_or(0);
    // best[i][j]: the most that lines from i and j on can have in common.
    let mut best = vec![0_u32; (old.len() + 1) * width];
    let at = |best: &[u32], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let paired = match alike(i, j) {
                0 => 0,
                likeness => likeness + at(&best, i + 1, j + 1),
            };
            let most = paired.max(at(&best, i + 1, j)).max(at(&best, i, j + 1));
            if let Some(slot) = best.get_mut(i * width + j) {
                *slot = most;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < old.len() && j < new.len() {
        let here = at(&best, i, j);
        if alike(i, j) > 0 && here == alike(i, j) + at(&best, i + 1, j + 1) {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == at(&best, i + 1, j) {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::answer::SectionFate;

    fn text(side: &Option<Side>) -> String {
        side.iter()
            .flat_map(|side| &side.pieces)
            .map(|piece| match piece.changed {
                true => format!("[{}]", piece.text),
                false => piece.text.clone(),
            })
            .collect()
    }

    fn drawn(change: &TextChange) -> Vec<String> {
        let draw = |line: &LineChange| match (&line.old, &line.new) {
            _ if line.same => format!(" {}", text(&line.old)),
            (Some(_), Some(_)) => format!("{} → {}", text(&line.old), text(&line.new)),
            (Some(_), None) => format!("-{}", text(&line.old)),
            _ => format!("+{}", text(&line.new)),
        };
        change
            .hunks
            .iter()
            .flat_map(|hunk| hunk.lines.iter().map(draw))
            .collect()
    }

    fn changed(old: &str, new: &str) -> TextChange {
        compare(old.as_bytes(), new.as_bytes(), &Limits::default())
            .expect("they differ")
            .change
    }

    #[test]
    fn a_changed_word_is_marked_in_its_line_with_context_around_it() {
        let change = changed("a\n\nnow 1\n\nz", "a\n\nnow 2\n\nz");
        assert_eq!(drawn(&change), [" a", " ", "now [1] → now [2]", " ", " z"]);
        assert_eq!((change.added, change.removed), (1, 1));
        assert_eq!(change.same_start, 7);
        let lines = &change.hunks[0].lines;
        assert_eq!(lines[2].old.as_ref().map(|side| side.number), Some(3));
        assert_eq!(lines[4].new.as_ref().map(|side| side.number), Some(5));
    }

    #[test]
    fn far_differences_are_hunks_of_their_own() {
        let body: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
        let mut other = body.clone();
        other[5] = "line five".into();
        other.insert(30, "new".into());
        let change = changed(&body.join("\n"), &other.join("\n"));
        assert_eq!(change.hunks.len(), 2);
        assert_eq!(change.hunks[0].lines.len(), 7);
        let last = &change.hunks[1].lines;
        assert_eq!(last[0].old.as_ref().map(|side| side.number), Some(28));
        assert_eq!(
            last.last()
                .and_then(|line| line.new.as_ref())
                .map(|side| side.number),
            Some(34)
        );
    }

    #[test]
    fn lines_pair_by_likeness_not_by_place() {
        let change = changed("the quick fox\nzzz", "new line\nthe quick red fox\nzzz");
        assert_eq!(
            drawn(&change),
            ["+[new line]", "the quick fox → the quick [red ]fox", " zzz"]
        );
    }

    #[test]
    fn text_that_comes_or_goes_whole_is_one_side() {
        let change = changed("", "a\nb");
        assert_eq!((change.added, change.removed), (2, 0));
        assert_eq!(change.old, TextSize::default());
        let change = changed("a", "");
        assert_eq!((change.added, change.removed), (0, 1));
    }

    #[test]
    fn the_section_of_a_hunk_is_named() {
        let change = changed("# Rules\n\na", "# Rules\n\nb");
        assert_eq!(change.hunks[0].section.as_deref(), Some("# Rules"));
        assert_eq!(change.sections[0].fate, SectionFate::Changed);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a deadline needs an instant")]
    fn past_the_deadline_the_answer_is_coarser_and_says_so() {
        let deadline = crate::analyse::header::Deadline {
            at: std::time::Instant::now(),
            is_past: |_| true,
        };
        let limits = Limits {
            deadline: Some(deadline),
            ..Limits::default()
        };
        let found = compare(b"a\nb c d\ne", b"a\nb x d\ne", &limits).expect("they differ");
        assert_eq!(found.change.coarse, Some(Coarse::Deadline));
    }

    #[test]
    fn what_exceeds_the_limit_is_counted() {
        let limits = Limits {
            lines: 1,
            ..Limits::default()
        };
        let found = compare(b"a\n1\n2\n3", b"a\n4\n5\n6", &limits).expect("they differ");
        assert_eq!(found.change.left_out, 6);
    }
}
