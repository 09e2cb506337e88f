//! Attempts: which events are one call of the provider.
//!
//! **Takes** chunks, packed runs, stream events and answers. **Gives** attempt facts. **Never** decides the boundary.
//!
//! Source: format reference, sections D.2 and G; B.2 (H-STREAM, H-MSG-W).

use super::Fold;
use super::answered::Answered;
use super::response::Response;
use super::session::{AttemptIx, MessageIx, StepIx};
use super::turn_facts::{Answer, AttemptFact, Finish, Shape, Usage};
use crate::event::{Chunk, Event, Fault, Faults, Message, Piece, Scope, StepName, Stream};
use crate::line::Millis;
use crate::record::{DeltaRun, Raw};

/// The attempt that is running.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    open: Option<Open>,
    /// Whether chunks may be missing: a fault lies within the open attempt or step.
    partial: bool,
}

#[derive(Debug)]
struct Open {
    index: AttemptIx,
    response: Response,
    answered: bool,
    /// Whether the step's turn keeps all chunks of a step in one attempt.
    whole_step: bool,
    grammar_noted: bool,
}

impl Attempts {
    pub(super) fn partial(&mut self) {
        self.partial = true;
    }

    /// Whether chunks of an unfinished response have come.
    pub(super) fn is_streaming(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| open.response.chunks() > 0 && !open.response.is_finished())
    }

    /// Whether the step has an attempt that did not fail.
    pub(super) fn has_response(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            open.answered || !matches!(open.response.ended(), Finish::Failed { .. })
        })
    }

    fn failed(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| matches!(open.response.ended(), Finish::Failed { .. }))
    }
}

impl Fold<'_> {
    pub(super) fn chunk(
        &mut self,
        event: &Event<'_>,
        name: StepName,
        chunk: &Chunk<'_>,
        faults: &mut Faults,
    ) {
        let Some(step) = self.in_step(event, name, faults) else {
            return;
        };
        let response = self.streaming(event, step, faults);
        response.extend(event.seq, 1);
        response.push(chunk);
        self.note_grammar(event, faults);
        if matches!(chunk, Chunk::Finish { .. }) {
            self.record_end(event.time);
        }
    }

    pub(super) fn deltas(
        &mut self,
        event: &Event<'_>,
        name: StepName,
        run: &DeltaRun<'_>,
        faults: &mut Faults,
    ) {
        let Some(step) = self.in_step(event, name, faults) else {
            return;
        };
        let response = self.streaming(event, step, faults);
        response.extend(event.seq, event.count);
        response.push_run(run);
        self.note_grammar(event, faults);
    }

    /// The response that the next chunk belongs to.
    fn streaming(&mut self, event: &Event<'_>, step: StepIx, faults: &mut Faults) -> &mut Response {
        let reuse = self.attempts.open.as_ref().is_some_and(|open| {
            open.whole_step
                || (!open.response.is_finished() && !open.answered && open.response.chunks() > 0)
        });
        if !reuse {
            self.open_attempt(event, step, faults);
        }
        &mut self
            .attempts
            .open
            .as_mut()
            .expect("an attempt was just opened")
            .response
    }

    fn open_attempt(&mut self, event: &Event<'_>, step: StepIx, faults: &mut Faults) {
        let index = AttemptIx::new(self.session.attempts.len());
        let header = self.headers.in_force();
        let turn = self.session.steps.get(step.get()).map(|step| step.turn);
        let whole_step = turn
            .and_then(|turn| self.session.turns.get(turn.get()))
            .is_some_and(|turn| turn.has_trigger);
        self.session.attempts.push(AttemptFact {
            step,
            first: event.seq,
            time: event.time,
            ended: event.time,
            line: event.at.line,
            header,
            answer: None,
            finish: Finish::None,
            usage: None,
            overtaken: false,
        });
        if let Some(step) = self.session.steps.get_mut(step.get()) {
            step.trailing = false;
        }
        let response = Response::default();
        self.attempts.open = Some(Open {
            index,
            response,
            answered: false,
            whole_step,
            grammar_noted: false,
        });
        self.dispatched(event, faults);
    }

    fn note_grammar(&mut self, event: &Event<'_>, faults: &mut Faults) {
        let partial = self.attempts.partial;
        if let Some(open) = &mut self.attempts.open
            && let Some(why) = open.response.grammar()
            && !open.grammar_noted
            && !partial
        {
            open.grammar_noted = true;
            faults.note_value(
                Fault::Stream(why),
                Scope::Any,
                event.at,
                event.value,
                event.value,
            );
        }
    }

    /// Carries what the response shows over to the attempt's fact.
    fn record_end(&mut self, time: Millis) {
        if let Some(open) = &self.attempts.open
            && let Some(fact) = self.session.attempts.get_mut(open.index.get())
        {
            fact.ended = time;
            fact.finish = open.response.ended();
            fact.usage = open
                .response
                .usage()
                .and_then(|usage| Raw::parse(usage).ok())
                .map(Usage::read);
        }
    }

    /// A response's event of version 2 and later that brought no message.
    pub(super) fn attempt_event(
        &mut self,
        event: &Event<'_>,
        name: StepName,
        stream: Stream<'_>,
        faults: &mut Faults,
    ) {
        let Some(step) = self.in_step(event, name, faults) else {
            return;
        };
        self.open_attempt(event, step, faults);
        self.stream(event, stream, faults);
        self.record_end(event.time);
        if self
            .attempts
            .open
            .as_ref()
            .is_some_and(|open| matches!(open.response.ended(), Finish::Done))
        {
            faults.note_value(
                Fault::ResponseAfterFailure,
                Scope::Any,
                event.at,
                event.value,
                stream.raw,
            );
        }
    }

    /// Takes the chunks of a stream into the open attempt.
    fn stream(&mut self, event: &Event<'_>, stream: Stream<'_>, faults: &mut Faults) {
        let mut bad = None;
        let mut first = None;
        if let Some(open) = &mut self.attempts.open {
            for piece in stream.pieces() {
                match piece {
                    Piece::Chunk(time, chunk) => {
                        first.get_or_insert(time);
                        open.response.push(&chunk);
                    }
                    Piece::Run(run) => {
                        first.get_or_insert(run.time0);
                        open.response.push_run(&run);
                    }
                    Piece::Malformed(raw) => bad = bad.or(Some(raw)),
                }
            }
        }
        if let Some(raw) = bad {
            let why = "holds a record that is no chunk";
            let fault = Fault::Data {
                pointer: "/data/stream".into(),
                why,
                log_only: false,
            };
            faults.note_value(fault, Scope::Any, event.at, event.value, raw);
        }
        self.note_grammar(event, faults);
        if let (Some(first), Some(open)) = (first, &self.attempts.open)
            && let Some(fact) = self.session.attempts.get_mut(open.index.get())
        {
            fact.overtaken = self.last_surface_time.is_some_and(|time| time > first);
        }
    }

    /// An assistant message that was appended: the answer of the running attempt, or of one that left no chunk.
    pub(super) fn answer(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        index: MessageIx,
        shape: Shape,
        faults: &mut Faults,
    ) {
        let Some(step) = self.turns.open_step() else {
            return;
        };
        let cites_chunks = event.sources.is_some_and(|sources| !sources.is_empty());
        let answers_open = self.attempts.open.as_ref().is_some_and(|open| {
            open.whole_step
                || (!open.answered
                    && open.response.chunks() > 0
                    && (message.interrupted || cites_chunks || !self.attempts.failed()))
        });
        if self.conduct.has_streams || !answers_open {
            self.open_attempt(event, step, faults);
        }
        if let Some(stream) = message.stream {
            self.stream(event, stream, faults);
        } else if self.conduct.has_streams {
            let fault = Fault::Data {
                pointer: "/data/stream".into(),
                why: "is missing",
                log_only: false,
            };
            faults.note_value(fault, Scope::Any, event.at, event.value, event.value);
        }
        self.record_end(event.time);
        self.check_answer(event, message, faults);
        let has_provenance = message.source.is_some();
        if let Some(open) = &mut self.attempts.open
            && let Some(fact) = self.session.attempts.get_mut(open.index.get())
        {
            open.answered = true;
            fact.answer = Some(Answer {
                message: index,
                shape,
                has_provenance,
            });
            fact.usage = message.usage.map(Usage::read).or(fact.usage);
        }
        self.advertise(message);
        self.check_route(event, message, faults);
    }

    fn check_answer(&mut self, event: &Event<'_>, message: &Message<'_>, faults: &mut Faults) {
        let partial = self.attempts.partial;
        let Some(open) = &self.attempts.open else {
            return;
        };
        if open.response.chunks() == 0 && !partial {
            return;
        }
        let answered = Answered {
            response: &open.response,
            event,
            message,
            partial,
            cites_chunks: !self.conduct.has_streams,
        };
        answered.check(faults);
    }

    /// A step ends: what its last attempt showed is settled.
    pub(super) fn end_attempts(&mut self) {
        let time = self.session.last_time;
        if let Some(open) = &self.attempts.open
            && !open.answered
            && let Some(time) = time
        {
            self.record_end(time);
        }
        self.attempts = Attempts::default();
    }

    /// The log ends.
    pub(super) fn finish_attempts(&mut self) {
        if let Some(step) = self.turns.open_step() {
            self.end_attempts();
            let (header, instance) = (self.headers.in_force(), self.headers.instance());
            if let Some(step) = self.session.steps.get_mut(step.get()) {
                step.header = header;
                step.instance = instance;
            }
        }
    }

    /// A retry, a header or a context behind a failed attempt: a further request is on its way.
    pub(super) fn expect_attempt(&mut self, only_behind_failure: bool) {
        let failed = self.attempts.failed()
            && !self
                .attempts
                .open
                .as_ref()
                .is_some_and(|open| open.answered);
        if (!only_behind_failure || failed)
            && let Some(step) = self.open_step_fact()
        {
            step.trailing = true;
        }
    }

    /// A retry was announced: the attempt before it is over, finished or not.
    pub(super) fn cut_attempt(&mut self, time: Millis) {
        if self
            .attempts
            .open
            .as_ref()
            .is_some_and(|open| !open.whole_step && !open.answered)
        {
            self.record_end(time);
            if let Some(open) = &mut self.attempts.open {
                open.answered = open.answered || !open.response.is_finished();
            }
        }
    }

    pub(super) fn own_header(&mut self) {
        if let Some(step) = self.open_step_fact() {
            step.has_own_header = true;
        }
        self.expect_attempt(true);
    }
}
