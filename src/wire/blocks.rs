//! Content blocks by class, and the text they add up to.
//!
//! **Takes** a message's content. **Gives** its texts in order. **Never** copies a text that stands alone.

use std::io::{self, Write};

use crate::record::{Kind, Raw, TextBuf};

/// Texts that are written one behind the other, as one string.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts<'b> {
    first: Option<Raw<'b>>,
    more: Vec<Raw<'b>>,
}

impl<'b> Texts<'b> {
    fn push(&mut self, text: Raw<'b>) {
        match self.first {
            _ if is_empty(text) => {}
            None => self.first = Some(text),
            Some(_) => self.more.push(text),
        }
    }

    /// Whether there is no character.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Writes the text as a JSON string.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.first {
            None => out.write_all(b"\"\""),
            Some(only) if self.more.is_empty() => only.print(out),
            Some(_) => self.between("", "", out),
        }
    }

    /// Writes the text between two others as a JSON string.
    pub(super) fn between(&self, open: &str, close: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut text = TextBuf::new();
        text.push_str(open);
        for part in self.first.iter().chain(&self.more) {
            part.append_to(&mut text);
        }
        text.push_str(close);
        text.print(out)
    }
}

/// Whether a string has no character.
pub(super) fn is_empty(text: Raw<'_>) -> bool {
    text.bytes().len() <= 2
}

/// A block's text; absent where it is no string.
pub(super) fn text(block: Raw<'_>) -> Option<Raw<'_>> {
    block.get("text").filter(|text| text.kind() == Kind::String)
}

/// What kind of block it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Text,
    Reasoning,
    ToolCall,
    ToolResult,
    Image,
    Other,
}

impl Class {
    pub(super) fn of(block: Raw<'_>) -> Class {
        let kind = block.get("type").unwrap_or(Raw::NULL);
        match kind.bytes() {
            b"\"text\"" => Class::Text,
            b"\"reasoning\"" => Class::Reasoning,
            b"\"tool-call\"" => Class::ToolCall,
            b"\"tool-result\"" => Class::ToolResult,
            b"\"image\"" => Class::Image,
            _ => Class::spelled(kind),
        }
    }

    /// The same for a word that is spelled with escapes.
    fn spelled(kind: Raw<'_>) -> Class {
        let words = [
            ("text", Class::Text),
            ("reasoning", Class::Reasoning),
            ("tool-call", Class::ToolCall),
            ("tool-result", Class::ToolResult),
            ("image", Class::Image),
        ];
        words
            .into_iter()
            .find(|(word, _)| kind.is_str(word))
            .map_or(Class::Other, |(_, class)| class)
    }
}

/// The blocks of a content array by class, each class in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks<'b> {
    pub(super) text: Texts<'b>,
    pub(super) reasoning: Texts<'b>,
    pub(super) calls: Vec<Raw<'b>>,
    pub(super) results: Vec<Raw<'b>>,
    pub(super) has_images: bool,
}

impl<'b> Blocks<'b> {
    /// Reads a content array. Blocks of another kind are left out, as the adapter does.
    pub(super) fn read(content: Option<Raw<'b>>) -> Blocks<'b> {
        let mut blocks = Blocks::default();
        for block in content.into_iter().flat_map(Raw::elements) {
            match Class::of(block) {
                Class::Text => text(block)
                    .into_iter()
                    .for_each(|text| blocks.text.push(text)),
                Class::Reasoning => text(block)
                    .into_iter()
                    .for_each(|text| blocks.reasoning.push(text)),
                Class::ToolCall => blocks.calls.push(block),
                Class::ToolResult => blocks.results.push(block),
                Class::Image => blocks.has_images = true,
                Class::Other => {}
            }
        }
        blocks
    }
}

/// Writes members one by one, with what separates them.
pub(super) struct List<'o> {
    out: &'o mut dyn Write,
    first: bool,
}

impl<'o> List<'o> {
    /// A list whose opening bracket is written.
    pub(super) fn new(out: &'o mut dyn Write) -> List<'o> {
        List { out, first: true }
    }

    /// The writer, behind a comma if one is due.
    pub(super) fn next(&mut self) -> io::Result<&mut dyn Write> {
        if !std::mem::replace(&mut self.first, false) {
            self.out.write_all(b",")?;
        }
        Ok(self.out)
    }

    /// The writer, for what ends the list.
    pub(super) fn end(&mut self) -> &mut dyn Write {
        self.out
    }

    /// Whether nothing was written yet.
    pub(super) fn is_empty(&self) -> bool {
        self.first
    }

    /// Writes a member of an object.
    pub(super) fn member(&mut self, name: &str, value: Raw<'_>) -> io::Result<()> {
        let out = self.next()?;
        write!(out, "\"{name}\":")?;
        value.print(out)
    }
}

/// Writes a text block.
pub(super) fn text_block(text: Raw<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"type\":\"text\",\"text\":")?;
    text.print(out)?;
    out.write_all(b"}")
}

/// Writes what stands for an image: the block as it is logged, marked if it is left out.
pub(super) fn image(block: Raw<'_>, is_offloaded: bool, out: &mut dyn Write) -> io::Result<()> {
    if !is_offloaded {
        return block.print(out);
    }
    out.write_all(b"{")?;
    let mut list = List::new(out);
    for (key, value) in block.members().filter(|(key, _)| !key.is_str("offloaded")) {
        let out = list.next()?;
        key.print(out)?;
        out.write_all(b":")?;
        value.print(out)?;
    }
    list.next()?.write_all(b"\"offloaded\":true}")
}
