//! Facts about bad input, as the rooms from `record` to `fold` meet them.
//!
//! **Takes** what a room saw. **Gives** [`Fault`]s. **Never** knows a code, a level or a sentence: those are `rules`'.

use super::Legacy;
use crate::line::{LineNo, Millis, Seq};
use crate::record::{PackedDefect, RecordDefect};

/// In which turns a fact is a fault. A log may hold turns of several builds, and which one wrote a turn may be known only at the
/// log's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In every turn.
    Any,
    /// In turns of builds before 2026-08-05.
    Old,
    /// In turns of later builds, and in every later version.
    Released,
}

/// A fact about bad input.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A line is no record.
    Line(RecordDefect),
    /// A line holds bytes that are not UTF-8.
    NotUtf8,
    /// An object has a key twice.
    DuplicateKey,
    /// A number is beyond a double's range.
    HugeNumber,
    /// A string holds half a surrogate pair.
    LoneSurrogate {
        /// JSON pointer of the string.
        pointer: String,
        /// Whether the event is on the surface.
        on_surface: bool,
    },
    /// A line is not what the writer would have written.
    NotPrinted,
    /// The envelope lacks a member.
    EnvelopeLacks(&'static str),
    /// A member of the envelope has the wrong type.
    EnvelopeType(&'static str),
    /// The envelope has a member too many.
    EnvelopeExtra(String),
    /// `seq` or `time` is a number, but no safe integer.
    UnsafeNumber(&'static str),
    /// A packed row breaks its shape.
    PackedRow(PackedDefect),
    /// The type is not known to the build that would read it.
    UnknownType {
        /// The type.
        name: String,
    },
    /// The log cannot be replayed.
    Legacy {
        /// What makes it so.
        kind: Legacy,
        /// The members that a delta carries.
        members: String,
    },
    /// The session header breaks its shape.
    SessionHeader(String),
    /// A message is not on the surface, although its type asks for it.
    SurfaceOpMissing,
    /// An event that makes no message has a part in the surface.
    SurfaceOpUnexpected(&'static str),
    /// The surface operation is neither an append nor an exact replace.
    SurfaceOpBad(&'static str),
    /// `sourceEventSeqs` is not what it may be.
    Sources(SourcesFault),
    /// An end of a replace is not on the surface.
    ReplaceEnd {
        /// Which end.
        which: &'static str,
        /// What it names.
        seq: Seq,
    },
    /// A replace starts behind its end.
    ReplaceReversed {
        /// Its start.
        start: Seq,
        /// Its end.
        end: Seq,
    },
    /// A replaced event is not among the sources.
    ReplaceNotCovered {
        /// The event.
        seq: Seq,
    },
    /// The system prompt at the head of the surface is not protected.
    Head(HeadFault),
    /// A rewritten tool result differs in more than its content.
    Rewrite(&'static str),
    /// Numbering goes on too high.
    SeqGap {
        /// The next number.
        expected: Seq,
        /// The number found.
        found: Seq,
    },
    /// A number comes again.
    SeqDuplicate {
        /// The number.
        seq: Seq,
        /// The type of the first event with it, where it is still known.
        first: Option<String>,
        /// The type of the second.
        second: String,
        /// Whether both lines are the same bytes.
        equal: Option<bool>,
    },
    /// Numbering falls back, and a second branch follows.
    SeqRewind(Box<Branch>),
    /// A response, and no header.
    NoHeader,
    /// A header's reason is outside the vocabulary.
    HeaderReason(String),
    /// A header's reason does not fit its place.
    HeaderReasonWrong {
        /// The reason.
        reason: String,
        /// Whether a header was in force.
        had_header: bool,
    },
    /// A changed header that changes nothing.
    HeaderSame,
    /// An empty part stands where it should be absent.
    HeaderEmptyPart(&'static str),
    /// A header stands where none can.
    HeaderMisplaced(&'static str),
    /// The session prefix changes within one loop instance.
    PrefixDrift,
    /// A header breaks its shape.
    HeaderShape(&'static str),
    /// The answer's route is not the header's.
    Route {
        /// `provider` or `model`.
        member: &'static str,
        /// What the header says.
        header: String,
        /// What the answer says.
        answer: String,
    },
    /// The first request after a load logs no snapshot.
    NotAnchored {
        /// Where the session was loaded.
        loaded: Seq,
    },
    /// A turn's number or nesting is wrong.
    Turn(TurnFault),
    /// A step's number or nesting is wrong.
    Step(StepFault),
    /// An event names a turn and step that is not open.
    OutsideStep {
        /// What the event names.
        turn: u64,
        /// What the event names.
        step: u64,
        /// The open pair, if one is.
        open: Option<(u64, u64)>,
    },
    /// An event that belongs inside a turn stands outside.
    OutsideTurn {
        /// In every build; else only in those that kept everything inside turns.
        always: bool,
    },
    /// A tool result answers no pending call.
    ResultWithoutCall {
        /// The call it names.
        call: String,
    },
    /// A tool call is never answered.
    CallWithoutResult {
        /// The call.
        call: String,
        /// Whether a tool was started for it.
        started: bool,
    },
    /// A tool call is not the one the model advertised.
    CallNotAdvertised {
        /// The call.
        call: String,
    },
    /// The log ends inside a turn.
    OpenTurn {
        /// The turn.
        turn: u64,
    },
    /// A turn was closed by crash repair.
    InterruptedTurn {
        /// The turn.
        turn: u64,
    },
    /// A compaction breaks its rules.
    Compaction(&'static str),
    /// A retry breaks its rules.
    Retry(&'static str),
    /// A word is outside its vocabulary.
    Vocabulary {
        /// Whose word.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// A word of an open union that no known build writes.
    OpenVocabulary {
        /// Whose word.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// Data of a known event is not what it must be.
    Data {
        /// JSON pointer of the member, relative to the event.
        pointer: String,
        /// What is wrong, as a predicate: `is missing`.
        why: &'static str,
        /// Whether the event only informs.
        log_only: bool,
    },
    /// A message has no identity.
    Unidentified {
        /// What is wrong, as a predicate.
        why: &'static str,
    },
    /// A message is not what its chunks assemble to.
    Response {
        /// JSON pointer of the first difference within the content.
        pointer: String,
        /// What the log has there.
        logged: String,
        /// What the chunks give.
        assembled: String,
    },
    /// A message's usage is not the stream's.
    Usage,
    /// A message's sources are not its chunks.
    ChunkSources {
        /// The first seq that differs.
        seq: Seq,
    },
    /// An answer stands although the stream failed.
    ResponseAfterFailure,
    /// A stream breaks the grammar of chunks.
    Stream(&'static str),
    /// A blank line.
    BlankLine,
}

/// What is wrong with `sourceEventSeqs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourcesFault {
    /// It is no array.
    NotAnArray,
    /// A member is no sequence number and no range.
    BadMember,
    /// It is empty where it may not be.
    Empty,
    /// A member comes twice.
    Duplicate(Seq),
    /// A list with ranges does not ascend.
    Unordered,
    /// A member is not earlier than the event.
    NotEarlier(Seq),
    /// A member names an event that the log does not hold.
    Unknown(Seq),
    /// A range where the build knew none.
    Range,
    /// It stands on a message that may not have it.
    Forbidden,
}

/// What is wrong with the head of the surface (version 3 and later).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadFault {
    /// The surface does not begin with a system message.
    Missing,
    /// Something other than a system message takes its place, or more than the head is replaced.
    Shadowed,
}

/// What is wrong with a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnFault {
    /// It starts with another number than the next.
    Number {
        /// The next number.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// It starts while another is open.
    Open {
        /// The open turn.
        open: u64,
        /// Whether no step is open, and the number is the next: the trace of a user's cancel.
        cancelled: bool,
    },
    /// It ends, and is not the open one.
    NotOpen {
        /// The turn that is open.
        open: Option<u64>,
    },
    /// It ends while a step is open.
    StepOpen {
        /// The open step.
        step: u64,
    },
}

/// What is wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepFault {
    /// It starts with another number than the next.
    Number {
        /// The next number.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// It starts while another is open.
    Open {
        /// The open step.
        open: u64,
    },
    /// It names a turn that is not open.
    WrongTurn {
        /// The turn that is open.
        open: Option<u64>,
    },
    /// It ends, and is not the open one.
    NotOpen {
        /// The step that is open.
        open: Option<u64>,
    },
}

/// Two branches of a log that two writers appended to.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// What was written first, from the number on at which the second branch begins.
    pub first: BranchSpan,
    /// The rows that were left aside.
    pub second: BranchSpan,
    /// Who wrote the second branch, as its first row shows.
    pub pattern: BranchPattern,
    /// Where numbering goes on in sequence.
    pub goes_on: Option<(LineNo, Seq)>,
}

/// One branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchSpan {
    /// Smallest and largest number.
    pub seqs: (Seq, Seq),
    /// First and last line.
    pub lines: (LineNo, LineNo),
    /// Earliest and latest time.
    pub times: Option<(Millis, Millis)>,
    /// Lines, where they were counted.
    pub rows: u64,
    /// Events.
    pub events: u64,
    /// First and last turn that starts or ends in it.
    pub turns: Option<(u64, u64)>,
    /// Messages of the conversation.
    pub messages: u64,
}

impl Default for BranchSpan {
    fn default() -> Self {
        BranchSpan {
            seqs: (Seq(0), Seq(0)),
            lines: (LineNo(1), LineNo(1)),
            times: None,
            rows: 0,
            events: 0,
            turns: None,
            messages: 0,
        }
    }
}

/// How a second branch came to be, as far as its first row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchPattern {
    /// Two processes appended to one file.
    Writers,
    /// A second process loaded the log and went on.
    Loaded,
    /// A second process closed a turn that the first was still running.
    Repaired,
    /// A packed row overlaps what was committed.
    PackedRow,
}
