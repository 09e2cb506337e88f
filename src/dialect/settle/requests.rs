//! The requests of each step: where their messages end, and in which form they were sent.
//!
//! **Takes** the facts of steps and attempts, and how each step's requests are derived. **Gives** a [`Derived`] per request.
//! **Never** reads a message.
//!
//! Source: format reference, sections A.5, A.7, D.1 to D.3; F for how answers are repeated.

use super::evidence::Evidence;
use super::{AnswerStyle, Derivation, Derived, Era, Guess, Order, Settlement};
use crate::dialect::SessionHeader;
use crate::event::{Form, Role};
use crate::fold::{AttemptFact, AttemptIx, HeaderIx, Session, StepFact, StepIx};
use crate::line::{Millis, Seq};

/// Tags of injected context end here: 2026-07-20T09:05:07Z.
const TAGS_END: Millis = Millis(1_784_538_307_000);
/// An answer without text is written as an empty string from here on: 2026-07-22T12:34:00Z.
const EMPTY_BEGINS: Millis = Millis(1_784_723_640_000);
/// Reasoning goes with every answer that has any from here on: 2026-08-19T14:17:00Z.
const REASONING_BEGINS: Millis = Millis(1_787_149_020_000);
/// The spread form of a request begins here: 2026-07-27T14:39:45Z.
const SPREAD_BEGINS: Millis = Millis(1_785_163_185_000);

/// What the requests of a log are made from.
pub(super) struct Plan<'p, 's, 'log> {
    header: &'s SessionHeader<'s>,
    session: &'s Session<'log>,
    settlement: &'s Settlement,
    evidence: &'p Evidence<'s, 'log>,
    /// The first injected context without an envelope of its own.
    injected: Option<Seq>,
    /// The first turn in which a fork wrote a steering message as a user message.
    steered: Option<Seq>,
}

/// A request of a step.
struct Sent<'s> {
    index: StepIx,
    step: &'s StepFact,
    attempt: Option<(AttemptIx, &'s AttemptFact)>,
    number: u32,
    /// Where its messages end.
    boundary: Seq,
    /// The event that shows it; absent where the log ends before.
    reached: Option<Seq>,
}

impl<'p, 's, 'log> Plan<'p, 's, 'log> {
    pub(super) fn new(
        header: &'s SessionHeader<'s>,
        session: &'s Session<'log>,
        settlement: &'s Settlement,
        evidence: &'p Evidence<'s, 'log>,
    ) -> Plan<'p, 's, 'log> {
        let injected = session.messages.iter().find(|message| {
            message.form == Form::Parts && matches!(message.role, Role::Context | Role::Steering)
        });
        let steered = session
            .turns
            .iter()
            .find(|turn| turn.evidence.upgraded_steering);
        Plan {
            header,
            session,
            settlement,
            evidence,
            injected: injected.map(|message| message.seq),
            steered: steered.map(|turn| turn.start),
        }
    }

    pub(super) fn requests(&self) -> Vec<Derived> {
        let mut all = Vec::new();
        for (at, step) in self.session.steps.iter().enumerate() {
            self.step(StepIx(at as u32), step, &mut all);
        }
        all
    }

    fn step(&self, index: StepIx, step: &'s StepFact, all: &mut Vec<Derived>) {
        let old = self.evidence.era_of(step) != Era::Released;
        let mut traced: Vec<_> = self.evidence.attempts_of(index).collect();
        if old {
            traced.truncate(1);
        }
        for (at, (attempt_index, attempt)) in traced.iter().enumerate() {
            all.extend(self.request(&Sent {
                index,
                step,
                attempt: Some((*attempt_index, attempt)),
                number: at as u32 + 1,
                boundary: if old { step.start } else { attempt.first },
                reached: Some(attempt.first),
            }));
        }
        let end = step.end.unwrap_or(self.session.next_seq);
        let number = traced.len() as u32 + 1;
        let traceless = Sent {
            index,
            step,
            attempt: None,
            number,
            boundary: end,
            reached: step.end,
        };
        if traced.is_empty() {
            let boundary = if old { step.start } else { end };
            let request = self.request(&Sent {
                boundary,
                ..traceless
            });
            all.extend(request.map(|request| Derived {
                unsent: !step.has_own_header,
                ..request
            }));
        } else if step.trailing && !old {
            all.extend(self.request(&traceless));
        }
    }

    fn request(&self, sent: &Sent<'s>) -> Option<Derived> {
        let step = sent.step;
        let header = match sent.attempt {
            Some((_, attempt)) => attempt.header?,
            None => step.header?,
        };
        let stop = self.settlement.stop.as_ref();
        if stop.is_some_and(|stop| sent.reached.is_none_or(|reached| reached >= stop.seq)) {
            return None;
        }
        let (derivation, guessed) = self.evidence.derivation(sent.index)?;
        let mut derived = Derived {
            step: sent.index,
            attempt: sent.attempt.map(|(index, _)| index),
            number: sent.number,
            boundary: sent.boundary,
            header,
            inherited: self.is_inherited(step),
            unsent: false,
            derivation,
            tags: self.has_tags(step, derivation),
            steering_first: self.evidence.era_of(step) != Era::Released,
            order: self.order(step, derivation),
            answers: self.answers(step, derivation),
            guess: guessed.then_some(Guess::Derivation),
        };
        let overtaken = sent.attempt.is_some_and(|(_, attempt)| attempt.overtaken);
        derived.guess = derived.guess.or(self.guess(&derived, overtaken));
        Some(derived)
    }

    fn is_inherited(&self, step: &StepFact) -> bool {
        match self.header.generation.facts().marks_inherited {
            true => self
                .session
                .inherited_until
                .is_some_and(|until| step.start < until),
            false => step.start.0 < self.header.seed_length,
        }
    }

    fn order(&self, step: &StepFact, derivation: Derivation) -> Order {
        match derivation {
            _ if self.header.generation.facts().has_tool_history => Order::ToolHistory,
            Derivation::Identified => Order::Spread,
            Derivation::Provenance if step.time >= SPREAD_BEGINS => Order::Spread,
            _ => Order::Named,
        }
    }

    fn has_tags(&self, step: &StepFact, derivation: Derivation) -> bool {
        match derivation {
            Derivation::Plain => true,
            Derivation::Provenance => !self.header.has_depth && step.time < TAGS_END,
            Derivation::Identified => false,
        }
    }

    fn answers(&self, step: &StepFact, derivation: Derivation) -> AnswerStyle {
        match derivation {
            _ if !self.header.generation.facts().has_old_turns => AnswerStyle::Reasoning,
            Derivation::Plain => AnswerStyle::Null,
            Derivation::Provenance if step.time < EMPTY_BEGINS => AnswerStyle::Null,
            Derivation::Provenance => AnswerStyle::Empty,
            Derivation::Identified if self.evidence.era_of(step) != Era::Released => {
                AnswerStyle::Empty
            }
            Derivation::Identified if step.time < REASONING_BEGINS => AnswerStyle::Empty,
            Derivation::Identified => AnswerStyle::Reasoning,
        }
    }

    /// What the log cannot decide about a request.
    fn guess(&self, derived: &Derived, overtaken: bool) -> Option<Guess> {
        let by_time = derived.derivation == Derivation::Provenance;
        let before = |first: Option<Seq>| first.is_some_and(|first| first < derived.boundary);
        if overtaken {
            Some(Guess::Boundary)
        } else if by_time && !self.header.has_depth && before(self.injected) {
            Some(Guess::Tags)
        } else if by_time && self.order_shows(derived.header) {
            Some(Guess::Order)
        } else if derived.inherited
            && derived.derivation == Derivation::Identified
            && before(self.steered)
        {
            Some(Guess::Steering)
        } else {
            None
        }
    }

    /// Whether the order of a provenance request's members can be seen at all.
    fn order_shows(&self, header: HeaderIx) -> bool {
        const SAME: [&str; 3] = ["provider", "model", "reasoningEffort"];
        let header = self.session.headers.get(header.get());
        let config = header.and_then(|header| header.raw.get("config"));
        config.is_some_and(|config| {
            config
                .members()
                .any(|(key, _)| !SAME.iter().any(|name| key.is_str(name)))
        })
    }
}
