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
use super::kept::{Before, Kept, common};
use super::layout::{Layout, Patched, Surface, Unit};
use super::manner::Manner;
use super::parts::{Parts, Piece, Scribe};
use super::segment::Segment;
use super::standing::{Sent, Standing};
use crate::dialect::Interface;
use crate::event::Role;
use crate::fold::{MessageIx, Session};
use crate::request::Request;

/// Follows a walk over requests, and knows each one's prompt.
///
/// It costs what is new in a request: the messages behind the lowest position that was touched, and the head if it changed.
#[derive(Debug)]
pub struct Prompts<'s, 'log> {
    pub(super) session: &'s Session<'log>,
    parts: &'s [Parts],
    interface: Interface,
    scribe: Scribe,
    pub(super) head: Vec<HeadPart<'log>>,
    pub(super) head_bytes: u64,
    head_key: Option<HeadKey>,
    pub(super) layout: Layout<Piece>,
    /// Behind each unit, the bytes of the history so far.
    pub(super) ends: Vec<u64>,
    earlier: EarlierPrefixes,
    pub(super) last: Option<Sent<'log>>,
    count: u32,
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
        let (patched, old_units) = self.lay_out(request, kept, &sent);
        let stay = self.ends.len().saturating_sub(old_units.len());
        let first = patched.first().map_or(stay, |(at, _)| *at);
        self.set_ends(first.min(stay));
        let same = self.same_units(&patched, &old_units, stay);
        let old_head = self.set_head(request, &sent);
        let last = self.last.replace(sent);
        let before = Before {
            head: old_head.as_deref().unwrap_or(&self.head),
            patched: &patched,
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
            let reads_surface = last.catalog.as_ref().is_some_and(|last| last.reads_surface);
            let is_same = !reads_surface || touched.kept == touched.before;
            last.manner == manner && last.revision == revision && is_same
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
        let kept = request.touched().stands;
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

    /// Lays the history out. Gives the units that others took the place of, and those that stood behind the ones that stay.
    fn lay_out(
        &mut self,
        request: &Request<'_, 'log>,
        kept: usize,
        sent: &Sent<'log>,
    ) -> (Vec<Patched<Piece>>, Vec<Unit<Piece>>) {
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
        let surface = Surface {
            session,
            messages: request.surface(),
            in_place: request.in_place(),
            manner: &sent.manner,
        };
        let (kept, patched) = self.layout.patch(&surface, kept, &mut weigh);
        let old_units = self.layout.extend(&surface, kept, &mut weigh);
        (patched, old_units)
    }

    /// How many units of the history are equal to those of the prompt before.
    fn same_units(
        &self,
        patched: &[Patched<Piece>],
        old_units: &[Unit<Piece>],
        stay: usize,
    ) -> usize {
        let units = &self.layout.units;
        let differs =
            |(at, old): &&Patched<Piece>| units.get(*at).is_none_or(|now| now.what != old.what);
        match patched.iter().find(differs) {
            Some((at, _)) => *at,
            None => stay + common(old_units, units.get(stay..).unwrap_or_default()),
        }
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
        let top = self.layout.top(request.surface());
        let key = HeadKey::of(request, top, sent);
        let last = self.head_key.replace(key);
        if last == Some(key) {
            return None;
        }
        let mut maker = HeadMaker {
            scribe: &mut self.scribe,
            parts: self.parts,
            head: Vec::new(),
        };
        if last.is_some_and(|last| last.differs_in_top(&key)) {
            maker.make_again(&self.head, top, sent);
        } else {
            maker.make(request, top, sent);
        }
        let head = maker.head;
        self.head_bytes = head.iter().map(|part| part.piece.len()).sum();
        self.earlier
            .set_head(head.iter().map(|part| part.piece.digest()));
        Some(std::mem::replace(&mut self.head, head))
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
            (Some(standing), Some(sent)) => standing.write(self.walk.session, sent, out),
            _ => Ok(false),
        }
    }
}
