//! Turns and steps: numbers and nesting.
//!
//! **Takes** their start and end events. **Gives** turn and step facts. **Never** knows what happens inside a step.
//!
//! Source: format reference, S-TURN and S-STEP rules of B.1, E.1; generations reference, section 5.1.

use super::Fold;
use super::session::{StepIx, TurnIx};
use super::turn_facts::{Shape, StepFact, TurnEvidence, TurnFact};
use crate::event::{Event, Fault, Faults, Scope, StepFault, StepName, TurnFault};
use crate::line::{Millis, Seq};
use crate::record::Raw;

/// What is open.
#[derive(Debug, Default)]
pub(super) struct Turns {
    turn: Option<(TurnIx, u64)>,
    step: Option<(StepIx, u64)>,
    last_turn: u64,
    last_step: u64,
    current: Option<TurnIx>,
}

impl Turns {
    pub(super) fn open_number(&self) -> Option<u64> {
        self.turn.map(|(_, number)| number)
    }

    pub(super) fn open_step(&self) -> Option<StepIx> {
        self.step.map(|(step, _)| step)
    }

    /// The open turn, or the last one.
    pub(super) fn current(&self) -> Option<TurnIx> {
        self.current
    }

    fn open_pair(&self) -> Option<(u64, u64)> {
        Some((self.turn?.1, self.step?.1))
    }
}

impl Fold<'_> {
    pub(super) fn turn_start(
        &mut self,
        event: &Event<'_>,
        number: u64,
        trigger: bool,
        faults: &mut Faults,
    ) {
        let note = |faults: &mut Faults, fault| {
            faults.note_value(
                Fault::Turn(fault),
                Scope::Any,
                event.at,
                event.value,
                event.value,
            );
        };
        if self.synced {
            let expected = self.turns.last_turn + 1;
            if let Some(open) = self.turns.open_number() {
                let between_steps = self.turns.step.is_none();
                note(
                    faults,
                    TurnFault::Open {
                        open,
                        cancelled: between_steps && number == expected,
                    },
                );
            }
            if number != expected {
                note(
                    faults,
                    TurnFault::Number {
                        expected,
                        found: number,
                    },
                );
            }
            self.compaction_crossed(event, false, faults);
        }
        self.close_step(event.seq, faults);
        self.synced = true;
        self.open_turn(event.seq, event.time, number, trigger, true);
        self.locate(faults);
    }

    fn open_turn(
        &mut self,
        start: Seq,
        time: Millis,
        number: u64,
        has_trigger: bool,
        has_start: bool,
    ) {
        let index = TurnIx::new(self.session.turns.len());
        self.session.turns.push(TurnFact {
            number,
            start,
            time,
            has_trigger,
            has_start,
            closed: false,
            evidence: TurnEvidence::default(),
        });
        self.turns.turn = Some((index, number));
        self.turns.current = Some(index);
        self.turns.last_turn = number;
        self.turns.last_step = 0;
    }

    /// A turn whose start the log does not show: fixtures cut short, or what stands behind a fault.
    fn assume_turn(&mut self, event: &Event<'_>, number: u64) -> TurnIx {
        match self.turns.turn {
            Some((index, open)) if open == number || number == 0 => index,
            _ => {
                self.open_turn(event.seq, event.time, number, false, false);
                self.turns.current.expect("a turn was just opened")
            }
        }
    }

    pub(super) fn turn_end(
        &mut self,
        event: &Event<'_>,
        number: u64,
        reason: Raw<'_>,
        faults: &mut Faults,
    ) {
        if self.synced {
            let fault = match (self.turns.turn, self.turns.step) {
                (Some((_, open)), _) if open != number => {
                    Some(TurnFault::NotOpen { open: Some(open) })
                }
                (None, _) => Some(TurnFault::NotOpen { open: None }),
                (_, Some((_, step))) => Some(TurnFault::StepOpen { step }),
                _ => None,
            };
            if let Some(fault) = fault {
                faults.note_value(
                    Fault::Turn(fault),
                    Scope::Any,
                    event.at,
                    event.value,
                    event.value,
                );
            }
        }
        self.close_step(event.seq, faults);
        let kind = reason.get("kind");
        let interrupted = kind.is_some_and(|kind| kind.is_str("interrupted"));
        self.compaction_crossed(event, interrupted, faults);
        if interrupted {
            let fault = Fault::InterruptedTurn { turn: number };
            faults.note_value(fault, Scope::Any, event.at, event.value, reason);
        }
        if let Some((index, _)) = self.turns.turn.take()
            && let Some(turn) = self.session.turns.get_mut(index.get())
        {
            turn.closed = true;
            turn.evidence.early_end |=
                kind.is_some_and(|kind| kind.is_str("error")) && reason.get("message").is_some();
        }
        self.turns.last_turn = number.max(self.turns.last_turn);
        self.session.last_turn_end = Some(event.at.line);
        self.locate(faults);
    }

    pub(super) fn step_start(&mut self, event: &Event<'_>, name: StepName, faults: &mut Faults) {
        let note = |faults: &mut Faults, fault| {
            faults.note_value(
                Fault::Step(fault),
                Scope::Any,
                event.at,
                event.value,
                event.value,
            );
        };
        if self.synced {
            let open_turn = self.turns.open_number();
            if open_turn != Some(name.turn) {
                note(faults, StepFault::WrongTurn { open: open_turn });
            }
            if let Some((_, open)) = self.turns.step {
                note(faults, StepFault::Open { open });
            } else if open_turn == Some(name.turn) && name.step != self.turns.last_step + 1 {
                note(
                    faults,
                    StepFault::Number {
                        expected: self.turns.last_step + 1,
                        found: name.step,
                    },
                );
            }
        }
        self.close_step(event.seq, faults);
        let turn = self.assume_turn(event, name.turn);
        self.turns.last_step = name.step;
        self.open_step(event, turn, name.step);
        self.locate(faults);
    }

    fn open_step(&mut self, event: &Event<'_>, turn: TurnIx, number: u64) {
        let index = StepIx::new(self.session.steps.len());
        self.session.steps.push(StepFact {
            turn,
            number,
            start: event.seq,
            time: event.time,
            line: event.at.line,
            end: None,
            has_own_header: false,
            trailing: false,
            result: None,
            header: None,
            instance: 0,
        });
        self.turns.step = Some((index, number));
    }

    pub(super) fn step_end(&mut self, event: &Event<'_>, name: StepName, faults: &mut Faults) {
        if self.synced && self.turns.open_pair() != Some((name.turn, name.step)) {
            let fault = match self.turns.open_number() {
                Some(open) if open != name.turn => StepFault::WrongTurn { open: Some(open) },
                _ => StepFault::NotOpen {
                    open: self.turns.step.map(|(_, number)| number),
                },
            };
            faults.note_value(
                Fault::Step(fault),
                Scope::Any,
                event.at,
                event.value,
                event.value,
            );
        }
        self.close_step(event.seq, faults);
        self.locate(faults);
    }

    /// Closes the open step, if one is, at the event that ends it.
    fn close_step(&mut self, end: Seq, faults: &mut Faults) {
        let Some((index, _)) = self.turns.step else {
            return;
        };
        self.end_attempts();
        self.unanswered(faults);
        self.turns.step = None;
        self.headers.step_closed();
        let (header, instance) = (self.headers.in_force(), self.headers.instance());
        if let Some(step) = self.session.steps.get_mut(index.get()) {
            step.end = Some(end);
            step.header = header;
            step.instance = instance;
        }
    }

    /// The open step, if an event names it; notes it where it names another.
    pub(super) fn in_step(
        &mut self,
        event: &Event<'_>,
        name: StepName,
        faults: &mut Faults,
    ) -> Option<StepIx> {
        let open = self.turns.open_pair();
        if open == Some((name.turn, name.step)) {
            return self.turns.open_step();
        }
        if self.synced {
            let fault = Fault::OutsideStep {
                turn: name.turn,
                step: name.step,
                open,
            };
            faults.note_value(fault, Scope::Any, event.at, event.value, event.value);
            return self.turns.open_step();
        }
        // Behind a fault the event itself says where it stands.
        self.close_step(event.seq, faults);
        let turn = self.assume_turn(event, name.turn);
        self.open_step(event, turn, name.step);
        self.locate(faults);
        self.turns.open_step()
    }

    /// Whether an event names the step that is open.
    pub(super) fn names_open_step(&self, name: StepName) -> bool {
        self.turns.open_pair() == Some((name.turn, name.step))
    }

    fn locate(&self, faults: &mut Faults) {
        faults.position.turn_index = self.turns.current.map_or(0, |turn| turn.0);
        faults.position.turn = self.turns.open_number();
        faults.position.step = self.turns.step.map(|(_, number)| number);
    }

    pub(super) fn turn_evidence(&mut self) -> Option<&mut TurnEvidence> {
        let turn = self.turns.turn?.0;
        self.session
            .turns
            .get_mut(turn.get())
            .map(|turn| &mut turn.evidence)
    }

    pub(super) fn open_step_fact(&mut self) -> Option<&mut StepFact> {
        let step = self.turns.open_step()?;
        self.session.steps.get_mut(step.get())
    }

    /// Records what a message of the open turn shows of its writer.
    pub(super) fn input_evidence(&mut self, shape: Shape) {
        let in_step = self.turns.step.is_some();
        let before_chunk = !self.attempts.is_streaming();
        let stepped = self.turns.last_step > 0;
        if let Some(evidence) = self.turn_evidence() {
            evidence.input.get_or_insert(shape);
            evidence.upgraded_steering |= shape == Shape::Upgraded && stepped;
            evidence.input_in_step |= in_step && before_chunk;
            evidence.input_before_step |= !in_step && !stepped;
        }
    }
}
