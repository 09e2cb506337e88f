//! What a later build makes of an older build's event when it loads or migrates it: one digest for both forms.
//!
//! **Takes** an event. **Gives** a digest that is equal for the event as it was first written and as a fork of it by a
//! later build holds it. **Never** tells two events apart that a loader makes equal.
//!
//! Source: format reference, section C.4.

use xxhash_rust::xxh3::xxh3_128;

use super::digests::{member, members_but, named, tagged};
use crate::event::{Body, Event, Form, Message, Role, Surface};
use crate::record::{Kind, Raw};

/// An event as a loader leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Upgraded {
    /// Equal for all forms of the event.
    pub(super) digest: u128,
    /// How far it is on the way to the newest form: a fork holds a later form than its parent.
    pub(super) rank: u8,
}

/// What a loader makes of an event; `None` for one that no loader touches.
pub(super) fn upgraded(event: &Event<'_>) -> Option<Upgraded> {
    let rest = |names: &[&str]| {
        event
            .value
            .get("data")
            .map_or(0, |data| members_but(data, names))
    };
    match &event.body {
        Body::TurnStart { turn, trigger } => Some(Upgraded {
            digest: tagged(1, u128::from(*turn)).wrapping_add(rest(&["turn", "trigger"])),
            rank: if *trigger { EARLY } else { LATEST },
        }),
        Body::TurnEnd { turn, reason } => {
            let (reason, rank) = end_reason(reason.raw);
            let turn = tagged(2, u128::from(*turn)).wrapping_add(rest(&["turn", "reason"]));
            Some(Upgraded {
                digest: turn.wrapping_add(reason),
                rank,
            })
        }
        Body::Message(message) => message_digest(event, message),
        _ => None,
    }
}

/// As it was first written.
const EARLY: u8 = 0;
/// A steering message with an id, which only later loaders make one of the user.
const BETWEEN: u8 = 1;
/// As the last loaders leave it.
const LATEST: u8 = 2;

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

fn end_reason(reason: Raw<'_>) -> (u128, u8) {
    let kind = reason.get("kind");
    let is = |word: &str| kind.is_some_and(|kind| kind.is_str(word));
    let word = |text: &str| xxh3_128(text.as_bytes());
    let aborted = |why: u128| tagged(4, why);
    if is("disposed") {
        return (aborted(word("disposed")), EARLY);
    }
    if is("aborted") {
        return match reason.get("reason") {
            None => (aborted(word("legacy")), EARLY),
            Some(why) => match why.get("kind").and_then(Raw::text) {
                Some(kind) if why.members().count() == 1 => {
                    (aborted(xxh3_128(kind.bytes())), LATEST)
                }
                _ => (tagged(6, why.deep_digest()), LATEST),
            },
        };
    }
    if is("error") {
        let others = ["kind", "error", "failure", "step", "message", "code"];
        let failure = |error: u128| tagged(5, error).wrapping_add(members_but(reason, &others));
        if let Some(error) = reason.get("error") {
            return (failure(members_but(error, &[])), LATEST);
        }
        if let Some(error) = reason.get("failure") {
            return (failure(members_but(error, &[])), EARLY);
        }
        let unknown = Raw::parse(b"\"UNKNOWN\"").ok();
        let message = named("message", reason.get("message"));
        let code = named("code", reason.get("code").or(unknown));
        return (failure(message.wrapping_add(code)), EARLY);
    }
    (tagged(7, reason.deep_digest()), LATEST)
}

fn message_digest(event: &Event<'_>, message: &Message<'_>) -> Option<Upgraded> {
    let (id, rank) = match message.form {
        // The loader names it after the session and the event.
        Form::Parts => (0, EARLY),
        Form::Identified => {
            if !is_said_by(message) {
                return None;
            }
            let is_steering = message.role == Role::Steering;
            let rank = if is_steering { BETWEEN } else { LATEST };
            (identity(event, message.id), rank)
        }
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
    Some(Upgraded {
        digest: tagged(role, said.wrapping_add(id)),
        rank,
    })
}

/// Whether an identified message has the role and the kind of source that a loader gives it.
fn is_said_by(message: &Message<'_>) -> bool {
    let role = message.object.get("role");
    let kind = message.source.and_then(|source| source.get("kind"));
    let is = |raw: Option<Raw<'_>>, word: &str| raw.is_some_and(|raw| raw.is_str(word));
    match message.role {
        Role::Assistant => is(role, "assistant") && is(kind, "model"),
        Role::ToolResult => is(role, "user") && is(kind, "tool"),
        _ => is(role, "user"),
    }
}

/// An id that an upgrade gave this event counts like none; a rewritten result has that of the message it takes the place of.
fn identity(event: &Event<'_>, id: Option<Raw<'_>>) -> u128 {
    let text = id.and_then(Raw::text);
    let is_replace = matches!(event.surface, Some(Surface::Replace { .. }));
    let number = format!(":{}", event.seq);
    match text {
        Some(text)
            if text.bytes().starts_with(b"legacy-message:")
                && (is_replace || text.bytes().ends_with(number.as_bytes())) =>
        {
            0
        }
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

/// Members of a message object that no loader gives it.
fn extras(message: &Message<'_>) -> u128 {
    match message.form {
        Form::Parts => 0,
        Form::Identified => members_but(message.object, &["id", "role", "content", "source"]),
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
        extras(message),
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
            block
                .get("type")
                .filter(|kind| kind.is_str("tool-result"))?;
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
    let beside = match message.form {
        Form::Parts => 0,
        Form::Identified => {
            let source = message.source?;
            let names = source.get("callId");
            if names.is_none() || names.map(Raw::deep_digest) != call.map(Raw::deep_digest) {
                return None;
            }
            members_but(result, &["type", "toolCallId", "content", "isError"])
                .wrapping_add(members_but(source, &["kind", "callId"]))
                .wrapping_add(extras(message))
        }
    };
    Some(
        [
            step_of(message),
            named("call", call),
            named("content", result.get("content")),
            named("isError", result.get("isError")),
            data,
            beside,
        ]
        .into_iter()
        .fold(0, u128::wrapping_add),
    )
}
