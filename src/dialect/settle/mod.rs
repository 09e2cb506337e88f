//! After the last line: which build ran each turn and attempt, and so where each request's boundary lies.
//!
//! **Takes** a [`Session`] with its evidence. **Gives** a [`Settlement`]: the era of each turn, and a [`Derived`] per request.
//! **Never** reads a message.
//!
//! Source: format reference, sections 0.3, A.5, A.7, D.1 to D.3.

mod evidence;
mod requests;

use self::evidence::Evidence;
use self::requests::Plan;
use super::SessionHeader;
use crate::event::Scope;
use crate::fold::{AttemptIx, HeaderIx, Session, StepIx, Stop, TurnFact};
use crate::line::Seq;

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
    /// In which order the members of a steering message stood, which a fork wrote anew.
    Steering,
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
    let evidence = Evidence::of(header, session, &settlement);
    settlement.requests = Plan::new(header, session, &settlement, &evidence).requests();
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
