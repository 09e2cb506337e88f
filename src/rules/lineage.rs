//! Family 09: a fork and its parent, and a log and its place.
//!
//! **Takes** the answers of `compare`. **Gives** findings 0901 to 0903. **Never** reads a log.

use std::path::Path;

use super::bytes::first_line;
use super::catalogue::{INHERITED_PREFIX_DIFFERS, PARENT_NOT_FOUND, PATH_DOES_NOT_FIT};
use super::judge::shortened;
use crate::compare::{InheritedFault, Misplaced, misplaced};
use crate::finding::{Finding, Place};
use crate::line::Excerpt;
use crate::log::Log;
use crate::record::Raw;

/// Why a fork cannot be compared with its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentGap {
    /// No input is the parent's log.
    NotAmongInputs,
    /// The session names itself.
    Itself,
    /// The parent's log is there in other versions than the fork's, which this is.
    OtherVersion(u64),
    /// Several inputs have the parent's id, and what was inherited is none of theirs.
    Ambiguous,
    /// One of the two came from standard input.
    ReadOnce,
}

/// The place of a log's header line, for findings that are made when the log is gone.
pub fn header_place(log: &Log<'_>) -> Place {
    first_line(log)
}

/// The finding that a fork could not be compared with its parent. `at` is the fork's header line.
pub fn parent_not_found(parent: &str, gap: ParentGap, at: Place) -> Finding {
    let id = shortened(parent);
    let message = match gap {
        ParentGap::NotAmongInputs => format!("parent session {id:?} is not among the inputs"),
        ParentGap::Itself => format!("session {id:?} names itself as its parent"),
        ParentGap::OtherVersion(version) => {
            format!("parent {id:?} is not among the inputs as version {version}")
        }
        ParentGap::Ambiguous => {
            let id = cut(parent, 30);
            format!("several inputs are session {id:?}, none of them its parent")
        }
        ParentGap::ReadOnce => format!("parent {id:?}: standard input is read only once"),
    };
    Finding::new(&PARENT_NOT_FOUND, message, at, parent.as_bytes())
}

/// The finding that a fork's inherited event is not its parent's.
pub fn inherited_differs(fault: &InheritedFault, parent: &str) -> Finding {
    let (seq, kind, id) = (fault.seq, cut(&fault.kind, 18), cut(parent, 20));
    let message = match fault.parents {
        Some(_) => format!("inherited seq {seq} ({kind}) is not that of parent {id:?}"),
        None => format!("inherited seq {seq} ({kind}) is not in parent {id:?}"),
    };
    let difference = fault.difference.as_ref();
    let pointer = difference.map(|difference| difference.pointer.clone());
    let at = Place {
        line: Some(fault.line),
        seq: Some(seq),
        pointer: pointer.clone(),
        ..Place::default()
    };
    let evidence = format!("{}\0{}", fault.kind, pointer.as_deref().unwrap_or_default());
    let found = Finding::new(&INHERITED_PREFIX_DIFFERS, message, at, evidence.as_bytes());
    let Some(line) = fault.parents else {
        return found;
    };
    let value = |excerpt: Option<&Excerpt>| Place {
        pointer: pointer.clone(),
        excerpt: excerpt.cloned(),
        ..Place::default()
    };
    let own = difference.and_then(|difference| difference.left.as_ref());
    let theirs = difference.and_then(|difference| difference.right.as_ref());
    let found = match own {
        Some(own) => found.related("in this log", value(Some(own))),
        None => found,
    };
    found.related(format!("in the parent's log, line {line}"), value(theirs))
}

/// The findings that a log's path, which has the harness's layout, is not what its header gives.
pub fn path_does_not_fit(log: &Log<'_>, path: &Path) -> Vec<Finding> {
    let text = |raw: Option<Raw<'_>>| {
        let text = raw.and_then(Raw::text);
        text.map(|text| text.to_lossy().into_owned())
    };
    let Some(header) = &log.header else {
        return Vec::new();
    };
    let Some(id) = text(header.id).filter(|_| !header.fixture) else {
        return Vec::new();
    };
    let misplaced = misplaced(path, &id, text(header.cwd).as_deref());
    let finding = |misplaced: &Misplaced| {
        let (what, found, expected) = match misplaced {
            Misplaced::Session { found, expected } => ("session", found, expected),
            Misplaced::Project { found, expected } => ("project", found, expected),
        };
        let (short, other) = (cut(found, 20), cut(expected, 20));
        let message = format!("the path names {what} {short:?}, the header {other:?}");
        Finding::new(
            &PATH_DOES_NOT_FIT,
            message,
            first_line(log),
            found.as_bytes(),
        )
        .help(format!(
            "the harness looks for this log in a directory named {expected}"
        ))
    };
    misplaced.iter().map(finding).collect()
}

/// At most this many characters of a name, on one line.
fn cut(text: &str, most: usize) -> String {
    let text = shortened(text);
    if text.chars().count() <= most {
        return text;
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{LineNo, Seq};

    #[test]
    fn messages_stay_short() {
        let long = "session-log-deepseek/delivery-accepted-and-longer".repeat(3);
        let fault = InheritedFault {
            seq: Seq(9_999_999),
            line: LineNo(7),
            kind: long.clone(),
            difference: None,
            parents: Some(LineNo(8)),
        };
        let gaps = [
            ParentGap::Ambiguous,
            ParentGap::NotAmongInputs,
            ParentGap::OtherVersion(4),
            ParentGap::ReadOnce,
        ];
        let mut findings: Vec<Finding> = gaps
            .map(|gap| parent_not_found(&long, gap, Place::default()))
            .into();
        findings.push(inherited_differs(&fault, &long));
        for finding in findings {
            assert!(finding.message.chars().count() <= 90, "{}", finding.message);
        }
    }
}
