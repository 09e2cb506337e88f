//! What an event says, in the one form of all generations.
//!
//! **Takes** a draft whose shape was checked, and its data. **Gives** a [`Body`]. **Never** needs another record.
//!
//! Source: format reference, sections B.1 to B.5.

use super::draft::{Draft, shown, whole};
use super::shape::check_shape;
use super::vocabulary::{Kind, Word};
use super::{chunk, header_shape, message};
use crate::event::{
    Body, Compaction, EndReason, Fault, Legacy, OneShot, Retry, Scope, StepName, Stream, Summary,
    ToolCall,
};
use crate::record::{Kind as JsonKind, Raw};

/// The step that the data name.
pub(super) fn step_name(data: Raw<'_>) -> StepName {
    StepName {
        turn: whole(data.get("turn")).unwrap_or(0),
        step: whole(data.get("step")).unwrap_or(0),
    }
}

/// What the data say.
pub(super) fn body<'line>(
    draft: &mut Draft<'line, '_>,
    word: &Word,
    data: Raw<'line>,
) -> Body<'line> {
    let log_only = Body::LogOnly {
        in_turn: !word.free,
    };
    if data.kind() != JsonKind::Object {
        let informs = word.kind == Kind::LogOnly;
        let fault = Fault::Data {
            pointer: "/data".into(),
            why: "is no object",
            log_only: informs,
        };
        draft.note(
            fault,
            if informs { Scope::Released } else { Scope::Any },
            data,
        );
        draft.broken = !informs;
        return log_only;
    }
    check_shape(draft, word, data);
    let turn = || whole(data.get("turn")).unwrap_or(0);
    match word.kind {
        Kind::TurnStart => Body::TurnStart {
            turn: turn(),
            trigger: data.get("trigger").is_some(),
        },
        Kind::TurnEnd => Body::TurnEnd {
            turn: turn(),
            reason: end_reason(draft, data),
        },
        Kind::StepStart => Body::StepStart(step_name(data)),
        Kind::StepEnd => Body::StepEnd(step_name(data)),
        Kind::UserMessage
        | Kind::AssistantMessage
        | Kind::ToolResult
        | Kind::ContextMessage
        | Kind::SteeringMessage
        | Kind::SystemMessage
        | Kind::DeveloperMessage => message::decode(draft, word.kind, data),
        Kind::Chunk => match data.get("chunk") {
            Some(raw) => Body::Chunk(step_name(data), chunk::decode(draft, raw)),
            None => log_only,
        },
        Kind::Attempt => match data.get("stream") {
            Some(raw) => Body::Attempt(step_name(data), Stream { raw }),
            None => log_only,
        },
        Kind::Header => header_shape::decode(draft, data),
        Kind::HeaderDelta => Body::Legacy(Legacy::HeaderDelta),
        Kind::ModeSet => Body::Legacy(Legacy::ModeSet),
        Kind::RequestContext => Body::Context {
            in_history: data
                .get("systemPromptUpdate")
                .is_some_and(|raw| raw.is_str("in-history")),
        },
        Kind::ToolCall => {
            tool_call(data).map_or(log_only, |(step, call)| Body::ToolCall(step, call))
        }
        Kind::CompactionStart => Body::CompactionStart(compaction(data)),
        Kind::CompactionSummary => {
            let summary = Summary {
                shadowed: data.get("shadowedSeqs"),
                range: data.get("shadowedRange"),
            };
            Body::CompactionSummary(compaction(data), summary)
        }
        Kind::CompactionEnd => Body::CompactionEnd(compaction(data)),
        Kind::Prune => Body::Prune {
            shadowed: data.get("shadowedSeqs"),
        },
        Kind::Retry => Body::Retry(step_name(data), retry(data)),
        Kind::RetryStarted => Body::RetryStarted(step_name(data), retry(data)),
        Kind::EndSeed => Body::EndSeed {
            inherited: data.get("inherited").and_then(Raw::as_bool) == Some(true),
        },
        Kind::Offload => data.get("targets").map_or(log_only, Body::Offload),
        Kind::TitleRequest => Body::OneShot(OneShot::Title, data),
        Kind::SearchRequest => Body::OneShot(OneShot::Search, data),
        Kind::Inbox => Body::Inbox {
            queued: data
                .get("target")
                .is_some_and(|target| target.is_str("next-turn"))
                && data
                    .get("inserted")
                    .is_some_and(|inserted| inserted.elements().next().is_some()),
        },
        Kind::LogOnly => {
            refers(draft, word, data);
            log_only
        }
    }
}

/// Notes a log-only event that refers wrongly to another.
fn refers(draft: &mut Draft<'_, '_>, word: &Word, data: Raw<'_>) {
    if let Some((member, why)) = draft.ledger.check(word.name.as_bytes(), data) {
        let fault = Fault::Data {
            pointer: format!("/data/{member}"),
            why,
            log_only: true,
        };
        draft.note(fault, Scope::Released, data.get(member).unwrap_or(data));
    }
}

fn tool_call(data: Raw<'_>) -> Option<(StepName, ToolCall<'_>)> {
    let (id, name) = (data.get("callId")?, data.get("name")?);
    Some((
        step_name(data),
        ToolCall {
            id,
            name,
            arguments: data.get("arguments")?,
        },
    ))
}

fn compaction(data: Raw<'_>) -> Compaction<'_> {
    Compaction {
        id: data.get("compactionId"),
        turn: whole(data.get("turn")),
        failed: data.get("error").is_some(),
        data,
    }
}

fn retry(data: Raw<'_>) -> Retry<'_> {
    Retry {
        id: data.get("retryId"),
        data,
    }
}

const OLD_END_REASONS: &[&str] = &[
    "completed",
    "aborted",
    "error",
    "disposed",
    "max-tokens",
    "rejected",
    "interrupted",
    "blocked",
];

fn end_reason<'line>(draft: &mut Draft<'line, '_>, data: Raw<'line>) -> EndReason<'line> {
    let raw = data.get("reason").unwrap_or(data);
    let kind = raw.get("kind");
    let known =
        |words: &[&str]| kind.is_some_and(|kind| words.iter().any(|word| kind.is_str(word)));
    let fault = || Fault::Vocabulary {
        what: "turn/end reason",
        word: kind.map(shown).unwrap_or_default(),
    };
    if !draft.facts.has_old_turns {
        if !known(draft.facts.end_reasons) {
            draft.note(fault(), Scope::Any, kind.unwrap_or(raw));
        }
        return EndReason { raw };
    }
    // Loaders let `rejected` of older builds pass, so a fork of one may hold it in any turn.
    if !known(draft.facts.end_reasons) && !known(&["rejected"]) {
        draft.note(fault(), Scope::Released, kind.unwrap_or(raw));
    }
    if !known(OLD_END_REASONS) {
        draft.note(fault(), Scope::Old, kind.unwrap_or(raw));
    }
    EndReason { raw }
}
