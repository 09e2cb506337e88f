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
