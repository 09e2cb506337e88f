//! The answer over many logs: groups, calls that are not the loop's, and budgets.
//!
//! **Takes** nothing. **Gives** [`Group`], [`OneShotTotals`], [`Budgets`] and [`BudgetMiss`]. **Never** borrows from a log.

use super::{CacheTotals, Cost};

/// By what requests are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The session's id.
    Session,
    /// The model, and the provider where it is known.
    Model,
    /// Why the prefix broke; requests whose prefix was kept belong to no group.
    Cause,
    /// The day in UTC.
    Day,
}

impl Grouping {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Grouping::Session => "session",
            Grouping::Model => "model",
            Grouping::Cause => "cause",
            Grouping::Day => "day",
        }
    }
}

/// Requests that have something in common, summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub key: String,
    /// Their sum.
    pub totals: CacheTotals,
}

/// Sums over calls that are not the loop's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OneShotTotals {
    /// Calls.
    pub calls: u64,
    /// Prompt tokens.
    pub prompt: u64,
    /// Prompt tokens read from the cache.
    pub hit: u64,
    /// Output tokens.
    pub output: u64,
    /// What those with a known price cost, by currency.
    pub cost: Vec<Cost>,
}

/// Limits on what a log's cache may lose; absent means no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budgets {
    /// Least share of prompt tokens read from the cache, 0 to 1, without first requests.
    pub min_hit_rate: Option<f64>,
    /// Fewest requests, without first ones, over which a rate is judged: short sessions look bad and are not.
    pub min_requests: u64,
    /// Most tokens lost.
    pub max_lost_tokens: Option<u64>,
    /// Most requests whose prefix broke in the header.
    pub max_header_changes: Option<u64>,
    /// Whether every request after the first must read from the cache.
    pub require_cache_read: bool,
}

impl Budgets {
    /// [`Budgets::min_requests`] where nothing else is said.
    pub const MIN_REQUESTS: u64 = 5;

    /// Whether there is a limit at all.
    pub fn are_set(&self) -> bool {
        self.min_hit_rate.is_some()
            || self.max_lost_tokens.is_some()
            || self.max_header_changes.is_some()
            || self.require_cache_read
    }
}

impl Default for Budgets {
    fn default() -> Self {
        Budgets {
            min_hit_rate: None,
            min_requests: Budgets::MIN_REQUESTS,
            max_lost_tokens: None,
            max_header_changes: None,
            require_cache_read: false,
        }
    }
}

/// A budget that a log missed. Rows are named by their index.
#[derive(Clone, Debug, PartialEq)]
pub enum BudgetMiss {
    /// The hit rate is too low.
    HitRate {
        /// The least rate, 0 to 1.
        least: f64,
        /// The rate.
        rate: f64,
        /// The row with the largest loss.
        worst: Option<usize>,
    },
    /// Too many tokens were lost.
    LostTokens {
        /// The most.
        most: u64,
        /// How many.
        lost: u64,
        /// The row with the largest loss.
        worst: Option<usize>,
    },
    /// The header broke the prefix too often.
    HeaderChanges {
        /// The most.
        most: u64,
        /// How often.
        changes: u64,
        /// The first row beyond the limit.
        row: Option<usize>,
    },
    /// Requests after the first read nothing from the cache.
    NoCacheRead {
        /// How many.
        requests: u64,
        /// The first of them.
        row: Option<usize>,
    },
}

impl BudgetMiss {
    /// The budget's name, as the option and the configuration spell it.
    pub fn budget(&self) -> &'static str {
        match self {
            BudgetMiss::HitRate { .. } => "min-hit-rate",
            BudgetMiss::LostTokens { .. } => "max-lost-tokens",
            BudgetMiss::HeaderChanges { .. } => "max-header-changes",
            BudgetMiss::NoCacheRead { .. } => "require-cache-read",
        }
    }

    /// The row to look at first.
    pub fn row(&self) -> Option<usize> {
        match self {
            BudgetMiss::HitRate { worst, .. } | BudgetMiss::LostTokens { worst, .. } => *worst,
            BudgetMiss::HeaderChanges { row, .. } | BudgetMiss::NoCacheRead { row, .. } => *row,
        }
    }
}
