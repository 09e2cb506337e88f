//! What the audit judges by: the catalogue of rules with its pages, and the families that apply them.
//!
//! **Takes** facts that the earlier rooms left. **Gives** findings; all codes, levels and sentences stand here.
//! **Never** prints, and never reads a log's bytes itself.

mod budget;
mod bytes;
mod cache;
mod captured;
pub mod catalogue;
mod dialect;
mod header;
mod judge;
mod lineage;
mod records;
mod responses;
mod surface;
mod turns;

pub use budget::budget_findings;
pub use cache::findings as cache_findings;
pub use captured::captured;
pub use catalogue::{CATALOGUE, find};
pub use dialect::{newer_sibling, newer_sibling_lacks};
pub use judge::{judge, judge_replay, sort};
pub use lineage::{
    ParentGap, header_place, inherited_differs, parent_not_found, path_does_not_fit,
};
