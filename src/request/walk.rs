//! The forward walk over a session's requests.
//!
//! **Takes** a session, its settlement and the header line's ids. **Gives** one [`Request`] at a time, with the lowest position
//! touched since the last. **Never** goes back: a request costs the operations since the one before it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::message::{Identity, derive_event_message};
use super::options::Frame;
use super::tool_history::{ToolHistory, ToolUpdate};
use crate::dialect::{Derivation, Derived, Order};
use crate::event::Role;
use crate::fold::{
    AttemptFact, HeaderFact, MessageIx, OpKind, Session, StepFact, TurnFact, header_part,
};
use crate::line::Seq;
use crate::record::Raw;

/// Walks the requests of a log, in order.
#[derive(Debug)]
pub struct Requests<'s, 'log> {
    session: &'s Session<'log>,
    derived: std::slice::Iter<'s, Derived>,
    session_id: Raw<'log>,
    parent_id: Option<Raw<'log>>,
    /// The surface of the last request.
    live: Vec<MessageIx>,
    /// Position of each message of it; of others, stale.
    positions: Vec<u32>,
    chain: Chain,
    offloaded: HashMap<MessageIx, Vec<u32>>,
    /// Positions whose message changed in its place since the last request.
    in_place: Vec<usize>,
    next_op: usize,
    next_header: usize,
    next_developer: usize,
    next_route: usize,
    tools: ToolHistory<'log>,
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

/// How far a request's messages are those of the request before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// How many surface messages from the first on are unchanged, in place and in derivation.
    pub kept: usize,
    /// How many surface messages from the first on stand where they stood, or took the place of one that did:
    /// [`Request::in_place`].
    pub stands: usize,
    /// How many surface messages the request before had.
    pub before: usize,
    /// Whether everything before the messages is unchanged too: header, order and ids.
    pub same_frame: bool,
}

/// What one attempt sent.
#[derive(Debug)]
pub struct Request<'r, 'log> {
    walk: &'r Requests<'r, 'log>,
    derived: &'r Derived,
    touched: Touched,
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

/// The surface as a chain: a replace costs the same wherever it is.
#[derive(Debug)]
struct Chain {
    /// Of each message, the one before it and the one behind it.
    links: Vec<(u32, u32)>,
    head: u32,
    tail: u32,
}

impl Chain {
    const NONE: u32 = u32::MAX;

    fn of(messages: usize) -> Chain {
        Chain {
            links: vec![(Self::NONE, Self::NONE); messages],
            head: Self::NONE,
            tail: Self::NONE,
        }
    }

    fn append(&mut self, message: MessageIx) {
        self.link(self.tail, message, Self::NONE);
    }

    /// Puts a message in the place of those from `first` to `last`, which stand on the surface in this order.
    fn replace(&mut self, first: MessageIx, last: MessageIx, with: MessageIx) {
        let before = self.links.get(first.get()).map(|links| links.0);
        let behind = self.links.get(last.get()).map(|links| links.1);
        self.link(
            before.unwrap_or(Self::NONE),
            with,
            behind.unwrap_or(Self::NONE),
        );
    }

    fn link(&mut self, before: u32, message: MessageIx, behind: u32) {
        if let Some(links) = self.links.get_mut(message.get()) {
            *links = (before, behind);
        }
        match self.links.get_mut(before as usize) {
            Some(links) => links.1 = message.0,
            None => self.head = message.0,
        }
        match self.links.get_mut(behind as usize) {
            Some(links) => links.0 = message.0,
            None => self.tail = message.0,
        }
    }

    /// The message behind one, or the first.
    fn behind(&self, message: Option<MessageIx>) -> Option<MessageIx> {
        let at = match message {
            Some(message) => self.links.get(message.get())?.1,
            None => self.head,
        };
        (at != Self::NONE).then_some(MessageIx(at))
    }
}

impl<'r, 'log> Request<'r, 'log> {
    /// Where its messages end and how they are derived.
    pub fn derived(&self) -> &'r Derived {
        self.derived
    }

    /// The session it was sent in.
    pub fn session(&self) -> &'r Session<'log> {
        self.walk.session
    }

    /// The history of its tools (version 4): those of the baseline, and what developer messages added since.
    ///
    /// *Source*: generations reference, section 4.2.
    pub fn tool_history(&self) -> (&'r [Raw<'log>], &'r [ToolUpdate<'log>]) {
        self.walk.tools.snapshot()
    }

    /// Equal for requests of one walk between which no header and no developer message stands: their tools and tool histories are
    /// the same.
    pub fn tool_revision(&self) -> usize {
        self.walk.tools.revision()
    }

    /// Whether its route appends prompt updates to the history; absent where the log does not name the route.
    pub fn in_history(&self) -> Option<bool> {
        let last = self.walk.next_route.checked_sub(1)?;
        Some(self.walk.session.routes.get(last)?.in_history)
    }

    /// How much of the last request it repeats.
    pub fn touched(&self) -> Touched {
        self.touched
    }

    /// Its step.
    pub fn step(&self) -> &'r StepFact {
        &self.walk.session.steps[self.derived.step.get()]
    }

    /// Its turn.
    pub fn turn(&self) -> &'r TurnFact {
        &self.walk.session.turns[self.step().turn.get()]
    }

    /// Its attempt, where it left a trace.
    pub fn attempt(&self) -> Option<&'r AttemptFact> {
        self.derived
            .attempt
            .and_then(|attempt| self.walk.session.attempts.get(attempt.get()))
    }

    /// The header in force.
    pub fn header(&self) -> &'r HeaderFact<'log> {
        &self.walk.session.headers[self.derived.header.get()]
    }

    /// The tools in use, as the header in force declares them.
    pub fn tools(&self) -> impl Iterator<Item = Raw<'log>> + use<'log> {
        let tools = header_part(self.header().raw, "tools");
        tools.into_iter().flat_map(Raw::elements)
    }

    /// The system prompt of the header in force, if it is not empty (before version 3).
    pub fn system(&self) -> Option<Raw<'log>> {
        header_part(self.header().raw, "system")
    }

    /// The messages of the session prefix; only plain and provenance requests begin with them.
    pub fn prefix(&self) -> impl Iterator<Item = Raw<'log>> + use<'log> {
        let has_prefix = self.derived.derivation != Derivation::Identified;
        let prefix = header_part(self.header().raw, "messagePrefix").filter(|_| has_prefix);
        prefix.into_iter().flat_map(Raw::elements)
    }

    /// The messages of its surface, in order. Not all of them derive to a message.
    pub fn surface(&self) -> &'r [MessageIx] {
        &self.walk.live
    }

    /// Positions below [`Touched::stands`] whose message, or its images, changed since the last request; ascending.
    pub fn in_place(&self) -> &'r [usize] {
        &self.walk.in_place
    }

    /// The images of a message that are left out.
    pub fn offloaded(&self, message: MessageIx) -> &'r [u32] {
        self.walk.offloaded(message)
    }

    /// How its messages are derived.
    pub fn identity(&self) -> Identity<'log> {
        Identity {
            derivation: self.derived.derivation,
            tags: self.derived.tags,
            steering_first: self.derived.steering_first,
            session_id: self.walk.session_id,
        }
    }

    fn frame(&self) -> Frame<'_, 'log> {
        let session_id = match (self.derived.inherited, self.walk.parent_id) {
            (true, Some(parent)) => parent,
            _ => self.walk.session_id,
        };
        Frame {
            derived: self.derived,
            header: self.header().raw,
            session_id,
            tools: &self.walk.tools,
        }
    }

    /// Writes everything before the first message of the history; gives whether a message stands there already.
    ///
    /// # Errors
    ///
    /// What `out` reports.
    pub fn write_head(&self, out: &mut impl Write) -> io::Result<bool> {
        self.frame().head(out)
    }

    /// Writes one message of its surface, with a comma before it if `any` says that one stands before. Gives whether one does now.
    ///
    /// # Errors
    ///
    /// What `out` reports.
    pub fn write_message(
        &self,
        message: MessageIx,
        any: bool,
        out: &mut impl Write,
    ) -> io::Result<bool> {
        let mut out = Comma { due: any, out };
        let identity = self.identity();
        let wrote = derive_event_message(
            self.walk.session,
            message,
            &identity,
            self.offloaded(message),
            &mut out,
        )?;
        Ok(any || wrote)
    }

    /// Writes everything behind the last message.
    ///
    /// # Errors
    ///
    /// What `out` reports.
    pub fn write_tail(&self, out: &mut impl Write) -> io::Result<()> {
        self.frame().tail(out)
    }

    /// Writes the options object, byte for byte as the harness prints it.
    ///
    /// # Errors
    ///
    /// What `out` reports.
    pub fn write_options(&self, out: &mut impl Write) -> io::Result<()> {
        let mut any = self.write_head(out)?;
        for message in self.surface() {
            any = self.write_message(*message, any, out)?;
        }
        self.write_tail(out)
    }
}

/// Writes a comma before the first byte, if one is due.
struct Comma<'o, W> {
    due: bool,
    out: &'o mut W,
}

impl<W: Write> Write for Comma<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.due && !bytes.is_empty() {
            self.out.write_all(b",")?;
            self.due = false;
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
