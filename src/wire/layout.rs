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
    /// Position of the system prompt before the history.
    top: Option<usize>,
    /// Whether a message that is no system prompt stands before.
    any: bool,
}

/// A history that is laid out.
#[derive(Debug)]
pub(super) struct Layout<W> {
    pub(super) units: Vec<Unit<W>>,
    /// Position of the system prompt that stands before the history.
    top: Option<usize>,
    marks: Vec<Mark>,
}

const START: Mark = Mark {
    position: 0,
    units: 0,
    top: None,
    any: false,
};

/// What is to be laid out.
pub(super) struct Surface<'r, 'log> {
    pub(super) session: &'r Session<'log>,
    pub(super) messages: &'r [MessageIx],
    /// Positions whose message changed in its place, ascending.
    pub(super) in_place: &'r [usize],
    pub(super) manner: &'r Manner,
}

impl Surface<'_, '_> {
    fn role(&self, message: MessageIx) -> Option<Role> {
        let fact = self.session.messages.get(message.get());
        fact.map(|fact| fact.role)
    }

    fn is_chat(&self) -> bool {
        self.manner.interface != Interface::Messages
    }
}

/// Where a message stands alone.
enum Place {
    /// Before the history.
    Top,
    /// In it, by index.
    Unit(usize),
}

/// A unit that another took the place of, with its index.
pub(super) type Patched<W> = (usize, Unit<W>);

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

    /// The system prompt that stands before the history of this surface.
    pub(super) fn top(&self, surface: &[MessageIx]) -> Option<MessageIx> {
        surface.get(self.top?).copied()
    }

    /// Where a message of the surface stands, if another may take its place without moving any.
    fn place(&self, position: usize, surface: &Surface<'_, '_>) -> Option<Place> {
        if self.top == Some(position) {
            return Some(Place::Top);
        }
        if !surface.is_chat() {
            return None;
        }
        // In chat completions there is a mark behind each position.
        let units = |position: usize| self.marks.get(position).map(|mark| mark.units);
        let (from, to) = (units(position)?, units(position + 1)?);
        (to == from + 1).then_some(Place::Unit(from))
    }

    /// Puts messages that changed in their places there, as long as none moves. Gives how many positions of the surface are laid out
    /// then, at most `kept`, and the units that were replaced, ascending.
    pub(super) fn patch(
        &mut self,
        surface: &Surface<'_, '_>,
        mut kept: usize,
        weigh: &mut Weigh<'_, W>,
    ) -> (usize, Vec<Patched<W>>) {
        let mut patches = Vec::new();
        let changed = surface.in_place.iter().copied();
        for position in changed.take_while(|position| *position < kept) {
            let Some(&message) = surface.messages.get(position) else {
                continue;
            };
            let mut units = Vec::new();
            weigh(message, &mut units);
            let is_prompt = surface.role(message) == Some(Role::System);
            match (self.place(position, surface), &units[..]) {
                // In chat completions a prompt in front is the top, also one that says nothing.
                (Some(Place::Top), [_]) if is_prompt => {}
                (Some(Place::Top), []) if is_prompt && surface.is_chat() => {}
                (Some(Place::Unit(at)), [unit]) if position > 0 || !is_prompt => {
                    patches.push((position, at, *unit));
                }
                _ => {
                    kept = position;
                    break;
                }
            }
        }
        // What stands behind the last mark is laid out anew in any case.
        let from = self.mark_before(kept).position;
        let patches = patches
            .into_iter()
            .filter(|(position, ..)| *position < from);
        let replaced = patches.filter_map(|(_, at, unit)| {
            let place = self.units.get_mut(at)?;
            Some((at, std::mem::replace(place, unit)))
        });
        (kept, replaced.collect())
    }

    fn mark_before(&self, kept: usize) -> Mark {
        let behind = self.marks.partition_point(|mark| mark.position <= kept);
        let mark = behind.checked_sub(1).and_then(|at| self.marks.get(at));
        mark.copied().unwrap_or(START)
    }

    /// Lays a surface out again from a position on that was kept. Gives the units that stood behind those that stay.
    pub(super) fn extend(
        &mut self,
        surface: &Surface<'_, '_>,
        kept: usize,
        weigh: &mut Weigh<'_, W>,
    ) -> Vec<Unit<W>> {
        let mark = self.mark_before(kept);
        let behind = self.marks.partition_point(|mark| mark.position <= kept);
        self.marks.truncate(behind.max(1));
        let before = self.units.split_off(mark.units.min(self.units.len()));
        self.top = mark.top;
        let messages = surface.messages.iter().enumerate().skip(mark.position);
        let roles = messages
            .filter_map(|(position, message)| Some((position, *message, surface.role(*message)?)));
        if surface.is_chat() {
            self.chat(roles, weigh);
        } else {
            self.messages(roles, mark.any, surface.manner.in_history, weigh);
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
                self.top = Some(position);
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
        let (mut answer, mut unsaid) = (Vec::new(), Vec::new());
        for (position, message, role) in surface {
            match role {
                Role::System if !(in_history && any) => {
                    weigh(message, &mut unsaid);
                    // A prompt that says nothing takes no earlier one's place.
                    if !unsaid.is_empty() {
                        self.top = Some(position);
                    }
                    unsaid.clear();
                }
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
