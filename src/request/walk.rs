//! The forward walk over a session's requests.
//!
//! **Takes** a session, its settlement and the header line's ids. **Gives** one [`Request`] at a time, with the lowest position
//! touched since the last. **Never** goes back: a request costs the operations since the one before it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::chain::Chain;
use super::sent::{Request, Touched};
use super::tool_history::ToolHistory;
use crate::dialect::{Derivation, Derived, Order};
use crate::event::Role;
use crate::fold::{MessageIx, OpKind, Session};
use crate::line::Seq;
use crate::record::Raw;

/// Walks the requests of a log, in order.
#[derive(Debug)]
pub struct Requests<'s, 'log> {
    pub(super) session: &'s Session<'log>,
    derived: std::slice::Iter<'s, Derived>,
    pub(super) session_id: Raw<'log>,
    pub(super) parent_id: Option<Raw<'log>>,
    /// The surface of the last request.
    pub(super) live: Vec<MessageIx>,
    /// Position of each message of it; of others, stale.
    positions: Vec<u32>,
    chain: Chain,
    offloaded: HashMap<MessageIx, Vec<u32>>,
    /// Positions whose message changed in its place since the last request.
    pub(super) in_place: Vec<usize>,
    next_op: usize,
    next_header: usize,
    next_developer: usize,
    pub(super) next_route: usize,
    pub(super) tools: ToolHistory<'log>,
    previous: Option<Previous>,
}

/// What decides whether the last request's messages still begin this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Previous {
    derivation: Derivation,
    tags: bool,
    steering_first: bool,
    header: crate::fold::HeaderIx,
    inherited: bool,
    order: Order,
}

impl<'s, 'log> Requests<'s, 'log> {
    /// A walk over the settled requests. `session_id` and `parent_id` stand in the header line.
    pub fn new(
        session: &'s Session<'log>,
        derived: &'s [Derived],
        session_id: Raw<'log>,
        parent_id: Option<Raw<'log>>,
    ) -> Requests<'s, 'log> {
        Requests {
            session,
            derived: derived.iter(),
            session_id,
            parent_id,
            live: Vec::new(),
            positions: vec![0; session.messages.len()],
            chain: Chain::of(session.messages.len()),
            offloaded: HashMap::new(),
            in_place: Vec::new(),
            next_op: 0,
            next_header: 0,
            next_developer: 0,
            next_route: 0,
            tools: ToolHistory::default(),
            previous: None,
        }
    }

    /// The next request. It borrows the walk: ask for the next one when done with it.
    pub fn next_request(&mut self) -> Option<Request<'_, 'log>> {
        let derived: &'s Derived = self.derived.next()?;
        let before = self.live.len();
        let (lowest, moved) = self.advance(derived.boundary);
        let frame = Previous {
            derivation: derived.derivation,
            tags: derived.tags,
            steering_first: derived.steering_first,
            header: derived.header,
            inherited: derived.inherited,
            order: derived.order,
        };
        let last = self.previous.replace(frame);
        let same_derivation = last.is_some_and(|last| {
            (last.derivation, last.tags, last.steering_first)
                == (frame.derivation, frame.tags, frame.steering_first)
        });
        let touched = Touched {
            kept: if same_derivation { lowest } else { 0 },
            stands: if same_derivation { moved } else { 0 },
            before,
            same_frame: last == Some(frame),
        };
        Some(Request {
            walk: self,
            derived,
            touched,
        })
    }

    /// Applies everything before a boundary. Gives the lowest position touched, and the lowest behind which messages moved.
    pub(super) fn advance(&mut self, boundary: Seq) -> (usize, usize) {
        let (mut lowest, mut moved) = (self.live.len(), self.live.len());
        let mut marked = Vec::new();
        self.in_place.clear();
        while let Some(op) = self
            .session
            .ops
            .get(self.next_op)
            .filter(|op| op.seq < boundary)
        {
            self.next_op += 1;
            match op.kind {
                OpKind::Append(message) => self.chain.append(message),
                OpKind::Replace { first, last, with } => {
                    let at = self.position(first);
                    self.chain.replace(first, last, with);
                    match self.live.get_mut(at).filter(|_| first == last) {
                        Some(place) => {
                            *place = with;
                            self.set_position(with, at);
                            self.in_place.push(at);
                        }
                        None => moved = moved.min(at),
                    }
                    lowest = lowest.min(at);
                }
                OpKind::Offload {
                    message,
                    ref images,
                } => {
                    let at = self.position(message);
                    lowest = lowest.min(at);
                    self.in_place.push(at);
                    let marks = self.offloaded.entry(message).or_default();
                    marks.extend_from_slice(images);
                    marked.push(message);
                }
            }
        }
        self.settle(moved, marked);
        self.fold_tools(boundary);
        let routes = self.session.routes.iter().skip(self.next_route);
        self.next_route += routes.take_while(|route| route.seq < boundary).count();
        (lowest, moved)
    }

    /// The messages of the surface.
    pub(super) fn live(&self) -> &[MessageIx] {
        &self.live
    }

    /// The images of a message that are left out.
    pub(super) fn offloaded(&self, message: MessageIx) -> &[u32] {
        self.offloaded.get(&message).map_or(&[], Vec::as_slice)
    }

    pub(super) fn print_tool_history(&self, mut out: &mut dyn Write) -> io::Result<()> {
        self.tools.print(&mut out)
    }

    fn set_position(&mut self, message: MessageIx, at: usize) {
        if let Some(slot) = self.positions.get_mut(message.get()) {
            *slot = at as u32;
        }
    }

    /// Brings the live list up to the chain, from the lowest position on behind which messages moved, and the marks into order.
    fn settle(&mut self, moved: usize, mut marked: Vec<MessageIx>) {
        self.live.truncate(moved);
        self.in_place.retain(|at| *at < moved);
        self.in_place.sort_unstable();
        self.in_place.dedup();
        let mut next = self.chain.behind(self.live.last().copied());
        while let Some(message) = next {
            self.set_position(message, self.live.len());
            self.live.push(message);
            next = self.chain.behind(Some(message));
        }
        marked.sort_unstable();
        marked.dedup();
        for message in marked {
            if let Some(marks) = self.offloaded.get_mut(&message) {
                marks.sort_unstable();
            }
        }
    }

    /// Where a message stands on the last request's surface. One that came since has touched what is at its place already.
    fn position(&self, message: MessageIx) -> usize {
        let at = self.positions.get(message.get()).map(|at| *at as usize);
        at.filter(|at| self.live.get(*at) == Some(&message))
            .unwrap_or(usize::MAX)
    }

    /// Folds headers and developer messages before a boundary, in their order.
    fn fold_tools(&mut self, boundary: Seq) {
        loop {
            let header = self
                .session
                .headers
                .get(self.next_header)
                .filter(|header| header.seq < boundary);
            let messages = self
                .session
                .messages
                .iter()
                .enumerate()
                .skip(self.next_developer);
            let developer = messages
                .take_while(|(_, message)| message.seq < boundary)
                .find(|(_, message)| message.role == Role::Developer);
            // What lies before it is not looked at again.
            self.next_developer = developer.map_or_else(
                || {
                    self.session
                        .messages
                        .partition_point(|message| message.seq < boundary)
                },
                |(at, _)| at,
            );
            match (header, developer) {
                (Some(header), developer)
                    if developer.is_none_or(|(_, message)| header.seq < message.seq) =>
                {
                    self.tools.header(header);
                    self.next_header += 1;
                }
                (_, Some((at, message))) => {
                    if let Some(raw) = message.raw {
                        self.tools.developer(self.session, raw, message.header_seq);
                    }
                    self.next_developer = at + 1;
                }
                _ => return,
            }
        }
    }
}
