//! A fork's inherited events against its parent's log.
//!
//! **Takes** both logs' sources. **Gives** the first inherited event that is not the parent's, if there is one.
//! **Never** holds more than a line of either, and never asks when an event was written.
//!
//! An event that the forking build wrote in its own newer form counts as the one that it was made from.

use super::difference::{Difference, first_difference};
use super::units::{Unit, Units};
use crate::line::{LineNo, Seq};
use crate::record::Raw;
use crate::source::{Source, SourceError};

/// The first inherited event that is not the parent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InheritedFault {
    /// The event.
    pub seq: Seq,
    /// Its line in the fork.
    pub line: LineNo,
    /// Its type, as it stands.
    pub kind: String,
    /// Where it differs from the parent's event of this number, the fork's on the left; absent where the parent has none, and where
    /// one of the two stands in a packed row.
    pub difference: Option<Difference>,
    /// The line of the parent's event; absent where it has none of this number.
    pub parents: Option<LineNo>,
}

/// Compares the events before `until` of a fork with those of its parent.
///
/// # Errors
///
/// When one of the two cannot be read.
pub fn inherited(
    fork: &Source,
    parent: &Source,
    until: Seq,
) -> Result<Option<InheritedFault>, SourceError> {
    let (mut own, mut parents) = (Units::over(fork), Units::over(parent));
    let mut of_parent = parents.next_unit()?;
    while let Some(unit) = own.next_unit()? {
        if unit.seq >= until {
            break;
        }
        while of_parent.is_some_and(|other| other.seq < unit.seq) {
            of_parent = parents.next_unit()?;
        }
        let same = of_parent.filter(|other| other.seq == unit.seq);
        if same.is_some_and(|other| unit.is_copy_of(&other)) {
            continue;
        }
        return Ok(Some(fault(unit, own.line(), same, parents.line())));
    }
    Ok(None)
}

fn fault(unit: Unit, own: &[u8], parents: Option<Unit>, parents_line: &[u8]) -> InheritedFault {
    let own = Raw::parse(own).ok();
    let kind = own.and_then(|own| own.get("type")).and_then(Raw::text);
    let kind = kind.map_or_else(String::new, |kind| kind.to_lossy().into_owned());
    let other = parents.and_then(|_| Raw::parse(parents_line).ok());
    // A packed row holds no event to point into.
    let is_event = |row: &Raw<'_>| row.get("seq0").is_none();
    let difference = match (own.filter(is_event), other.filter(is_event)) {
        (Some(own), Some(other)) => first_difference_but_time(own, other),
        _ => None,
    };
    InheritedFault {
        seq: unit.seq,
        line: unit.line,
        kind,
        difference,
        parents: parents.map(|parents| parents.line),
    }
}

/// The first difference of two events in what they say.
fn first_difference_but_time(own: Raw<'_>, other: Raw<'_>) -> Option<Difference> {
    for name in ["type", "data", "sourceEventSeqs", "surfaceOp", "ignorable"] {
        let found = match (own.get(name), other.get(name)) {
            (Some(own), Some(other)) => first_difference(own, other),
            (None, None) => None,
            (own, other) => first_difference(own.unwrap_or(Raw::NULL), other.unwrap_or(Raw::NULL)),
        };
        if let Some(found) = found {
            let pointer = format!("/{name}{}", found.pointer);
            return Some(Difference { pointer, ..found });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(id: &str, version: u8, events: &[&str]) -> Source {
        let seeded = if version < 2 {
            ""
        } else {
            ",\"isSeeded\":false"
        };
        let mut text = format!(
            "{{\"type\":\"session\",\"version\":{version},\"id\":\"{id}\",\"createdAt\":1{seeded},\"delegationDepth\":0}}\n"
        );
        for (seq, event) in events.iter().enumerate() {
            let (kind, data) = event.split_once(' ').expect("type and data");
            let append = if kind.ends_with("/message") {
                ",\"surfaceOp\":\"append\""
            } else {
                ""
            };
            text.push_str(&format!(
                "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{data}{append}}}\n"
            ));
        }
        Source::from_bytes(text.into_bytes())
    }

    fn first_fault(version: u8, parent: &[&str], fork: &[&str]) -> Option<(u64, Option<String>)> {
        let (own, theirs) = (log("s-2", version, fork), log("s-1", version, parent));
        let fault = inherited(&own, &theirs, Seq(fork.len() as u64)).expect("readable")?;
        Some((
            fault.seq.0,
            fault.difference.map(|difference| difference.pointer),
        ))
    }

    #[test]
    fn what_a_loader_makes_of_an_event_is_that_event() {
        let pairs = [
            (
                r#"turn/start {"turn":1,"trigger":{"kind":"message","source":{"kind":"user"}}}"#,
                r#"turn/start {"turn":1}"#,
            ),
            (
                r#"steering/message {"turn":1,"content":[],"source":{"kind":"user"}}"#,
                r#"user/message {"content":[],"source":{"kind":"user"},"id":"legacy-message:s-1:1","role":"user"}"#,
            ),
            (
                r#"steering/message {"turn":1,"message":{"id":"m","role":"user","content":[],"source":{"kind":"user"}}}"#,
                r#"user/message {"id":"m","role":"user","content":[],"source":{"kind":"user"}}"#,
            ),
            (
                r#"steering/message {"turn":1,"content":[],"source":{"kind":"user"}}"#,
                r#"steering/message {"turn":1,"message":{"id":"legacy-message:s-1:3","role":"user","content":[],"source":{"kind":"user"}}}"#,
            ),
            (
                r#"turn/end {"turn":1,"reason":{"kind":"disposed"}}"#,
                r#"turn/end {"turn":1,"reason":{"kind":"aborted","reason":{"kind":"disposed"}}}"#,
            ),
            (
                r#"turn/end {"turn":1,"reason":{"kind":"aborted"}}"#,
                r#"turn/end {"turn":1,"reason":{"kind":"aborted","reason":{"kind":"legacy"}}}"#,
            ),
            (
                r#"turn/end {"turn":1,"reason":{"kind":"error","step":1,"message":"no"}}"#,
                r#"turn/end {"turn":1,"reason":{"kind":"error","error":{"message":"no","code":"UNKNOWN"}}}"#,
            ),
            (
                r#"turn/end {"turn":1,"reason":{"kind":"error","step":1,"failure":{"message":"no","code":"X"}}}"#,
                r#"turn/end {"turn":1,"reason":{"kind":"error","error":{"message":"no","code":"X"}}}"#,
            ),
        ];
        let (parent, fork): (Vec<&str>, Vec<&str>) = pairs.into_iter().unzip();
        assert_eq!(first_fault(0, &parent, &fork), None);
        // No loader takes anything back.
        for (at, (parent, fork)) in parent.iter().zip(&fork).enumerate() {
            let fault = first_fault(0, &[fork], &[parent]);
            assert_eq!(fault.map(|(seq, _)| seq), Some(0), "pair {at}");
        }
    }

    #[test]
    fn what_no_loader_makes_is_a_fault() {
        let parent = [
            r#"turn/start {"turn":1}"#,
            r#"turn/end {"turn":1,"reason":{"kind":"completed"}}"#,
        ];
        let fork = [
            parent[0],
            r#"turn/end {"turn":1,"reason":{"kind":"blocked"}}"#,
        ];
        assert_eq!(
            first_fault(0, &parent, &fork),
            Some((1, Some("/data/reason/kind".into())))
        );
        assert_eq!(first_fault(0, &parent[..1], &parent), Some((1, None)));
        let trigger =
            |kind: &str| format!(r#"turn/start {{"turn":1,"trigger":{{"kind":"{kind}"}}}}"#);
        let (one, other) = (trigger("message"), trigger("injection"));
        assert_eq!(
            first_fault(0, &[&one], &[&other]).map(|(seq, _)| seq),
            Some(0)
        );
        let user = |id: &str, role: &str| {
            format!(
                r#"user/message {{"content":[],"source":{{"kind":"user"}},"id":"{id}","role":"{role}"}}"#
            )
        };
        let before = r#"user/message {"content":[],"source":{"kind":"user"}}"#;
        for (id, role, is_fault) in [
            ("legacy-message:s-1:0", "user", false),
            ("legacy-message:s-1:7", "user", true),
            ("another", "user", true),
            ("legacy-message:s-1:0", "assistant", true),
        ] {
            let fault = first_fault(0, &[before], &[&user(id, role)]);
            assert_eq!(fault.is_some(), is_fault, "{id} {role}");
        }
        let legacy = r#"user/message {"content":[1],"source":{"kind":"user"},"id":"legacy-message:s:0","role":"user"}"#;
        let parts = r#"user/message {"content":[2],"source":{"kind":"user"}}"#;
        assert_eq!(
            first_fault(0, &[parts], &[legacy]).map(|(seq, _)| seq),
            Some(0)
        );
    }

    #[test]
    fn ids_that_a_codec_made_of_the_sessions_id_are_not_compared() {
        let row = |id: &str| format!(r#"llm/retry {{"retryId":"legacy-retry:{id}:4","x":"a\"b"}}"#);
        let (theirs, own, other) = (row("s-1"), row("s-2"), row("s-2").replace("a\\", "c\\"));
        assert_eq!(first_fault(2, &[&theirs], &[&own]), None);
        assert_eq!(
            first_fault(2, &[&theirs], &[&other]).map(|(seq, _)| seq),
            Some(0)
        );
    }
}
