//! Messages and tools of chat completions (versions 0 to 3).
//!
//! **Takes** a message's role, form and object. **Gives** the wire messages it becomes, none or several. **Never** looks at its
//! neighbours.
//!
//! Source: format reference, section F.

use std::io::{self, Write};

use super::blocks::{self, Blocks, Class, List, Texts};
use crate::dialect::AnswerStyle;
use crate::event::{Form, Role};
use crate::record::{Kind, Raw};

/// One wire message.
#[derive(Clone, Debug)]
pub(super) enum Part<'b> {
    System(Texts<'b>),
    User(Texts<'b>),
    /// A message with images: text and images in their order.
    Pictured(Raw<'b>),
    /// Injected text between tags.
    Tagged(Texts<'b>, Tag<'b>),
    Assistant(Blocks<'b>),
    Result {
        call: Option<Raw<'b>>,
        text: Texts<'b>,
    },
}

/// The tags around injected text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag<'b> {
    word: &'static str,
    /// The kind of its source.
    kind: Option<Raw<'b>>,
}

/// The wire messages that a message becomes.
pub(super) fn parts<'b>(role: Role, form: Form, object: Raw<'b>, tags: bool) -> Vec<Part<'b>> {
    let content = object.get("content");
    let blocks = Blocks::read(content);
    match role {
        Role::Developer => Vec::new(),
        Role::System | Role::Assistant if is_nothing(content) => Vec::new(),
        Role::System => vec![Part::System(blocks.text)],
        Role::Assistant => vec![Part::Assistant(blocks)],
        Role::ToolResult if form == Form::Parts => result(object.get("callId"), content, blocks),
        Role::Context | Role::Steering if form == Form::Parts && tags && !is_raw(object) => {
            let word = if role == Role::Context {
                "context"
            } else {
                "steering"
            };
            let kind = object.get("source").and_then(|source| source.get("kind"));
            vec![Part::Tagged(blocks.text, Tag { word, kind })]
        }
        _ => user(content, blocks),
    }
}

/// The wire messages of a message of the session prefix, which has no event.
pub(super) fn prefix_parts(message: Raw<'_>) -> Vec<Part<'_>> {
    let is = |word: &str| message.get("role").is_some_and(|role| role.is_str(word));
    let role = match () {
        () if is("system") => Role::System,
        () if is("assistant") => Role::Assistant,
        () => Role::User,
    };
    parts(role, Form::Identified, message, false)
}

fn is_nothing(content: Option<Raw<'_>>) -> bool {
    content
        .is_some_and(|content| content.kind() == Kind::Array && content.elements().next().is_none())
}

fn is_raw(object: Raw<'_>) -> bool {
    object
        .get("envelope")
        .is_some_and(|envelope| envelope.is_str("raw"))
}

/// Text first, then the results; an image keeps its message as it is.
fn user<'b>(content: Option<Raw<'b>>, blocks: Blocks<'b>) -> Vec<Part<'b>> {
    let mut parts = Vec::with_capacity(1);
    if blocks.has_images {
        parts.extend(content.map(Part::Pictured));
    } else if blocks.results.is_empty() || !blocks.text.is_empty() {
        parts.push(Part::User(blocks.text));
    }
    for block in blocks.results {
        let content = block.get("content");
        let inner = Blocks::read(content);
        parts.extend(result(block.get("toolCallId"), content, inner));
    }
    parts
}

/// A result, and behind it a message with its images.
fn result<'b>(
    call: Option<Raw<'b>>,
    content: Option<Raw<'b>>,
    blocks: Blocks<'b>,
) -> Vec<Part<'b>> {
    let text = blocks.text;
    let mut parts = vec![Part::Result { call, text }];
    if blocks.has_images {
        parts.extend(content.map(Part::Pictured));
    }
    parts
}

impl Part<'_> {
    /// Writes the wire message. `offloaded` lists the images that are left out.
    pub(super) fn write(
        &self,
        answers: AnswerStyle,
        offloaded: &[u32],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Part::System(text) => {
                out.write_all(b"{\"role\":\"system\",\"content\":")?;
                text.print(out)?;
            }
            Part::User(text) => {
                out.write_all(b"{\"role\":\"user\",\"content\":")?;
                text.print(out)?;
            }
            Part::Tagged(text, tag) => {
                out.write_all(b"{\"role\":\"user\",\"content\":")?;
                tag.print(text, out)?;
            }
            Part::Pictured(content) => {
                out.write_all(b"{\"role\":\"user\",\"content\":[")?;
                pictured(*content, offloaded, out)?;
                out.write_all(b"]")?;
            }
            Part::Result { call, text } => {
                out.write_all(b"{\"role\":\"tool\",\"tool_call_id\":")?;
                call.unwrap_or(Raw::NULL).print(out)?;
                out.write_all(b",\"content\":")?;
                if text.is_empty() {
                    out.write_all(b"\"(no output)\"")?;
                } else {
                    text.print(out)?;
                }
            }
            Part::Assistant(blocks) => assistant(blocks, answers, out)?,
        }
        out.write_all(b"}")
    }

    /// Whether it holds images.
    pub(super) fn has_images(&self) -> bool {
        matches!(self, Part::Pictured(_))
    }

    /// Whether builds differ in how they write it.
    pub(super) fn has_styles(&self) -> bool {
        let Part::Assistant(blocks) = self else {
            return false;
        };
        blocks.calls.is_empty() && (blocks.text.is_empty() || !blocks.reasoning.is_empty())
    }
}

impl Tag<'_> {
    fn print(&self, text: &Texts<'_>, out: &mut dyn Write) -> io::Result<()> {
        let kind = self.kind.map_or("undefined".into(), |kind| {
            String::from_utf8_lossy(&kind.printed()).into_owned()
        });
        let word = self.word;
        text.between(
            &format!("<{word} source={kind}>"),
            &format!("</{word}>"),
            out,
        )
    }
}

fn assistant(blocks: &Blocks<'_>, answers: AnswerStyle, out: &mut dyn Write) -> io::Result<()> {
    let has_calls = !blocks.calls.is_empty();
    out.write_all(b"{\"role\":\"assistant\",\"content\":")?;
    if blocks.text.is_empty() && !has_calls && answers == AnswerStyle::Null {
        out.write_all(b"null")?;
    } else {
        blocks.text.print(out)?;
    }
    if !blocks.reasoning.is_empty() && (has_calls || answers == AnswerStyle::Reasoning) {
        out.write_all(b",\"reasoning_content\":")?;
        blocks.reasoning.print(out)?;
    }
    if !has_calls {
        return Ok(());
    }
    out.write_all(b",\"tool_calls\":[")?;
    let mut list = List::new(out);
    for call in &blocks.calls {
        let out = list.next()?;
        let member = |name: &str| call.get(name).unwrap_or(Raw::NULL);
        out.write_all(b"{\"id\":")?;
        member("id").print(out)?;
        out.write_all(b",\"type\":\"function\",\"function\":{\"name\":")?;
        member("name").print(out)?;
        out.write_all(b",\"arguments\":")?;
        member("arguments").print(out)?;
        out.write_all(b"}}")?;
    }
    list.end().write_all(b"]")
}

fn pictured(content: Raw<'_>, offloaded: &[u32], out: &mut dyn Write) -> io::Result<()> {
    let mut list = List::new(out);
    let mut images = 0;
    for block in content.elements() {
        match Class::of(block) {
            Class::Text => {
                if let Some(text) = blocks::text(block) {
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

/// Writes a tool's declaration.
pub(super) fn tool(schema: Raw<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"type\":\"function\",\"function\":{")?;
    let mut list = List::new(out);
    for name in ["name", "description", "parameters"] {
        if let Some(value) = schema.get(name) {
            list.member(name, value)?;
        }
    }
    list.end().write_all(b"}}")
}

/// Writes the system prompt of a header.
pub(super) fn system(text: Raw<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"role\":\"system\",\"content\":")?;
    text.print(out)?;
    out.write_all(b"}")
}
