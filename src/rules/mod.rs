//! What the audit judges by: the catalogue of rules with its pages.
//!
//! **Takes** facts that the earlier rooms left. **Gives** findings; all codes, levels and sentences stand here.
//! **Never** prints, and never reads a log's bytes itself.

pub mod catalogue;

pub use catalogue::{CATALOGUE, find};
