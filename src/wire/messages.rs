//! Messages and tools of the Messages interface (version 4).
//!
//! **Takes** a message's role and object. **Gives** its wire blocks. **Never** merges: neighbours of one voice are the body's.
//!
//! Source: generations reference, section 7.

use std::borrow::Cow;
use std::io::{self, Write};

use super::blocks::{self, Class, List, Texts};
use crate::event::Role;
use crate::record::{Kind, Raw};

/// Who speaks on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    User,
    Assistant,
    System,
}

impl Voice {
    /// Who speaks for a message of this role.
    pub(super) fn of(role: Role) -> Voice {
        match role {
            Role::Assistant => Voice::Assistant,
            Role::System | Role::Developer => Voice::System,
            _ => Voice::User,
        }
    }

    /// Writes the beginning of a message, up to its first block.
    pub(super) fn open(self, out: &mut dyn Write) -> io::Result<()> {
        let role = match self {
            Voice::User => "user",
            Voice::Assistant => "assistant",
            Voice::System => "system",
        };
        write!(out, "{{\"role\":\"{role}\",\"content\":[")
    }

    /// Writes the end of a message.
    pub(super) fn close(out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"]}")
    }
}

/// What a message's blocks need to know beside the message.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surroundings<'r, 'log> {
    /// Whether signatures of its reasoning are sent.
    pub(super) is_signed: bool,
    /// Its images that are left out.
    pub(super) offloaded: &'r [u32],
    /// The tools that a developer message announces.
    pub(super) names: &'r [Raw<'log>],
}

/// Writes the blocks of a message; none where it vanishes.
pub(super) fn blocks(
    role: Role,
    object: Raw<'_>,
    around: &Surroundings<'_, '_>,
    list: &mut List<'_>,
) -> io::Result<()> {
    let content = object.get("content");
    match role {
        Role::Assistant if around.is_signed => {
            answer(object, replay(object), &mut write_signature, list)
        }
        Role::Assistant => answer(object, replay(object), &mut |_, _| Ok(()), list),
        Role::ToolResult => result(object, around.offloaded, list.next()?),
        Role::Developer => around.names.iter().try_for_each(|name| {
            let out = list.next()?;
            out.write_all(
                b"{\"type\":\"tool_addition\",\"tool\":{\"type\":\"tool_reference\",\"name\":",
            )?;
            name.print(out)?;
            out.write_all(b"}}")
        }),
        Role::System => {
            let text = system_text(content);
            if text.is_empty() {
                return Ok(());
            }
            let out = list.next()?;
            out.write_all(b"{\"type\":\"text\",\"text\":")?;
            text.print(out)?;
            out.write_all(b"}")
        }
        _ => texts(content, around.offloaded, list),
    }
}

/// The text of a system message.
pub(super) fn system_text(content: Option<Raw<'_>>) -> Texts<'_> {
    blocks::Blocks::read(content).text
}

/// Text blocks that are not empty, and images.
fn texts(content: Option<Raw<'_>>, offloaded: &[u32], list: &mut List<'_>) -> io::Result<()> {
    let mut images = 0;
    for block in content.into_iter().flat_map(Raw::elements) {
        match Class::of(block) {
            Class::Text => {
                if let Some(text) = blocks::text(block).filter(|text| !blocks::is_empty(*text)) {
                    blocks::text_block(text, list.next()?)?;
                }
            }
            Class::Image => {
                blocks::image(block, offloaded.contains(&images), list.next()?)?;
                images += 1;
            }
            _ => {}
        }
    }
    Ok(())
}

fn result(object: Raw<'_>, offloaded: &[u32], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"type\":\"tool_result\",\"tool_use_id\":")?;
    object.get("toolCallId").unwrap_or(Raw::NULL).print(out)?;
    out.write_all(b",\"content\":[")?;
    texts(object.get("content"), offloaded, &mut List::new(out))?;
    out.write_all(b"]")?;
    if let Some(is_error) = object.get("isError") {
        out.write_all(b",\"is_error\":")?;
        is_error.print(out)?;
    }
    out.write_all(b"}")
}

/// Writes the signature of a reasoning block, or leaves it out.
pub(super) type Sign<'s> = dyn FnMut(Raw<'_>, &mut dyn Write) -> io::Result<()> + 's;

/// Writes the blocks of an answer; `sign` is given each signature in its place.
pub(super) fn answer(
    object: Raw<'_>,
    replay: Option<Replay<'_>>,
    sign: &mut Sign<'_>,
    list: &mut List<'_>,
) -> io::Result<()> {
    let mut replayed = replay.map(|replay| replay.blocks.elements());
    for block in object.get("content").into_iter().flat_map(Raw::elements) {
        let beside = replayed.as_mut().and_then(Iterator::next);
        match Class::of(block) {
            Class::Text => {
                if let Some(text) = blocks::text(block).filter(|text| !blocks::is_empty(*text)) {
                    blocks::text_block(text, list.next()?)?;
                }
            }
            Class::Reasoning => thinking(block, beside.and_then(signature), sign, list)?,
            Class::ToolCall => tool_use(block, list.next()?)?,
            _ => {}
        }
    }
    Ok(())
}

/// A block without text and signature vanishes.
fn thinking(
    block: Raw<'_>,
    signature: Option<Raw<'_>>,
    sign: &mut Sign<'_>,
    list: &mut List<'_>,
) -> io::Result<()> {
    let text = blocks::text(block).filter(|text| signature.is_some() || !blocks::is_empty(*text));
    let Some(text) = text else {
        return Ok(());
    };
    let out = list.next()?;
    out.write_all(b"{\"type\":\"thinking\",\"thinking\":")?;
    text.print(out)?;
    if let Some(signature) = signature {
        sign(signature, out)?;
    }
    out.write_all(b"}")
}

/// Writes a signature behind the text of its block.
pub(super) fn write_signature(signature: Raw<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b",\"signature\":")?;
    signature.print(out)
}

/// A call; its arguments are parsed and printed again, as the adapter does.
fn tool_use(block: Raw<'_>, out: &mut dyn Write) -> io::Result<()> {
    let member = |name: &str| block.get(name).unwrap_or(Raw::NULL);
    out.write_all(b"{\"type\":\"tool_use\",\"id\":")?;
    member("id").print(out)?;
    out.write_all(b",\"name\":")?;
    member("name").print(out)?;
    out.write_all(b",\"input\":")?;
    input(member("arguments"), out)?;
    out.write_all(b"}")
}

/// Writes the object that a JSON text in a string is; `{}` where it is none.
fn input(arguments: Raw<'_>, out: &mut dyn Write) -> io::Result<()> {
    let text = arguments.text();
    let text = text.as_ref().and_then(|text| escape_halves(text.bytes()));
    let parsed = text.as_deref().map(Raw::parse);
    match parsed {
        Some(Ok(value)) if value.kind() == Kind::Object => value.print(out),
        _ => out.write_all(b"{}"),
    }
}

/// Decoded text as one that the JSON reader understands: a lone half of a surrogate pair as an escape. Absent where that would
/// change what the text says.
fn escape_halves(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    if std::str::from_utf8(text).is_ok() {
        return Some(Cow::Borrowed(text));
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        match rest {
            &[0xED, second @ 0xA0..=0xBF, third, ..] => {
                let backslashes = out.iter().rev().take_while(|byte| **byte == b'\\').count();
                if backslashes % 2 == 1 {
                    return None;
                }
                let unit = 0xD000 | u16::from(second & 0x3F) << 6 | u16::from(third & 0x3F);
                out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                rest = rest.get(3..).unwrap_or_default();
            }
            _ => {
                out.push(first);
                rest = behind;
            }
        }
    }
    Some(Cow::Owned(out))
}

/// What the adapter kept to replay an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replay<'b> {
    /// The model that gave the answer.
    pub(super) model: Raw<'b>,
    /// One entry per block of the answer.
    blocks: Raw<'b>,
}

/// The replay state of an answer, if it is this adapter's and fits the answer.
pub(super) fn replay(object: Raw<'_>) -> Option<Replay<'_>> {
    let state = object.get("source")?.get("replayState")?;
    let response = state.get("response")?;
    let is_ours = response.get("kind")?.is_str("deepseek-messages")
        && response.get("version").and_then(Raw::safe_int) == Some(1);
    let blocks = state.get("blocks")?;
    let mut answered = object.get("content")?.elements();
    let same_kind = |block: Raw<'_>| {
        let beside = answered.next().and_then(|block| block.get("type"));
        let kind = block.get("type");
        kind.is_some_and(|kind| beside.is_some_and(|beside| kind.same_text(beside)))
    };
    let fits = is_ours && blocks.elements().all(same_kind) && answered.next().is_none();
    let model = response.get("model")?;
    fits.then_some(Replay { model, blocks })
}

fn signature(block: Raw<'_>) -> Option<Raw<'_>> {
    block
        .get("signature")
        .filter(|signature| signature.kind() == Kind::String)
}

/// Writes a tool's declaration.
pub(super) fn tool(schema: Raw<'_>, is_deferred: bool, out: &mut dyn Write) -> io::Result<()> {
    const MEMBERS: [(&str, &str); 3] = [
        ("name", "name"),
        ("description", "description"),
        ("input_schema", "parameters"),
    ];
    out.write_all(b"{")?;
    let mut list = List::new(out);
    for (name, logged) in MEMBERS {
        if let Some(value) = schema.get(logged) {
            list.member(name, value)?;
        }
    }
    if is_deferred {
        list.next()?.write_all(b"\"defer_loading\":true")?;
    }
    list.end().write_all(b"}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input_of(arguments: &str) -> String {
        let mut out = Vec::new();
        input(Raw::parse(arguments.as_bytes()).unwrap(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn arguments_are_parsed_and_printed_again() {
        assert_eq!(
            input_of(r#""{\"b\": 1.0, \"2\":[ ], \"b\":\"\\u00e9\"}""#),
            r#"{"2":[],"b":"é"}"#
        );
        for odd in [r#""""#, r#""[1]""#, r#""{""#, r#""null""#, "null", "{}"] {
            assert_eq!(input_of(odd), "{}", "{odd}");
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_stay_halves() {
        assert_eq!(input_of(r#""{\"a\":\"\ud83d!\"}""#), r#"{"a":"\ud83d!"}"#);
        assert_eq!(input_of(r#""{\"a\":\"\ud83d\\ude00\"}""#), r#"{"a":"😀"}"#);
        assert_eq!(input_of(r#""{\"a\":\"\\\ud83d\"}""#), "{}");
    }

    #[test]
    fn a_replay_state_must_fit() {
        let text = |blocks: &str| {
            format!(
                r#"{{"content":[{{"type":"reasoning","text":"r"}},{{"type":"text","text":""}}],"source":{{"replayState":{{"response":{{"kind":"deepseek-messages","version":1,"model":"m"}},"blocks":{blocks}}}}}}}"#
            )
        };
        let write = |blocks: &str| {
            let text = text(blocks);
            let mut out = Vec::new();
            let object = Raw::parse(text.as_bytes()).unwrap();
            let mut list = List::new(&mut out);
            answer(object, replay(object), &mut write_signature, &mut list).unwrap();
            String::from_utf8(out).unwrap()
        };
        let bare = r#"{"type":"thinking","thinking":"r"}"#;
        assert_eq!(write(r#"[{"type":"reasoning","signature":"s"}]"#), bare);
        assert_eq!(
            write(r#"[{"type":"reasoning","signature":"s"},{"type":"text"}]"#),
            r#"{"type":"thinking","thinking":"r","signature":"s"}"#
        );
    }
}
