//! The parts of a prompt that a prefix cache can tell apart, in the provider's order.
//!
//! **Takes** nothing: `prompt` makes them. **Gives** [`Segment`]. **Never** holds bytes.

use crate::fold::MessageIx;
use crate::record::Raw;

/// A part of the prompt.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'log> {
    /// What it is.
    pub kind: SegmentKind<'log>,
    /// Its length on the wire, in bytes.
    pub len: u64,
    /// XXH3 of its wire bytes, 128 bits. Segments with equal digests are equal.
    pub digest: u128,
}

/// What a segment is.
#[derive(Clone, Copy, Debug)]
pub enum SegmentKind<'log> {
    /// The system prompt before the history.
    System,
    /// A tool's declaration.
    Tool {
        /// Its name, as it stands in the header.
        name: Option<Raw<'log>>,
        /// Whether it is offered only where a later message names it.
        is_deferred: bool,
    },
    /// A message of the session prefix (before 2026-07-28).
    Prefix {
        /// Which of its wire messages, from 0.
        index: u32,
    },
    /// A message of the history. *Chat completions*: one wire message. *Messages*: its blocks in one wire message.
    Message {
        /// The message.
        message: MessageIx,
        /// Which of its wire messages, from 0.
        part: u32,
    },
}
