//! The surface as a chain: a replace costs the same wherever it is.
//!
//! **Takes** appends and replaces. **Gives** the messages in their order. **Never** looks at a message.

use crate::fold::MessageIx;

/// Each message, and the one behind it.
#[derive(Debug)]
pub(super) struct Chain {
    /// Of each message, the one before it and the one behind it.
    links: Vec<(u32, u32)>,
    head: u32,
    tail: u32,
}

impl Chain {
    const NONE: u32 = u32::MAX;

    /// An empty one, of messages below this number.
    pub(super) fn of(messages: usize) -> Chain {
        Chain {
            links: vec![(Self::NONE, Self::NONE); messages],
            head: Self::NONE,
            tail: Self::NONE,
        }
    }

    /// Puts a message behind all others.
    pub(super) fn append(&mut self, message: MessageIx) {
        self.link(self.tail, message, Self::NONE);
    }

    /// Puts a message in the place of those from `first` to `last`, which stand on the surface in this order.
    pub(super) fn replace(&mut self, first: MessageIx, last: MessageIx, with: MessageIx) {
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
    pub(super) fn behind(&self, message: Option<MessageIx>) -> Option<MessageIx> {
        let at = match message {
            Some(message) => self.links.get(message.get())?.1,
            None => self.head,
        };
        (at != Self::NONE).then_some(MessageIx(at))
    }
}
