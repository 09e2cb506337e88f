//! A segment together with what it is made of, so that it can be written again.
//!
//! **Takes** what a request decided when it was sent. **Gives** a segment's bytes. **Never** knows another segment.

use std::io::{self, Write};
use std::rc::Rc;

use super::catalog::Catalog;
use super::head::HeadPart;
use super::layout::Unit;
use super::manner::Manner;
use super::parts::Piece;
use super::segment::{Segment, SegmentKind};
use super::speech::Speech;
use crate::fold::{MessageIx, OpKind, Session};
use crate::line::Seq;

/// What writing a request's messages again needs.
#[derive(Clone, Debug)]
pub(super) struct Sent<'log> {
    pub(super) manner: Manner,
    pub(super) boundary: Seq,
    /// What the request's tools are known by.
    pub(super) revision: usize,
    pub(super) catalog: Option<Rc<Catalog<'log>>>,
}

/// A segment, and what it is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Standing<'log> {
    Head(HeadPart<'log>),
    History(Unit<Piece>),
}

impl<'log> Standing<'log> {
    /// Writes its wire bytes. False where its message was not kept.
    pub(super) fn write(
        self,
        session: &Session<'log>,
        sent: &Sent<'log>,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let unit = match self {
            Standing::Head(part) => return part.write(session, sent, out),
            Standing::History(unit) => unit,
        };
        let offloaded = offloaded_before(session, unit.message, sent.boundary);
        match sent.speech(session, unit.message, &offloaded) {
            Some(speech) => speech.write(unit.part, out).map(|()| true),
            None => Ok(false),
        }
    }

    /// What is told of it.
    pub(super) fn segment(self) -> Segment<'log> {
        let (kind, piece) = match self {
            Standing::Head(part) => (part.kind, part.piece),
            Standing::History(unit) => {
                let (message, part) = (unit.message, unit.part);
                (SegmentKind::Message { message, part }, unit.what)
            }
        };
        Segment {
            kind,
            len: piece.len(),
            digest: piece.digest(),
        }
    }
}

/// The images of a message that are left out before a boundary.
fn offloaded_before(session: &Session<'_>, message: MessageIx, boundary: Seq) -> Vec<u32> {
    let has_images = session
        .messages
        .get(message.get())
        .is_some_and(|fact| !fact.offloaded.is_empty());
    if !has_images {
        return Vec::new();
    }
    let ops = session.ops.iter().take_while(|op| op.seq < boundary);
    let marks = ops.filter_map(|op| match &op.kind {
        OpKind::Offload {
            message: of,
            images,
        } if *of == message => Some(images),
        _ => None,
    });
    marks.flatten().copied().collect()
}

impl<'log> Sent<'log> {
    /// A message as it was sent.
    pub(super) fn speech<'r>(
        &'r self,
        session: &Session<'log>,
        message: MessageIx,
        offloaded: &'r [u32],
    ) -> Option<Speech<'r, 'log>> {
        Speech::of(
            session,
            message,
            &self.manner,
            self.catalog.as_deref(),
            offloaded,
        )
    }
}
