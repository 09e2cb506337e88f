//! Records into events: one normal form for every generation.
//!
//! **Takes** a record behind the session header. **Gives** an [`Event`], or notes what is wrong with the record.
//! **Never** needs another record: what depends on neighbours is the fold's.
//!
//! Source: format reference, sections A.3, B.0 to B.5.

use super::body::body;
use super::draft::{Draft, shown, whole};
use super::fast::{self, Repeat};
use super::generation::{Facts, Generation};
use super::ledger::Ledger;
use super::shape::{envelope, unknown_scope};
use super::vocabulary::{Kind, OLD, Word, word};
use super::{SessionHeader, surface};
use crate::event::{At, Body, Event, Fault, Faults, Outcome, Scope, StepName};
use crate::line::{Line, Millis, Seq};
use crate::record::{DeltaKind, PackedRow, Raw, Record};

/// Decodes the records of one log.
#[derive(Debug)]
pub struct Decoder {
    facts: &'static Facts,
    has_depth: bool,
    maybe_fixture: bool,
    fixture_rows: Option<bool>,
    next: u64,
    seen: Vec<String>,
    ledger: Ledger,
    repeat: Repeat,
}

impl Decoder {
    /// A decoder for the log behind this header.
    pub fn new(header: &SessionHeader<'_>) -> Decoder {
        Decoder {
            facts: header.generation.facts(),
            has_depth: header.has_depth,
            maybe_fixture: matches!(header.generation, Generation::V0),
            fixture_rows: None,
            next: 0,
            seen: Vec::new(),
            ledger: Ledger::default(),
            repeat: Repeat::new(),
        }
    }

    /// Whether the log is a committed fixture whose rows lack `seq` and `time`.
    pub fn is_fixture(&self) -> bool {
        self.fixture_rows == Some(true)
    }

    /// Hands on the event of a line that needs no closer look: the same that [`Decoder::decode`] gives for its record, where that
    /// notes nothing. `None` says nothing of the line.
    #[inline]
    pub fn decode_fast<'line, T>(
        &mut self,
        line: &Line<'line>,
        then: impl FnOnce(&Event<'line>) -> T,
    ) -> Option<T> {
        if self.facts.has_streams {
            return None;
        }
        fast::read(line, &mut self.repeat, |event| {
            // Its numbers are there.
            self.fixture_rows.get_or_insert(false);
            follow(
                &mut self.next,
                &mut self.ledger,
                Some(event.seq),
                event.count,
            );
            then(event)
        })
    }

    /// Decodes one record.
    pub fn decode<'line>(
        &mut self,
        record: &Record<'line>,
        at: At,
        faults: &mut Faults,
    ) -> Outcome<'line> {
        let fixture = *self.fixture_rows.get_or_insert_with(|| {
            self.maybe_fixture
                && [record.seq, record.seq0, record.time, record.time0]
                    .iter()
                    .all(Option::is_none)
        });
        let outcome = self.decode_row(record, at, fixture, faults);
        let (seq, count) = match &outcome {
            Outcome::Event(event) => (Some(event.seq), event.count),
            Outcome::Unusable { seq, count } => {
                self.ledger.lose();
                (*seq, *count)
            }
        };
        follow(&mut self.next, &mut self.ledger, seq, count);
        outcome
    }

    fn decode_row<'line>(
        &mut self,
        record: &Record<'line>,
        mut at: At,
        fixture: bool,
        faults: &mut Faults,
    ) -> Outcome<'line> {
        if !self.facts.has_streams
            && let Some(tag) = record.kind
            && let Some(kind) = packed_kind(tag)
        {
            return self.packed(record, (tag, kind), at, fixture, faults);
        }
        at.seq = record
            .seq
            .and_then(seq_of)
            .or(fixture.then_some(Seq(self.next)));
        let mut draft = Draft {
            facts: self.facts,
            has_depth: self.has_depth,
            record,
            at,
            faults,
            broken: false,
            seen: &mut self.seen,
            ledger: &mut self.ledger,
        };
        let name = envelope(&mut draft, fixture);
        let time = Millis(record.time.and_then(Raw::safe_int).unwrap_or(0));
        let (Some(seq), Some((name, data)), false) = (at.seq, name, draft.broken) else {
            return Outcome::Unusable {
                seq: at.seq,
                count: 1,
            };
        };
        let found = name.text().and_then(|text| word(text.bytes()));
        let known = found.filter(|word| knows(self.facts, word));
        let (surface, sources) = surface::decode(&mut draft, known);
        let scope_of_name = unknown_scope(self.facts, found);
        if let Some(scope) = scope_of_name.filter(|_| record.ignorable.is_none()) {
            draft.note(Fault::UnknownType { name: shown(name) }, scope, name);
        }
        if draft.broken {
            return Outcome::Unusable {
                seq: Some(seq),
                count: 1,
            };
        }
        let body = match known {
            Some(word) => body(&mut draft, word, data),
            None => Body::Unknown,
        };
        if draft.broken {
            return Outcome::Unusable {
                seq: Some(seq),
                count: 1,
            };
        }
        let ignorable = record.ignorable.is_some();
        let value = record.value;
        Outcome::Event(Event {
            at,
            value,
            seq,
            count: 1,
            time,
            ignorable,
            surface,
            sources,
            name,
            body,
        })
    }

    fn packed<'line>(
        &self,
        record: &Record<'line>,
        (tag, kind): (Raw<'line>, DeltaKind),
        mut at: At,
        fixture: bool,
        faults: &mut Faults,
    ) -> Outcome<'line> {
        let missing = fixture.then_some((Seq(self.next), Millis(0)));
        at.seq = record.seq0.and_then(seq_of).or(missing.map(|(seq, _)| seq));
        match PackedRow::parse(kind, record, missing) {
            Ok(row) => Outcome::Event(Event {
                at,
                value: record.value,
                seq: row.seq0,
                count: row.run.len,
                time: row.run.time0,
                ignorable: false,
                surface: None,
                sources: None,
                name: tag,
                body: Body::Deltas(row_step(&row), row.run),
            }),
            Err(defect) => {
                faults.note_value(
                    Fault::PackedRow(defect),
                    Scope::Any,
                    at,
                    record.value,
                    record.value,
                );
                Outcome::Unusable {
                    seq: None,
                    count: 0,
                }
            }
        }
    }
}

/// Whether some build of this generation reads the type, or it is one that rejects the log.
fn knows(facts: &Facts, word: &Word) -> bool {
    let old = if facts.has_old_turns { OLD } else { 0 };
    word.known & (facts.known | old) != 0 || matches!(word.kind, Kind::HeaderDelta | Kind::ModeSet)
}

pub(super) fn row_step(row: &PackedRow<'_>) -> StepName {
    StepName {
        turn: whole(Some(row.turn)).unwrap_or(0),
        step: whole(Some(row.step)).unwrap_or(0),
    }
}

/// Counts a row's numbers.
#[inline]
fn follow(next: &mut u64, ledger: &mut Ledger, seq: Option<Seq>, count: u64) {
    // A gap or a second branch: rows that others refer to may be missing.
    if seq.is_some_and(|seq| seq.0 != *next) {
        ledger.lose();
    }
    *next = seq.map_or(*next, |seq| seq.0).saturating_add(count);
}

/// The storage tags: rows that stand for a run of chunk events.
pub(super) fn packed_kind(tag: Raw<'_>) -> Option<DeltaKind> {
    match tag.text()?.bytes() {
        b"text-chunks" => Some(DeltaKind::Text),
        b"reasoning-chunks" => Some(DeltaKind::Reasoning),
        b"tool-call-chunks" => Some(DeltaKind::ToolCall),
        _ => None,
    }
}

fn seq_of(raw: Raw<'_>) -> Option<Seq> {
    raw.safe_int().and_then(|n| u64::try_from(n).ok()).map(Seq)
}
