//! What comes back again and again over the headers of a log.
//!
//! **Takes** one change after the other. **Gives** patterns, and which of them explains each row. **Never** compares texts again: a
//! line is followed by its number from change to change.

use std::collections::BTreeMap;

use super::text::Edit;
use super::values::{Values, looks_like};
use crate::analyse::answer::{HeaderChange, Part, Pattern, PatternKind, Spot, Varying};
use crate::line::Seq;

/// Most lines of a prompt that are followed at the same time.
const LINES: usize = 256;

/// A place that has changed.
#[derive(Debug)]
struct Track {
    part: Part,
    at: String,
    section: Option<String>,
    values: Values,
    /// Whether its values are summaries of all of a part.
    is_whole: bool,
    first: Seq,
    last: Seq,
}

/// Follows what changes.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    tracks: Vec<Track>,
    /// Lines of the prompt that are followed: their number now, and their track.
    lines: BTreeMap<usize, usize>,
    /// Other places by name.
    places: BTreeMap<(Part, String), usize>,
    /// The prompt as a whole.
    prompt: Option<usize>,
    /// When tools came and went.
    tools: BTreeMap<String, Vec<(usize, bool)>>,
    orders: Vec<usize>,
    rows: Vec<Row>,
}

/// What a row's change is made of.
#[derive(Debug)]
struct Row {
    seq: Seq,
    /// Its places; all of its change, if `is_whole`.
    tracks: Vec<usize>,
    is_whole: bool,
    tools: Vec<String>,
    is_order: bool,
}

/// A change, and what is needed to follow it.
pub(super) struct Step<'c> {
    pub(super) seq: Seq,
    pub(super) change: &'c HeaderChange,
    pub(super) edits: &'c [Edit],
    pub(super) old_prompt: &'c [u8],
    pub(super) new_prompt: &'c [u8],
}

impl Tracker {
    /// Takes the next row; `None` for one without a change.
    pub(super) fn row(&mut self, seq: Seq, step: Option<&Step<'_>>) {
        self.rows.push(Row {
            seq,
            tracks: Vec::new(),
            is_whole: step.is_some(),
            tools: Vec::new(),
            is_order: false,
        });
        let Some(step) = step else { return };
        for member in &step.change.config {
            let value = |text: &Option<String>| text.as_deref().unwrap_or("–").as_bytes().to_vec();
            let (old, new) = (value(&member.old), value(&member.new));
            if old != new {
                self.place(step, Part::Config, member.name.clone(), &old, &new);
            }
        }
        if step.change.config_reordered {
            self.is_not_whole();
        }
        if step.change.system.is_some() {
            self.prompt(step);
            self.follow(step);
        }
        self.tool_list(step);
        self.prefix(step);
    }

    fn is_not_whole(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.is_whole = false;
        }
    }

    fn push(&mut self, track: usize, seq: Seq, text: &[u8]) {
        if let Some(track) = self.tracks.get_mut(track) {
            track.values.push(text);
            track.last = seq;
        }
        if let Some(row) = self.rows.last_mut() {
            row.tracks.push(track);
        }
    }

    fn begin(
        &mut self,
        step: &Step<'_>,
        part: Part,
        at: String,
        section: Option<String>,
        old: &[u8],
    ) -> usize {
        self.tracks.push(Track {
            part,
            at,
            section,
            values: Values::new(old),
            is_whole: false,
            first: step.seq,
            last: step.seq,
        });
        self.tracks.len() - 1
    }

    fn place(&mut self, step: &Step<'_>, part: Part, at: String, old: &[u8], new: &[u8]) {
        let key = (part, at.clone());
        let track = match self.places.get(&key) {
            Some(track) => *track,
            None => {
                let track = self.begin(step, part, at, None, old);
                self.places.insert(key, track);
                track
            }
        };
        self.push(track, step.seq, new);
    }

    /// The prompt as a whole: what no line explains may still come back.
    fn prompt(&mut self, step: &Step<'_>) {
        let track = match self.prompt {
            Some(track) => track,
            None => {
                let at = "prompt".to_string();
                let track = self.begin(step, Part::System, at, None, &summary(step.old_prompt));
                self.prompt = Some(track);
                track
            }
        };
        if let Some(track) = self.tracks.get_mut(track) {
            track.is_whole = true;
            track.values.push(&summary(step.new_prompt));
            track.last = step.seq;
        }
    }

    /// Follows lines through the edits of a prompt.
    fn follow(&mut self, step: &Step<'_>) {
        let followed = std::mem::take(&mut self.lines);
        if step.edits.is_empty() || step.edits.iter().any(|edit| edit.lines.is_empty()) {
            self.is_not_whole();
        }
        for (line, track) in &followed {
            let behind = step.edits.partition_point(|edit| edit.old.end <= *line);
            let inside = step
                .edits
                .get(behind)
                .filter(|edit| edit.old.contains(line));
            if inside.is_some() || step.edits.is_empty() {
                continue;
            }
            let before = behind.checked_sub(1).and_then(|at| step.edits.get(at));
            let moved = before.map_or(*line, |edit| edit.new.end + (line - edit.old.end));
            self.lines.insert(moved, *track);
        }
        for edit in step.edits {
            for (at, (old, new)) in edit.lines.iter().enumerate() {
                let (old_line, new_line) = (edit.old.start + at, edit.new.start + at);
                let track = match followed.get(&old_line) {
                    Some(track) => *track,
                    None if old == new || self.lines.len() >= LINES => continue,
                    None => {
                        let section = edit.section.clone();
                        self.begin(step, Part::System, String::new(), section, old)
                    }
                };
                if let Some(track) = self.tracks.get_mut(track) {
                    track.at = format!("line {}", new_line + 1);
                }
                if old != new {
                    self.push(track, step.seq, new);
                }
                self.lines.insert(new_line, track);
            }
        }
    }

    fn tool_list(&mut self, step: &Step<'_>) {
        let Some(tools) = &step.change.tools else {
            return;
        };
        let row = self.rows.len() - 1;
        for (list, came) in [(&tools.added, true), (&tools.removed, false)] {
            for tool in list {
                self.tools
                    .entry(tool.name.clone())
                    .or_default()
                    .push((row, came));
                if let Some(row) = self.rows.last_mut() {
                    row.tools.push(tool.name.clone());
                }
            }
        }
        if tools.order_only {
            self.orders.push(row);
            if let Some(row) = self.rows.last_mut() {
                row.is_order = true;
            }
        }
        for tool in &tools.changed {
            let text = tool.description.iter().flat_map(|text| &text.hunks);
            let mut sides = (String::new(), String::new());
            for line in text.flat_map(|hunk| &hunk.lines).filter(|line| !line.same) {
                for (side, out) in [(&line.old, &mut sides.0), (&line.new, &mut sides.1)] {
                    let pieces = side.iter().flat_map(|side| &side.pieces);
                    pieces.for_each(|piece| out.push_str(&piece.text));
                }
            }
            if tool.description.is_some() {
                let at = format!("{} /description", tool.name);
                self.place(
                    step,
                    Part::Tools,
                    at,
                    sides.0.as_bytes(),
                    sides.1.as_bytes(),
                );
            }
            for value in &tool.values {
                let text = |pieces: &Option<Vec<crate::analyse::answer::Piece>>| -> String {
                    let pieces = pieces.iter().flatten();
                    pieces.map(|piece| piece.text.as_str()).collect()
                };
                let at = format!("{} {}", tool.name, value.pointer);
                let (old, new) = (text(&value.old), text(&value.new));
                self.place(step, Part::Tools, at, old.as_bytes(), new.as_bytes());
            }
        }
    }

    fn prefix(&mut self, step: &Step<'_>) {
        let Some(prefix) = &step.change.prefix else {
            return;
        };
        for message in &prefix.messages {
            let (Some(_), Some(at), Some(text)) = (message.old, message.new, &message.text) else {
                self.is_not_whole();
                continue;
            };
            let lines = text.hunks.iter().flat_map(|hunk| &hunk.lines);
            for line in lines.filter(|line| !line.same) {
                let text = |side: &Option<crate::analyse::answer::Side>| -> String {
                    let pieces = side.iter().flat_map(|side| &side.pieces);
                    pieces.map(|piece| piece.text.as_str()).collect()
                };
                let number = line
                    .new
                    .as_ref()
                    .or(line.old.as_ref())
                    .map_or(0, |side| side.number);
                let at = format!("message {} line {number}", at + 1);
                let (old, new) = (text(&line.old), text(&line.new));
                self.place(step, Part::Prefix, at, old.as_bytes(), new.as_bytes());
            }
        }
    }

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

/// What stands for a prompt as a whole among its patterns: its size and its digest.
fn summary(prompt: &[u8]) -> Vec<u8> {
    let digest = xxhash_rust::xxh3::xxh3_128(prompt);
    format!("{} B ({:08x})", prompt.len(), digest >> 96).into_bytes()
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
