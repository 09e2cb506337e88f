//! A log's events one by one, as digests of what they say.
//!
//! **Takes** a [`Source`]. **Gives** a forward walk over [`Unit`]s: packed rows unpacked, damaged lines passed over.
//! **Never** keeps a line but the current one, and never judges it.

use std::collections::VecDeque;

use xxhash_rust::xxh3::Xxh3;

use super::upgrade::{Upgraded, upgraded, without_made_ids};
use crate::dialect::{Decoder, Detected, Generation, detect};
use crate::event::{At, Body, Chunk, Event, Faults, Outcome, StepName, Surface};
use crate::line::{Line, LineEnd, LineNo, Seq};
use crate::record::{Delta, DeltaKind, Raw, Record, Scratch, SourceSeqs};
use crate::source::{Lines, Source, SourceError};

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) seq: Seq,
    pub(super) line: LineNo,
    /// Of everything that it says, but not when.
    pub(super) digest: u128,
    /// What a later build makes of it when it loads it (version 0); absent where it stays as it is.
    pub(super) upgraded: Option<Upgraded>,
    /// Of what it says without the ids that a codec made of its session's own (version 2 and later); absent where it has none.
    pub(super) without_made_ids: Option<u128>,
}

impl Unit {
    /// Whether this event of a fork is the parent's, or what the forking build made of it.
    pub(super) fn is_copy_of(&self, parents: &Unit) -> bool {
        let is_later_form = match (self.upgraded, parents.upgraded) {
            (Some(own), Some(theirs)) => own.digest == theirs.digest && own.rank > theirs.rank,
            _ => false,
        };
        let is_same_but_ids =
            self.without_made_ids.is_some() && self.without_made_ids == parents.without_made_ids;
        self.digest == parents.digest || is_later_form || is_same_but_ids
    }
}

/// A walk over the events of a log. A number that was there already, or a line that is no event, is passed over.
pub(super) struct Units<'s> {
    lines: Lines<'s>,
    scratch: Scratch,
    /// What is wrong with the log is known from its audit.
    faults: Faults,
    decoder: Option<Decoder>,
    generation: Generation,
    next: u64,
    ready: VecDeque<Unit>,
    line: Vec<u8>,
}

impl<'s> Units<'s> {
    pub(super) fn over(source: &'s Source) -> Units<'s> {
        Units {
            lines: source.lines(),
            scratch: Scratch::new(),
            faults: Faults::new(0),
            decoder: None,
            generation: Generation::V0,
            next: 0,
            ready: VecDeque::new(),
            line: Vec::new(),
        }
    }

    /// The next event.
    pub(super) fn next_unit(&mut self) -> Result<Option<Unit>, SourceError> {
        loop {
            if let Some(unit) = self.ready.pop_front() {
                if unit.seq.0 >= self.next {
                    self.next = unit.seq.0 + 1;
                    return Ok(Some(unit));
                }
                continue;
            }
            let Some(line) = self.lines.next_line()? else {
                return Ok(None);
            };
            if line.end == LineEnd::Eof {
                continue;
            }
            self.line.clear();
            self.line.extend_from_slice(line.bytes);
            let (no, start, end) = (line.no, line.start, line.end);
            self.take(no, start, end);
        }
    }

    /// The line of the last event.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    fn take(&mut self, no: LineNo, start: u64, end: LineEnd) {
        let bytes = std::mem::take(&mut self.line);
        let line = Line {
            no,
            start,
            bytes: &bytes,
            end,
        };
        let at = At {
            line: no,
            span: line.span(),
            seq: None,
        };
        if let Ok(record) = Record::parse(&line, &mut self.scratch) {
            match &mut self.decoder {
                None => {
                    if let Detected::Session(header) = detect(&record, at, &mut self.faults) {
                        self.generation = header.generation;
                        self.decoder = Some(Decoder::new(&header));
                    }
                }
                Some(decoder) => {
                    let outcome = decoder.decode(&record, at, &mut self.faults);
                    if let Outcome::Event(event) = outcome {
                        units(&event, self.generation, &mut self.ready);
                    }
                }
            }
        }
        self.line = bytes;
    }
}

fn units(event: &Event<'_>, generation: Generation, out: &mut VecDeque<Unit>) {
    let line = event.at.line;
    let unit = |seq, digest| Unit {
        seq,
        line,
        digest,
        upgraded: None,
        without_made_ids: None,
    };
    match &event.body {
        Body::Deltas(step, run) => {
            let seqs = (event.seq.0..).map(Seq);
            let deltas = seqs.zip(run.deltas());
            out.extend(deltas.map(|(seq, (_, delta))| unit(seq, delta_digest(*step, &delta))));
        }
        Body::Chunk(step, chunk) => {
            let digest = chunk_digest(*step, chunk).unwrap_or_else(|| digest(event));
            out.push_back(unit(event.seq, digest));
        }
        _ => {
            let whole = |says: u128| {
                let mut hasher = Xxh3::new();
                hasher.update(&says.to_le_bytes());
                envelope(event, &mut hasher);
                hasher.digest128()
            };
            let mut unit = unit(event.seq, digest(event));
            match generation {
                Generation::V0 | Generation::V1 => {
                    unit.upgraded = upgraded(event).map(|upgraded| Upgraded {
                        digest: whole(upgraded.digest),
                        ..upgraded
                    });
                }
                _ => unit.without_made_ids = without_made_ids(event).map(whole),
            }
            out.push_back(unit);
        }
    }
}

/// Of type and data as they are printed, and of the event's part in the surface.
fn digest(event: &Event<'_>) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&event.name.printed());
    if let Some(data) = event.value.get("data") {
        hasher.update(&data.printed());
    }
    envelope(event, &mut hasher);
    hasher.digest128()
}

fn envelope(event: &Event<'_>, hasher: &mut Xxh3) {
    hasher.update(&[u8::from(event.ignorable)]);
    match event.surface {
        None => hasher.update(b"none"),
        Some(Surface::Append) => hasher.update(b"append"),
        Some(Surface::Replace { start, end, .. }) => {
            hasher.update(b"replace");
            hasher.update(&start.0.to_le_bytes());
            hasher.update(&end.0.to_le_bytes());
        }
    }
    if let Some(sources) = event.sources {
        sources_digest(sources, hasher);
    }
}

/// A run is the same written out or as a range.
fn sources_digest(sources: SourceSeqs<'_>, hasher: &mut Xxh3) {
    let mut run: Option<(u64, u64)> = None;
    let mut end_run = |run: Option<(u64, u64)>| {
        if let Some((start, end)) = run {
            hasher.update(&start.to_le_bytes());
            hasher.update(&end.to_le_bytes());
        }
    };
    for (start, end) in sources.ranges() {
        run = match run {
            Some((first, last)) if start.0 == last.wrapping_add(1) => Some((first, end.0)),
            before => {
                end_run(before);
                Some((start.0, end.0))
            }
        };
    }
    end_run(run);
    hasher.update(b"sources");
}

fn delta_digest(step: StepName, delta: &Delta<'_>) -> u128 {
    let index = delta
        .index
        .safe_int()
        .and_then(|index| u64::try_from(index).ok());
    piece(step, delta.kind, index, delta.text, delta.id, delta.name)
}

fn chunk_digest(step: StepName, chunk: &Chunk<'_>) -> Option<u128> {
    Some(match *chunk {
        Chunk::Text { index, text } => piece(step, DeltaKind::Text, index, text, None, None),
        Chunk::Reasoning { index, text } => {
            piece(step, DeltaKind::Reasoning, index, text, None, None)
        }
        Chunk::ToolCall {
            index,
            id,
            name,
            arguments,
        } => piece(step, DeltaKind::ToolCall, index, arguments, Some(id), name),
        _ => return None,
    })
}

/// A delta says the same in a row of its own and in a packed one.
fn piece(
    step: StepName,
    kind: DeltaKind,
    index: Option<u64>,
    text: Raw<'_>,
    id: Option<Raw<'_>>,
    name: Option<Raw<'_>>,
) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&[kind as u8, u8::from(index.is_some())]);
    for number in [step.turn, step.step, index.unwrap_or_default()] {
        hasher.update(&number.to_le_bytes());
    }
    for part in [Some(text), id, name] {
        hasher.update(&part.map(Raw::printed).unwrap_or_default());
        hasher.update(b",");
    }
    hasher.digest128()
}
