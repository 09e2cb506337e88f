//! The headers of one log in order.
//!
//! **Takes** nothing. **Gives** [`Timeline`] and its rows. **Never** borrows from a log.

use super::change::{HeaderChange, Part, SystemMove};
use super::pattern::Pattern;
use crate::line::{LineNo, Millis, Seq};

/// The headers of a log, in the order of its events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// One row for each snapshot, and for each change of the prompt without one.
    pub rows: Vec<HeaderRow>,
    /// What comes back again and again.
    pub patterns: Vec<Pattern>,
    /// How many different headers there are.
    pub distinct: u64,
    /// How many requests the log holds.
    pub requests: u64,
    /// How many rows were left out because they are of other parts.
    pub left_out: u64,
}

impl Timeline {
    /// Whether any header differs from the one before, or is said to.
    pub fn has_changes(&self) -> bool {
        let stays = [Verdict::Initial, Verdict::Same, Verdict::Hidden];
        self.rows.iter().any(|row| !stays.contains(&row.verdict))
    }

    /// Drops every text of the log but names.
    pub fn hide_text(&mut self) {
        let changes = self.rows.iter_mut().filter_map(|row| row.change.as_mut());
        changes.for_each(HeaderChange::hide_text);
        for pattern in &mut self.patterns {
            pattern.kind.hide_text();
        }
    }

    /// Keeps what is of some parts only: other changes, and rows and patterns that are of nothing else.
    pub fn keep_parts(&mut self, parts: &[Part]) {
        let before = self.rows.len();
        self.rows.retain_mut(|row| {
            let Some(change) = &mut row.change else {
                return true;
            };
            let was_empty = change.is_empty();
            change.keep_parts(parts);
            was_empty || !change.is_empty()
        });
        self.left_out += (before - self.rows.len()) as u64;
        let mut place = Vec::new();
        let mut kept = Vec::new();
        for pattern in std::mem::take(&mut self.patterns) {
            let is_kept = parts.contains(&pattern.part);
            place.push(is_kept.then_some(kept.len()));
            kept.extend(is_kept.then_some(pattern));
        }
        self.patterns = kept;
        for row in &mut self.rows {
            row.pattern = row.pattern.and_then(|at| place.get(at).copied().flatten());
        }
    }
}

/// A header that comes into force.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderRow {
    /// The snapshot's event; without one, the request's boundary.
    pub seq: Seq,
    /// The line of the snapshot; without one, of the message that changed the prompt.
    pub line: LineNo,
    /// Its turn.
    pub turn: Option<u64>,
    /// Its step.
    pub step: Option<u64>,
    /// The attempt it is for, from 1; absent where no request follows.
    pub attempt: Option<u64>,
    /// When.
    pub time: Millis,
    /// Milliseconds since the row before; negative where the clock was set back.
    pub since: Option<i64>,
    /// Why the snapshot was written; absent where the prompt changed without one.
    pub reason: Option<Reason>,
    /// Whether it starts a new series of requests.
    pub starts_series: bool,
    /// Which loop instance wrote it, from 0.
    pub instance: u32,
    /// Whether the parent session wrote it.
    pub inherited: bool,
    /// What it amounts to.
    pub verdict: Verdict,
    /// What happened to the prompt on the surface, and to the tools by messages (version 3 and later).
    pub moves: Vec<SystemMove>,
    /// Parts that are placeholders: they cannot be compared.
    pub redacted: Vec<Part>,
    /// How large its parts are.
    pub size: HeaderSize,
    /// What differs from the row before.
    pub change: Option<HeaderChange>,
    /// An earlier row with the same header, where the row before has another one.
    pub returns_to: Option<Seq>,
    /// The pattern that explains the whole change; an index into [`Timeline::patterns`].
    pub pattern: Option<usize>,
}

/// Why a snapshot was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The first of a log.
    Initial,
    /// The first after a load.
    Resume,
    /// It changed.
    Change,
    /// A new series of requests starts.
    Series,
    /// No known word.
    Other,
}

impl Reason {
    /// The harness's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Initial => "initial",
            Reason::Resume => "resume",
            Reason::Change => "change",
            Reason::Series => "series",
            Reason::Other => "other",
        }
    }
}

/// What a row amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The first header.
    Initial,
    /// A snapshot that changes nothing.
    Same,
    /// Something changed while the loop ran.
    Change,
    /// A load brought another header.
    Drift,
    /// A snapshot says that something changed, and nothing did.
    ChangeWithoutChange,
    /// What could have changed is redacted, and the rest did not.
    Hidden,
}

impl Verdict {
    /// In a few words, as reports print it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Initial => "initial",
            Verdict::Same => "same",
            Verdict::Change => "change",
            Verdict::Drift => "drift",
            Verdict::ChangeWithoutChange => "change without change",
            Verdict::Hidden => "redacted",
        }
    }
}

/// How large the parts of a header are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderSize {
    /// Bytes of the effective system prompt's text.
    pub system: u64,
    /// Lines of it.
    pub system_lines: u64,
    /// Number of tools.
    pub tools: u64,
    /// Bytes of the tools as they are printed.
    pub tools_bytes: u64,
    /// Messages of the session prefix.
    pub prefix: u64,
    /// Bytes of the session prefix as it is printed.
    pub prefix_bytes: u64,
}

/// Where a header came into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderSpot {
    /// Its event.
    pub seq: Seq,
    /// Its turn.
    pub turn: Option<u64>,
    /// Its step.
    pub step: Option<u64>,
    /// When.
    pub time: Millis,
    /// Whether the parent session wrote it.
    pub inherited: bool,
    /// Which one of a lock it is, from 1: a lock keeps no place, and nothing else holds then.
    pub locked: Option<u64>,
}

impl Default for HeaderSpot {
    fn default() -> Self {
        HeaderSpot {
            seq: Seq(0),
            turn: None,
            step: None,
            time: Millis(0),
            inherited: false,
            locked: None,
        }
    }
}

/// Two headers of different origin that stand for each other.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderPair {
    /// Where the first one came into force; absent where there is none.
    pub old: Option<HeaderSpot>,
    /// Where the second one did.
    pub new: Option<HeaderSpot>,
    /// Parts that are placeholders on either side: they are not compared.
    pub redacted: Vec<Part>,
    /// What differs.
    pub change: HeaderChange,
}

impl HeaderPair {
    /// Whether anything differs, or one of the two is missing.
    pub fn differs(&self) -> bool {
        self.old.is_none() || self.new.is_none() || !self.change.is_empty()
    }
}
