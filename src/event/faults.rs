//! Facts with their places: the first of each kind, and a count.
//!
//! **Takes** a fact and the bytes it is about, while their line is alive. **Gives** [`Noted`]. **Never** grows beyond its limit.

use std::mem::{self, Discriminant};

use super::At;
use super::fault::{Fault, Scope};
use crate::line::{Excerpt, Span};
use crate::record::{Raw, RecordDefect};

/// A fact and its place.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The fact.
    pub fault: Fault,
    /// In which turns it is a fault.
    pub scope: Scope,
    /// The event or line.
    pub at: At,
    /// The event's type, where it has one.
    pub kind: Option<String>,
    /// The bytes at fault.
    pub mark: Span,
    /// What stands there.
    pub excerpt: Option<Excerpt>,
    /// Index of the turn it stands in, among all turns; of the first turn, before it.
    pub turn_index: u32,
    /// The open turn.
    pub turn: Option<u64>,
    /// The open step.
    pub step: Option<u64>,
}

/// Where the reader is: what a fact's place is completed with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position {
    /// Index of the current turn, or of the last one.
    pub turn_index: u32,
    /// The open turn.
    pub turn: Option<u64>,
    /// The open step.
    pub step: Option<u64>,
}

/// Facts in the order they were met: the first of each kind, and a count of the rest.
#[derive(Debug)]
pub struct Faults {
    noted: Vec<Noted>,
    kinds: Vec<FaultKind>,
    limit: usize,
    /// Where the reader is.
    pub position: Position,
}

/// What is counted together, so that a flood of one fault hides no other: one kind of fault in turns of one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    fault: Discriminant<Fault>,
    line: Option<Discriminant<RecordDefect>>,
    scope: Scope,
}

#[derive(Debug)]
struct FaultKind {
    group: Group,
    kept: usize,
    left_out: Option<LeftOut>,
}

/// Facts of one kind that were counted and not kept.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// Index of the last fact of the kind that was kept, among those kept; none where the limit is 0.
    pub sample: Option<usize>,
    /// In which turns they are faults.
    pub scope: Scope,
    /// The first of them.
    pub first: At,
    /// The turn that was open there.
    pub turn: Option<u64>,
    /// The step that was open there.
    pub step: Option<u64>,
    /// How many stand in each turn; the turn's index as in [`Noted::turn_index`], ascending.
    pub turns: Vec<(u32, u64)>,
}

impl Group {
    fn of(fault: &Fault, scope: Scope) -> Group {
        Group {
            fault: mem::discriminant(fault),
            line: match fault {
                Fault::Line(defect) => Some(mem::discriminant(defect)),
                _ => None,
            },
            scope,
        }
    }
}

impl Faults {
    /// A sink that keeps at most `limit` facts of a kind.
    pub fn new(limit: usize) -> Faults {
        Faults {
            noted: Vec::new(),
            kinds: Vec::new(),
            limit,
            position: Position::default(),
        }
    }

    /// Whether there is room for another fact of its kind. If not, it is counted.
    fn has_room(&mut self, fault: &Fault, scope: Scope, at: At) -> bool {
        let group = Group::of(fault, scope);
        let place = match self.kinds.iter().position(|kind| kind.group == group) {
            Some(place) => place,
            None => {
                self.kinds.push(FaultKind {
                    group,
                    kept: 0,
                    left_out: None,
                });
                self.kinds.len() - 1
            }
        };
        let Some(kind) = self.kinds.get_mut(place) else {
            return false;
        };
        if kind.kept < self.limit {
            kind.kept += 1;
            return true;
        }
        let Position {
            turn_index,
            turn,
            step,
        } = self.position;
        let noted = &self.noted;
        let left_out = kind.left_out.get_or_insert_with(|| LeftOut {
            sample: noted
                .iter()
                .rposition(|noted| Group::of(&noted.fault, noted.scope) == group),
            scope,
            first: at,
            turn,
            step,
            turns: Vec::new(),
        });
        match left_out.turns.last_mut() {
            Some((index, count)) if *index == turn_index => *count += 1,
            _ => left_out.turns.push((turn_index, 1)),
        }
        false
    }

    /// Notes a fact about some bytes of a line that is no record.
    pub fn note(&mut self, fault: Fault, scope: Scope, at: At, line: &[u8], mark: Span) {
        if !self.has_room(&fault, scope, at) {
            return;
        }
        let kind = None;
        self.push(
            Place {
                fault,
                scope,
                at,
                kind,
                mark,
            },
            Some(line),
        );
    }

    /// Notes a fact about a value within a record.
    pub fn note_value(
        &mut self,
        fault: Fault,
        scope: Scope,
        at: At,
        record: Raw<'_>,
        value: Raw<'_>,
    ) {
        if !self.has_room(&fault, scope, at) {
            return;
        }
        let kind = record
            .get("type")
            .and_then(Raw::text)
            .map(|kind| kind.to_lossy().into_owned());
        self.push(
            Place {
                fault,
                scope,
                at,
                kind,
                mark: value.span(),
            },
            Some(record.bytes()),
        );
    }

    /// Notes a fact about something whose bytes are gone.
    pub fn note_place(&mut self, fault: Fault, scope: Scope, at: At) {
        if !self.has_room(&fault, scope, at) {
            return;
        }
        self.push(
            Place {
                fault,
                scope,
                at,
                kind: None,
                mark: at.span,
            },
            None,
        );
    }

    fn push(&mut self, place: Place, line: Option<&[u8]>) {
        let Place {
            fault,
            scope,
            at,
            kind,
            mark,
        } = place;
        let offset = |byte: u64| byte.saturating_sub(at.span.start) as usize;
        let excerpt = line.map(|line| Excerpt::around(line, offset(mark.start)..offset(mark.end)));
        let Position {
            turn_index,
            turn,
            step,
        } = self.position;
        self.noted.push(Noted {
            fault,
            scope,
            at,
            kind,
            mark,
            excerpt,
            turn_index,
            turn,
            step,
        });
    }

    /// The facts that were kept.
    pub fn noted(&self) -> &[Noted] {
        &self.noted
    }

    /// A fact that was kept, to complete it when more is known.
    pub(crate) fn fault_mut(&mut self, index: usize) -> Option<&mut Fault> {
        self.noted.get_mut(index).map(|noted| &mut noted.fault)
    }

    /// How many facts were noted, kept or not.
    pub fn total(&self) -> u64 {
        let left_out = self.left_out().flat_map(|left_out| &left_out.turns);
        self.noted.len() as u64 + left_out.map(|(_, count)| count).sum::<u64>()
    }

    /// What was counted and not kept, by kind, in the order of the kinds' first facts.
    pub fn left_out(&self) -> impl Iterator<Item = &LeftOut> {
        self.kinds.iter().filter_map(|kind| kind.left_out.as_ref())
    }
}

struct Place {
    fault: Fault,
    scope: Scope,
    at: At,
    kind: Option<String>,
    mark: Span,
}
