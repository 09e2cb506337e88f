//! Replays a log: surface, headers, turns, steps and attempts, in one pass and in bounded memory.
//!
//! **Takes** events in the order of the file. **Gives** a [`Session`]. **Never** decides which build wrote a turn: it records what
//! both rules need, and `dialect::settle` chooses at the end.
//!
//! Source: format reference, sections B.0 to B.2, D and G; rules.md, "After a fault".

mod answered;
mod attempts;
mod compaction;
mod declared;
mod headers;
mod messages;
mod project;
mod response;
mod retries;
mod rewrite;
mod sequence;
mod session;
mod surface;
mod tools;
mod turn_facts;
mod turns;

pub(crate) use declared::{DeclaredTools, printed_name};
pub(crate) use headers::part as header_part;
pub use headers::{canonical_header, header_equals};
pub use project::{ProjectError, fold_request_header, fold_surface};
pub use session::{
    AttemptIx, CompactionFact, HeaderFact, HeaderIx, HeaderReason, MessageFact, MessageIx,
    OneShotFact, OpKind, RouteFact, Session, StepIx, Stop, SurfaceOp, TurnIx,
};
pub use turn_facts::{Answer, AttemptFact, Finish, Shape, StepFact, TurnEvidence, TurnFact, Usage};

use crate::event::{At, Body, Conduct, Event, Fault, Faults, Legacy, Outcome, Scope};
use crate::line::{LineNo, Millis, Seq, Span};
use crate::record::{Kind as JsonKind, Raw};
use crate::source::Keep;

/// What outlives its line beside the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retain {
    /// Messages, so that requests can be printed.
    Messages,
    /// Headers only: enough to verify.
    Headers,
}

/// The state of a replay.
pub struct Fold<'log> {
    session: Session<'log>,
    keep: Keep<'log>,
    retain: Retain,
    conduct: Conduct,
    sequence: sequence::Sequence,
    /// Whether a fault has ended the reconstruction for turns of every build.
    stopped: bool,
    /// Whether turn and step numbers may be judged: not behind a fault, until the next turn.
    synced: bool,
    /// Whether the surface is known.
    surface_known: bool,
    /// When the surface last grew or changed, before the current event.
    last_surface_time: Option<Millis>,
    /// Where the current event stands.
    current_at: At,
    surface: surface::Surface,
    turns: turns::Turns,
    attempts: attempts::Attempts,
    headers: headers::Headers,
    declared: DeclaredTools<'log>,
    tools: tools::Tools,
    compaction: compaction::Compactions,
    retries: retries::Retries,
    rewrites: rewrite::Rewrites,
}

impl<'log> Fold<'log> {
    /// A replay of a log that behaves like this.
    pub fn new(conduct: Conduct, keep: Keep<'log>, retain: Retain) -> Fold<'log> {
        Fold {
            session: Session::default(),
            keep,
            retain,
            conduct,
            sequence: sequence::Sequence::default(),
            stopped: false,
            synced: true,
            surface_known: true,
            last_surface_time: None,
            current_at: At {
                line: LineNo(1),
                span: Span { start: 0, end: 0 },
                seq: None,
            },
            surface: surface::Surface::new(),
            turns: turns::Turns::default(),
            attempts: attempts::Attempts::default(),
            headers: headers::Headers::default(),
            declared: DeclaredTools::default(),
            tools: tools::Tools::default(),
            compaction: compaction::Compactions::default(),
            retries: retries::Retries::default(),
            rewrites: rewrite::Rewrites::default(),
        }
    }

    /// What has been replayed so far.
    pub fn session(&self) -> &Session<'log> {
        &self.session
    }

    /// Takes what a record turned out to be.
    pub fn feed(&mut self, outcome: &Outcome<'_>, at: At, faults: &mut Faults) {
        match outcome {
            Outcome::Event(event) => self.event(event, faults),
            Outcome::Unusable { seq, count } => {
                match *seq {
                    Some(seq) if !self.place(seq, *count, None, at, faults) => return,
                    Some(_) => self.session.events += count,
                    None => self.sequence.loose = true,
                }
                self.stop(
                    Seq(self.sequence.next.saturating_sub(*count)),
                    at.line,
                    Scope::Any,
                    faults,
                );
                self.unsync();
            }
        }
    }

    /// Takes a line that is no record: the reconstruction ends here.
    pub fn bad_line(&mut self, line: LineNo, faults: &mut Faults) {
        self.stop(Seq(self.sequence.next), line, Scope::Any, faults);
        self.sequence.loose = true;
        self.unsync();
    }

    /// Ends the replay.
    pub fn finish(mut self, at: At, faults: &mut Faults) -> Session<'log> {
        self.session.open_turn = self.turns.open_number();
        if let Some(turn) = self.session.open_turn.filter(|_| self.synced) {
            let last = At {
                seq: Some(Seq(self.sequence.next.saturating_sub(1))),
                ..at
            };
            faults.note_place(Fault::OpenTurn { turn }, Scope::Any, last);
        }
        self.finish_attempts();
        self.session.next_seq = Seq(self.sequence.next);
        self.session
    }

    /// Takes an event.
    pub fn event(&mut self, event: &Event<'_>, faults: &mut Faults) {
        if !self.place(event.seq, event.count, Some(event), event.at, faults) {
            return;
        }
        self.session.events += event.count;
        self.session.last_time = Some(event.time);
        self.current_at = event.at;
        match &event.body {
            Body::Chunk(step, chunk) => self.chunk(event, *step, chunk, faults),
            Body::Deltas(step, run) => self.deltas(event, *step, run, faults),
            Body::Legacy(kind) => self.legacy(event, *kind, faults),
            Body::TurnStart { turn, trigger } => self.turn_start(event, *turn, *trigger, faults),
            Body::TurnEnd { turn, reason } => self.turn_end(event, *turn, reason.raw, faults),
            Body::StepStart(step) => self.step_start(event, *step, faults),
            Body::StepEnd(step) => self.step_end(event, *step, faults),
            Body::Message(message) => self.message(event, message, faults),
            Body::Attempt(step, stream) => self.attempt_event(event, *step, *stream, faults),
            Body::Header(header) => self.header(event, header, faults),
            &Body::Context { in_history } => {
                self.enclosed(event, true, faults);
                let seq = event.seq;
                self.session.routes.push(RouteFact { seq, in_history });
                self.own_header();
            }
            Body::ToolCall(step, call) => self.tool_call(event, *step, call, faults),
            Body::CompactionStart(compaction) => self.compaction_start(event, compaction, faults),
            Body::CompactionSummary(compaction, summary) => {
                self.compaction_summary(event, compaction, summary, faults);
            }
            Body::CompactionEnd(compaction) => self.compaction_end(event, compaction, faults),
            Body::Prune { .. } | Body::Inbox { .. } => self.enclosed(event, false, faults),
            Body::Retry(step, retry) => self.retry(event, *step, retry, faults),
            Body::RetryStarted(step, retry) => self.retry_started(event, *step, retry, faults),
            Body::EndSeed { inherited } => self.end_seed(event, *inherited),
            Body::Offload(targets) => self.offload(event, *targets, faults),
            Body::OneShot(kind, data) => {
                self.enclosed(event, false, faults);
                self.one_shot(event, *kind, *data);
            }
            Body::LogOnly { in_turn } => self.enclosed(event, *in_turn, faults),
            Body::Unknown => self.enclosed(event, false, faults),
        }
        if event.surface.is_some() {
            self.last_surface_time = Some(event.time);
        }
    }

    fn legacy(&mut self, event: &Event<'_>, kind: Legacy, faults: &mut Faults) {
        self.session.legacy.get_or_insert(event.seq);
        let data = event.value.get("data");
        let delta = data
            .filter(|data| data.kind() == JsonKind::Object)
            .into_iter()
            .flat_map(Raw::members);
        let names: Vec<String> = delta
            .filter_map(|(key, _)| key.text().map(|text| text.to_lossy().into_owned()))
            .collect();
        let fault = Fault::Legacy {
            kind,
            members: names.join(", "),
        };
        faults.note_value(
            fault,
            Scope::Any,
            event.at,
            event.value,
            data.unwrap_or(event.value),
        );
    }

    fn one_shot(&mut self, event: &Event<'_>, kind: crate::event::OneShot, data: Raw<'_>) {
        if self.retain == Retain::Messages {
            let (seq, time, data) = (event.seq, event.time, self.kept(data));
            let (turn, step) = (self.turns.current(), self.turns.open_step());
            self.session.one_shots.push(OneShotFact {
                seq,
                time,
                kind,
                data,
                turn,
                step,
            });
        }
    }

    fn kept(&self, raw: Raw<'_>) -> Raw<'log> {
        raw.rebased(self.keep.keep(raw.bytes(), raw.span()))
    }

    /// Ends the reconstruction at a number, in turns of some builds.
    fn stop(&mut self, seq: Seq, line: LineNo, scope: Scope, faults: &Faults) {
        if !self.stopped {
            let turn_index = faults.position.turn_index;
            self.session.stops.push(Stop {
                seq,
                line,
                scope,
                turn_index,
            });
            self.stopped = scope == Scope::Any;
        }
        if scope == Scope::Any {
            self.surface_known = false;
        }
    }

    /// After a fault: numbers are taken from the log until the next turn, and the header is unknown until the next one.
    fn unsync(&mut self) {
        self.synced = false;
        self.headers.forget();
        self.attempts.partial();
        self.tools.forget();
        self.compaction.forget();
        self.retries.forget();
    }

    /// Judges an event that may have to stand inside a turn.
    fn enclosed(&mut self, event: &Event<'_>, always: bool, faults: &mut Faults) {
        if self.synced && self.turns.open_number().is_none() {
            faults.note_value(
                Fault::OutsideTurn { always },
                Scope::Any,
                event.at,
                event.value,
                event.value,
            );
        }
    }

    fn end_seed(&mut self, event: &Event<'_>, inherited: bool) {
        self.session.first_end_seed.get_or_insert(event.seq);
        if inherited {
            self.session.inherited_until = Some(event.seq);
        }
        self.headers.loaded(event.seq);
        self.compaction.loaded();
    }
}
