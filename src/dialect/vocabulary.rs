//! The event types of every generation: which build knows a type, and what its data must hold.
//!
//! **Takes** a type's word. **Gives** its [`Word`]. **Never** looks at an event.
//!
//! Source: format reference, sections A.1, B.1, B.2 and B.3 to B.5, and the generations reference, section 2.4.

use Ty::{Any, Array, Bool, Int, Num, Object, Str, Text};

/// Who knows a type: a set of [`OLD`], [`RELEASED`], [`V2`], [`V3`] and [`V4`].
pub(crate) type Known = u8;

/// Turns of builds before 2026-08-05.
pub(crate) const OLD: Known = 1;
/// Turns of later builds that write version 0.
pub(crate) const RELEASED: Known = 2;
/// Version 2.
pub(crate) const V2: Known = 4;
/// Version 3.
pub(crate) const V3: Known = 8;
/// Version 4.
pub(crate) const V4: Known = 16;

const ALL: Known = OLD | RELEASED | V2 | V3 | V4;
const NEW: Known = RELEASED | V2 | V3 | V4;
const V3_ON: Known = V3 | V4;
const CHUNKED: Known = OLD | RELEASED;

/// What the decoder makes of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    TurnStart,
    TurnEnd,
    StepStart,
    StepEnd,
    UserMessage,
    AssistantMessage,
    ToolResult,
    ContextMessage,
    SteeringMessage,
    SystemMessage,
    DeveloperMessage,
    Chunk,
    Attempt,
    Header,
    HeaderDelta,
    ModeSet,
    RequestContext,
    ToolCall,
    CompactionStart,
    CompactionSummary,
    CompactionEnd,
    Prune,
    Retry,
    RetryStarted,
    EndSeed,
    Offload,
    TitleRequest,
    SearchRequest,
    Inbox,
    LogOnly,
}

/// The type a member of `data` must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// Anything, but present.
    Any,
    /// `true` or `false`.
    Bool,
    /// A safe integer.
    Int,
    /// A number.
    Num,
    /// A string.
    Str,
    /// A string that is not empty.
    Text,
    /// An array.
    Array,
    /// An object.
    Object,
    /// One of the words.
    OneOf(&'static [&'static str]),
}

/// A member that `data` must have, or may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) ty: Ty,
    pub(crate) required: bool,
}

const fn must(name: &'static str, ty: Ty) -> Member {
    Member {
        name,
        ty,
        required: true,
    }
}

const fn may(name: &'static str, ty: Ty) -> Member {
    Member {
        name,
        ty,
        required: false,
    }
}

/// A type of the vocabulary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) known: Known,
    /// Whether it can stand between turns in every build from 2026-07-28 on.
    pub(crate) free: bool,
    /// What `data` must hold, judged in every turn of a type that makes requests, and in released turns of the others.
    pub(crate) shape: &'static [Member],
}

const fn core(name: &'static str, kind: Kind, known: Known, shape: &'static [Member]) -> Word {
    Word {
        name,
        kind,
        known,
        free: true,
        shape,
    }
}

const fn log(name: &'static str, known: Known, shape: &'static [Member]) -> Word {
    Word {
        name,
        kind: Kind::LogOnly,
        known,
        free: true,
        shape,
    }
}

const fn in_turn(word: Word) -> Word {
    Word {
        free: false,
        ..word
    }
}

const TURN: &[Member] = &[must("turn", Int)];
const STEP: &[Member] = &[must("turn", Int), must("step", Int)];
const NONE: &[Member] = &[];
const DISPATCH_START: &[Member] = &[
    must("rootCallId", Text),
    must("parentCallId", Text),
    must("subCallId", Text),
    must("name", Str),
    must("arguments", Any),
];
const DISPATCH: &[Member] = &[
    must("rootCallId", Text),
    must("parentCallId", Text),
    must("subCallId", Text),
    must("name", Str),
    must("arguments", Any),
    must("isError", Bool),
    must("content", Array),
];
const TEAM: &[Member] = &[must("version", Int), must("teamId", Str)];
const JOB: &[Member] = &[must("jobId", Str), must("kind", Str)];

/// All types, sorted by name.
static WORDS: &[Word] = &[
    log("agent-preset/selected", NEW, &[must("agentPreset", Any)]),
    core(
        "agent/inbox/spliced",
        Kind::Inbox,
        ALL,
        &[
            must("target", Ty::OneOf(&["next-turn", "next-step"])),
            must("start", Int),
            may("removedCount", Int),
            must("inserted", Array),
        ],
    ),
    log(
        "approval/asked",
        ALL,
        &[must("id", Str), must("toolName", Str)],
    ),
    log(
        "approval/decided",
        ALL,
        &[must("id", Str), must("outcome", Str)],
    ),
    log(
        "approval/policy",
        ALL,
        &[must("policy", Ty::OneOf(&["ask", "never"]))],
    ),
    core(
        "assistant/attempt",
        Kind::Attempt,
        V2 | V3_ON,
        &[must("turn", Int), must("step", Int), must("stream", Array)],
    ),
    core(
        "assistant/chunk",
        Kind::Chunk,
        CHUNKED,
        &[must("turn", Int), must("step", Int), must("chunk", Object)],
    ),
    core("assistant/message", Kind::AssistantMessage, ALL, STEP),
    log("bash/sandbox-mode", OLD, &[must("mode", Str)]),
    log(
        "command/done",
        ALL,
        &[
            must("commandId", Str),
            must("kind", Ty::OneOf(&["success", "error"])),
        ],
    ),
    log(
        "command/run",
        ALL,
        &[
            must("commandId", Str),
            must("name", Str),
            must("source", Object),
        ],
    ),
    core("compact/end", Kind::CompactionEnd, CHUNKED, NONE),
    core("compact/prune", Kind::Prune, CHUNKED, NONE),
    core("compact/start", Kind::CompactionStart, CHUNKED, NONE),
    core(
        "compact/summary",
        Kind::CompactionSummary,
        CHUNKED,
        &[must("summary", Array)],
    ),
    core("compaction/end", Kind::CompactionEnd, ALL, NONE),
    core(
        "compaction/prune",
        Kind::Prune,
        ALL,
        &[
            must("shadowedRange", Object),
            must("shadowedSeqs", Array),
            must("shadowedTokenCount", Num),
        ],
    ),
    core("compaction/start", Kind::CompactionStart, ALL, NONE),
    core(
        "compaction/summary",
        Kind::CompactionSummary,
        ALL,
        &[
            must("summary", Array),
            must("shadowedRange", Object),
            must("shadowedSeqs", Array),
            must("provider", Str),
            must("model", Str),
        ],
    ),
    core("context/message", Kind::ContextMessage, OLD, NONE),
    log("deliverables/presented", V3_ON, NONE),
    core("developer/message", Kind::DeveloperMessage, V4, STEP),
    log("feedback/message-delete", V3_ON, &[must("messageId", Str)]),
    log("feedback/message-put", V3_ON, &[must("item", Object)]),
    log("feedback/record", ALL, &[must("text", Str)]),
    log(
        "goal/change",
        ALL,
        &[must("version", Int), must("operation", Str)],
    ),
    log(
        "hook/invoked",
        ALL,
        &[
            must("turn", Int),
            must("point", Str),
            must("handlerId", Str),
        ],
    ),
    log(
        "hook/result",
        ALL,
        &[
            must("turn", Int),
            must("point", Str),
            must("handlerId", Str),
        ],
    ),
    core(
        "image/offload",
        Kind::Offload,
        V3_ON,
        &[must("targets", Array)],
    ),
    log("job/registered", V4, JOB),
    log("job/settled", V4, JOB),
    core("llm/retry", Kind::Retry, ALL, NONE),
    core("llm/retry-started", Kind::RetryStarted, ALL, STEP),
    core("mode/set", Kind::ModeSet, 0, NONE),
    log("model/selection", ALL, NONE),
    log("permission/preset", ALL, &[must("preset", Str)]),
    log("plan/mode", ALL, &[must("active", Bool)]),
    log(
        "prompt/blocked",
        OLD,
        &[must("content", Array), must("source", Object)],
    ),
    in_turn(core(
        "request/context",
        Kind::RequestContext,
        ALL,
        &[must("provider", Str), must("model", Str)],
    )),
    in_turn(core("request/header", Kind::Header, ALL, NONE)),
    core("request/header-delta", Kind::HeaderDelta, 0, NONE),
    log("sandbox/mode", ALL, &[must("mode", Str)]),
    log(
        "schedule/change",
        ALL,
        &[must("version", Int), must("operation", Str)],
    ),
    log(
        "session-log-deepseek/delivery-accepted",
        ALL,
        &[must("sessionId", Str), must("throughSeq", Int)],
    ),
    core("session/end-seed", Kind::EndSeed, ALL, NONE),
    log(
        "session/title",
        ALL,
        &[
            must("title", Str),
            must("messageSeqs", Array),
            must("source", Object),
        ],
    ),
    core(
        "session/title-llm-request",
        Kind::TitleRequest,
        ALL,
        &[
            must("messageSeqs", Array),
            must("route", Object),
            must("system", Str),
            must("messages", Array),
        ],
    ),
    core("steering/message", Kind::SteeringMessage, OLD, TURN),
    core("step/end", Kind::StepEnd, ALL, STEP),
    core("step/start", Kind::StepStart, ALL, STEP),
    log(
        "subagent/catalog",
        V3_ON,
        &[must("version", Int), must("childId", Str)],
    ),
    log(
        "subagent/descriptor",
        ALL,
        &[must("version", Int), must("mode", Str)],
    ),
    log("subagent/model-selection-policy", ALL, NONE),
    core("system/message", Kind::SystemMessage, V3_ON, STEP),
    log("team/member", ALL, TEAM),
    log("team/message/delivered", ALL, TEAM),
    log("team/message/queued", ALL, TEAM),
    log("team/task", ALL, TEAM),
    in_turn(log("todo/write", ALL, &[must("todos", Array)])),
    core(
        "tool/call",
        Kind::ToolCall,
        ALL,
        &[
            must("turn", Int),
            must("step", Int),
            must("callId", Str),
            must("name", Str),
            must("arguments", Str),
        ],
    ),
    log("tool/code-dispatch", OLD | RELEASED | V2, DISPATCH),
    log(
        "tool/code-dispatch-start",
        OLD | RELEASED | V2,
        DISPATCH_START,
    ),
    log("tool/ptc-dispatch", V3_ON, DISPATCH),
    log("tool/ptc-dispatch-start", V3_ON, DISPATCH_START),
    core("tool/result", Kind::ToolResult, ALL, STEP),
    log(
        "tool-workflow/agent-end",
        ALL,
        &[must("runId", Str), must("seq", Int)],
    ),
    log(
        "tool-workflow/agent-start",
        ALL,
        &[must("runId", Str), must("seq", Int)],
    ),
    log(
        "tool-workflow/run-end",
        ALL,
        &[must("runId", Str), must("stopReason", Str)],
    ),
    log(
        "tool-workflow/run-start",
        ALL,
        &[must("runId", Str), must("name", Str)],
    ),
    core(
        "turn/end",
        Kind::TurnEnd,
        ALL,
        &[must("turn", Int), must("reason", Object)],
    ),
    core("turn/start", Kind::TurnStart, ALL, TURN),
    core("user/message", Kind::UserMessage, ALL, NONE),
    core(
        "web/deepseek-search-llm-request",
        Kind::SearchRequest,
        ALL,
        &[must("endpoint", Str), must("body", Object)],
    ),
    log("working-directory/change", V4, &[must("cwd", Str)]),
    log("workspace/changes", V3_ON, &[must("turn", Int)]),
];

/// The word of a type, whoever knows it.
pub(crate) fn word(name: &[u8]) -> Option<&'static Word> {
    let at = INDEX
        .get_or_init(index)
        .binary_search_by(|word| word.name.as_bytes().cmp(name))
        .ok()?;
    INDEX.get()?.get(at).copied()
}

static INDEX: std::sync::OnceLock<Vec<&'static Word>> = std::sync::OnceLock::new();

fn index() -> Vec<&'static Word> {
    let mut words: Vec<_> = WORDS.iter().collect();
    words.sort_by_key(|word| word.name.as_bytes());
    words
}

impl Kind {
    /// Whether events of this type can be on the surface, for some build.
    pub(crate) fn is_message(self) -> bool {
        use Kind::*;
        matches!(
            self,
            UserMessage
                | AssistantMessage
                | ToolResult
                | ContextMessage
                | SteeringMessage
                | SystemMessage
                | DeveloperMessage
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(known: Known) -> usize {
        WORDS.iter().filter(|word| word.known & known != 0).count()
    }

    #[test]
    fn finds_every_word_and_nothing_else() {
        assert!(
            WORDS
                .iter()
                .all(|w| word(w.name.as_bytes()).is_some_and(|found| found.name == w.name))
        );
        assert!(word(b"turn/").is_none());
    }

    #[test]
    fn generations_know_as_many_types_as_their_programs() {
        let compact = 4; // still read until 2026-08-13
        assert_eq!(count(RELEASED), 51 + compact);
        assert_eq!(count(V2), 51);
        assert_eq!(count(V3), 56 + 2); // and two of a line that was never published
        assert_eq!(count(V4), 62);
    }
}
