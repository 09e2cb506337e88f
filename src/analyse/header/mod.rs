//! What the headers of a log are, and how two of them differ.
//!
//! **Takes** requests and headers. **Gives** the answers of [`crate::analyse::answer`]. **Never** knows which build wrote a log: the
//! prompt stands in the header or on the surface.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod change;
mod config;
mod effective;
mod found;
mod kept;
mod limits;
mod lines;
mod moments;
mod order;
mod pairs;
mod patterns;
mod prefix;
mod sections;
mod shown;
mod states;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod tools;
mod value;
mod values;
mod words;

pub use change::compare;
pub use effective::{Effective, Prompt};
pub use limits::{Deadline, Limits};
pub use pairs::{pair, pair_of};
pub use states::{HeaderState, states};
pub use timeline::timeline;
