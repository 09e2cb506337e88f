//! What this room answers, as owned data that a renderer can print without a log.
//!
//! **Takes** nothing: the questions fill it. **Gives** types. **Never** borrows from a log.
//!
//! Texts are UTF-8. Half of a surrogate pair that stands alone is held as its escape (`\ud83d`). They are hostile all the same:
//! a renderer passes them through its sanitiser.

mod cache;
mod fleet;
#[cfg(test)]
pub(crate) mod sample;
mod sums;

pub use cache::{
    Break, CacheReport, CacheRow, CacheTotals, CacheVerdict, Cause, Cost, Currency, Expectation,
    OneShotRow, Purpose, ReplaceKind, SegmentName, Unit, WindowCount,
};
pub use fleet::{BudgetMiss, Budgets, Group, Grouping, OneShotTotals};
