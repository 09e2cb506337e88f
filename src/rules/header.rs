//! Family 05: request headers.
//!
//! **Takes** facts about snapshots. **Gives** findings 0501 to 0510. **Never** compares two headers itself.

use super::catalogue::*;
use super::judge::{Case, shortened};
use crate::event::Fault;
use crate::finding::Finding;

pub(super) fn finding(case: &Case<'_, '_>) -> Option<Finding> {
    Some(match &case.noted.fault {
        Fault::NoHeader => {
            let (turn, step) = (case.noted.turn.unwrap_or(0), case.noted.step.unwrap_or(0));
            let message =
                format!("step {turn}.{step} has a response and no request/header is in force");
            case.finding(&REQUEST_WITHOUT_HEADER, message)
        }
        Fault::HeaderReason(word) => {
            let message = format!(
                "request/header has the unknown reason \"{}\"",
                shortened(word)
            );
            case.finding(&UNKNOWN_HEADER_REASON, message)
        }
        Fault::HeaderReasonWrong { reason, had_header } => {
            let why = if *had_header {
                "a header stands before it"
            } else {
                "no header stands before it"
            };
            let message = format!("request/header says \"{}\", but {why}", shortened(reason));
            case.finding(&HEADER_REASON_WRONG, message)
        }
        Fault::HeaderSame => case.finding(
            &CHANGE_WITHOUT_CHANGE,
            "request/header says \"change\", but equals the one before it",
        ),
        Fault::HeaderEmptyPart(name) => {
            let message =
                format!("request header holds an empty \"{name}\", which should be absent");
            case.finding(&HEADER_NOT_CANONICAL, message)
        }
        Fault::HeaderMisplaced(why) => {
            case.finding(&HEADER_MISPLACED, format!("request/header {why}"))
        }
        Fault::PrefixDrift => case.finding(
            &SESSION_PREFIX_DRIFT,
            "messagePrefix differs from the header before it in the same loop instance",
        ),
        Fault::HeaderShape(why) => {
            case.finding(&BAD_HEADER_SHAPE, format!("bad request/header: {why}"))
        }
        Fault::Route {
            member,
            header,
            answer,
        } => {
            let (header, answer) = (shortened(header), shortened(answer));
            let message = format!(
                "answer has {member} \"{answer}\", but the header in force says \"{header}\""
            );
            case.finding(&RESPONSE_ROUTE_DIFFERS, message)
        }
        Fault::NotAnchored { loaded } => {
            let message =
                format!("first request after the load at seq {loaded} logs no header of its own");
            case.finding(&INSTANCE_NOT_ANCHORED, message)
        }
        _ => return None,
    })
}
