//! Family 06: turns, steps, tools, and what stands in them.
//!
//! **Takes** facts about nesting, pairing and vocabulary. **Gives** findings 0601 to 0612. **Never** knows a request.

use super::catalogue::*;
use super::judge::{Case, shortened, weaker};
use crate::dialect::Generation;
use crate::event::{Fault, StepFault, TurnFault};
use crate::finding::{Finding, Level, Place};
use crate::record::without_content;

pub(super) fn finding(case: &Case<'_, '_>) -> Option<Finding> {
    let kind = || case.kind();
    let (turn, step) = (case.noted.turn.unwrap_or(0), case.noted.step.unwrap_or(0));
    Some(match &case.noted.fault {
        Fault::Turn(fault) => self::turn(case, *fault),
        Fault::Step(fault) => self::step(case, *fault),
        Fault::OutsideStep { turn, step, open } => {
            let open = open.map_or("no step".into(), |(turn, step)| {
                format!("step {turn}.{step}")
            });
            let message = format!("{} names step {turn}.{step}, but {open} is open", kind());
            case.finding(&EVENT_OUTSIDE_STEP, message)
        }
        Fault::OutsideTurn { always } => {
            let encloses = case.log.settlement.encloses && !case.is_released();
            if !(*always || encloses) {
                return None;
            }
            case.finding(
                &EVENT_OUTSIDE_TURN,
                format!("{} stands outside a turn", kind()),
            )
        }
        Fault::ResultWithoutCall { call } => {
            let call = shortened(call);
            let place = match case.noted.step {
                Some(step) => format!("in step {turn}.{step}"),
                None => "outside a step".to_owned(),
            };
            case.finding(
                &RESULT_WITHOUT_CALL,
                format!("tool/result for call \"{call}\" has no pending call {place}"),
            )
        }
        Fault::CallWithoutResult { call, .. } => {
            let message = format!(
                "call \"{}\" of step {turn}.{step} is never answered",
                shortened(call)
            );
            let found = case.finding(&CALL_WITHOUT_RESULT, message);
            if case.is_released() {
                found.level(Level::Error)
            } else {
                found
            }
        }
        Fault::CallNotAdvertised { call } => {
            let message = format!(
                "tool/call \"{}\" is not the call that the model advertised",
                shortened(call)
            );
            case.finding(&BAD_EVENT_DATA, message)
        }
        Fault::OpenTurn { turn } => {
            let step = case
                .noted
                .step
                .map(|step| format!(", step {step}"))
                .unwrap_or_default();
            case.finding(&OPEN_TURN, format!("the log ends inside turn {turn}{step}"))
        }
        Fault::InterruptedTurn { turn } => case.finding(
            &INTERRUPTED_TURN,
            format!("turn {turn} was closed by crash repair"),
        ),
        Fault::Compaction(why) => case.finding(&BAD_COMPACTION, format!("compaction {why}")),
        Fault::Retry(why) => case.finding(&BAD_RETRY, format!("{} {why}", kind())),
        Fault::Vocabulary { what, word } => case.finding(
            &BAD_VOCABULARY,
            format!("{what} \"{}\" is outside its vocabulary", shortened(word)),
        ),
        Fault::OpenVocabulary { what, word } => {
            let message = format!(
                "{what} \"{}\" is of no kind that a known build writes",
                shortened(word)
            );
            case.finding(&BAD_VOCABULARY, message).level(Level::Note)
        }
        Fault::Data {
            pointer,
            why,
            log_only,
        } => {
            let message = format!("{}: {} {why}", kind(), shortened(&without_content(pointer)));
            let found = weaker(case.finding(&BAD_EVENT_DATA, message), *log_only);
            let at = Place {
                pointer: Some(pointer.clone()),
                ..found.at.clone()
            };
            Finding { at, ..found }
        }
        Fault::Unidentified { why } => case.finding(
            &BAD_EVENT_DATA,
            format!("{} lacks an identified message: it {why}", kind()),
        ),
        _ => return None,
    })
}

fn turn(case: &Case<'_, '_>, fault: TurnFault) -> Finding {
    let message = match fault {
        TurnFault::Number { expected, found } => {
            format!("turn/start has number {found}, expected {expected}")
        }
        TurnFault::Open { open, .. } => {
            format!("turn/start stands inside turn {open}, which is still open")
        }
        TurnFault::NotOpen { open: Some(open) } => {
            format!("turn/end does not end turn {open}, which is open")
        }
        TurnFault::NotOpen { open: None } => "turn/end stands where no turn is open".into(),
        TurnFault::StepOpen { step } => {
            format!("turn/end stands inside step {step}, which is still open")
        }
    };
    let found = case.finding(&TURN_OUT_OF_ORDER, message);
    let released_cancel = case
        .log
        .header
        .is_some_and(|header| header.generation < Generation::V4);
    match fault {
        TurnFault::Open {
            cancelled: true, ..
        } if released_cancel => found
            .level(Level::Note)
            .help("the normal trace of a user cancel before the response began; no damage"),
        _ => found,
    }
}

fn step(case: &Case<'_, '_>, fault: StepFault) -> Finding {
    let kind = case.kind();
    let message = match fault {
        StepFault::Number { expected, found } => {
            format!("step/start has number {found}, expected {expected}")
        }
        StepFault::Open { open } => {
            format!("step/start stands inside step {open}, which is still open")
        }
        StepFault::WrongTurn { open: Some(open) } => {
            format!("{kind} names another turn than {open}, which is open")
        }
        StepFault::WrongTurn { open: None } => format!("{kind} stands where no turn is open"),
        StepFault::NotOpen { open: Some(open) } => {
            format!("step/end does not end step {open}, which is open")
        }
        StepFault::NotOpen { open: None } => "step/end stands where no step is open".into(),
    };
    case.finding(&STEP_OUT_OF_ORDER, message)
}
