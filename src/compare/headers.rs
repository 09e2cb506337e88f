//! The headers of two logs side by side.
//!
//! **Takes** logs. **Gives** pairs of headers. **Never** looks into a log that must be rejected.
//!
//! Source: format reference, sections A.2 and D.1 (what a fork inherits).

use super::Kin;
use crate::analyse::answer::HeaderPair;
use crate::analyse::header::{self, HeaderState, Limits};
use crate::line::Seq;
use crate::log::Log;

/// The headers of a log, in order; none where it must be rejected.
pub fn states(log: &Log<'_>) -> Option<Vec<HeaderState>> {
    Some(header::states(&log.session, log.requests()?))
}

/// A child's first header of its own against the parent's that was in force where the child begins. None where either has none.
pub fn fork(parent: &Log<'_>, child: &Log<'_>, limits: &Limits) -> Option<HeaderPair> {
    let (parents, children) = (states(parent)?, states(child)?);
    let own = children.iter().find(|state| !state.spot.inherited)?;
    let (of_parent, of_child) = (Kin::of(parent)?, Kin::of(child)?);
    let before = |state: &&HeaderState| match of_child.inherited_until {
        // A child that inherits nothing begins at a time, not at an event; and a migration numbers events anew.
        Seq(0) => state.spot.time <= own.spot.time,
        _ if of_parent.generation != of_child.generation => state.spot.time <= own.spot.time,
        until => state.spot.seq < until,
    };
    let left = parents.iter().take_while(before).last();
    left.map(|left| header::pair_of(Some(left), Some(own), false, limits))
}
