//! What a log says of its turns, their steps, and the calls that these made.
//!
//! **Takes** nothing: the fold fills it. **Gives** the facts of which a [`Session`](super::Session) holds lists.
//! **Never** says which build wrote a turn, only what it shows of that.

use super::session::{HeaderIx, MessageIx, StepIx, TurnIx};
use crate::line::{LineNo, Millis, Seq};
use crate::record::Raw;

/// A turn.
#[derive(Clone, Debug)]
pub struct TurnFact {
    /// Its number.
    pub number: u64,
    /// Its first event: `turn/start`, or the first one seen of a turn without.
    pub start: Seq,
    /// When it started.
    pub time: Millis,
    /// Whether its start was seen and says what triggered it.
    pub has_trigger: bool,
    /// Whether its start was seen.
    pub has_start: bool,
    /// Whether it was closed.
    pub closed: bool,
    /// What its messages show of the build that wrote it.
    pub evidence: TurnEvidence,
}

/// What a turn's events show of the build that wrote it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnEvidence {
    /// An appended message has an id `legacy-message:…`.
    pub legacy_id: bool,
    /// A user message with an upgraded id stands behind a step: it steered the turn.
    pub upgraded_steering: bool,
    /// A retry stands outside a step.
    pub retry_outside_step: bool,
    /// The form of its first user or steering message.
    pub input: Option<Shape>,
    /// Its end's reason has the shape of builds before 2026-07-20.
    pub early_end: bool,
    /// A user message stands before its first step.
    pub input_before_step: bool,
    /// A user message stands between a step's start and its first chunk.
    pub input_in_step: bool,
}

/// The shape of a message, as evidence of who wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Parts in the event.
    Parts,
    /// An object with an id of its own.
    Identified,
    /// An object with an id that an upgrade gave.
    Upgraded,
}

/// A step.
#[derive(Clone, Debug)]
pub struct StepFact {
    /// Its turn.
    pub turn: TurnIx,
    /// Its number.
    pub number: u64,
    /// Its `step/start`.
    pub start: Seq,
    /// When it started.
    pub time: Millis,
    /// The line of its start.
    pub line: LineNo,
    /// The event that closed it: `step/end`, or the turn's end. Open at the log's end: absent.
    pub end: Option<Seq>,
    /// Whether it holds a header or context of its own.
    pub has_own_header: bool,
    /// What was logged behind its last attempt, that only a further request explains.
    pub trailing: bool,
    /// The form of its first tool result that is no crash closer.
    pub result: Option<Shape>,
    /// The last header before its end.
    pub header: Option<HeaderIx>,
    /// The loop instance at its end.
    pub instance: u32,
}

/// A call of the provider that left a trace.
#[derive(Clone, Debug)]
pub struct AttemptFact {
    /// Its step.
    pub step: StepIx,
    /// Its first trace: a chunk, a message, or the event that holds its stream.
    pub first: Seq,
    /// When the trace was written.
    pub time: Millis,
    /// When it ended: the time of its last trace.
    pub ended: Millis,
    /// The line of that trace.
    pub line: LineNo,
    /// The header in force.
    pub header: Option<HeaderIx>,
    /// The message that answers it.
    pub answer: Option<Answer>,
    /// How it ended.
    pub finish: Finish,
    /// Tokens used, where they were reported.
    pub usage: Option<Usage>,
    /// Whether a surface event stands between the boundary and the stream's first record (version 2 and later).
    pub overtaken: bool,
}

/// What an answer shows of the build that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The message, where it is on the surface.
    pub message: MessageIx,
    /// Its shape.
    pub shape: Shape,
    /// Whether it names its provider (parts only).
    pub has_provenance: bool,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// No end was logged.
    #[default]
    None,
    /// Regularly.
    Done,
    /// At the output limit: tool calls are dropped.
    MaxTokens,
    /// With an error or an abort.
    Failed {
        /// Whether the reason has the shape of builds before 2026-07-20.
        early: bool,
    },
}

/// Tokens of one attempt. What is absent was not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompt tokens that were not cached.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Prompt tokens read from the cache.
    pub cache_read: Option<u64>,
    /// Prompt tokens written to the cache.
    pub cache_write: Option<u64>,
    /// Reasoning tokens, part of the answer's.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Reads a usage object.
    pub fn read(raw: Raw<'_>) -> Usage {
        let counts = raw.fields([
            "inputTokens",
            "outputTokens",
            "cacheReadTokens",
            "cacheWriteTokens",
            "reasoningTokens",
        ]);
        let [input, output, cache_read, cache_write, reasoning] = counts.map(|count| {
            count
                .and_then(Raw::safe_int)
                .and_then(|n| u64::try_from(n).ok())
        });
        Usage {
            input,
            output,
            cache_read,
            cache_write,
            reasoning,
        }
    }
}
