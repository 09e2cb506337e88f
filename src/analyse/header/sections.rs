//! The sections of a text with headings.
//!
//! **Takes** a text. **Gives** its Markdown headings, and what became of the sections between two texts. **Never** takes a comment
//! in fenced code for a heading.

use std::collections::HashMap;

use memchr::memmem;

use super::lines::count_lines;
use super::order;
use super::shown::{shortened, shown};
use crate::analyse::answer::{SectionChange, SectionFate};

/// Longest heading that is printed.
const LONGEST: usize = 120;

/// A heading, and the text up to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'t> {
    /// Where its heading's line begins.
    pub(super) start: usize,
    heading: &'t [u8],
    body: &'t [u8],
}

impl Section<'_> {
    pub(super) fn heading(&self) -> String {
        shortened(&shown(self.heading), LONGEST)
    }
}

/// The sections of a text, in order; what stands before the first heading is none.
pub(super) fn sections(text: &[u8]) -> Vec<Section<'_>> {
    let mut starts = headings(text);
    starts.push(text.len());
    starts
        .windows(2)
        .filter_map(|pair| {
            let [start, end] = *pair else { return None };
            let all = text.get(start..end)?;
            let cut = memchr::memchr(b'\n', all).unwrap_or(all.len());
            let heading = all.get(..cut)?.trim_ascii_end();
            Some(Section {
                start,
                heading,
                body: all.get(cut..)?,
            })
        })
        .collect()
}

/// Where the lines with headings begin.
fn headings(text: &[u8]) -> Vec<usize> {
    let starts = |needle: &[u8]| -> Vec<usize> {
        let first = text.starts_with(needle.get(1..).unwrap_or_default());
        let rest = memmem::find_iter(text, needle).map(|at| at + 1);
        first.then_some(0).into_iter().chain(rest).collect()
    };
    let marks = starts(b"\n#");
    if marks.is_empty() {
        return marks;
    }
    let fences = starts(b"\n```");
    let is_heading = |at: &usize| {
        let line = text.get(*at..).unwrap_or_default();
        let level = line.iter().take_while(|byte| **byte == b'#').count();
        let is_fenced = fences.partition_point(|fence| fence < at) % 2 == 1;
        level <= 6 && line.get(level) == Some(&b' ') && !is_fenced
    };
    marks.into_iter().filter(is_heading).collect()
}

/// The section that holds a byte.
pub(super) fn section_at<'s, 't>(
    sections: &'s [Section<'t>],
    at: usize,
) -> Option<&'s Section<'t>> {
    let behind = sections.partition_point(|section| section.start <= at);
    sections.get(behind.checked_sub(1)?)
}

/// What became of the sections. Equal headings are told apart by their order.
pub(super) fn compare(old: &[Section<'_>], new: &[Section<'_>]) -> Vec<SectionChange> {
    let mut places: HashMap<(&[u8], usize), usize> = HashMap::new();
    for (at, key) in keyed(old).enumerate() {
        places.insert(key, at);
    }
    let found: Vec<Option<usize>> = keyed(new).map(|key| places.remove(&key)).collect();
    let positions: Vec<usize> = found.iter().flatten().copied().collect();
    let mut moved = order::moved(&positions).into_iter();
    let mut changes = Vec::new();
    let mut is_left = vec![true; old.len()];
    for (section, place) in new.iter().zip(&found) {
        let Some(place) = *place else {
            changes.push(change(section, SectionFate::Added));
            continue;
        };
        if let Some(left) = is_left.get_mut(place) {
            *left = false;
        }
        let has_moved = moved.next() == Some(true);
        // Blanks between sections are nobody's.
        let body = |section: &Section<'_>| section.body.trim_ascii_end().to_vec();
        if old.get(place).is_some_and(|old| body(old) != body(section)) {
            changes.push(change(section, SectionFate::Changed));
        } else if has_moved {
            changes.push(change(section, SectionFate::Moved));
        }
    }
    let gone = old.iter().zip(is_left).filter(|(_, left)| *left);
    changes.extend(gone.map(|(section, _)| change(section, SectionFate::Removed)));
    changes
}

fn change(section: &Section<'_>, fate: SectionFate) -> SectionChange {
    SectionChange {
        heading: section.heading(),
        fate,
        lines: count_lines(section.body.trim_ascii()) as u64 + 1,
    }
}

/// Each section's heading, and how many of the same stand before it.
fn keyed<'t>(sections: &[Section<'t>]) -> impl Iterator<Item = (&'t [u8], usize)> {
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    sections.iter().map(move |section| {
        let count = seen.entry(section.heading).or_default();
        *count += 1;
        (section.heading, *count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(old: &str, new: &str) -> Vec<(String, SectionFate)> {
        compare(&sections(old.as_bytes()), &sections(new.as_bytes()))
            .into_iter()
            .map(|change| (change.heading, change.fate))
            .collect()
    }

    #[test]
    fn headings_are_markdown_outside_code() {
        let text = b"# A\nx\n```\n# not\n```\n## B\n#no\n####### no\n";
        let found = sections(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].heading(), "## B");
        assert_eq!(
            section_at(&found, 7).map(Section::heading),
            Some("# A".into())
        );
        assert!(section_at(&sections(b"x\n# A"), 0).is_none());
    }

    #[test]
    fn sections_come_go_change_and_move() {
        let old = "# A\n1\n# B\n2\n# C\n3\n# C\n4";
        let new = "# C\n3\n# A\n1\n# D\n# C\n5";
        assert_eq!(
            fates(old, new),
            [
                ("# C".into(), SectionFate::Moved),
                ("# D".into(), SectionFate::Added),
                ("# C".into(), SectionFate::Changed),
                ("# B".into(), SectionFate::Removed),
            ]
        );
    }
}
