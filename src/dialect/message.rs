//! Messages in all their shapes: parts in the event, or an identified object.
//!
//! **Takes** a message event's data. **Gives** a [`Message`]. **Never** derives what a request says: that is `request`'s.
//!
//! Source: format reference, sections A.6, B.2 (H-MSG-SHAPE) and B.5; generations reference, section 2.2.

use super::draft::{Draft, shown, whole};
use super::shape::fits;
use super::vocabulary::{Kind, Ty};
use crate::event::{Body, Fault, Form, Message, Role, Scope, StepName, Stream};
use crate::record::{Kind as JsonKind, Raw};

/// Decodes a message event.
pub(super) fn decode<'line>(
    draft: &mut Draft<'line, '_>,
    kind: Kind,
    data: Raw<'line>,
) -> Body<'line> {
    let role = match kind {
        Kind::AssistantMessage => Role::Assistant,
        Kind::ToolResult => Role::ToolResult,
        Kind::ContextMessage => Role::Context,
        Kind::SteeringMessage => Role::Steering,
        Kind::SystemMessage => Role::System,
        Kind::DeveloperMessage => Role::Developer,
        _ => Role::User,
    };
    let message = match identified(role, data) {
        Some(object) => from_object(draft, role, data, object),
        None => from_parts(draft, role, data),
    };
    blocks(draft, &message);
    Body::Message(message)
}

/// The message object, where the event holds one.
fn identified(role: Role, data: Raw<'_>) -> Option<Raw<'_>> {
    match role {
        Role::User if data.fields(["role", "id"]).iter().any(Option::is_some) => Some(data),
        Role::User | Role::Context => None,
        _ => data
            .get("message")
            .filter(|message| message.kind() == JsonKind::Object),
    }
}

fn base<'line>(role: Role, form: Form, object: Raw<'line>, data: Raw<'line>) -> Message<'line> {
    let [turn, step, usage, interrupted, stream, error, header_seq] = data.fields([
        "turn",
        "step",
        "usage",
        "interrupted",
        "stream",
        "error",
        "headerSeq",
    ]);
    let [content, id, source] = object.fields(["content", "id", "source"]);
    let names_step = !matches!(role, Role::User | Role::Context | Role::Steering);
    let step = whole(turn)
        .zip(whole(step))
        .filter(|_| names_step)
        .map(|(turn, step)| StepName { turn, step });
    Message {
        role,
        form,
        object,
        data,
        step,
        content,
        id,
        source,
        usage,
        interrupted: interrupted.and_then(Raw::as_bool) == Some(true),
        stream: stream.map(|raw| Stream { raw }),
        call: None,
        is_error: false,
        error_code: error.and_then(|error| error.get("code")),
        header_seq,
    }
}

fn from_parts<'line>(draft: &mut Draft<'line, '_>, role: Role, data: Raw<'line>) -> Message<'line> {
    let mut message = base(role, Form::Parts, data, data);
    // Types that were gone by then are unknown in a released turn, whatever their shape.
    let gone = matches!(role, Role::Context | Role::Steering);
    if !gone {
        let scope = if draft.facts.has_old_turns {
            Scope::Released
        } else {
            Scope::Any
        };
        draft.note(
            Fault::Unidentified {
                why: "has no message object with an id",
            },
            scope,
            data,
        );
    }
    if !message
        .content
        .is_some_and(|content| content.kind() == JsonKind::Array)
    {
        draft.data(
            Scope::Old,
            "/content",
            "is no array",
            message.content.unwrap_or(data),
        );
        draft.broken = true;
    }
    match role {
        Role::Assistant => message.source = data.get("provenance"),
        Role::ToolResult => {
            message.call = data.get("callId");
            message.is_error = data.get("isError").and_then(Raw::as_bool) == Some(true);
            if !message.call.is_some_and(|call| fits(call, Ty::Str)) {
                draft.data(
                    Scope::Old,
                    "/callId",
                    "is no string",
                    message.call.unwrap_or(data),
                );
            }
            if !data.get("isError").is_some_and(|flag| fits(flag, Ty::Bool)) {
                draft.data(Scope::Old, "/isError", "is no boolean", data);
            }
        }
        _ => {
            let kind = message.source.and_then(|source| source.get("kind"));
            if !kind.is_some_and(|kind| fits(kind, Ty::Text)) {
                draft.data(
                    Scope::Old,
                    "/source/kind",
                    "is no string, or empty",
                    message.source.unwrap_or(data),
                );
            }
        }
    }
    message
}

fn from_object<'line>(
    draft: &mut Draft<'line, '_>,
    role: Role,
    data: Raw<'line>,
    object: Raw<'line>,
) -> Message<'line> {
    let mut message = base(role, Form::Identified, object, data);
    match role {
        Role::ToolResult if draft.facts.has_tool_role => {
            message.call = object.get("toolCallId");
            message.is_error = object.get("isError").and_then(Raw::as_bool) == Some(true);
        }
        Role::ToolResult => {
            let block = message
                .content
                .and_then(|content| content.elements().next());
            message.call = block.and_then(|block| block.get("toolCallId"));
            message.is_error = block
                .and_then(|block| block.get("isError"))
                .and_then(Raw::as_bool)
                == Some(true);
        }
        _ => {}
    }
    if let Some(why) = unidentified(draft, &message) {
        draft.note(Fault::Unidentified { why }, Scope::Any, object);
        draft.broken |= !message
            .content
            .is_some_and(|content| content.kind() == JsonKind::Array);
    }
    message
}

/// What keeps a message object from being an identified message of its role.
fn unidentified(draft: &Draft<'_, '_>, message: &Message<'_>) -> Option<&'static str> {
    let object = message.object;
    let text = |raw: Option<Raw<'_>>| raw.is_some_and(|raw| fits(raw, Ty::Text));
    let source = |name: &str| message.source.and_then(|source| source.get(name));
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Developer => "developer",
        Role::ToolResult if draft.facts.has_tool_role => "tool",
        _ => "user",
    };
    if !text(message.id) {
        return Some("has no id");
    }
    if !object.get("role").is_some_and(|found| found.is_str(role)) {
        return Some("has another role than its event");
    }
    if !message
        .content
        .is_some_and(|content| content.kind() == JsonKind::Array)
    {
        return Some("has no content array");
    }
    if !text(source("kind")) {
        return Some("has a source without a kind");
    }
    match message.role {
        Role::Assistant if !source("kind").is_some_and(|kind| kind.is_str("model")) => {
            Some("has a source that is no model")
        }
        Role::Assistant if !text(source("provider")) || !text(source("model")) => {
            Some("has a source without provider or model")
        }
        Role::ToolResult => tool_result(draft, message),
        _ if draft.facts.has_tool_role
            && source("kind").is_some_and(|kind| kind.is_str("plugin")) =>
        {
            Some("has a plugin as its source")
        }
        Role::Developer => developer(message),
        _ => None,
    }
}

fn tool_result(draft: &Draft<'_, '_>, message: &Message<'_>) -> Option<&'static str> {
    let source = |name: &str| message.source.and_then(|source| source.get(name));
    let Some(call) = source("callId").filter(|call| fits(*call, Ty::Str)) else {
        return Some("has a source without callId");
    };
    if !draft.facts.has_tool_role {
        let mut blocks = message.content?.elements();
        let (Some(block), None) = (blocks.next(), blocks.next()) else {
            return Some("has not exactly one tool-result block");
        };
        if !block
            .get("type")
            .is_some_and(|kind| kind.is_str("tool-result"))
        {
            return Some("has not exactly one tool-result block");
        }
        if !block
            .get("content")
            .is_some_and(|content| content.kind() == JsonKind::Array)
        {
            return Some("has a tool-result block without a content array");
        }
    }
    if !message.call.is_some_and(|named| named.same_text(call)) {
        return Some("answers another call than its source names");
    }
    if draft.facts.has_system_messages && message.error_code.is_some() && !message.is_error {
        return Some("has an error and is not marked as one");
    }
    None
}

fn developer(message: &Message<'_>) -> Option<&'static str> {
    let mut additions = false;
    for block in message.content?.elements() {
        let kind = block.get("type");
        let is = |word| kind.is_some_and(|kind: Raw<'_>| kind.is_str(word));
        if !is("tool-addition") && !is("tool-removal") {
            return Some("has a block that is no change of the tools");
        }
        if !block
            .get("toolName")
            .is_some_and(|name| fits(name, Ty::Text))
        {
            return Some("has a change of the tools without a name");
        }
        additions |= is("tool-addition");
    }
    match (additions, message.header_seq.is_some()) {
        (true, false) => Some("adds tools without a headerSeq"),
        (false, true) => Some("has a headerSeq and adds no tools"),
        _ => None,
    }
}

/// Kinds of content blocks that known builds write.
const BLOCKS: [&str; 8] = [
    "text",
    "reasoning",
    "tool-call",
    "tool-result",
    "image",
    "file",
    "tool-addition",
    "tool-removal",
];

/// Checks the kinds of the content blocks.
fn blocks(draft: &mut Draft<'_, '_>, message: &Message<'_>) {
    let Some(content) = message
        .content
        .filter(|content| content.kind() == JsonKind::Array)
    else {
        return;
    };
    let inner = if message.role == Role::User {
        "/content"
    } else {
        "/message/content"
    };
    for block in content.elements() {
        let kind = block.get("type").filter(|kind| fits(*kind, Ty::Text));
        let Some(kind) = kind else {
            let word = block.get("type").map(shown).unwrap_or_default();
            draft.note(
                Fault::Vocabulary {
                    what: "content block",
                    word,
                },
                Scope::Any,
                block,
            );
            continue;
        };
        let is = |word: &str| kind.is_str(word);
        if !BLOCKS.iter().any(|known| is(known)) {
            draft.unfamiliar("content block", kind);
        }
        if draft.facts.has_tool_role {
            if is("tool-result") {
                draft.data(Scope::Any, inner, "holds a tool-result block", block);
            }
            if message.role != Role::Developer && (is("tool-addition") || is("tool-removal")) {
                draft.data(Scope::Any, inner, "holds a change of the tools", block);
            }
        }
    }
}
