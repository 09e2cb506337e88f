//! What a log says, as facts that point at each other by index.
//!
//! **Takes** nothing: the fold fills it. **Gives** [`Session`]. **Never** holds one row per event.

use std::collections::BTreeSet;

use super::turn_facts::{AttemptFact, StepFact, TurnFact};
use crate::event::{Form, Role};
use crate::line::{LineNo, Millis, Seq};
use crate::record::Raw;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a vector.
            pub fn get(self) -> usize {
                self.0 as usize
            }

            pub(crate) fn new(len: usize) -> $name {
                $name(u32::try_from(len).unwrap_or(u32::MAX))
            }
        }
    };
}

index!(
    /// Index into [`Session::messages`].
    MessageIx
);
index!(
    /// Index into [`Session::headers`].
    HeaderIx
);
index!(
    /// Index into [`Session::turns`].
    TurnIx
);
index!(
    /// Index into [`Session::steps`].
    StepIx
);
index!(
    /// Index into [`Session::attempts`].
    AttemptIx
);

/// Everything a log says about its requests.
#[derive(Debug)]
pub struct Session<'log> {
    /// Operations on the surface, by ascending seq.
    pub ops: Vec<SurfaceOp>,
    /// Messages that were ever on the surface, by ascending seq.
    pub messages: Vec<MessageFact<'log>>,
    /// Header snapshots, by ascending seq.
    pub headers: Vec<HeaderFact<'log>>,
    /// Routes of requests, by ascending seq.
    pub routes: Vec<RouteFact>,
    /// Turns, in order.
    pub turns: Vec<TurnFact>,
    /// Steps, in order.
    pub steps: Vec<StepFact>,
    /// Attempts that left a trace, in order.
    pub attempts: Vec<AttemptFact>,
    /// Compactions that have a summary.
    pub compactions: Vec<CompactionFact<'log>>,
    /// Calls that were written down before they were sent.
    pub one_shots: Vec<OneShotFact<'log>>,
    /// Where the reconstruction may end: the first of these that applies.
    pub stops: Vec<Stop>,
    /// The first event that rejects the log.
    pub legacy: Option<Seq>,
    /// Number of events.
    pub events: u64,
    /// The number behind the last event.
    pub next_seq: Seq,
    /// The seq of the last `session/end-seed` that marks inherited events.
    pub inherited_until: Option<Seq>,
    /// The first `session/end-seed`.
    pub first_end_seed: Option<Seq>,
    /// Whether a header names a provider.
    pub names_provider: bool,
    /// The line of the last `turn/end`.
    pub last_turn_end: Option<LineNo>,
    /// The turn that is open at the log's end.
    pub open_turn: Option<u64>,
    /// The last event's time.
    pub last_time: Option<Millis>,
}

impl Default for Session<'_> {
    fn default() -> Self {
        Session {
            ops: Vec::new(),
            messages: Vec::new(),
            headers: Vec::new(),
            routes: Vec::new(),
            turns: Vec::new(),
            steps: Vec::new(),
            attempts: Vec::new(),
            compactions: Vec::new(),
            one_shots: Vec::new(),
            stops: Vec::new(),
            legacy: None,
            events: 0,
            next_seq: Seq(0),
            inherited_until: None,
            first_end_seed: None,
            names_provider: false,
            last_turn_end: None,
            open_turn: None,
            last_time: None,
        }
    }
}

/// An operation on the surface.
#[derive(Clone, Debug)]
pub struct SurfaceOp {
    /// The event that carries it.
    pub seq: Seq,
    /// What it does.
    pub kind: OpKind,
}

/// What an operation does.
#[derive(Clone, Debug)]
pub enum OpKind {
    /// Adds a message at the end.
    Append(MessageIx),
    /// Puts a message in the place of a range of positions, both ends included.
    Replace {
        /// First message shadowed.
        first: MessageIx,
        /// Last message shadowed.
        last: MessageIx,
        /// What stands there now.
        with: MessageIx,
    },
    /// Marks images of a message as left out.
    Offload {
        /// The message.
        message: MessageIx,
        /// Which of its images, counted from 0, ascending.
        images: Box<[u32]>,
    },
}

/// A message of the surface.
#[derive(Clone, Debug)]
pub struct MessageFact<'log> {
    /// Its event.
    pub seq: Seq,
    /// The event's line.
    pub line: LineNo,
    /// Whose it is.
    pub role: Role,
    /// How it is written down.
    pub form: Form,
    /// [`Form::Identified`]: the message object; [`Form::Parts`]: the event's data. Absent where messages are not kept;
    /// those that change by what comes after them (developer messages, messages with images) are kept always.
    pub raw: Option<Raw<'log>>,
    /// Whether its content is an empty list.
    pub is_empty: bool,
    /// How many images its content holds.
    pub images: u32,
    /// Which of them were left out by the log's end.
    pub offloaded: BTreeSet<u32>,
    /// The header that declares a developer message's tools.
    pub header_seq: Option<u64>,
    /// The message whose place it takes, for the identity of a rewritten one.
    pub rewrites: Option<MessageIx>,
}

/// A header snapshot.
#[derive(Clone, Debug)]
pub struct HeaderFact<'log> {
    /// Its event.
    pub seq: Seq,
    /// The event's line.
    pub line: LineNo,
    /// The event's time.
    pub time: Millis,
    /// The header as it stands.
    pub raw: Raw<'log>,
    /// The reason, as it stands.
    pub reason: HeaderReason,
    /// Whether a new series of requests starts here.
    pub starts_series: bool,
    /// Whether its text is placeholders.
    pub redacted: bool,
    /// The turn and step it stands in.
    pub step: Option<StepIx>,
    /// The loop instance it belongs to, counted from 0.
    pub instance: u32,
}

/// The route of the requests behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteFact {
    /// Its event.
    pub seq: Seq,
    /// Whether prompt updates on this route are appended to the history.
    pub in_history: bool,
}

/// Why a header was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderReason {
    /// The first of a log.
    Initial,
    /// The first after a load.
    Resume,
    /// It changed.
    Change,
    /// A new series of requests starts.
    Series,
    /// No known word.
    Other,
}

/// A compaction with its summary.
#[derive(Clone, Debug)]
pub struct CompactionFact<'log> {
    /// The summary's event.
    pub seq: Seq,
    /// When it was written.
    pub time: Millis,
    /// The step it stands in.
    pub step: Option<StepIx>,
    /// The turn it stands in.
    pub turn: Option<TurnIx>,
    /// The header in force.
    pub header: Option<HeaderIx>,
    /// The summary's data.
    pub data: Raw<'log>,
}

/// A call that was written down before it was sent.
#[derive(Clone, Debug)]
pub struct OneShotFact<'log> {
    /// Its event.
    pub seq: Seq,
    /// When it was written.
    pub time: Millis,
    /// What it is for.
    pub kind: crate::event::OneShot,
    /// The event's data.
    pub data: Raw<'log>,
    /// The turn it stands in.
    pub turn: Option<TurnIx>,
    /// The step it stands in.
    pub step: Option<StepIx>,
}

/// Where the reconstruction ends, in turns of some builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// No event from this number on is part of a request.
    pub seq: Seq,
    /// Its line.
    pub line: LineNo,
    /// In which turns.
    pub scope: crate::event::Scope,
    /// The turn it stands in.
    pub turn_index: u32,
}
