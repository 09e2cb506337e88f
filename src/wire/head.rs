//! What stands before the history: system prompt, tools, session prefix.
//!
//! **Takes** a request. **Gives** the head's segments in the provider's order: chat completions system, tools, prefix; Messages
//! tools, system. **Never** looks at the history.

use std::io::{self, Write};

use super::chat;
use super::manner::Manner;
use super::messages;
use super::parts::{Parts, Piece, Scribe};
use super::segment::SegmentKind;
use super::speech::Speech;
use super::standing::Sent;
use crate::dialect::{Derivation, Interface};
use crate::fold::{MessageIx, Session};
use crate::record::Raw;
use crate::request::Request;

/// A segment before the history, and what it is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadPart<'log> {
    pub(super) kind: SegmentKind<'log>,
    pub(super) piece: Piece,
    source: HeadSource<'log>,
}

#[derive(Clone, Copy, Debug)]
enum HeadSource<'log> {
    /// The prompt of the header.
    Text(Raw<'log>),
    /// A prompt on the surface.
    Message(MessageIx),
    /// A tool's schema.
    Tool(Raw<'log>),
    /// A message of the session prefix; which of its wire messages.
    Prefix(Raw<'log>, usize),
}

/// What a head is made from: equal keys, equal heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadKey {
    /// Where the header stands: headers that repeat are kept once.
    header: (usize, usize),
    top: Option<MessageIx>,
    has_prefix: bool,
    manner: Manner,
    /// Where the catalog stands.
    revision: Option<usize>,
}

impl HeadKey {
    pub(super) fn of(
        request: &Request<'_, '_>,
        top: Option<MessageIx>,
        sent: &Sent<'_>,
    ) -> HeadKey {
        let header = request.header().raw.bytes();
        HeadKey {
            header: (header.as_ptr() as usize, header.len()),
            top,
            has_prefix: request.derived().derivation != Derivation::Identified,
            manner: sent.manner,
            revision: sent
                .catalog
                .as_ref()
                .map(|catalog| std::rc::Rc::as_ptr(catalog) as usize),
        }
    }
}

impl HeadKey {
    /// Whether nothing but the prompt on the surface differs.
    pub(super) fn differs_in_top(&self, other: &HeadKey) -> bool {
        *self
            == HeadKey {
                top: self.top,
                ..*other
            }
    }
}

/// Makes a head.
pub(super) struct HeadMaker<'m, 'log> {
    pub(super) scribe: &'m mut Scribe,
    pub(super) parts: &'m [Parts],
    pub(super) head: Vec<HeadPart<'log>>,
}

impl<'log> HeadMaker<'_, 'log> {
    pub(super) fn make(
        &mut self,
        request: &Request<'_, 'log>,
        top: Option<MessageIx>,
        sent: &Sent<'log>,
    ) {
        if sent.manner.interface == Interface::Messages {
            for offer in sent.catalog.iter().flat_map(|catalog| &catalog.offers) {
                let (schema, is_deferred) = (offer.schema, offer.is_deferred);
                let piece = self
                    .scribe
                    .piece(|out| messages::tool(schema, is_deferred, out));
                self.tool(schema, is_deferred, piece);
            }
            return self.top(top);
        }
        if let Some(text) = request.system() {
            let piece = self.scribe.piece(|out| chat::system(text, out));
            self.push(SegmentKind::System, piece, HeadSource::Text(text));
        }
        self.top(top);
        for schema in request.tools() {
            let piece = self.scribe.piece(|out| chat::tool(schema, out));
            self.tool(schema, false, piece);
        }
        let mut index = 0;
        for message in request.prefix() {
            for (at, part) in chat::prefix_parts(message).iter().enumerate() {
                let answers = sent.manner.answers;
                let piece = self.scribe.piece(|out| part.write(answers, &[], out));
                let kind = SegmentKind::Prefix { index };
                self.push(kind, piece, HeadSource::Prefix(message, at));
                index += 1;
            }
        }
    }

    /// Makes one that differs from another in the prompt on the surface only.
    pub(super) fn make_again(
        &mut self,
        before: &[HeadPart<'log>],
        top: Option<MessageIx>,
        sent: &Sent<'log>,
    ) {
        let is_prompt = |part: &HeadPart<'_>| matches!(part.source, HeadSource::Message(_));
        let is_text = |part: &HeadPart<'_>| matches!(part.source, HeadSource::Text(_));
        let place = match sent.manner.interface {
            Interface::Messages => before.len(),
            _ => before.iter().filter(|part| is_text(part)).count(),
        };
        let (front, behind) = before.split_at(place);
        self.head
            .extend(front.iter().filter(|part| !is_prompt(part)));
        self.top(top);
        self.head
            .extend(behind.iter().filter(|part| !is_prompt(part)));
    }

    fn top(&mut self, top: Option<MessageIx>) {
        let piece = top.and_then(|top| self.parts.get(top.get())?.beside());
        if let (Some(top), Some(piece)) = (top, piece) {
            self.push(SegmentKind::System, piece, HeadSource::Message(top));
        }
    }

    fn tool(&mut self, schema: Raw<'log>, is_deferred: bool, piece: Piece) {
        let name = schema.get("name");
        let kind = SegmentKind::Tool { name, is_deferred };
        self.push(kind, piece, HeadSource::Tool(schema));
    }

    fn push(&mut self, kind: SegmentKind<'log>, piece: Piece, source: HeadSource<'log>) {
        self.head.push(HeadPart {
            kind,
            piece,
            source,
        });
    }
}

impl<'log> HeadPart<'log> {
    /// Writes it. False where its message was not kept.
    pub(super) fn write(
        &self,
        session: &Session<'log>,
        sent: &Sent<'log>,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let is_messages = sent.manner.interface == Interface::Messages;
        match self.source {
            HeadSource::Text(text) => chat::system(text, out)?,
            HeadSource::Tool(schema) => match self.kind {
                SegmentKind::Tool { is_deferred, .. } if is_messages => {
                    messages::tool(schema, is_deferred, out)?;
                }
                _ => chat::tool(schema, out)?,
            },
            HeadSource::Prefix(message, at) => {
                if let Some(part) = chat::prefix_parts(message).get(at) {
                    part.write(sent.manner.answers, &[], out)?;
                }
            }
            HeadSource::Message(message) => {
                let speech = Speech::of(session, message, &sent.manner, None, &[]);
                let Some(speech) = speech else {
                    return Ok(false);
                };
                if is_messages {
                    speech.write_text(out)?;
                } else {
                    speech.write(0, out)?;
                }
            }
        }
        Ok(true)
    }
}
