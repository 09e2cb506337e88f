//! After the last line: which build ran each turn and attempt, and so where each request's boundary lies.
//!
//! **Takes** a [`Session`] with its evidence. **Gives** a [`Settlement`]: the era of each turn, and a [`Derived`] per request.
//! **Never** reads a message.
//!
//! Source: format reference, sections 0.3, A.5, A.7, D.1 to D.3.

use std::collections::HashMap;

use super::SessionHeader;
use crate::event::Scope;
use crate::fold::{
    Answer, AttemptFact, AttemptIx, Finish, HeaderIx, Session, Shape, StepFact, StepIx, Stop,
    TurnFact,
};
use crate::line::{Millis, Seq};

/// Tags of injected context end here: 2026-07-20T09:05:07Z.
const TAGS_END: Millis = Millis(1_784_538_307_000);
/// An answer without text is written as an empty string from here on: 2026-07-22T12:34:00Z.
const EMPTY_BEGINS: Millis = Millis(1_784_723_640_000);
/// Reasoning goes with every answer that has any from here on: 2026-08-19T14:17:00Z.
const REASONING_BEGINS: Millis = Millis(1_787_149_020_000);
/// The spread form of a request begins here: 2026-07-27T14:39:45Z.
const SPREAD_BEGINS: Millis = Millis(1_785_163_185_000);

/// Which builds wrote a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Before 2026-08-05.
    Old,
    /// Before 2026-08-05, copied by a fork that a later build made.
    Upgraded,
    /// From 2026-08-05 on.
    Released,
}

impl Era {
    /// Whether a fact of this scope is a fault in such a turn.
    pub fn is_in(self, scope: Scope) -> bool {
        match scope {
            Scope::Any => true,
            Scope::Old => self != Era::Released,
            Scope::Released => self == Era::Released,
        }
    }
}

/// How surface events become messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// Until 2026-07-17: parts only.
    Plain,
    /// Until 2026-07-28: with the assistant's provenance.
    Provenance,
    /// The logged message objects themselves.
    Identified,
}

/// In which order a request's members stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Named one by one: `provider?, model, reasoningEffort?, messages, system?, tools?, temperature?, maxTokens?, stop?, sessionId`.
    Named,
    /// The config as it stands, then `messages, system?, tools?, sessionId`.
    Spread,
    /// The config as it stands, then `messages, toolHistory, tools?, sessionId`.
    ToolHistory,
}

/// How a chat-completions build repeats an answer that has no text, and its reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerStyle {
    /// Until 2026-07-22: without text and tool calls the content is `null`; reasoning only beside tool calls.
    Null,
    /// Until 2026-08-19: the content is always a string; reasoning only beside tool calls.
    Empty,
    /// From 0.1.0-rc.8 on: reasoning whenever there is any.
    Reasoning,
}

/// What the log cannot decide about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// A surface event was appended while the response streamed, or before an old request's first chunk.
    Boundary,
    /// Whether injected context had tags: decided by the step's time.
    Tags,
    /// In which order the config's members stood: decided by the step's time.
    Order,
    /// Which build sent it: nothing in the step or its neighbours shows.
    Derivation,
}

/// A request: where its messages end, and how they are derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    /// The step that sent it.
    pub step: StepIx,
    /// The attempt's facts; absent where it left no trace.
    pub attempt: Option<AttemptIx>,
    /// Its number within the step, from 1.
    pub number: u32,
    /// The messages are the derivation of all events with a smaller seq.
    pub boundary: Seq,
    /// The header in force.
    pub header: HeaderIx,
    /// Whether the parent session sent it.
    pub inherited: bool,
    /// Whether the log cannot say that it was sent.
    pub unsent: bool,
    /// How its messages are derived.
    pub derivation: Derivation,
    /// Whether injected context stands between tags.
    pub tags: bool,
    /// Whether steering messages of older builds are written `id,role,content,source`.
    pub steering_first: bool,
    /// The order of its members.
    pub order: Order,
    /// How answers are repeated. Told by the step's time where the derivation and the turn leave it open.
    pub answers: AnswerStyle,
    /// What was guessed.
    pub guess: Option<Guess>,
}

/// What only the whole log tells.
#[derive(Clone, Debug, Default)]
pub struct Settlement {
    /// The era of each turn.
    pub eras: Vec<Era>,
    /// The era of a log without turns.
    pub default_era: Option<Era>,
    /// The requests, in order.
    pub requests: Vec<Derived>,
    /// Where the reconstruction ends, if a fault ends it.
    pub stop: Option<Stop>,
    /// Whether everything had to stand inside a turn.
    pub encloses: bool,
}

impl Settlement {
    /// The era of the turn with this index; of the nearest one where there is none.
    pub fn era(&self, turn_index: u32) -> Era {
        let found = self
            .eras
            .get(turn_index as usize)
            .or(self.eras.last())
            .copied();
        found.or(self.default_era).unwrap_or(Era::Released)
    }
}

/// Settles a log.
pub fn settle(header: &SessionHeader<'_>, session: &Session<'_>) -> Settlement {
    let facts = header.generation.facts();
    let eras: Vec<Era> = session
        .turns
        .iter()
        .map(|turn| {
            if facts.has_old_turns {
                era(turn)
            } else {
                Era::Released
            }
        })
        .collect();
    let fallback = if header.has_depth || !facts.has_old_turns {
        Era::Released
    } else {
        Era::Old
    };
    let mut settlement = Settlement {
        eras,
        default_era: Some(fallback),
        requests: Vec::new(),
        stop: None,
        encloses: !header.has_depth && !session.names_provider && session.first_end_seed.is_none(),
    };
    settlement.stop = session
        .stops
        .iter()
        .copied()
        .find(|stop| settlement.era(stop.turn_index).is_in(stop.scope));
    settlement.requests = Settler::new(header, session, &settlement).requests();
    settlement
}

fn era(turn: &TurnFact) -> Era {
    let evidence = &turn.evidence;
    if turn.has_trigger {
        Era::Old
    } else if evidence.legacy_id || evidence.retry_outside_step {
        Era::Upgraded
    } else if !turn.has_start && evidence.input_before_step && !evidence.input_in_step {
        Era::Old
    } else {
        Era::Released
    }
}

struct Settler<'s, 'log> {
    header: &'s SessionHeader<'s>,
    session: &'s Session<'log>,
    settlement: &'s Settlement,
    attempts: HashMap<StepIx, Vec<AttemptIx>>,
    /// Derivation of each step, and whether it is a guess.
    derivations: Vec<(Derivation, bool)>,
}

impl<'s, 'log> Settler<'s, 'log> {
    fn new(
        header: &'s SessionHeader<'s>,
        session: &'s Session<'log>,
        settlement: &'s Settlement,
    ) -> Settler<'s, 'log> {
        let mut attempts: HashMap<StepIx, Vec<AttemptIx>> = HashMap::new();
        for (at, attempt) in session.attempts.iter().enumerate() {
            attempts
                .entry(attempt.step)
                .or_default()
                .push(AttemptIx(at as u32));
        }
        let mut settler = Settler {
            header,
            session,
            settlement,
            attempts,
            derivations: Vec::new(),
        };
        settler.derivations = settler.derive_steps();
        settler
    }

    fn attempts_of(&self, step: StepIx) -> impl Iterator<Item = (AttemptIx, &'s AttemptFact)> + '_ {
        let indexes = self
            .attempts
            .get(&step)
            .map(Vec::as_slice)
            .unwrap_or_default();
        indexes
            .iter()
            .filter_map(|&ix| Some((ix, self.session.attempts.get(ix.get())?)))
    }

    fn era_of(&self, step: &StepFact) -> Era {
        self.settlement.era(step.turn.0)
    }

    fn derive_steps(&self) -> Vec<(Derivation, bool)> {
        let own: Vec<Option<Derivation>> = (0..self.session.steps.len())
            .map(|at| self.evidence(StepIx(at as u32)))
            .collect();
        let later = neighbours(self.session, &own, true);
        let earlier = neighbours(self.session, &own, false);
        let all = self.session.steps.iter().enumerate().map(|(at, step)| {
            let pick = |from: &[Option<Derivation>]| from.get(at).copied().flatten();
            match pick(&own).or(pick(&earlier)).or(pick(&later)) {
                Some(derivation) => (derivation, false),
                None => (
                    self.by_header(step),
                    self.header_of(step).is_some_and(|provider| provider),
                ),
            }
        });
        all.collect()
    }

    /// What a step itself shows of the build that ran it (section 0.3, points 1 to 5).
    fn evidence(&self, index: StepIx) -> Option<Derivation> {
        if !self.header.generation.facts().has_old_turns {
            return Some(Derivation::Identified);
        }
        let step = self.session.steps.get(index.get())?;
        let turn = self.session.turns.get(step.turn.get())?;
        if let Some(answer) = self
            .attempts_of(index)
            .find_map(|(_, attempt)| attempt.answer)
        {
            return Some(by_answer(answer));
        }
        if self.era_of(step) == Era::Released {
            return Some(Derivation::Identified);
        }
        match step.result.or(turn.evidence.input) {
            Some(Shape::Identified) => return Some(Derivation::Identified),
            Some(Shape::Parts | Shape::Upgraded) => return Some(self.by_header(step)),
            None => {}
        }
        let early = self
            .attempts_of(index)
            .any(|(_, attempt)| attempt.finish == Finish::Failed { early: true });
        (early || turn.evidence.early_end).then(|| self.by_header(step))
    }

    /// Whether the header in force names a provider.
    fn header_of(&self, step: &StepFact) -> Option<bool> {
        let header = self.session.headers.get(step.header?.get())?;
        Some(
            header
                .raw
                .get("config")
                .is_some_and(|config| config.get("provider").is_some()),
        )
    }

    fn by_header(&self, step: &StepFact) -> Derivation {
        match self.header_of(step) {
            Some(true) => Derivation::Provenance,
            _ => Derivation::Plain,
        }
    }

    fn requests(&self) -> Vec<Derived> {
        let mut all = Vec::new();
        for (at, step) in self.session.steps.iter().enumerate() {
            let index = StepIx(at as u32);
            let old = self.era_of(step) != Era::Released;
            let mut traced: Vec<_> = self.attempts_of(index).collect();
            if old {
                traced.truncate(1);
            }
            let mut number = 0;
            for (attempt_index, attempt) in &traced {
                number += 1;
                let boundary = if old { step.start } else { attempt.first };
                let header = attempt.header;
                let reached = attempt.first;
                all.extend(self.request(
                    index,
                    step,
                    Some(*attempt_index),
                    number,
                    boundary,
                    header,
                    reached,
                ));
            }
            let end = step.end.unwrap_or(self.session.next_seq);
            let reached = step.end.unwrap_or(Seq(u64::MAX));
            if traced.is_empty() {
                let boundary = if old { step.start } else { end };
                let request = self.request(index, step, None, 1, boundary, step.header, reached);
                all.extend(request.map(|request| Derived {
                    unsent: !step.has_own_header,
                    ..request
                }));
            } else if step.trailing && !old {
                all.extend(self.request(index, step, None, number + 1, end, step.header, reached));
            }
        }
        all
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each is a fact of its own about one request"
    )]
    fn request(
        &self,
        index: StepIx,
        step: &StepFact,
        attempt: Option<AttemptIx>,
        number: u32,
        boundary: Seq,
        header: Option<HeaderIx>,
        reached: Seq,
    ) -> Option<Derived> {
        let header = header?;
        let beyond = |stop: &Stop| match reached {
            Seq(u64::MAX) => true,
            reached => reached >= stop.seq,
        };
        if self.settlement.stop.as_ref().is_some_and(beyond) {
            return None;
        }
        let facts = self.header.generation.facts();
        let (derivation, guessed) = *self.derivations.get(index.get())?;
        let inherited = match facts.marks_inherited {
            true => self
                .session
                .inherited_until
                .is_some_and(|until| step.start < until),
            false => step.start.0 < self.header.seed_length,
        };
        let order = match derivation {
            _ if facts.has_tool_history => Order::ToolHistory,
            Derivation::Identified => Order::Spread,
            Derivation::Provenance if step.time >= SPREAD_BEGINS => Order::Spread,
            _ => Order::Named,
        };
        let overtaken = attempt
            .and_then(|attempt| self.session.attempts.get(attempt.get()))
            .is_some_and(|attempt| attempt.overtaken);
        let tags = match derivation {
            Derivation::Plain => true,
            Derivation::Provenance => !self.header.has_depth && step.time < TAGS_END,
            Derivation::Identified => false,
        };
        let guess = if guessed {
            Some(Guess::Derivation)
        } else if overtaken {
            Some(Guess::Boundary)
        } else if derivation == Derivation::Provenance && self.order_shows(header) {
            Some(Guess::Order)
        } else {
            None
        };
        Some(Derived {
            step: index,
            attempt,
            number,
            boundary,
            header,
            inherited,
            unsent: false,
            derivation,
            tags,
            steering_first: self.era_of(step) != Era::Released,
            order,
            answers: self.answers(step, derivation),
            guess,
        })
    }

    fn answers(&self, step: &StepFact, derivation: Derivation) -> AnswerStyle {
        match derivation {
            _ if !self.header.generation.facts().has_old_turns => AnswerStyle::Reasoning,
            Derivation::Plain => AnswerStyle::Null,
            Derivation::Provenance if step.time < EMPTY_BEGINS => AnswerStyle::Null,
            Derivation::Provenance => AnswerStyle::Empty,
            Derivation::Identified if self.era_of(step) != Era::Released => AnswerStyle::Empty,
            Derivation::Identified if step.time < REASONING_BEGINS => AnswerStyle::Empty,
            Derivation::Identified => AnswerStyle::Reasoning,
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

fn by_answer(answer: Answer) -> Derivation {
    match (answer.shape, answer.has_provenance) {
        (Shape::Identified, _) => Derivation::Identified,
        (Shape::Upgraded, _) | (Shape::Parts, true) => Derivation::Provenance,
        (Shape::Parts, false) => Derivation::Plain,
    }
}

/// For each step, the derivation of the nearest earlier or later step of its loop instance that shows its own.
fn neighbours(
    session: &Session<'_>,
    own: &[Option<Derivation>],
    later: bool,
) -> Vec<Option<Derivation>> {
    let mut found = vec![None; own.len()];
    let mut last: Option<(u32, Derivation)> = None;
    let mut visit = |at: usize| {
        let (Some(step), Some(own)) = (session.steps.get(at), own.get(at)) else {
            return;
        };
        if let Some(slot) = found.get_mut(at) {
            *slot = last
                .filter(|(instance, _)| *instance == step.instance)
                .map(|(_, derivation)| derivation);
        }
        if let Some(derivation) = own {
            last = Some((step.instance, *derivation));
        }
    };
    match later {
        true => (0..own.len()).rev().for_each(&mut visit),
        false => (0..own.len()).for_each(&mut visit),
    }
    found
}
