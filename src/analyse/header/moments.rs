//! The moments at which a header comes into force.
//!
//! **Takes** a walk over requests. **Gives** one [`Moment`] at a time. **Never** holds a third prompt: a log of ten thousand headers
//! is walked in the memory of two.
//!
//! Source: format reference, section D.1; generations reference, sections 3 and 4.

use std::rc::Rc;

use super::effective::{Effective, Prompt};
use super::kept;
use super::shown::shown;
use crate::analyse::answer::{Kept, SystemMove};
use crate::event::Role;
use crate::fold::{HeaderFact, MessageFact, MessageIx, OpKind, Session};
use crate::line::{LineNo, Millis, Seq};
use crate::request::{Request, Requests};
use crate::wire::Prompts;

/// A header that comes into force: by a snapshot, or because the prompt on the surface changed.
#[derive(Debug)]
pub(super) struct Moment<'s, 'log> {
    pub(super) snapshot: Option<&'s HeaderFact<'log>>,
    pub(super) header: Effective<'log>,
    /// The text of its prompt.
    pub(super) text: Rc<Vec<u8>>,
    pub(super) place: MomentPlace,
    pub(super) moves: Vec<SystemMove>,
    /// What its request keeps of the one before.
    pub(super) kept: Option<Kept>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MomentPlace {
    pub(super) seq: Seq,
    pub(super) line: LineNo,
    pub(super) time: Millis,
    pub(super) turn: Option<u64>,
    pub(super) step: Option<u64>,
    pub(super) attempt: Option<u64>,
    pub(super) instance: u32,
    pub(super) inherited: bool,
}

/// Walks a log's headers.
pub(super) struct Walk<'s, 'log> {
    session: &'s Session<'log>,
    next_header: usize,
    next_op: usize,
    /// The first system message of the surface.
    head: Option<MessageIx>,
    /// Of the first n messages of the surface, the last system message that is not empty.
    systems: Vec<Option<MessageIx>>,
    /// The prompt on the surface that is in force.
    on_surface: Option<MessageIx>,
    snapshot: Option<Effective<'log>>,
    current: Prompt<'log>,
    text: Rc<Vec<u8>>,
    /// The header with which the last request was sent.
    sent: Option<Effective<'log>>,
}

impl<'s, 'log> Walk<'s, 'log> {
    pub(super) fn new(session: &'s Session<'log>) -> Walk<'s, 'log> {
        Walk {
            session,
            next_header: 0,
            next_op: 0,
            head: None,
            systems: vec![None],
            on_surface: None,
            snapshot: None,
            current: Prompt::None,
            text: Rc::default(),
            sent: None,
        }
    }

    /// Walks all requests, then the snapshots that no request follows. Gives how many requests there are. Without `prompts`, no
    /// moment says what it keeps.
    pub(super) fn run(
        mut self,
        mut requests: Requests<'_, 'log>,
        mut prompts: Option<Prompts<'_, 'log>>,
        mut each: impl FnMut(Moment<'s, 'log>),
    ) -> u64 {
        let mut count = 0;
        while let Some(request) = requests.next_request() {
            let moment = self.request(&request, &mut each);
            let kept = prompts
                .as_mut()
                .and_then(|prompts| self.kept(&request, prompts));
            if let Some(mut moment) = moment {
                moment.kept = kept;
                each(moment);
            }
            count += 1;
        }
        for snapshot in self.session.headers.iter().skip(self.next_header) {
            let place = self.place_of(snapshot, None);
            each(self.moment(Some(snapshot), place));
        }
        count
    }

    /// What a request keeps of the one before it.
    fn kept(
        &mut self,
        request: &Request<'_, 'log>,
        prompts: &mut Prompts<'_, 'log>,
    ) -> Option<Kept> {
        let prompt = prompts.take(request);
        let header = self.snapshot.unwrap_or_default();
        let last = self.sent.replace(header)?;
        Some(kept::kept(self.session, &last, &header, &prompt))
    }

    /// The moment of a request, if it has one; earlier snapshots that no request used come first.
    fn request(
        &mut self,
        request: &Request<'_, 'log>,
        each: &mut impl FnMut(Moment<'s, 'log>),
    ) -> Option<Moment<'s, 'log>> {
        let derived = request.derived();
        let before = self.on_surface;
        let in_force = self.surface(request);
        let mut moves = self.moves(derived.boundary);
        if in_force != before && !moves.iter().any(is_of_prompt) {
            moves.push(SystemMove::UpdateShadowed);
        }
        let session = self.session;
        let target = derived.header.get();
        let snapshots = session.headers.iter().take(target + 1);
        let snapshots: Vec<_> = snapshots.skip(self.next_header).collect();
        self.next_header = self.next_header.max(target + 1);
        let mut moment = match snapshots.split_last() {
            Some((last, unused)) => {
                for snapshot in unused {
                    let place = self.place_of(snapshot, None);
                    each(self.moment(Some(snapshot), place));
                }
                self.on_surface = in_force;
                let place = self.place_of(last, Some(request));
                self.moment(Some(last), place)
            }
            None if in_force != before || !moves.is_empty() => {
                self.on_surface = in_force;
                let place = self.place_of_move(request, &moves);
                self.moment(None, place)
            }
            None => return None,
        };
        moment.moves = moves;
        Some(moment)
    }

    /// Follows the surface to a request, at the cost of what was touched. Gives the prompt that is in force on it.
    fn surface(&mut self, request: &Request<'_, 'log>) -> Option<MessageIx> {
        let surface = request.surface();
        let same = request.touched().kept.min(surface.len());
        self.systems.truncate(same + 1);
        for index in surface.iter().skip(self.systems.len() - 1) {
            let before = self.systems.last().copied().flatten();
            let message = self.message(*index);
            let is_prompt = message.is_some_and(|m| m.role == Role::System && !m.is_empty);
            self.systems
                .push(if is_prompt { Some(*index) } else { before });
        }
        self.systems.last().copied().flatten()
    }

    fn message(&self, index: MessageIx) -> Option<&'s MessageFact<'log>> {
        self.session.messages.get(index.get())
    }

    /// What happened to prompt and tools before a boundary.
    fn moves(&mut self, boundary: Seq) -> Vec<SystemMove> {
        let session = self.session;
        let mut moves = Vec::new();
        while let Some(op) = session.ops.get(self.next_op).filter(|op| op.seq < boundary) {
            self.next_op += 1;
            let seq = op.seq.0;
            let (with, replaced) = match op.kind {
                OpKind::Append(message) => (message, None),
                OpKind::Replace { first, with, .. } => (with, Some(first)),
                OpKind::Offload { .. } => continue,
            };
            let Some(message) = self.message(with) else {
                continue;
            };
            match message.role {
                Role::Developer => moves.extend(tool_update(seq, message)),
                Role::System => moves.extend(self.system_move(seq, with, message, replaced)),
                _ => {}
            }
        }
        moves
    }

    fn system_move(
        &mut self,
        seq: u64,
        index: MessageIx,
        message: &MessageFact<'_>,
        replaced: Option<MessageIx>,
    ) -> Option<SystemMove> {
        match (self.head, replaced) {
            (None, _) => {
                self.head = Some(index);
                Some(SystemMove::HeadAppended { seq })
            }
            (head, Some(_)) if head == replaced => {
                self.head = Some(index);
                Some(SystemMove::HeadReplaced { seq })
            }
            (_, Some(_)) if message.is_empty => Some(SystemMove::UpdateEmptied { seq }),
            _ if message.is_empty => None,
            _ => Some(SystemMove::PromptUpdate { seq }),
        }
    }

    fn place_of(
        &self,
        snapshot: &HeaderFact<'_>,
        request: Option<&Request<'_, 'log>>,
    ) -> MomentPlace {
        let step = snapshot
            .step
            .and_then(|step| self.session.steps.get(step.get()));
        let turn = step.and_then(|step| self.session.turns.get(step.turn.get()));
        MomentPlace {
            seq: snapshot.seq,
            line: snapshot.line,
            time: snapshot.time,
            turn: turn.map(|turn| turn.number),
            step: step.map(|step| step.number),
            attempt: request.map(|request| u64::from(request.derived().number)),
            instance: snapshot.instance,
            inherited: request.is_some_and(|request| request.derived().inherited),
        }
    }

    fn place_of_move(&self, request: &Request<'_, 'log>, moves: &[SystemMove]) -> MomentPlace {
        let step = request.step();
        let seq = moves.iter().rev().find_map(SystemMove::seq);
        let seq = seq.map_or(request.derived().boundary, Seq);
        let messages = &self.session.messages;
        let at = messages.partition_point(|message| message.seq < seq);
        let message = messages.get(at).filter(|message| message.seq == seq);
        MomentPlace {
            seq,
            line: message.map_or(step.line, |message| message.line),
            time: step.time,
            turn: Some(request.turn().number),
            step: Some(step.number),
            attempt: Some(u64::from(request.derived().number)),
            instance: step.instance,
            inherited: request.derived().inherited,
        }
    }

    /// The header that is in force now.
    fn moment(
        &mut self,
        snapshot: Option<&'s HeaderFact<'log>>,
        place: MomentPlace,
    ) -> Moment<'s, 'log> {
        if let Some(snapshot) = snapshot {
            self.snapshot = Some(Effective::of_snapshot(snapshot.raw));
        }
        let mut header = self.snapshot.unwrap_or_default();
        let content = self
            .on_surface
            .and_then(|index| self.message(index)?.raw?.get("content"));
        if let Some(content) = content {
            header = header.with_surface_prompt(content);
        }
        if !self.current.is_same(header.system) {
            self.text = Rc::new(header.system.text());
        }
        self.current = header.system;
        Moment {
            snapshot,
            header,
            text: Rc::clone(&self.text),
            place,
            moves: Vec::new(),
            kept: None,
        }
    }
}

fn is_of_prompt(found: &SystemMove) -> bool {
    !matches!(found, SystemMove::ToolUpdate { .. })
}

fn tool_update(seq: u64, message: &MessageFact<'_>) -> Option<SystemMove> {
    let content = message.raw?.get("content")?;
    let named = |kind: &str| -> Vec<String> {
        let is_kind = |found: crate::record::Raw<'_>| found.is_str(kind);
        let blocks = content.elements();
        let blocks = blocks.filter(|block| block.get("type").is_some_and(is_kind));
        blocks
            .filter_map(|block| {
                block
                    .get("toolName")?
                    .text()
                    .map(|name| shown(name.bytes()))
            })
            .collect()
    };
    Some(SystemMove::ToolUpdate {
        seq,
        added: named("tool-addition"),
        removed: named("tool-removal"),
    })
}
