//! Family 04: sequence and surface.
//!
//! **Takes** facts about numbers and surface members. **Gives** findings 0401 to 0411. **Never** knows a message's text.

use super::catalogue::*;
use super::judge::{Case, shortened};
use crate::event::{Branch, BranchPattern, BranchSpan, Fault, HeadFault, SourcesFault};
use crate::finding::{Finding, Place};

pub(super) fn finding(case: &Case<'_, '_>) -> Option<Finding> {
    let kind = || case.kind();
    Some(match &case.noted.fault {
        Fault::SeqGap { expected, found } => {
            let missing = match found.0 - expected.0 {
                1 => format!("seq {expected} is missing"),
                _ => format!("seq {expected} to {} are missing", found.0 - 1),
            };
            case.finding(
                &SEQ_GAP,
                format!("seq gap: expected {expected}, got {found}; {missing}"),
            )
        }
        Fault::SeqDuplicate {
            seq,
            first,
            second,
            equal,
        } => {
            let first = first.as_deref().map_or("another event".into(), shortened);
            let payload = match equal {
                Some(true) => " with an equal payload",
                Some(false) => " with another payload",
                None => "",
            };
            let message = format!(
                "seq {seq} occurs again: {first}, then {}{payload}",
                shortened(second)
            );
            case.finding(&SEQ_DUPLICATE, message)
        }
        Fault::SeqRewind(branch) => branches(case, branch),
        Fault::SurfaceOpMissing => case.finding(
            &MISSING_SURFACE_OP,
            format!("{} requires a surfaceOp marker and has none", kind()),
        ),
        Fault::SurfaceOpUnexpected(name) => {
            let message = format!("{} is not surface-eligible and cannot carry {name}", kind());
            case.finding(&UNEXPECTED_SURFACE_OP, message)
        }
        Fault::SurfaceOpBad(why) => {
            case.finding(&BAD_SURFACE_OP, format!("invalid surfaceOp: it {why}"))
        }
        Fault::Head(HeadFault::Missing) => case.finding(
            &BAD_SURFACE_OP,
            format!(
                "the surface begins with {}, not with a system/message",
                kind()
            ),
        ),
        Fault::Head(HeadFault::Shadowed) => case.finding(
            &BAD_SURFACE_OP,
            format!(
                "{} shadows the system/message at the surface's head",
                kind()
            ),
        ),
        Fault::Sources(fault) => sources(case, *fault),
        Fault::ReplaceEnd { which, seq } => case.finding(
            &REPLACE_END_UNKNOWN,
            format!("replace {which} {seq} is not on the surface"),
        ),
        Fault::ReplaceReversed { start, end } => {
            let message = format!(
                "replace is reversed: start {start} stands behind end {end} on the surface"
            );
            case.finding(&REPLACE_REVERSED, message)
        }
        Fault::ReplaceNotCovered { seq } => {
            let message = format!("replace shadows seq {seq}, which sourceEventSeqs does not name");
            case.finding(&REPLACE_NOT_COVERED, message)
        }
        Fault::Rewrite(why) => case.finding(
            &REWRITE_CHANGES_MORE_THAN_CONTENT,
            format!("tool result rewrite {why}"),
        ),
        _ => return None,
    })
}

fn sources(case: &Case<'_, '_>, fault: SourcesFault) -> Finding {
    let own = case.noted.at.seq.map_or(0, |seq| seq.0);
    let message = match fault {
        SourcesFault::NotAnArray => "sourceEventSeqs is no array".into(),
        SourcesFault::BadMember => "sourceEventSeqs must contain non-negative safe integers".into(),
        SourcesFault::Empty => "sourceEventSeqs is empty".into(),
        SourcesFault::Duplicate(seq) => {
            format!("sourceEventSeqs must not contain duplicates: {seq}")
        }
        SourcesFault::Unordered => "sourceEventSeqs holds ranges and does not ascend".into(),
        SourcesFault::NotEarlier(seq) => {
            format!("sourceEventSeqs must reference earlier events: {seq} is not before {own}")
        }
        SourcesFault::Unknown(seq) => {
            format!("sourceEventSeqs names seq {seq}, which the log does not hold")
        }
        SourcesFault::Range => {
            "sourceEventSeqs holds a range, which builds of this turn did not write".into()
        }
        SourcesFault::Forbidden => "assistant/message must not carry sourceEventSeqs".into(),
    };
    case.finding(&BAD_SOURCE_SEQS, message)
}

/// A file that two processes wrote: both branches, and what each would lose.
fn branches(case: &Case<'_, '_>, branch: &Branch) -> Finding {
    let (first, second) = (&branch.first, &branch.second);
    let (from, last) = (second.seqs.0, first.seqs.1);
    let message = match branch.pattern {
        BranchPattern::PackedRow => {
            format!("packed row overlaps seq {from} to {last}, which stand already")
        }
        BranchPattern::Loaded => {
            format!("numbering falls back from {last} to {from}: a second process loaded the log")
        }
        BranchPattern::Repaired => {
            format!("numbering falls back from {last} to {from}: a second process repaired the log")
        }
        BranchPattern::Writers => {
            format!("numbering falls back from {last} to {from}: two processes wrote this file")
        }
    };
    let kept = Place {
        line: Some(first.lines.0),
        seq: Some(first.seqs.0),
        ..Place::default()
    };
    let aside = Place {
        line: Some(second.lines.0),
        seq: Some(second.seqs.0),
        ..Place::default()
    };
    let found = case
        .finding(&SEQ_REWIND, message)
        .related(format!("first branch: {}", described(first)), kept)
        .related(
            format!("second branch, left aside: {}", described(second)),
            aside,
        )
        .help("keep one branch in a copy of the file, and know what is lost with the other");
    match branch.goes_on {
        Some((line, seq)) => {
            let on = Place {
                line: Some(line),
                seq: Some(seq),
                ..Place::default()
            };
            found.related(format!("numbering goes on with seq {seq}"), on)
        }
        None => found,
    }
}

/// What one branch holds, in words.
fn described(branch: &BranchSpan) -> String {
    let (from, to) = branch.seqs;
    let count = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let (events, messages) = (
        count(branch.events, "event"),
        count(branch.messages, "message"),
    );
    let mut text = format!("seq {from} to {to}, {events}, {messages}");
    match branch.turns {
        Some((from, to)) if from == to => text.push_str(&format!(", turn {from}")),
        Some((from, to)) => text.push_str(&format!(", turns {from} to {to}")),
        None => {}
    }
    if let Some((from, to)) = branch.times {
        text.push_str(&format!(", {from} to {to}"));
    }
    text
}
