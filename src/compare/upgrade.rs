//! What a later build makes of an older build's event when it loads or migrates it: one digest for both forms.
//!
//! **Takes** an event. **Gives** a digest that is equal for the event as it was first written and as a fork of it by a
//! later build holds it. **Never** tells two events apart that a loader makes equal.
//!
//! Source: format reference, section C.4.

use xxhash_rust::xxh3::xxh3_128;

use super::digests::{member, members_but, named, tagged};
use crate::event::{Body, Event, Form, Message, Role};
use crate::record::{Kind, Raw};

/// The digest of the upgraded form; `None` for an event that no loader touches.
pub(super) fn upgraded(event: &Event<'_>) -> Option<u128> {
    match &event.body {
        Body::TurnStart { turn, .. } => Some(tagged(1, u128::from(*turn))),
        Body::TurnEnd { turn, reason } => {
            Some(tagged(2, u128::from(*turn)).wrapping_add(end_reason(reason.raw)))
        }
        Body::Message(message) => message_digest(message),
        _ => None,
    }
}

/// The digest of an event's data without the ids that a codec made of the session's own id; `None` where there are none.
///
/// A fork and its parent that were migrated each by itself differ in nothing else.
pub(super) fn without_made_ids(event: &Event<'_>) -> Option<u128> {
    const MADE: [&[u8]; 4] = [
        b"\"legacy-message:",
        b"\"legacy-retry:",
        b"\"legacy-compaction:",
        b"\"v2-to-v3-system-",
    ];
    let data = event.value.get("data")?.printed();
    let mut rest = &data[..];
    let mut kept = Vec::new();
    let mut is_made = false;
    while let Some(at) = memchr::memchr(b'"', rest) {
        let (before, string) = rest.split_at_checked(at)?;
        kept.extend_from_slice(before);
        let end = string_end(string)?;
        let (string, behind) = string.split_at_checked(end)?;
        match MADE.iter().find(|made| string.starts_with(made)) {
            Some(made) => {
                kept.extend_from_slice(made);
                is_made = true;
            }
            None => kept.extend_from_slice(string),
        }
        rest = behind;
    }
    kept.extend_from_slice(rest);
    is_made.then(|| xxh3_128(&kept))
}

/// The length of the string that `text` begins with, quotes included.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        match text.get(at)? {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

fn end_reason(reason: Raw<'_>) -> u128 {
    let kind = reason.get("kind");
    let is = |word: &str| kind.is_some_and(|kind| kind.is_str(word));
    let word = |text: &str| xxh3_128(text.as_bytes());
    let aborted = |why: u128| tagged(4, why);
    let failure = |message: Option<Raw<'_>>, code: Option<Raw<'_>>| {
        let unknown = Raw::parse(b"\"UNKNOWN\"").ok();
        tagged(
            5,
            named("message", message).wrapping_add(named("code", code.or(unknown))),
        )
    };
    if is("disposed") {
        return aborted(word("disposed"));
    }
    if is("aborted") {
        return match reason.get("reason") {
            None => aborted(word("legacy")),
            Some(why) => match why.get("kind").and_then(Raw::text) {
                Some(kind) if why.members().count() == 1 => aborted(xxh3_128(kind.bytes())),
                _ => tagged(6, why.deep_digest()),
            },
        };
    }
    if is("error") {
        let error = reason.get("error").or(reason.get("failure"));
        return match error {
            Some(error) => tagged(5, members_but(error, &[])),
            None => failure(reason.get("message"), reason.get("code")),
        };
    }
    tagged(7, reason.deep_digest())
}

fn message_digest(message: &Message<'_>) -> Option<u128> {
    let id = match message.form {
        // The loader names it after the session and the event; what it names it is not looked at.
        Form::Parts => 0,
        Form::Identified => identity(message.id),
    };
    let said = match message.role {
        Role::User => members_but(message.object, &["id", "role"]),
        Role::Steering => steered(message),
        Role::Assistant => answered(message),
        Role::ToolResult => resulted(message)?,
        Role::Context | Role::System | Role::Developer => return None,
    };
    // A steering message becomes one of the user.
    let role = match message.role {
        Role::Assistant => 11,
        Role::ToolResult => 12,
        _ => 10,
    };
    Some(tagged(role, said.wrapping_add(id)))
}

/// An id that an upgrade gave counts like none.
fn identity(id: Option<Raw<'_>>) -> u128 {
    let text = id.and_then(Raw::text);
    match text {
        Some(text) if text.bytes().starts_with(b"legacy-message:") => 0,
        _ => named("id", id),
    }
}

fn steered(message: &Message<'_>) -> u128 {
    match message.form {
        Form::Identified => members_but(message.object, &["id", "role"]),
        Form::Parts => {
            let part = |name: &str| named(name, message.object.get(name));
            part("content").wrapping_add(part("source"))
        }
    }
}

fn step_of(message: &Message<'_>) -> u128 {
    let step = message.step;
    step.map_or(0, |step| {
        member(b"step", u128::from(step.turn) << 64 | u128::from(step.step))
    })
}

fn answered(message: &Message<'_>) -> u128 {
    let source = message
        .source
        .map_or(0, |source| members_but(source, &["kind"]));
    let data = members_but(
        message.data,
        &["turn", "step", "content", "provenance", "message"],
    );
    [
        step_of(message),
        named("content", message.object.get("content")),
        member(b"source", source),
        data,
    ]
    .into_iter()
    .fold(0, u128::wrapping_add)
}

fn resulted(message: &Message<'_>) -> Option<u128> {
    let result = match message.form {
        Form::Parts => message.data,
        Form::Identified => {
            let mut blocks = message
                .object
                .get("content")
                .into_iter()
                .flat_map(Raw::elements);
            let block = blocks.next().filter(|block| block.kind() == Kind::Object)?;
            if blocks.next().is_some() {
                return None;
            }
            block
        }
    };
    let data = members_but(
        message.data,
        &["turn", "step", "callId", "content", "isError", "message"],
    );
    let call = result.get("toolCallId").or(result.get("callId"));
    Some(
        [
            step_of(message),
            named("call", call),
            named("content", result.get("content")),
            named("isError", result.get("isError")),
            data,
        ]
        .into_iter()
        .fold(0, u128::wrapping_add),
    )
}
