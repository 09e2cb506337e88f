//! What one attempt sent, and how much of it the attempt before had sent.
//!
//! **Takes** a walk that stands at a request. **Gives** its parts, and writes its options. **Never** moves the walk.

use std::io::{self, Write};

use super::message::{Identity, derive_event_message};
use super::options::Frame;
use super::tool_history::ToolUpdate;
use super::walk::Requests;
use crate::dialect::{Derivation, Derived};
use crate::fold::{AttemptFact, HeaderFact, MessageIx, Session, StepFact, TurnFact, header_part};
use crate::line::{LineNo, Seq};
use crate::record::Raw;

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
    pub(super) walk: &'r Requests<'r, 'log>,
    pub(super) derived: &'r Derived,
    pub(super) touched: Touched,
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

    /// Where it shows in the log: at its first trace, else at the start of its step.
    pub fn shows_at(&self) -> (Seq, LineNo) {
        let step = self.step();
        self.attempt().map_or((step.start, step.line), |attempt| {
            (attempt.first, attempt.line)
        })
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
