//! Family 02: records, and the blank lines between them.
//!
//! **Takes** facts about lines and envelopes. **Gives** findings 0110 and 0201 to 0209. **Never** looks at data.

use super::bytes;
use super::catalogue::*;
use super::judge::{Case, shortened, weaker};
use crate::event::Fault;
use crate::finding::{Finding, Level, Place};
use crate::record::{Kind, PackedFault, RecordDefect, without_content};

pub(super) fn finding(case: &Case<'_, '_>) -> Option<Finding> {
    let at = case.noted.at;
    Some(match &case.noted.fault {
        Fault::Line(defect) => line(case, *defect)?,
        Fault::NotUtf8 => {
            let message = format!(
                "bytes at offset {} are not UTF-8; they are read as U+FFFD",
                case.noted.mark.start
            );
            case.finding(&NOT_UTF_8, message)
        }
        Fault::DuplicateKey => case.finding(
            &DUPLICATE_KEY,
            format!(
                "a key stands twice in line {}; the last value counts",
                at.line
            ),
        ),
        Fault::HugeNumber => {
            let message = "a number is beyond a double's range: not losslessly JSON-serializable";
            weaker(case.finding(&UNSAFE_NUMBER, message), case.is_released())
        }
        Fault::LoneSurrogate {
            pointer,
            on_surface,
        } => {
            let message = format!(
                "unpaired surrogate at {}",
                shortened(&without_content(pointer))
            );
            let level = if *on_surface {
                Level::Warning
            } else {
                Level::Note
            };
            let found = case.finding(&LONE_SURROGATE, message).level(level);
            let at = Place {
                pointer: Some(pointer.clone()),
                ..found.at.clone()
            };
            let found = Finding { at, ..found };
            if *on_surface {
                found.help("providers refuse a request with this text: HTTP 400")
            } else {
                found
            }
        }
        Fault::NotPrinted => case.finding(
            &NOT_CANONICAL,
            format!("line {} is not as the writer prints it", at.line),
        ),
        Fault::EnvelopeLacks(name) => envelope(case, format!("member \"{name}\" is missing")),
        Fault::EnvelopeType(name) => envelope(case, format!("member \"{name}\" has a wrong type")),
        Fault::EnvelopeExtra(name) => envelope(
            case,
            format!("member \"{}\" is not allowed", shortened(name)),
        ),
        Fault::UnsafeNumber(name) => case.finding(
            &UNSAFE_NUMBER,
            format!("{name} is no safe integer: invalid event envelope"),
        ),
        Fault::PackedRow(defect) => {
            let message = format!("malformed packed row: {}", packed(defect.fault));
            case.finding(&MALFORMED_CHUNK_ROW, message)
        }
        _ => return None,
    })
}

fn envelope(case: &Case<'_, '_>, why: String) -> Finding {
    case.finding(&BAD_ENVELOPE, format!("invalid event envelope: {why}"))
}

fn line(case: &Case<'_, '_>, defect: RecordDefect) -> Option<Finding> {
    if let Some((message, level)) = bytes::blank(case.log, case.noted) {
        return Some(case.finding(&BLANK_LINE, message).level(level));
    }
    let line = case.noted.at.line;
    match defect {
        RecordDefect::NotJson { at, second_record } => {
            let second = second_record
                .map(|at| format!(", a second record starts at byte {at}"))
                .unwrap_or_default();
            Some(case.finding(
                &NOT_JSON,
                format!("line {line} is not JSON: unparsable at byte {at}{second}"),
            ))
        }
        RecordDefect::NotAnObject { kind } => {
            let what = match kind {
                Kind::Null => "null",
                Kind::Bool => "a boolean",
                Kind::Number => "a number",
                Kind::String => "a string",
                _ => "an array",
            };
            Some(case.finding(
                &NOT_AN_OBJECT,
                format!("line {line} is {what}, not an object"),
            ))
        }
        RecordDefect::Blank => None,
    }
}

fn packed(fault: PackedFault) -> String {
    match fault {
        PackedFault::Missing(name) => format!("{name} is missing"),
        PackedFault::Unexpected => "a member is not allowed".into(),
        PackedFault::WrongType(name) => format!("{name} has a wrong type"),
        PackedFault::NoText => "it holds no text".into(),
        PackedFault::StepsDoNotMatch { texts, steps } => {
            format!("dt has {steps} entries for {texts} texts")
        }
        PackedFault::UnsafeSeq => "a seq is beyond the safe integers".into(),
        PackedFault::UnsafeTime => "a time is beyond the safe integers".into(),
    }
}
