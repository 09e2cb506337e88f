//! What comes back again and again over the headers of a log.
//!
//! **Takes** one change after the other. **Gives** what changed where and when, for `found`. **Never** compares texts again: a line is
//! followed by its number from change to change.

use std::collections::BTreeMap;

use super::text::Edit;
use super::values::Values;
use crate::analyse::answer::{HeaderChange, Part, Piece, Side};
use crate::line::Seq;

/// Most lines of a prompt that are followed at the same time.
const LINES: usize = 256;

/// A place that has changed.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) part: Part,
    pub(super) at: String,
    pub(super) section: Option<String>,
    pub(super) values: Values,
    /// Whether its values are summaries of all of a part.
    pub(super) is_whole: bool,
    pub(super) first: Seq,
    pub(super) last: Seq,
}

/// Follows what changes.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    pub(super) tracks: Vec<Track>,
    /// Lines of the prompt that are followed: their number now, and their track.
    lines: BTreeMap<usize, usize>,
    /// Other places by name.
    places: BTreeMap<(Part, String), usize>,
    /// The prompt as a whole.
    pub(super) prompt: Option<usize>,
    /// When tools came and went.
    pub(super) tools: BTreeMap<String, Vec<(usize, bool)>>,
    pub(super) orders: Vec<usize>,
    pub(super) rows: Vec<Row>,
}

/// What a row's change is made of.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) seq: Seq,
    /// Its places; all of its change, if `is_whole`.
    pub(super) tracks: Vec<usize>,
    pub(super) is_whole: bool,
    pub(super) tools: Vec<String>,
    pub(super) is_order: bool,
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
                let text = |pieces: &Option<Vec<Piece>>| -> String {
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
                let text = |side: &Option<Side>| -> String {
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
}

/// What stands for a prompt as a whole among its patterns: its size and its digest.
fn summary(prompt: &[u8]) -> Vec<u8> {
    let digest = xxhash_rust::xxh3::xxh3_128(prompt);
    format!("{} B ({:08x})", prompt.len(), digest >> 96).into_bytes()
}
