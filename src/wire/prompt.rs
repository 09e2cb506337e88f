//! Each request's prompt, and how far it repeats the ones before.
//!
//! **Takes** every request of a walk, in order. **Gives** a [`Prompt`] for each. **Never** writes out more than the first two
//! segments that differ.
//!
//! Source: cache model.

use std::io::{self, Write};
use std::rc::Rc;

use super::catalog::Catalog;
use super::earlier::EarlierPrefixes;
use super::head::{HeadKey, HeadMaker, HeadPart};
use super::layout::{Layout, Unit};
use super::manner::Manner;
use super::parts::{Parts, Piece, Scribe};
use super::segment::{Segment, SegmentKind};
use super::speech::Speech;
use crate::dialect::Interface;
use crate::event::Role;
use crate::fold::{MessageIx, OpKind, Session};
use crate::line::Seq;
use crate::request::Request;

/// Follows a walk over requests, and knows each one's prompt.
///
/// It costs what is new in a request: the messages behind the lowest position that was touched, and the head if it changed.
#[derive(Debug)]
pub struct Prompts<'s, 'log> {
    session: &'s Session<'log>,
    parts: &'s [Parts],
    interface: Interface,
    scribe: Scribe,
    head: Vec<HeadPart<'log>>,
    head_bytes: u64,
    head_key: Option<HeadKey>,
    layout: Layout<Piece>,
    /// Behind each unit, the bytes of the history so far.
    ends: Vec<u64>,
    earlier: EarlierPrefixes,
    last: Option<Sent<'log>>,
    count: u32,
}

/// What writing a request's messages again needs.
#[derive(Clone, Debug)]
pub(super) struct Sent<'log> {
    pub(super) manner: Manner,
    boundary: Seq,
    /// What the request's tools are known by.
    pub(super) revision: usize,
    pub(super) catalog: Option<Rc<Catalog<'log>>>,
}

/// The prompt of one request.
#[derive(Debug)]
pub struct Prompt<'w, 'log> {
    walk: &'w Prompts<'w, 'log>,
    /// Its bytes, over all segments.
    pub bytes: u64,
    /// How far it repeats the request before it; absent for the first.
    pub kept: Option<Kept<'log>>,
    /// An earlier request that it shares most with; absent for the first, and where it shares nothing with any.
    pub earlier: Option<Earlier>,
}

/// How far a prompt repeats the one before it.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'log> {
    /// Segments that are equal, from the first on.
    pub segments: usize,
    /// Their bytes, and those of the first differing segments up to where they differ.
    pub bytes: u64,
    /// Where it breaks; absent where the prompt before is a prefix of this one.
    pub broken: Option<Broken<'log>>,
}

/// Where a prompt leaves the one before it.
#[derive(Clone, Copy, Debug)]
pub struct Broken<'log> {
    /// The segment of the prompt before.
    pub before: Segment<'log>,
    /// The segment that stands there now; absent where the prompt is a prefix of the one before.
    pub now: Option<Segment<'log>>,
    /// The first byte that differs, within the segment. Absent where the messages were not kept, or are made of changes of the tools.
    pub byte: Option<u64>,
}

/// The longest prefix that an earlier request had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Which request, in the walk's order, from 0.
    pub request: usize,
    /// Whole segments that are equal.
    pub segments: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl<'s, 'log> Prompts<'s, 'log> {
    /// One for a session whose messages have these parts, by [`MessageIx`].
    pub fn new(
        session: &'s Session<'log>,
        parts: &'s [Parts],
        interface: Interface,
    ) -> Prompts<'s, 'log> {
        Prompts {
            session,
            parts,
            interface,
            scribe: Scribe::new(interface),
            head: Vec::new(),
            head_bytes: 0,
            head_key: None,
            layout: Layout::new(),
            ends: Vec::new(),
            earlier: EarlierPrefixes::new(),
            last: None,
            count: 0,
        }
    }

    /// The prompt of the next request. It must be given every request of a walk, in order.
    pub fn take<'w>(&'w mut self, request: &Request<'_, 'log>) -> Prompt<'w, 'log> {
        let sent = self.sending(request);
        let kept = self.kept_surface(request, &sent);
        let old_units = self.lay_out(request, kept, &sent);
        let stay = self.ends.len().saturating_sub(old_units.len());
        self.set_ends(stay);
        let same = stay
            + common(
                &old_units,
                self.layout.units.get(stay..).unwrap_or_default(),
            );
        let old_head = self.set_head(request, &sent);
        let last = self.last.replace(sent);
        let before = Before {
            head: old_head.as_deref().unwrap_or(&self.head),
            units: &old_units,
            stay,
        };
        let kept = last.map(|last| self.compare(&last, &before, same));
        let earlier = self.earlier_prefix(if kept.is_some() { same } else { 0 });
        self.count += 1;
        Prompt {
            bytes: self.head_bytes + self.ends.last().copied().unwrap_or(0),
            walk: self,
            kept,
            earlier,
        }
    }

    fn sending(&self, request: &Request<'_, 'log>) -> Sent<'log> {
        let manner = Manner::of(request, self.interface);
        let touched = request.touched();
        let revision = request.tool_revision();
        let same = self.last.as_ref().filter(|last| {
            last.manner == manner && last.revision == revision && touched.kept == touched.before
        });
        let catalog = match same {
            Some(last) => last.catalog.clone(),
            None => {
                (manner.interface == Interface::Messages).then(|| Rc::new(Catalog::of(request)))
            }
        };
        Sent {
            manner,
            boundary: request.derived().boundary,
            revision,
            catalog,
        }
    }

    /// How many messages of the surface stand as they stood.
    fn kept_surface(&self, request: &Request<'_, 'log>, sent: &Sent<'log>) -> usize {
        let Some(last) = self.last.as_ref().filter(|last| last.manner == sent.manner) else {
            return 0;
        };
        let kept = request.touched().kept;
        match (&last.catalog, &sent.catalog) {
            (Some(before), Some(now))
                if !Rc::ptr_eq(before, now) && !before.announces_like(now) =>
            {
                let is_developer = |message: &MessageIx| {
                    let fact = self.session.messages.get(message.get());
                    fact.is_some_and(|fact| fact.role == Role::Developer)
                };
                let first = request.surface().iter().position(is_developer);
                first.map_or(kept, |first| first.min(kept))
            }
            _ => kept,
        }
    }

    /// Lays the history out. Gives the units that stood behind those that stay.
    fn lay_out(
        &mut self,
        request: &Request<'_, 'log>,
        kept: usize,
        sent: &Sent<'log>,
    ) -> Vec<Unit<Piece>> {
        let (session, parts, scribe) = (self.session, self.parts, &mut self.scribe);
        let mut weigh = |message: MessageIx, units: &mut Vec<Unit<Piece>>| {
            let mut push = |(part, piece): (usize, Piece)| {
                units.push(Unit {
                    message,
                    part: part as u32,
                    what: piece,
                });
            };
            let ready = parts
                .get(message.get())
                .and_then(|parts| parts.pieces(&sent.manner));
            if let Some(pieces) = ready {
                return pieces.iter().copied().enumerate().for_each(push);
            }
            let offloaded = request.offloaded(message);
            let speech = sent.speech(session, message, offloaded);
            for part in 0..speech.map_or(0, |speech| speech.count()) {
                let piece = scribe.piece(|out| match speech {
                    Some(speech) => speech.write(part as u32, out),
                    None => Ok(()),
                });
                push((part, piece));
            }
        };
        let surface = request.surface();
        self.layout
            .extend(session, surface, kept, &sent.manner, &mut weigh)
    }

    /// Adds up the history's bytes behind the units that stayed.
    fn set_ends(&mut self, stay: usize) {
        self.ends.truncate(stay);
        let mut bytes = self.ends.last().copied().unwrap_or(0);
        let fresh = self.layout.units.iter().skip(stay);
        self.ends.extend(fresh.map(|unit| {
            bytes += unit.what.len();
            bytes
        }));
    }

    /// Makes the head anew if it changed; gives the one before then.
    fn set_head(
        &mut self,
        request: &Request<'_, 'log>,
        sent: &Sent<'log>,
    ) -> Option<Vec<HeadPart<'log>>> {
        let key = HeadKey::of(request, self.layout.top, sent);
        if self.head_key.replace(key) == Some(key) {
            return None;
        }
        let mut maker = HeadMaker {
            scribe: &mut self.scribe,
            parts: self.parts,
            head: Vec::new(),
        };
        maker.make(request, self.layout.top, sent);
        let head = maker.head;
        self.head_bytes = head.iter().map(|part| part.piece.len()).sum();
        self.earlier
            .set_head(head.iter().map(|part| part.piece.digest()));
        Some(std::mem::replace(&mut self.head, head))
    }

    /// Compares the prompt with the one before. `same` units of the history are equal.
    fn compare(&self, last: &Sent<'log>, before: &Before<'_, 'log>, same: usize) -> Kept<'log> {
        let pairs = self.head.iter().zip(before.head);
        let heads = pairs
            .take_while(|(now, before)| now.piece == before.piece)
            .count();
        let is_whole = heads == self.head.len() && heads == before.head.len();
        let segments = if is_whole { heads + same } else { heads };
        let bytes = self.bytes_before(segments);
        let now = self.stands_at(segments);
        let Some(old) = self.stood_at(before, segments) else {
            return Kept {
                segments,
                bytes,
                broken: None,
            };
        };
        let byte = match (&now, &self.last) {
            (None, _) | (_, None) => Some(0),
            (Some(now), Some(sent)) => self.first_difference((last, old), (sent, *now)),
        };
        Kept {
            segments,
            bytes: bytes + byte.unwrap_or(0),
            broken: Some(Broken {
                before: old.segment(),
                now: now.map(Standing::segment),
                byte,
            }),
        }
    }

    fn stands_at(&self, at: usize) -> Option<Standing<'log>> {
        match self.head.get(at) {
            Some(part) => Some(Standing::Head(*part)),
            None => {
                let unit = self.layout.units.get(at - self.head.len());
                unit.copied().map(Standing::History)
            }
        }
    }

    fn stood_at(&self, before: &Before<'_, 'log>, at: usize) -> Option<Standing<'log>> {
        if let Some(part) = before.head.get(at) {
            return Some(Standing::Head(*part));
        }
        let at = at - before.head.len();
        let unit = match at.checked_sub(before.stay) {
            Some(behind) => before.units.get(behind),
            None => self.layout.units.get(at),
        };
        unit.copied().map(Standing::History)
    }

    /// Bytes of the first segments.
    fn bytes_before(&self, segments: usize) -> u64 {
        match segments.checked_sub(self.head.len()) {
            Some(0) => self.head_bytes,
            Some(units) => self.head_bytes + self.ends.get(units - 1).copied().unwrap_or(0),
            None => {
                let head = self.head.iter().take(segments);
                head.map(|part| part.piece.len()).sum()
            }
        }
    }

    fn first_difference(
        &self,
        (last, before): (&Sent<'log>, Standing<'log>),
        (sent, now): (&Sent<'log>, Standing<'log>),
    ) -> Option<u64> {
        let write = |sent: &Sent<'log>, standing: Standing<'log>| {
            let mut bytes = Vec::new();
            let known = self.write(sent, standing, &mut bytes).ok()?;
            known.then_some(bytes)
        };
        let (before, now) = (write(last, before)?, write(sent, now)?);
        let pairs = before.iter().zip(&now);
        Some(pairs.take_while(|(a, b)| a == b).count() as u64)
    }

    /// Writes a segment. False where its message was not kept.
    fn write(
        &self,
        sent: &Sent<'log>,
        standing: Standing<'log>,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let offloaded = |message| offloaded_before(self.session, message, sent.boundary);
        match standing {
            Standing::Head(part) => part.write(self.session, sent, out),
            Standing::History(unit) => {
                let offloaded = offloaded(unit.message);
                match sent.speech(self.session, unit.message, &offloaded) {
                    Some(speech) => speech.write(unit.part, out).map(|()| true),
                    None => Ok(false),
                }
            }
        }
    }

    /// The longest prefix that an earlier request had, and takes this one for the next. `same` units are the last request's.
    fn earlier_prefix(&mut self, same: usize) -> Option<Earlier> {
        let digests = |unit: &Unit<Piece>| unit.what.digest();
        let units = &self.layout.units;
        let shared = self.earlier.request(
            self.count,
            same,
            units.iter().skip(same).map(digests),
            units.iter().map(digests),
        )?;
        let segments = shared.head + shared.history;
        Some(Earlier {
            request: shared.request as usize,
            segments,
            bytes: self.bytes_before(segments),
        })
    }
}

impl<'w, 'log> Prompt<'w, 'log> {
    /// Number of its segments.
    pub fn len(&self) -> usize {
        self.walk.head.len() + self.walk.layout.units.len()
    }

    /// Whether it has no segments.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its segments, in the provider's order.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'log>> + 'w {
        let head = self.walk.head.iter().copied().map(Standing::Head);
        let units = self.walk.layout.units.iter().copied();
        head.chain(units.map(Standing::History))
            .map(Standing::segment)
    }

    /// Writes the wire bytes of the segment with this index. False where there is none, or its message was not kept.
    ///
    /// # Errors
    ///
    /// What `out` reports.
    pub fn write_segment(&self, index: usize, out: &mut dyn Write) -> io::Result<bool> {
        match (self.walk.stands_at(index), &self.walk.last) {
            (Some(standing), Some(sent)) => self.walk.write(sent, standing, out),
            _ => Ok(false),
        }
    }
}

/// What stood in the prompt before, behind what stays.
struct Before<'b, 'log> {
    head: &'b [HeadPart<'log>],
    units: &'b [Unit<Piece>],
    /// How many units of the history stay as they are.
    stay: usize,
}

/// A segment, and what it is made of.
#[derive(Clone, Copy, Debug)]
enum Standing<'log> {
    Head(HeadPart<'log>),
    History(Unit<Piece>),
}

impl<'log> Standing<'log> {
    fn segment(self) -> Segment<'log> {
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

fn common(a: &[Unit<Piece>], b: &[Unit<Piece>]) -> usize {
    let pairs = a.iter().zip(b);
    pairs.take_while(|(a, b)| a.what == b.what).count()
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
    fn speech<'r>(
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
