//! Messages on their way to the surface.
//!
//! **Takes** message events and image marks. **Gives** surface operations and message facts. **Never** prints a message.
//!
//! Source: format reference, sections B.0, B.4 and B.5; generations reference, sections 2.3 and 3.

use std::collections::BTreeSet;

use super::session::{MessageFact, MessageIx, OpKind, SurfaceOp};
use super::surface::ReplaceError;
use super::turn_facts::Shape;
use super::{Fold, Retain};
use crate::event::{Event, Fault, Faults, Form, HeadFault, Message, Role, Scope, Surface};
use crate::line::Seq;
use crate::record::{Kind as JsonKind, Raw};

impl Fold<'_> {
    pub(super) fn message(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        faults: &mut Faults,
    ) {
        let appended = matches!(event.surface, Some(Surface::Append));
        self.place_message(event, message, appended, faults);
        let index = self.push_message(message, event);
        let before = self.surface.head();
        match event.surface {
            Some(Surface::Append) => {
                self.head_rule(event, message, faults);
                self.surface.append();
                self.op(event.seq, OpKind::Append(index));
            }
            Some(Surface::Replace { start, end, raw }) => {
                self.replace(event, message, index, (start, end, raw), before, faults);
            }
            None => self.surface.skip(),
        }
        self.sources_exist(event, faults);
        let shape = shape(message);
        if appended
            && shape == Shape::Upgraded
            && let Some(evidence) = self.turn_evidence()
        {
            evidence.legacy_id = true;
        }
        match message.role {
            Role::User | Role::Steering if appended => self.input_evidence(shape),
            Role::Assistant if appended => self.answer(event, message, index, shape, faults),
            Role::ToolResult => self.tool_result(event, message, index, appended, faults),
            Role::System => self.headers.system_message(message.id),
            Role::Developer => self.developer(event, message, faults),
            _ => {}
        }
    }

    fn place_message(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        appended: bool,
        faults: &mut Faults,
    ) {
        match (message.step, message.role) {
            (Some(step), _) if appended => {
                self.in_step(event, step, faults);
            }
            (_, Role::ToolResult) => self.enclosed(event, true, faults),
            (None, Role::User | Role::Context) => self.enclosed(event, false, faults),
            (None, _) => self.enclosed(event, false, faults),
            (Some(_), _) => {}
        }
        self.compaction_checkpoint(event, message, faults);
    }

    fn push_message(&mut self, message: &Message<'_>, event: &Event<'_>) -> MessageIx {
        let index = MessageIx::new(self.session.messages.len());
        let content = message.content;
        let images = content.map_or(0, |content| {
            let is_image =
                |block: &Raw<'_>| block.get("type").is_some_and(|kind| kind.is_str("image"));
            if self.conduct.protects_head {
                content.elements().filter(is_image).count()
            } else {
                0
            }
        });
        // Prompts and changes of the tools belong to the header in force, and images may be left out later: they outlive their line.
        let changes = images > 0 || matches!(message.role, Role::System | Role::Developer);
        let raw = (changes || self.retain == Retain::Messages).then(|| self.kept(message.object));
        self.session.messages.push(MessageFact {
            seq: event.seq,
            line: event.at.line,
            role: message.role,
            form: message.form,
            raw,
            is_empty: content.is_some_and(|content| {
                content.kind() == JsonKind::Array && content.elements().next().is_none()
            }),
            images: images as u32,
            offloaded: BTreeSet::new(),
            header_seq: message
                .header_seq
                .and_then(Raw::safe_int)
                .and_then(|n| u64::try_from(n).ok()),
            rewrites: None,
        });
        index
    }

    fn op(&mut self, seq: Seq, kind: OpKind) {
        self.session.ops.push(SurfaceOp { seq, kind });
    }

    /// Version 3 and later: the surface begins with a system message, and only another one takes its place.
    fn head_rule(&mut self, event: &Event<'_>, message: &Message<'_>, faults: &mut Faults) {
        if self.conduct.protects_head
            && self.surface_known
            && self.surface.head().is_none()
            && message.role != Role::System
        {
            let fault = Fault::Head(HeadFault::Missing);
            faults.note_value(fault, Scope::Any, event.at, event.value, event.value);
        }
    }

    fn replace(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        index: MessageIx,
        (start, end, raw): (Seq, Seq, Raw<'_>),
        head: Option<MessageIx>,
        faults: &mut Faults,
    ) {
        let range = match self.surface.resolve(&self.session.messages, start, end) {
            Ok(range) => range,
            Err(error) => {
                if self.surface_known {
                    let fault = match error {
                        ReplaceError::UnknownStart => Fault::ReplaceEnd {
                            which: "start",
                            seq: start,
                        },
                        ReplaceError::UnknownEnd => Fault::ReplaceEnd {
                            which: "end",
                            seq: end,
                        },
                        ReplaceError::Reversed => Fault::ReplaceReversed { start, end },
                    };
                    faults.note_value(fault, Scope::Any, event.at, event.value, raw);
                    self.stop(event.seq, event.at.line, Scope::Any, faults);
                }
                return self.surface.skip();
            }
        };
        if self.surface_known {
            self.covered(event, &range, faults);
            if message.role == Role::ToolResult {
                self.rewrite(event, message, &range, faults);
            }
            let heads = self.conduct.protects_head && range.first().copied() == head;
            if heads && (message.role != Role::System || range.len() > 1) {
                let fault = Fault::Head(HeadFault::Shadowed);
                faults.note_value(fault, Scope::Any, event.at, event.value, raw);
                self.stop(event.seq, event.at.line, Scope::Any, faults);
            }
        }
        self.surface.replace(&range);
        if let (Some(&first), Some(&last)) = (range.first(), range.last()) {
            if let Some(fact) = self.session.messages.get_mut(index.get()) {
                fact.rewrites = Some(first);
            }
            self.op(
                event.seq,
                OpKind::Replace {
                    first,
                    last,
                    with: index,
                },
            );
        }
    }

    /// Every replaced event must be among the sources.
    fn covered(&mut self, event: &Event<'_>, range: &[MessageIx], faults: &mut Faults) {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        if let Some(sources) = &event.sources {
            ranges.extend(sources.ranges().map(|(start, end)| (start.0, end.0)));
            ranges.sort_unstable();
        }
        let covers = |seq: u64| {
            let at = ranges.partition_point(|range| range.0 <= seq);
            at.checked_sub(1)
                .and_then(|at| ranges.get(at))
                .is_some_and(|range| range.1 >= seq)
        };
        let seqs = range
            .iter()
            .filter_map(|message| self.session.messages.get(message.get()));
        if let Some(missing) = seqs.map(|message| message.seq).find(|seq| !covers(seq.0)) {
            let fault = Fault::ReplaceNotCovered { seq: missing };
            faults.note_value(fault, Scope::Any, event.at, event.value, event.value);
            self.stop(event.seq, event.at.line, Scope::Released, faults);
        }
    }

    /// A source that is not earlier ends the reconstruction where the build's loader looked at it.
    fn sources_exist(&mut self, event: &Event<'_>, faults: &mut Faults) {
        let Some(sources) = &event.sources else {
            return;
        };
        let late = sources.ends.is_some_and(|(_, last)| last >= event.seq);
        let empty = sources.is_empty();
        let answer = self
            .session
            .messages
            .last()
            .is_some_and(|message| message.role == Role::Assistant);
        if late || (empty && !answer) {
            self.stop(event.seq, event.at.line, Scope::Released, faults);
        }
    }

    fn developer(&mut self, event: &Event<'_>, message: &Message<'_>, faults: &mut Faults) {
        let Some(raw) = message.header_seq else {
            return;
        };
        let declared = raw
            .safe_int()
            .and_then(|n| u64::try_from(n).ok())
            .map(Seq)
            .and_then(|seq| {
                let at = self
                    .session
                    .headers
                    .binary_search_by_key(&seq, |header| header.seq)
                    .ok()?;
                self.session.headers.get(at)
            });
        let tools = &mut self.declared;
        let mut declares = |name: Raw<'_>| {
            declared
                .and_then(|header| tools.find(header, &name.printed()))
                .is_some_and(|tool| !tool.again)
        };
        let mut added = message
            .content
            .into_iter()
            .flat_map(Raw::elements)
            .filter(|block| {
                block
                    .get("type")
                    .is_some_and(|kind| kind.is_str("tool-addition"))
            })
            .filter_map(|block| block.get("toolName"));
        let undeclared = declared.is_none() || added.any(|name| !declares(name));
        if undeclared && self.surface_known {
            let why = "names no earlier header that declares the added tools";
            let fault = Fault::Data {
                pointer: "/data/headerSeq".into(),
                why,
                log_only: false,
            };
            faults.note_value(fault, Scope::Any, event.at, event.value, raw);
        }
    }

    pub(super) fn offload(&mut self, event: &Event<'_>, targets: Raw<'_>, faults: &mut Faults) {
        for (at, target) in targets.elements().enumerate() {
            if let Err(why) = self.offload_target(event.seq, target) {
                let pointer = format!("/data/targets/{at}");
                let fault = Fault::Data {
                    pointer,
                    why,
                    log_only: false,
                };
                if self.surface_known {
                    faults.note_value(fault, Scope::Any, event.at, event.value, target);
                    self.stop(event.seq, event.at.line, Scope::Any, faults);
                }
                return;
            }
        }
    }

    fn offload_target(&mut self, seq: Seq, target: Raw<'_>) -> Result<(), &'static str> {
        let whole = |raw: Raw<'_>| raw.safe_int().and_then(|n| u64::try_from(n).ok());
        let named = target
            .get("seq")
            .and_then(whole)
            .map(Seq)
            .ok_or("names no event")?;
        let message = self
            .surface
            .find(&self.session.messages, named)
            .ok_or("is not on the surface")?;
        let fact = self
            .session
            .messages
            .get(message.get())
            .ok_or("is not on the surface")?;
        if !matches!(fact.role, Role::User | Role::ToolResult) {
            return Err("is neither a user message nor a tool result");
        }
        let indexes = target
            .get("imageIndexes")
            .filter(|list| list.kind() == JsonKind::Array)
            .ok_or("lists no images")?;
        let mut images: Vec<u32> = Vec::new();
        for raw in indexes.elements() {
            let index = whole(raw)
                .and_then(|n| u32::try_from(n).ok())
                .ok_or("lists an image by no number")?;
            if images.last().is_some_and(|last| *last >= index) {
                return Err("lists images out of order");
            }
            if index >= fact.images {
                return Err("lists an image that the message does not have");
            }
            images.push(index);
        }
        if images.iter().any(|image| fact.offloaded.contains(image)) {
            return Err("marks an image twice");
        }
        if let Some(fact) = self.session.messages.get_mut(message.get()) {
            fact.offloaded.extend(&images);
        }
        self.op(
            seq,
            OpKind::Offload {
                message,
                images: images.into(),
            },
        );
        Ok(())
    }
}

/// What a message's shape shows of its writer.
pub(super) fn shape(message: &Message<'_>) -> Shape {
    let upgraded = |id: Raw<'_>| {
        id.text()
            .is_some_and(|text| text.bytes().starts_with(b"legacy-message:"))
    };
    match message.form {
        Form::Parts => Shape::Parts,
        Form::Identified if message.id.is_some_and(upgraded) => Shape::Upgraded,
        Form::Identified => Shape::Identified,
    }
}
