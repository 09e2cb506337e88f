//! Pure questions about a log: what its headers are, how they differ, where the prefix cache was lost, and what that costs.
//!
//! **Takes** the requests of a log, or headers of any origin. **Gives** owned answers ([`answer`]). **Never** prints, never names a
//! code or a level, and never asks a clock: a deadline is brought along.

pub mod answer;
pub mod cache;
pub mod fleet;
pub mod header;
