//! Where messages stand in the prompt's history.
//!
//! **Takes** a surface, and what each of its messages adds. **Gives** [`Unit`]s in the provider's order. **Never** goes back further
//! than to the last answer before what changed.
//!
//! Source: format reference, section F; generations reference, section 7.2.

use super::manner::Manner;
use crate::dialect::Interface;
use crate::event::Role;
use crate::fold::{MessageIx, Session};

/// One wire message, or the blocks of one message in a wire message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit<W> {
    pub(super) message: MessageIx,
    /// Which of the message's wire messages it is, from 0.
    pub(super) part: u32,
    /// What is known of it.
    pub(super) what: W,
}

/// A place from which a history can be laid out on.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Position on the surface.
    position: usize,
    units: usize,
    top: Option<MessageIx>,
    /// Whether a message that is no system prompt stands before.
    any: bool,
}

/// A history that is laid out.
#[derive(Debug)]
pub(super) struct Layout<W> {
    pub(super) units: Vec<Unit<W>>,
    /// The system prompt that stands before the history.
    pub(super) top: Option<MessageIx>,
    marks: Vec<Mark>,
}

const START: Mark = Mark {
    position: 0,
    units: 0,
    top: None,
    any: false,
};

/// Says what a message adds.
pub(super) type Weigh<'w, W> = dyn FnMut(MessageIx, &mut Vec<Unit<W>>) + 'w;

impl<W: Copy> Layout<W> {
    pub(super) fn new() -> Layout<W> {
        Layout {
            units: Vec::new(),
            top: None,
            marks: vec![START],
        }
    }

    /// Lays a surface out again from a position on that was kept. Gives the units that stood behind those that stay.
    pub(super) fn extend(
        &mut self,
        session: &Session<'_>,
        surface: &[MessageIx],
        kept: usize,
        manner: &Manner,
        weigh: &mut Weigh<'_, W>,
    ) -> Vec<Unit<W>> {
        while self.marks.len() > 1 && self.marks.last().is_some_and(|mark| mark.position > kept) {
            self.marks.pop();
        }
        let mark = self.marks.last().copied().unwrap_or(START);
        let before = self.units.split_off(mark.units.min(self.units.len()));
        self.top = mark.top;
        let behind = surface.iter().enumerate().skip(mark.position);
        let roles = behind.filter_map(|(position, message)| {
            Some((
                position,
                *message,
                session.messages.get(message.get())?.role,
            ))
        });
        match manner.interface {
            Interface::Messages => self.messages(roles, mark.any, manner.in_history, weigh),
            Interface::Chat | Interface::EarlyChat => self.chat(roles, weigh),
        }
        before
    }

    /// Each message in its place; a system prompt in front stands before the tools.
    fn chat(
        &mut self,
        surface: impl Iterator<Item = (usize, MessageIx, Role)>,
        weigh: &mut Weigh<'_, W>,
    ) {
        for (position, message, role) in surface {
            if position == 0 && role == Role::System {
                self.top = Some(message);
            } else {
                weigh(message, &mut self.units);
            }
            self.mark(position + 1, true);
        }
    }

    /// Between two answers: results first, then what the user says, then what the system says.
    fn messages(
        &mut self,
        surface: impl Iterator<Item = (usize, MessageIx, Role)>,
        mut any: bool,
        in_history: bool,
        weigh: &mut Weigh<'_, W>,
    ) {
        let (mut results, mut said, mut told) = (Vec::new(), Vec::new(), Vec::new());
        let mut answer = Vec::new();
        for (position, message, role) in surface {
            match role {
                Role::System if !(in_history && any) => self.top = Some(message),
                Role::System | Role::Developer => weigh(message, &mut told),
                Role::ToolResult => weigh(message, &mut results),
                Role::Assistant => weigh(message, &mut answer),
                _ => weigh(message, &mut said),
            }
            any |= !(results.is_empty() && said.is_empty() && answer.is_empty());
            if !answer.is_empty() {
                for run in [&mut results, &mut said, &mut told, &mut answer] {
                    self.units.append(run);
                }
                self.mark(position + 1, any);
            }
        }
        for run in [&mut results, &mut said, &mut told] {
            self.units.append(run);
        }
    }

    fn mark(&mut self, position: usize, any: bool) {
        self.marks.push(Mark {
            position,
            units: self.units.len(),
            top: self.top,
            any,
        });
    }
}
