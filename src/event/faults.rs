//! Facts with their places: the first of them, and a count.
//!
//! **Takes** a fact and the bytes it is about, while their line is alive. **Gives** [`Noted`]. **Never** grows beyond its limit.

use super::At;
use super::fault::{Fault, Scope};
use crate::line::{Excerpt, Span};
use crate::record::Raw;

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

/// Facts in the order they were met: the first of them, and a count.
#[derive(Debug)]
pub struct Faults {
    noted: Vec<Noted>,
    total: u64,
    limit: usize,
    /// Where the reader is.
    pub position: Position,
}

impl Faults {
    /// A sink that keeps at most `limit` facts.
    pub fn new(limit: usize) -> Faults {
        Faults {
            noted: Vec::new(),
            total: 0,
            limit,
            position: Position::default(),
        }
    }

    /// Notes a fact about some bytes of a line that is no record.
    pub fn note(&mut self, fault: Fault, scope: Scope, at: At, line: &[u8], mark: Span) {
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
        if self.noted.len() >= self.limit {
            self.total += 1;
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
        self.total += 1;
        if self.noted.len() >= self.limit {
            return;
        }
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
        self.total
    }
}

struct Place {
    fault: Fault,
    scope: Scope,
    at: At,
    kind: Option<String>,
    mark: Span,
}
