//! How much work and text an answer may cost.
//!
//! **Takes** a deadline from who may ask a clock. **Gives** [`Limits`]. **Never** asks one.

use std::time::Instant;

use crate::analyse::answer::Coarse;

/// When an answer must become coarser instead of finer. Without it the same input always gives the same answer.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// The instant.
    pub at: Instant,
    /// Says whether it has passed.
    pub is_past: fn(Instant) -> bool,
}

/// How much work and text an answer may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Lines of context around a difference.
    pub context: usize,
    /// Most lines that the hunks of one text hold.
    pub lines: usize,
    /// Most tokens of one line, or of one value, that are compared by words.
    pub tokens: usize,
    /// Most differing values of one tool.
    pub values: usize,
    /// When to become coarser.
    pub deadline: Option<Deadline>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            context: 3,
            lines: 20_000,
            tokens: 20_000,
            values: 1_000,
            deadline: None,
        }
    }
}

impl Limits {
    /// The instant for searches that watch it themselves.
    pub(super) fn until(&self) -> Option<Instant> {
        self.deadline.map(|deadline| deadline.at)
    }

    /// Whether the deadline has passed.
    pub(super) fn passed(&self) -> Option<Coarse> {
        self.deadline
            .is_some_and(|deadline| (deadline.is_past)(deadline.at))
            .then_some(Coarse::Deadline)
    }
}
