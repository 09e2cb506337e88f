//! What this room answers, as owned data that a renderer can print without a log.
//!
//! **Takes** nothing: the questions fill it. **Gives** types. **Never** borrows from a log.
//!
//! Texts are UTF-8. Half of a surrogate pair that stands alone is held as its escape (`\ud83d`). They are hostile all the same:
//! a renderer passes them through its sanitiser.

mod cache;
mod change;
mod fleet;
mod pattern;
#[cfg(test)]
pub(crate) mod sample;
mod sums;
mod text;
mod timeline;

pub use cache::{
    Break, CacheReport, CacheRow, CacheTotals, CacheVerdict, Cause, Cost, Currency, Expectation,
    OneShotRow, Purpose, ReplaceKind, SegmentName, Unit, WindowCount,
};
pub use change::{
    Broken, HeaderChange, Kept, MemberChange, MessageChange, Part, PrefixChange, SystemMove,
    ToolChange, ToolMove, ToolPlace, ToolsChange, ValueChange, ValueFate,
};
pub use fleet::{BudgetMiss, Budgets, Group, Grouping, OneShotTotals};
pub use pattern::{Pattern, PatternKind, Spot, Varying};
pub(crate) use sums::SCALE;
pub use text::{
    Coarse, Hunk, LineChange, Piece, SectionChange, SectionFate, Side, TextChange, TextSize,
};
pub use timeline::{HeaderPair, HeaderRow, HeaderSize, HeaderSpot, Reason, Timeline, Verdict};
