//! The cache model: what each request should have read from the provider's prefix cache, what it read, and why not more.
//!
//! **Takes** the requests of a log with their prompts. **Gives** a [`CacheReport`]. **Never** guesses: a cause is what the log shows,
//! a cost is what the dated price table covers.
//!
//! Source: cache model (prediction from the log, check against usage).

mod cause;
mod excerpt;
mod prices;
mod report;
mod verdict;

pub use prices::{Peak, Price, PriceRow, PriceTable};
pub use report::{CacheOptions, report};

pub use super::answer::CacheReport;
