//! Two or more texts at once: a log against what was captured, a fork against its parent, a generation against the next.
//!
//! **Takes** [`Log`](crate::log::Log)s, and sources to read again. **Gives** owned answers: what is the same, what is not, and
//! where the first difference is. **Never** judges, and never holds a log that it only walks.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod align;
mod bodies;
mod capture;
mod captured;
mod difference;
mod digests;
mod essence;
mod generations;
pub mod headers;
mod inherited;
mod layout;
mod lineage;
mod pairing;
mod units;
mod upgrade;

pub use capture::{Capture, CaptureError, CapturedRow, Content};
pub use captured::{Against, CaptureCheck, CaptureFault, RequestName, against};
pub use difference::{Difference, Parting, first_difference};
pub use generations::{Change, Lost, Migration, migration};
pub use inherited::{InheritedFault, inherited};
pub use layout::{Misplaced, misplaced};
pub use lineage::{Candidate, Kin, Share, candidates, descends};
