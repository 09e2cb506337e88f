//! Tool calls of a step: advertised by the model, started by the loop, answered by a result.
//!
//! **Takes** answers, call events and results. **Gives** facts about what does not pair. **Never** looks into arguments.
//!
//! Source: format reference, B.1 (S-CALL-RES), B.2 (H-RES) and E.2; generations reference, section 2.5.

use std::collections::HashMap;

use super::Fold;
use super::messages::shape;
use super::session::MessageIx;
use crate::event::{At, Event, Fault, Faults, Message, Scope, StepName, ToolCall};
use crate::record::Raw;

#[derive(Debug, Default)]
pub(super) struct Tools {
    calls: Vec<Call>,
    /// The last call of each id.
    by_id: HashMap<Vec<u8>, usize>,
    /// Whether calls may be missing: a fault lies within the step.
    partial: bool,
}

#[derive(Debug)]
struct Call {
    id: Vec<u8>,
    /// Name and arguments as the model advertised them, printed.
    advertised: Option<(Vec<u8>, Vec<u8>)>,
    started: bool,
    answered: bool,
    at: At,
}

impl Tools {
    pub(super) fn forget(&mut self) {
        self.calls.clear();
        self.by_id.clear();
        self.partial = true;
    }

    fn find(&mut self, id: &[u8]) -> Option<&mut Call> {
        self.calls.get_mut(*self.by_id.get(id)?)
    }

    fn push(&mut self, call: Call) {
        self.by_id.insert(call.id.clone(), self.calls.len());
        self.calls.push(call);
    }
}

impl Fold<'_> {
    /// Records the calls of an answer.
    pub(super) fn advertise(&mut self, message: &Message<'_>) {
        let at = self.current_at;
        for block in message.content.into_iter().flat_map(Raw::elements) {
            if !block
                .get("type")
                .is_some_and(|kind| kind.is_str("tool-call"))
            {
                continue;
            }
            let printed = |name: &str| {
                block
                    .get(name)
                    .map(|raw| raw.printed().into_owned())
                    .unwrap_or_default()
            };
            let advertised = Some((printed("name"), printed("arguments")));
            self.tools.push(Call {
                id: printed("id"),
                advertised,
                started: false,
                answered: false,
                at,
            });
        }
    }

    pub(super) fn tool_call(
        &mut self,
        event: &Event<'_>,
        name: StepName,
        call: &ToolCall<'_>,
        faults: &mut Faults,
    ) {
        if self.in_step(event, name, faults).is_none() || !self.names_open_step(name) {
            return;
        }
        let id = call.id.printed().into_owned();
        let (name, arguments) = (call.name.printed(), call.arguments.printed());
        let partial = self.tools.partial;
        let matches = match self.tools.find(&id) {
            Some(found) => {
                let same = found
                    .advertised
                    .as_ref()
                    .is_none_or(|own| *own.0 == *name && *own.1 == *arguments);
                found.started = true;
                same
            }
            None => {
                self.tools.push(Call {
                    id,
                    advertised: None,
                    started: true,
                    answered: false,
                    at: event.at,
                });
                partial
            }
        };
        if !matches && self.conduct.has_streams && self.synced {
            let fault = Fault::CallNotAdvertised {
                call: text(call.id),
            };
            faults.note_value(fault, Scope::Any, event.at, event.value, call.id);
        }
    }

    pub(super) fn tool_result(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        index: MessageIx,
        appended: bool,
        faults: &mut Faults,
    ) {
        let closer = message.is_closer();
        if appended && !closer {
            let shape = shape(message);
            if let Some(step) = self.open_step_fact() {
                step.result.get_or_insert(shape);
            }
        }
        self.rewritable(message, index);
        if !appended {
            return;
        }
        let Some(call) = message.call else { return };
        let id = call.printed().into_owned();
        let pending = self.tools.find(&id).is_some_and(|found| {
            let pending = (found.started || closer) && !found.answered;
            found.answered |= pending;
            pending
        });
        if !pending && !closer && !self.tools.partial && self.synced {
            let fault = Fault::ResultWithoutCall { call: text(call) };
            faults.note_value(fault, Scope::Any, event.at, event.value, call);
        }
    }

    /// The step ends: what is still open was never answered.
    pub(super) fn unanswered(&mut self, faults: &mut Faults) {
        let tools = std::mem::take(&mut self.tools);
        if !self.synced {
            return;
        }
        for call in tools.calls.iter().filter(|call| !call.answered) {
            let id = Raw::parse(&call.id).map(text).unwrap_or_default();
            let fault = Fault::CallWithoutResult {
                call: id,
                started: call.started,
            };
            faults.note_place(fault, Scope::Any, call.at);
        }
    }
}

fn text(raw: Raw<'_>) -> String {
    raw.text()
        .map(|text| text.to_lossy().into_owned())
        .unwrap_or_default()
}
