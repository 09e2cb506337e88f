//! What a message of a request says, apart from how its generation writes it down.
//!
//! **Takes** a message as it is printed. **Gives** an [`Essence`]: digests of what is said, of where it comes from, and of all of it.
//! **Never** decides what may change between generations: that is `generations`'.

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::digests::{member, members_but, named, tagged};
use crate::record::{Kind, Raw};

/// A message, in digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Essence {
    /// Of the message as it is printed.
    pub(super) whole: u128,
    /// Of who speaks and what is said.
    pub(super) said: u128,
    /// Of its id; 0 for none.
    pub(super) id: u128,
    /// Of its source, or provenance; 0 for none.
    pub(super) source: u128,
    /// Of its source without the names that a migration changes.
    pub(super) source_but_names: u128,
    /// Of its role.
    pub(super) role: u128,
}

impl Essence {
    /// Reads a message.
    pub(super) fn of(message: Raw<'_>) -> Essence {
        let source = message.get("source").or(message.get("provenance"));
        let role = named("role", message.get("role"));
        let others = [
            "id",
            "role",
            "source",
            "provenance",
            "content",
            "toolCallId",
            "isError",
        ];
        let (speaker, result) = match result_of(message) {
            Some(result) => (tagged(30, 0), result),
            None => (role, blocks(message.get("content"))),
        };
        Essence {
            whole: xxh3_128(&message.printed()),
            said: speaker
                .wrapping_add(result)
                .wrapping_add(members_but(message, &others)),
            id: named("id", message.get("id")),
            source: named("source", source),
            source_but_names: source.map_or(0, |source| members_but(source, &["kind", "plugin"])),
            role,
        }
    }

    /// A system prompt that stands beside the messages.
    pub(super) fn of_system(prompt: Raw<'_>) -> Essence {
        let mut text = b"{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":".to_vec();
        text.extend_from_slice(&prompt.printed());
        text.extend_from_slice(b"}]}");
        Essence::of(Raw::parse(&text).unwrap_or(Raw::NULL))
    }
}

/// What a tool answered: in a block of a user's message, or (version 4) in a message of its own role.
fn result_of(message: Raw<'_>) -> Option<u128> {
    let is_tool = message.get("role").is_some_and(|role| role.is_str("tool"));
    let result = if is_tool {
        message
    } else {
        let mut blocks = message.get("content")?.elements();
        let block = blocks.next().filter(|_| blocks.next().is_none())?;
        block
            .get("type")
            .filter(|kind| kind.is_str("tool-result"))?;
        block
    };
    // An answer that does not say so is no error.
    let is_error = result.get("isError").and_then(Raw::as_bool) == Some(true);
    Some(
        named("call", result.get("toolCallId"))
            .wrapping_add(member(b"content", blocks(result.get("content"))))
            .wrapping_add(u128::from(is_error)),
    )
}

/// Blocks in their order; a type that a migration called a plugin's counts as it was.
fn blocks(content: Option<Raw<'_>>) -> u128 {
    let Some(content) = content.filter(|content| content.kind() == Kind::Array) else {
        return named("content", content);
    };
    let mut hasher = Xxh3::new();
    for block in content.elements() {
        let kind = block.get("type").and_then(Raw::text);
        let kind = kind.as_ref().map_or(&b""[..], |kind| kind.bytes());
        hasher.update(kind.strip_prefix(b"plugin:").unwrap_or(kind));
        hasher.update(&members_but(block, &["type"]).to_le_bytes());
    }
    hasher.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn essence(text: &str) -> Essence {
        Essence::of(Raw::parse(text.as_bytes()).expect("valid"))
    }

    #[test]
    fn a_tool_says_the_same_in_either_role() {
        let before = essence(
            r#"{"source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c","content":[{"type":"text","text":"x"}],"isError":false}],"role":"user","id":"m"}"#,
        );
        let after = essence(
            r#"{"role":"tool","source":{"kind":"tool","callId":"c"},"toolCallId":"c","content":[{"type":"text","text":"x"}],"id":"m"}"#,
        );
        assert_eq!(
            (before.said, before.id, before.source),
            (after.said, after.id, after.source)
        );
        assert_ne!(before.role, after.role);
        let failed = essence(
            r#"{"role":"tool","toolCallId":"c","content":[{"type":"text","text":"x"}],"isError":true}"#,
        );
        assert_ne!(after.said, failed.said);
    }

    #[test]
    fn a_source_may_get_another_name_and_nothing_else() {
        let before = essence(
            r#"{"role":"user","content":[],"source":{"kind":"plugin","plugin":"compact","compactionId":"k"}}"#,
        );
        let after = essence(
            r#"{"role":"user","content":[],"source":{"kind":"compact-checkpoint","compactionId":"k"}}"#,
        );
        assert_ne!(before.source, after.source);
        assert_eq!(before.source_but_names, after.source_but_names);
    }

    #[test]
    fn a_prompt_is_the_same_beside_and_among_the_messages() {
        let prompt = Raw::parse(b"\"Be brief.\"").expect("valid");
        let message = essence(
            r#"{"id":"i","role":"system","source":{"kind":"plugin"},"content":[{"type":"text","text":"Be brief."}]}"#,
        );
        assert_eq!(Essence::of_system(prompt).said, message.said);
    }
}
