//! The vocabulary of a session log as types, the same for every generation.
//!
//! **Takes** nothing: `dialect` builds events out of records. **Gives** [`Event`] and its parts, borrowed from the current line.
//! **Never** decides anything.

mod fault;
mod faults;
mod stream;

pub use fault::{
    Branch, BranchPattern, BranchSpan, Fault, HeadFault, Scope, SourcesFault, StepFault, TurnFault,
};
pub use faults::{Faults, LeftOut, Noted, Position};

pub use stream::{Piece, Stream};

use crate::line::{LineNo, Millis, Seq, Span};
use crate::record::{DeltaRun, Raw, SourceSeqs};

/// What a record turned out to be.
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, and nearly always an event"
)]
#[derive(Clone, Debug)]
pub enum Outcome<'line> {
    /// An event.
    Event(Event<'line>),
    /// No event: what is wrong was noted. Its number, where it has one, still counts.
    Unusable {
        /// Its number.
        seq: Option<Seq>,
        /// How many numbers it takes.
        count: u64,
    },
}

/// What the fold must know of a log's generation, without knowing the generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conduct {
    /// Whether chunks stand inside the response's event.
    pub has_streams: bool,
    /// Whether the surface begins with a protected system message.
    pub protects_head: bool,
}

/// Where an event stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Its line.
    pub line: LineNo,
    /// The line's bytes.
    pub span: Span,
    /// Its sequence number, where it has one.
    pub seq: Option<Seq>,
}

/// One logical record, or the run of consecutive ones that a packed row holds.
#[derive(Clone, Debug)]
pub struct Event<'line> {
    /// Where it stands; `at.seq` is [`Event::seq`].
    pub at: At,
    /// The whole record, for excerpts.
    pub value: Raw<'line>,
    /// Its number; of a packed row, the first one's.
    pub seq: Seq,
    /// How many numbers it takes: 1, or the members of a packed row.
    pub count: u64,
    /// When it was appended; of a packed row, its first member.
    pub time: Millis,
    /// Whether the envelope says that an unknown type may be passed over.
    pub ignorable: bool,
    /// Its part in the surface.
    pub surface: Option<Surface<'line>>,
    /// The events it was made from (`sourceEventSeqs`).
    pub sources: Option<SourceSeqs<'line>>,
    /// Its type's word in the log.
    pub name: Raw<'line>,
    /// What it says.
    pub body: Body<'line>,
}

/// How an event enters the surface.
#[derive(Clone, Copy, Debug)]
pub enum Surface<'line> {
    /// At the end.
    Append,
    /// In the place of a range of positions, both ends included and named by seq.
    Replace {
        /// First event shadowed.
        start: Seq,
        /// Last event shadowed.
        end: Seq,
        /// The operation as it stands.
        raw: Raw<'line>,
    },
}

/// A turn and a step in it, as an event names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepName {
    /// Turn, from 1.
    pub turn: u64,
    /// Step within the turn, from 1.
    pub step: u64,
}

/// What an event says.
#[derive(Clone, Debug)]
pub enum Body<'line> {
    /// A turn begins. `trigger` is present in builds before 2026-08-05.
    TurnStart {
        /// Its number.
        turn: u64,
        /// Whether it says what started it.
        trigger: bool,
    },
    /// A turn ends.
    TurnEnd {
        /// Its number.
        turn: u64,
        /// Why.
        reason: EndReason<'line>,
    },
    /// A step begins.
    StepStart(StepName),
    /// A step ends.
    StepEnd(StepName),
    /// A message of the conversation.
    Message(Message<'line>),
    /// One piece of a response (version 0 and 1).
    Chunk(StepName, Chunk<'line>),
    /// A packed run of pieces (version 0 and 1).
    Deltas(StepName, DeltaRun<'line>),
    /// An attempt that produced no message, with its stream (version 2 and later).
    Attempt(StepName, Stream<'line>),
    /// A snapshot of the half of a request that is not history.
    Header(HeaderEvent<'line>),
    /// The route of a request.
    Context {
        /// Whether prompt updates on this route are appended to the history.
        in_history: bool,
    },
    /// A call of a tool begins.
    ToolCall(StepName, ToolCall<'line>),
    /// A compaction begins.
    CompactionStart(Compaction<'line>),
    /// A compaction has its summary.
    CompactionSummary(Compaction<'line>, Summary<'line>),
    /// A compaction ends.
    CompactionEnd(Compaction<'line>),
    /// A tool result is about to be pruned.
    Prune {
        /// The nodes it prices.
        shadowed: Option<Raw<'line>>,
    },
    /// A failed attempt will be tried again.
    Retry(StepName, Retry<'line>),
    /// A scheduled retry begins.
    RetryStarted(StepName, Retry<'line>),
    /// A session was constructed over earlier events.
    EndSeed {
        /// Whether they are another session's (version 2 and later).
        inherited: bool,
    },
    /// Images of earlier messages are left out from here on (version 4, late version 3).
    Offload(Raw<'line>),
    /// A call that is not the loop's, written before it was sent.
    OneShot(OneShot, Raw<'line>),
    /// Input waits for a turn or is taken up by it.
    Inbox {
        /// Whether something was put in for the next turn.
        queued: bool,
    },
    /// A known event that only informs.
    LogOnly {
        /// Whether it must stand inside a turn in every build.
        in_turn: bool,
    },
    /// A representation that cannot be replayed.
    Legacy(Legacy),
    /// A type this generation does not know.
    Unknown,
}

/// A call of the provider that is not a step of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneShot {
    /// A title for the session.
    Title,
    /// A web search.
    Search,
}

/// What makes a log unreplayable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legacy {
    /// A header as a difference from its predecessor.
    HeaderDelta,
    /// A full header with the reason of the same builds.
    FallbackReason,
    /// The plan-mode prototype.
    ModeSet,
}

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user, or something that speaks in the user's place.
    User,
    /// The model.
    Assistant,
    /// A tool's answer.
    ToolResult,
    /// Injected context (until 2026-07-24).
    Context,
    /// Input that steers a running turn (until 2026-08-05).
    Steering,
    /// The system prompt (version 3 and later).
    System,
    /// Changes of the tool list (version 4).
    Developer,
}

/// How a message is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Its parts are members of the event (until 2026-07-28).
    Parts,
    /// It is an object of its own, with an id.
    Identified,
}

/// A message of the conversation.
#[derive(Clone, Copy, Debug)]
pub struct Message<'line> {
    /// Whose it is.
    pub role: Role,
    /// How it is written down.
    pub form: Form,
    /// [`Form::Identified`]: the message object. [`Form::Parts`]: the event's data.
    pub object: Raw<'line>,
    /// The event's data.
    pub data: Raw<'line>,
    /// The step it names, where it names one.
    pub step: Option<StepName>,
    /// Its content blocks. Of a tool result in [`Form::Identified`], the blocks of the message around the result.
    pub content: Option<Raw<'line>>,
    /// Its id.
    pub id: Option<Raw<'line>>,
    /// Where it comes from; in the provenance builds the assistant's `provenance`.
    pub source: Option<Raw<'line>>,
    /// Tokens, of an assistant message.
    pub usage: Option<Raw<'line>>,
    /// Whether the user cut the response short.
    pub interrupted: bool,
    /// The response's stream (version 2 and later).
    pub stream: Option<Stream<'line>>,
    /// Which call a tool result answers.
    pub call: Option<Raw<'line>>,
    /// Whether a tool result says that the tool failed.
    pub is_error: bool,
    /// The code of a tool result's error.
    pub error_code: Option<Raw<'line>>,
    /// The header that declares a developer message's tools.
    pub header_seq: Option<Raw<'line>>,
}

impl Message<'_> {
    /// Whether it is a tool result written by crash repair or a fork, not by the build that wrote the step.
    pub fn is_closer(&self) -> bool {
        const CODES: [&str; 3] = ["interrupted", "TOOL_NOT_STARTED", "TOOL_OUTCOME_UNKNOWN"];
        const IDS: [&[u8]; 2] = [b"interrupted-tool-result-", b"forked-tool-result-"];
        let by_code = self
            .error_code
            .is_some_and(|code| CODES.iter().any(|known| code.is_str(known)));
        let id = self.id.and_then(Raw::text);
        let by_id = id.is_some_and(|id| IDS.iter().any(|prefix| id.bytes().starts_with(prefix)));
        self.role == Role::ToolResult && self.is_error && (by_code || by_id)
    }
}

/// One piece of a response.
#[derive(Clone, Copy, Debug)]
pub enum Chunk<'line> {
    /// A block begins.
    BlockStart {
        /// Its index.
        index: Option<u64>,
        /// Its type.
        kind: Option<Raw<'line>>,
    },
    /// Text is added to a block.
    Text {
        /// The block's index.
        index: Option<u64>,
        /// What is added.
        text: Raw<'line>,
    },
    /// Reasoning is added to a block.
    Reasoning {
        /// The block's index.
        index: Option<u64>,
        /// What is added.
        text: Raw<'line>,
    },
    /// A tool call grows.
    ToolCall {
        /// The block's index.
        index: Option<u64>,
        /// The call's id.
        id: Raw<'line>,
        /// The tool's name.
        name: Option<Raw<'line>>,
        /// What is added to the arguments.
        arguments: Raw<'line>,
    },
    /// A block is complete.
    BlockEnd {
        /// Its index.
        index: Option<u64>,
        /// The block.
        block: Raw<'line>,
    },
    /// Tokens used.
    Usage(Raw<'line>),
    /// The response ends.
    Finish {
        /// Why.
        reason: Option<Raw<'line>>,
        /// What the adapter needs to replay it.
        replay: Option<Raw<'line>>,
    },
    /// An adapter's own kind, or a malformed one.
    Other,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug)]
pub struct EndReason<'line> {
    /// The reason as it stands.
    pub raw: Raw<'line>,
}

/// A header snapshot.
#[derive(Clone, Copy, Debug)]
pub struct HeaderEvent<'line> {
    /// The header.
    pub header: Option<Raw<'line>>,
    /// Why it was written.
    pub reason: Option<Raw<'line>>,
    /// Whether a new series of requests starts here.
    pub starts_series: bool,
    /// Whether its text is a fixture's placeholders.
    pub redacted: bool,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'line> {
    /// Its id.
    pub id: Raw<'line>,
    /// The tool.
    pub name: Raw<'line>,
    /// Its arguments, a JSON text in a string.
    pub arguments: Raw<'line>,
}

/// What the events of a compaction share.
#[derive(Clone, Copy, Debug)]
pub struct Compaction<'line> {
    /// Its id (released builds).
    pub id: Option<Raw<'line>>,
    /// The turn that owns it; absent or null between turns.
    pub turn: Option<u64>,
    /// Whether it failed.
    pub failed: bool,
    /// The event's data.
    pub data: Raw<'line>,
}

/// What a compaction summarised.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'line> {
    /// The nodes that the summary stands for.
    pub shadowed: Option<Raw<'line>>,
    /// Their first and last.
    pub range: Option<Raw<'line>>,
}

/// A retry.
#[derive(Clone, Copy, Debug)]
pub struct Retry<'line> {
    /// The chain's id (from 2026-08-09).
    pub id: Option<Raw<'line>>,
    /// The event's data.
    pub data: Raw<'line>,
}
