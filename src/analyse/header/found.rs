//! The patterns in what was followed over the headers of a log.
//!
//! **Takes** a [`Tracker`] that has seen all changes. **Gives** patterns, and for each row the one that explains it. **Never** calls
//! two edits of a sentence a pattern.

use std::collections::BTreeMap;

use super::patterns::{Row, Track, Tracker};
use super::values::looks_like;
use crate::analyse::answer::{Part, Pattern, PatternKind, Spot, Varying};
use crate::line::Seq;

impl Tracker {
    /// The patterns, by their first row, and for each row the one that explains all of it.
    pub(super) fn finish(self) -> (Vec<Pattern>, Vec<Option<usize>>) {
        let mut found: Vec<(Pattern, Vec<usize>)> = Vec::new();
        let mut has_lines = false;
        for (at, track) in self.tracks.iter().enumerate() {
            if Some(at) == self.prompt {
                continue;
            }
            if let Some(kind) = kind_of(track) {
                has_lines |= track.part == Part::System;
                found.push((pattern(track, kind), vec![at]));
            }
        }
        let whole = self.prompt.and_then(|at| self.tracks.get(at));
        if let Some(track) = whole.filter(|_| !has_lines)
            && let Some(kind @ PatternKind::Flap { .. }) = kind_of(track)
        {
            found.push((pattern(track, kind), Vec::new()));
        }
        let groups = self.tool_groups();
        found.extend(
            groups
                .iter()
                .map(|(pattern, _)| (pattern.clone(), Vec::new())),
        );
        found.extend(self.order_pattern().map(|pattern| (pattern, Vec::new())));
        found.sort_by_key(|(pattern, _)| (pattern.first, pattern.part));
        let explained = self
            .rows
            .iter()
            .map(|row| explanation(row, &found))
            .collect();
        (
            found.into_iter().map(|(pattern, _)| pattern).collect(),
            explained,
        )
    }

    /// Tools that come and go, those together that always do so together.
    fn tool_groups(&self) -> Vec<(Pattern, Vec<(usize, bool)>)> {
        let mut groups: BTreeMap<&[(usize, bool)], Vec<String>> = BTreeMap::new();
        for (name, toggles) in self.tools.iter().filter(|(_, toggles)| toggles.len() > 1) {
            groups.entry(toggles).or_default().push(name.clone());
        }
        let seq = |row: Option<&(usize, bool)>| {
            row.and_then(|(row, _)| self.rows.get(*row))
                .map_or(Seq(0), |row| row.seq)
        };
        let group = |(toggles, tools): (&[(usize, bool)], Vec<String>)| {
            let came = toggles.iter().filter(|(_, came)| *came).count() as u64;
            let pattern = Pattern {
                kind: PatternKind::ComeAndGo {
                    tools,
                    came,
                    went: toggles.len() as u64 - came,
                },
                part: Part::Tools,
                changes: toggles.len() as u64,
                first: seq(toggles.first()),
                last: seq(toggles.last()),
            };
            (pattern, toggles.to_vec())
        };
        groups.into_iter().map(group).collect()
    }

    fn order_pattern(&self) -> Option<Pattern> {
        let (first, last) = (self.orders.first()?, self.orders.last()?);
        Some(Pattern {
            kind: PatternKind::Order,
            part: Part::Tools,
            changes: self.orders.len() as u64,
            first: self.rows.get(*first)?.seq,
            last: self.rows.get(*last)?.seq,
        })
        .filter(|pattern| pattern.changes > 1)
    }
}

fn kind_of(track: &Track) -> Option<PatternKind> {
    let values = &track.values;
    if values.changes() < 2 {
        return None;
    }
    let (before, after, texts) = match track.is_whole {
        true => (String::new(), String::new(), values.texts()),
        false => values.varying(),
    };
    let spot = Spot {
        at: track.at.clone(),
        section: track.section.clone(),
        before,
        after,
        values: texts,
        distinct: values.distinct(),
    };
    if let Some(period) = values.period() {
        return Some(PatternKind::Flap { spot, period });
    }
    let varying = looks_like(&spot.values);
    // Two edits of one sentence are work on a prompt, not a value that varies.
    if varying == Varying::Text && values.changes() < 3 {
        return None;
    }
    Some(PatternKind::Volatile { spot, varying })
}

fn pattern(track: &Track, kind: PatternKind) -> Pattern {
    Pattern {
        kind,
        part: track.part,
        changes: track.values.changes(),
        first: track.first,
        last: track.last,
    }
}

/// The pattern that explains all of a row's change.
fn explanation(row: &Row, found: &[(Pattern, Vec<usize>)]) -> Option<usize> {
    let of_track = |track: &usize| found.iter().position(|(_, tracks)| tracks.contains(track));
    let of_tool = |name: &String| {
        found.iter().position(|(pattern, _)| {
            matches!(&pattern.kind, PatternKind::ComeAndGo { tools, .. } if tools.contains(name))
        })
    };
    let of_order = || {
        found
            .iter()
            .position(|(pattern, _)| pattern.kind == PatternKind::Order)
    };
    if !row.is_whole {
        return None;
    }
    let mut places: Vec<Option<usize>> = row.tracks.iter().map(of_track).collect();
    places.extend(row.tools.iter().map(of_tool));
    if row.is_order {
        places.push(of_order());
    }
    let all: Option<Vec<usize>> = places.into_iter().collect();
    all?.first().copied()
}
