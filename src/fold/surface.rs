//! The surface: the ordered events that make the conversation, as a linked list over all messages.
//!
//! **Takes** appends and replaces. **Gives** the operations, in order, and what is wrong with one. **Never** keeps a list per
//! revision; a replace costs what it removes.
//!
//! Source: format reference, section B.0 (surface fold).

use super::session::{MessageFact, MessageIx};
use crate::line::Seq;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    previous: u32,
    next: u32,
    alive: bool,
}

/// The live surface.
#[derive(Debug)]
pub(super) struct Surface {
    nodes: Vec<Node>,
    head: u32,
    tail: u32,
}

/// Why a replace cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplaceError {
    /// The start is not on the surface.
    UnknownStart,
    /// The end is not on the surface.
    UnknownEnd,
    /// The start stands behind the end.
    Reversed,
}

impl Surface {
    pub(super) fn new() -> Surface {
        Surface {
            nodes: Vec::new(),
            head: NONE,
            tail: NONE,
        }
    }

    /// Adds the next message at the end.
    pub(super) fn append(&mut self) {
        let at = self.push(self.tail, NONE);
        if let Some(tail) = self.nodes.get_mut(self.tail as usize) {
            tail.next = at;
        } else {
            self.head = at;
        }
        self.tail = at;
    }

    /// The first message.
    pub(super) fn head(&self) -> Option<MessageIx> {
        (self.head != NONE).then_some(MessageIx(self.head))
    }

    pub(super) fn is_alive(&self, message: MessageIx) -> bool {
        self.nodes.get(message.get()).is_some_and(|node| node.alive)
    }

    /// The live message of an event.
    pub(super) fn find(&self, messages: &[MessageFact<'_>], seq: Seq) -> Option<MessageIx> {
        let at = messages
            .binary_search_by_key(&seq, |message| message.seq)
            .ok()?;
        let message = MessageIx::new(at);
        self.is_alive(message).then_some(message)
    }

    /// The messages from `first` to `last`, in the surface's order; an error if `last` does not follow.
    pub(super) fn range(
        &self,
        first: MessageIx,
        last: MessageIx,
    ) -> Result<Vec<MessageIx>, ReplaceError> {
        let mut range = Vec::new();
        let mut at = first.0;
        while let Some(node) = self.nodes.get(at as usize) {
            range.push(MessageIx(at));
            if at == last.0 {
                return Ok(range);
            }
            at = node.next;
        }
        Err(ReplaceError::Reversed)
    }

    /// Finds the ends of a replace and what lies between.
    pub(super) fn resolve(
        &self,
        messages: &[MessageFact<'_>],
        start: Seq,
        end: Seq,
    ) -> Result<Vec<MessageIx>, ReplaceError> {
        let first = self
            .find(messages, start)
            .ok_or(ReplaceError::UnknownStart)?;
        let last = self.find(messages, end).ok_or(ReplaceError::UnknownEnd)?;
        self.range(first, last)
    }

    /// Puts the next message in the place of `range`.
    pub(super) fn replace(&mut self, range: &[MessageIx]) {
        let (Some(first), Some(last)) = (range.first(), range.last()) else {
            return self.append();
        };
        let previous = self
            .nodes
            .get(first.get())
            .map_or(NONE, |node| node.previous);
        let next = self.nodes.get(last.get()).map_or(NONE, |node| node.next);
        for message in range {
            if let Some(node) = self.nodes.get_mut(message.get()) {
                node.alive = false;
            }
        }
        let at = self.push(previous, next);
        match self.nodes.get_mut(previous as usize) {
            Some(node) => node.next = at,
            None => self.head = at,
        }
        match self.nodes.get_mut(next as usize) {
            Some(node) => node.previous = at,
            None => self.tail = at,
        }
    }

    /// Keeps the numbering of a message that never got onto the surface.
    pub(super) fn skip(&mut self) {
        self.nodes.push(Node {
            previous: NONE,
            next: NONE,
            alive: false,
        });
    }

    fn push(&mut self, previous: u32, next: u32) -> u32 {
        let at = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(Node {
            previous,
            next,
            alive: true,
        });
        at
    }
}
