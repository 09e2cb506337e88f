//! The sequence of events: gaps, repeats, and the second branch of a file that two processes wrote.
//!
//! **Takes** the numbers of rows. **Gives** whether a row has its place, and what is known of both branches where it has not.
//! **Never** chooses a branch silently: a row that does not follow is left aside and counted.
//!
//! Source: format reference, section E.1; rules.md, "After a fault".

use super::Fold;
use crate::event::{At, Body, Branch, BranchPattern, BranchSpan, Event, Fault, Faults, Scope};
use crate::line::{Millis, Seq, Span};
use crate::record::Raw;
use crate::source::Keep;

/// What the sequence remembers.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    pub(super) next: u64,
    /// Whether a row was lost: the next good row says where numbering goes on.
    pub(super) loose: bool,
    /// The noted fact of the branch that is being passed over.
    aside: Option<usize>,
    /// The last event's line, where lines do not outlive their reading.
    last_line: Vec<u8>,
    /// Where the last event stands.
    last_at: Option<At>,
    /// Where the last row stands, if it is an event.
    last_event: Option<Span>,
}

impl Fold<'_> {
    /// Puts a row into the sequence. False if it is left aside.
    pub(super) fn place(
        &mut self,
        seq: Seq,
        count: u64,
        event: Option<&Event<'_>>,
        at: At,
        faults: &mut Faults,
    ) -> bool {
        let expected = self.sequence.next;
        let loose = std::mem::take(&mut self.sequence.loose);
        if seq.0 < expected {
            self.left_aside(seq, count, event, at, faults);
            return false;
        }
        if seq.0 > expected && !loose {
            let fault = Fault::SeqGap {
                expected: Seq(expected),
                found: seq,
            };
            note(fault, event, at, faults);
            self.stop(Seq(expected), at.line, Scope::Any, faults);
            self.unsync();
        }
        if let Some(index) = self.sequence.aside.take()
            && let Some(Fault::SeqRewind(branch)) = faults.fault_mut(index)
        {
            branch.goes_on = Some((at.line, seq));
        }
        self.sequence.next = seq.0.saturating_add(count);
        self.remember(event, at);
        true
    }

    /// Remembers the last event, so that a repeat of it can be told from another event with its number. Of a row that is no event
    /// nothing is remembered, whatever its bytes come from.
    fn remember(&mut self, event: Option<&Event<'_>>, at: At) {
        self.sequence.last_at = Some(at);
        self.sequence.last_event = event.map(|_| at.span);
        if let Keep::Store(_) = self.keep {
            self.sequence.last_line.clear();
            let bytes = event.map(|event| event.value.bytes());
            self.sequence
                .last_line
                .extend_from_slice(bytes.unwrap_or_default());
        }
    }

    fn last_line(&self) -> Option<&[u8]> {
        match self.keep {
            Keep::Whole(bytes) => {
                let span = self.sequence.last_event?;
                bytes.get(usize::try_from(span.start).ok()?..usize::try_from(span.end).ok()?)
            }
            Keep::Store(_) => Some(&self.sequence.last_line),
        }
    }

    /// A row with a smaller number than expected: a repeat, or the second branch of two writers.
    fn left_aside(
        &mut self,
        seq: Seq,
        count: u64,
        event: Option<&Event<'_>>,
        at: At,
        faults: &mut Faults,
    ) {
        let expected = Seq(self.sequence.next);
        if let Some(Fault::SeqRewind(branch)) = self
            .sequence
            .aside
            .and_then(|index| faults.fault_mut(index))
        {
            return extend(branch, seq, count, event, at);
        }
        self.stop(expected, at.line, Scope::Any, faults);
        if count == 1 && seq.0 + 1 == expected.0 {
            return note(self.repeat(seq, event), event, at, faults);
        }
        let mut branch = Branch {
            first: self.first_branch(seq),
            second: BranchSpan {
                seqs: (seq, seq),
                lines: (at.line, at.line),
                ..BranchSpan::default()
            },
            pattern: pattern(event),
            goes_on: None,
        };
        extend(&mut branch, seq, count, event, at);
        self.sequence.aside = Some(faults.noted().len());
        note(Fault::SeqRewind(Box::new(branch)), event, at, faults);
    }

    /// The last number once more.
    fn repeat(&self, seq: Seq, event: Option<&Event<'_>>) -> Fault {
        let text = |raw: Raw<'_>| raw.text().map(|text| text.to_lossy().into_owned());
        let first = self.last_line().and_then(|line| Raw::parse(line).ok());
        let second = event.map(|event| event.value);
        let payload = |raw: Raw<'_>| raw.get("data").map(|data| data.printed().into_owned());
        let name = |raw: Raw<'_>| raw.get("type").and_then(text);
        let equal = first.zip(second).map(|(first, second)| {
            name(first) == name(second) && payload(first) == payload(second)
        });
        let second = second.and_then(name).unwrap_or_default();
        Fault::SeqDuplicate {
            seq,
            first: first.and_then(name),
            second,
            equal,
        }
    }

    /// What the first branch holds from a number on, as far as turns, steps and messages tell.
    fn first_branch(&self, from: Seq) -> BranchSpan {
        let session = &self.session;
        let last = Seq(self.sequence.next.saturating_sub(1));
        let last_line = self
            .sequence
            .last_at
            .map_or(crate::line::LineNo(1), |at| at.line);
        let steps = session.steps.iter().filter(|step| step.start >= from);
        let first_step = steps.clone().next();
        let turns = || session.turns.iter().filter(|turn| turn.start >= from);
        let messages = session
            .messages
            .partition_point(|message| message.seq < from);
        let line = session.messages.get(messages).map(|message| message.line);
        let first_line = first_step
            .map(|step| step.line)
            .into_iter()
            .chain(line)
            .min();
        let attempts = session
            .attempts
            .partition_point(|attempt| attempt.first < from);
        let attempt = session.attempts.get(attempts);
        let times = [
            first_step.map(|step| step.time),
            attempt.map(|attempt| attempt.time),
            turns().next().map(|turn| turn.time),
        ];
        let first_time = times.into_iter().flatten().min();
        let end = session.last_time.unwrap_or(Millis(0));
        BranchSpan {
            seqs: (from, last),
            lines: (first_line.unwrap_or(last_line), last_line),
            times: Some((first_time.unwrap_or(end), end)),
            rows: 0,
            events: last.0 - from.0.min(last.0) + 1,
            turns: turns()
                .next()
                .map(|turn| turn.number)
                .zip(turns().next_back().map(|turn| turn.number)),
            messages: (session.messages.len() - messages) as u64,
        }
    }
}

fn note(fault: Fault, event: Option<&Event<'_>>, at: At, faults: &mut Faults) {
    match event {
        Some(event) => faults.note_value(fault, Scope::Any, at, event.value, event.value),
        None => faults.note_place(fault, Scope::Any, at),
    }
}

/// Who wrote the second branch, as its first row shows.
fn pattern(event: Option<&Event<'_>>) -> BranchPattern {
    match event.map(|event| &event.body) {
        Some(Body::EndSeed { .. }) => BranchPattern::Loaded,
        Some(Body::Message(message)) if message.is_closer() => BranchPattern::Repaired,
        Some(Body::Deltas(..)) => BranchPattern::PackedRow,
        _ => BranchPattern::Writers,
    }
}

fn extend(branch: &mut Branch, seq: Seq, count: u64, event: Option<&Event<'_>>, at: At) {
    let second = &mut branch.second;
    let last = Seq(seq.0.saturating_add(count.saturating_sub(1)));
    second.seqs = (second.seqs.0.min(seq), second.seqs.1.max(last));
    second.lines.1 = at.line;
    second.rows += 1;
    second.events += count;
    let Some(event) = event else { return };
    let (from, to) = second.times.unwrap_or((event.time, event.time));
    second.times = Some((from.min(event.time), to.max(event.time)));
    match event.body {
        Body::TurnStart { turn, .. } | Body::TurnEnd { turn, .. } => {
            let (from, to) = second.turns.unwrap_or((turn, turn));
            second.turns = Some((from.min(turn), to.max(turn)));
        }
        Body::Message(_) => second.messages += 1,
        _ => {}
    }
}
