//! The rewrite rule: a tool result that replaces another may change its content only.
//!
//! **Takes** tool results. **Gives** what else a rewrite changes. **Never** keeps a result: a digest of the rest is enough.
//!
//! Source: format reference, section B.0 (tool/result rewrite rule) and C.4.

use std::collections::HashMap;

use super::Fold;
use super::session::MessageIx;
use crate::event::{Event, Fault, Faults, Form, Message, Role, Scope};
use crate::record::Raw;

/// What a rewrite must keep, per tool result.
#[derive(Debug, Default)]
pub(super) struct Rewrites {
    results: HashMap<MessageIx, Fixed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fixed {
    /// Everything but content and id.
    rest: u128,
    /// The id as printed; absent where an upgrade gives it.
    id: Option<Vec<u8>>,
}

impl Fold<'_> {
    /// Remembers a tool result that may be rewritten later.
    pub(super) fn rewritable(&mut self, message: &Message<'_>, index: MessageIx) {
        self.rewrites.results.insert(index, fixed(message));
    }

    /// Judges a tool result that takes the place of `range`.
    pub(super) fn rewrite(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        range: &[MessageIx],
        faults: &mut Faults,
    ) {
        let why = match range {
            [target] => self.changes(message, *target),
            _ => Some("replaces more than one event"),
        };
        if let Some(why) = why {
            faults.note_value(
                Fault::Rewrite(why),
                Scope::Released,
                event.at,
                event.value,
                event.value,
            );
            self.stop(event.seq, event.at.line, Scope::Released, faults);
        }
    }

    fn changes(&self, message: &Message<'_>, target: MessageIx) -> Option<&'static str> {
        let fact = self.session.messages.get(target.get())?;
        if fact.role != Role::ToolResult {
            return Some("replaces what is no tool result");
        }
        let (own, other) = (fixed(message), self.rewrites.results.get(&target)?);
        if own.rest != other.rest {
            return Some("changes more than the content");
        }
        // A result without an id gets that of the result it replaces; the first of a chain gets one from its seq.
        let keeps = match (&own.id, &other.id) {
            (None, _) => true,
            (Some(own), Some(other)) => own == other,
            (Some(own), None) => own
                .get(1..)
                .is_some_and(|id| id.starts_with(b"legacy-message:")),
        };
        (!keeps).then_some("changes the message's id")
    }
}

/// Digests what a rewrite must keep, in the upgraded form.
fn fixed(message: &Message<'_>) -> Fixed {
    let mut text = Vec::with_capacity(256);
    text.push(b'{');
    for (key, value) in message.data.members() {
        let part = ["turn", "step", "error", "meta"]
            .iter()
            .any(|name| key.is_str(name));
        match message.form {
            Form::Parts if !part => {}
            Form::Identified if key.is_str("message") => {
                member(&mut text, key, &object(message.object))
            }
            _ => member(&mut text, key, &value.printed()),
        }
    }
    if message.form == Form::Parts {
        let printed = |name: &str| {
            message
                .data
                .get(name)
                .map(|raw| raw.printed())
                .unwrap_or_default()
        };
        let (call, failed) = (printed("callId"), printed("isError"));
        let upgraded = [
            &b"{\"role\":\"user\",\"content\":[{\"type\":\"tool-result\",\"toolCallId\":"[..],
            &call,
            b",\"content\":null,\"isError\":",
            &failed,
            b"}],\"source\":{\"kind\":\"tool\",\"callId\":",
            &call,
            b"}}",
        ];
        separate(&mut text);
        text.extend_from_slice(b"\"message\":");
        text.extend_from_slice(&upgraded.concat());
    }
    text.push(b'}');
    let rest = Raw::parse(&text).map_or(0, Raw::deep_digest);
    let id = (message.form == Form::Identified).then(|| {
        message
            .id
            .map(|id| id.printed().into_owned())
            .unwrap_or_default()
    });
    Fixed { rest, id }
}

/// A message object without its id and with its innermost content nulled, printed.
fn object(object: Raw<'_>) -> Vec<u8> {
    let mut text = vec![b'{'];
    for (key, value) in object.members() {
        if key.is_str("id") {
            continue;
        }
        if !key.is_str("content") {
            member(&mut text, key, &value.printed());
        } else if object.get("role").is_some_and(|role| role.is_str("tool")) {
            member(&mut text, key, b"null");
        } else {
            member(&mut text, key, &blocks(value));
        }
    }
    text.push(b'}');
    text
}

/// Content blocks with the content of each result nulled, printed.
fn blocks(content: Raw<'_>) -> Vec<u8> {
    let mut text = vec![b'['];
    for block in content.elements() {
        if text.len() > 1 {
            text.push(b',');
        }
        text.push(b'{');
        for (key, value) in block.members() {
            match key.is_str("content") {
                true => member(&mut text, key, b"null"),
                false => member(&mut text, key, &value.printed()),
            }
        }
        text.push(b'}');
    }
    text.push(b']');
    text
}

fn separate(text: &mut Vec<u8>) {
    if text.last() != Some(&b'{') {
        text.push(b',');
    }
}

fn member(text: &mut Vec<u8>, key: Raw<'_>, value: &[u8]) {
    separate(text);
    text.extend_from_slice(&key.printed());
    text.push(b':');
    text.extend_from_slice(value);
}
