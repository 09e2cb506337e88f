//! Rule 0710: requests as they were captured against those of the log.
//!
//! **Takes** the answer of `compare`. **Gives** findings 0710. **Never** looks at a request.

use super::bytes::first_line;
use super::catalogue::CAPTURED_REQUEST_DIFFERS;
use super::judge::{possible, shortened};
use crate::compare::{CaptureCheck, CaptureFault, Difference, Parting, RequestName};
use crate::finding::{Finding, Level, Place};
use crate::line::Excerpt;
use crate::log::{Log, Standing};
use crate::record::without_content;

/// Most characters of a message.
const MOST: usize = 90;

/// What the comparison of a log with a capture says.
pub fn captured(log: &Log<'_>, check: &CaptureCheck) -> Vec<Finding> {
    if log.standing != Standing::Readable {
        return Vec::new();
    }
    let faults = check.faults.iter();
    let mut findings: Vec<Finding> = faults.map(|fault| finding(log, fault)).collect();
    findings.extend(unheld(log, check));
    findings
}

/// What could not be compared is said.
fn unheld(log: &Log<'_>, check: &CaptureCheck) -> Option<Finding> {
    let names: Vec<&str> = check.unheld.iter().copied().collect();
    if names.is_empty() {
        return None;
    }
    let (bodies, names) = (check.bodies_with_unheld, names.join(", "));
    let message = format!("{names} of {bodies} captured bodies: not in the log, not compared");
    let at = first_line(log);
    let found = Finding::new(&CAPTURED_REQUEST_DIFFERS, message, at, names.as_bytes());
    Some(found.level(Level::Note))
}

fn finding(log: &Log<'_>, fault: &CaptureFault) -> Finding {
    let found = |message: String, at: Place, evidence: &str| {
        Finding::new(&CAPTURED_REQUEST_DIFFERS, message, at, evidence.as_bytes())
    };
    match fault {
        CaptureFault::Differs {
            request,
            row,
            difference: Some(difference),
            is_approximate,
        } => {
            let found = differs(request, *row, difference);
            match is_approximate {
                true => possible(found.level(Level::Warning))
                    .help("images are not in the log: bodies that hold some are approximate"),
                false => found,
            }
        }
        CaptureFault::Differs { request, row, .. } => {
            let message = format!(
                "captured request {} differs (line {row} of the capture)",
                name(request)
            );
            found(message, place(request), "digest")
        }
        CaptureFault::NotCaptured { request } => {
            let message = format!("request {} is not in the capture", name(request));
            found(message, place(request), "not captured")
        }
        CaptureFault::NotInLog { row, step } => {
            let number = step.map_or(String::new(), |(turn, step)| format!(" {turn}.{step}"));
            let message = format!(
                "captured request{number} (line {row} of the capture) is not among the log's"
            );
            let at = Place {
                turn: step.map(|(turn, _)| turn),
                step: step.map(|(_, step)| step),
                ..first_line(log)
            };
            found(message, at, &format!("not in the log{number}"))
        }
        CaptureFault::OtherSession => {
            let id = log.header.as_ref().and_then(|header| header.id);
            let id = id.and_then(|id| id.text().map(|id| shortened(&id.to_lossy())));
            let message = format!(
                "the capture holds no request of session {:?}",
                id.unwrap_or_default()
            );
            found(message, first_line(log), "session")
        }
    }
}

fn differs(request: &RequestName, row: crate::line::LineNo, difference: &Difference) -> Finding {
    let lead = format!("captured request {} differs at ", name(request));
    let tail = match difference.parting {
        Parting::OnlyLeft => ": absent in the log's request",
        Parting::OnlyRight => ": absent in the capture",
        Parting::Kind => ": a value of another kind",
        Parting::Order => ": members in another order",
        Parting::Value => "",
    };
    let whole = match difference.pointer.as_str() {
        "" => "its top".to_owned(),
        pointer => without_content(pointer),
    };
    let room = MOST.saturating_sub(lead.chars().count() + tail.chars().count());
    let message = format!("{lead}{}{tail}", end_of(&whole, room));
    let at = Place {
        pointer: Some(difference.pointer.clone()),
        ..place(request)
    };
    let seen = |side: &Option<Excerpt>| side.as_ref().map(|side| side.text.clone());
    let evidence = format!("{}\0{:?}", difference.pointer, seen(&difference.left));
    let value = |finding: Finding, message: String, side: &Option<Excerpt>| match side {
        None => finding,
        Some(excerpt) => finding.related(
            message,
            Place {
                pointer: Some(difference.pointer.clone()),
                excerpt: Some(excerpt.clone()),
                ..Place::default()
            },
        ),
    };
    let found = Finding::new(&CAPTURED_REQUEST_DIFFERS, message, at, evidence.as_bytes());
    let found = value(
        found,
        format!("captured (line {row} of the capture)"),
        &difference.left,
    );
    value(found, "in the log's request".to_owned(), &difference.right)
}

/// The end of a pointer that has room; what is left out is at its beginning.
fn end_of(pointer: &str, room: usize) -> String {
    let short: String = pointer
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    let length = short.chars().count();
    if length <= room {
        return short;
    }
    let kept: String = short.chars().skip(length + 1 - room.max(1)).collect();
    format!("…{kept}")
}

fn name(request: &RequestName) -> String {
    let attempt = request
        .attempt
        .map_or(String::new(), |attempt| format!(".{attempt}"));
    format!("{}.{}{attempt}", request.turn, request.step)
}

fn place(request: &RequestName) -> Place {
    Place {
        line: Some(request.line),
        seq: Some(request.seq),
        turn: Some(request.turn),
        step: Some(request.step),
        ..Place::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pointer_keeps_its_end() {
        assert_eq!(end_of("/messages/3/content", 30), "/messages/3/content");
        assert_eq!(end_of("/messages/3/content", 8), "…content");
        assert_eq!(end_of("/messages/3/content", 0), "…");
    }
}
