//! Whether a log stays within its budgets.
//!
//! **Takes** a [`CacheReport`] and [`Budgets`]. **Gives** a [`BudgetMiss`] for each that it missed.
//! **Never** weighs them: that is `verdict`'s.

use std::cmp::Reverse;

use crate::analyse::answer::{BudgetMiss, Budgets, CacheReport, CacheRow, CacheVerdict};

/// The budgets that a log missed, in the order of [`Budgets`]' fields.
pub fn missed(report: &CacheReport, budgets: &Budgets) -> Vec<BudgetMiss> {
    let misses = [
        hit_rate(report, budgets),
        lost_tokens(report, budgets),
        header_changes(report, budgets),
        cache_read(report, budgets),
    ];
    misses.into_iter().flatten().collect()
}

fn hit_rate(report: &CacheReport, budgets: &Budgets) -> Option<BudgetMiss> {
    let least = budgets.min_hit_rate?;
    let rate = report.totals.rate_without_first()?;
    let judged = billed(report)
        .filter(|(_, row)| row.usage().is_some() && row.verdict != CacheVerdict::First)
        .count() as u64;
    (judged >= budgets.min_requests && rate < least).then(|| BudgetMiss::HitRate {
        least,
        rate,
        worst: worst(report),
    })
}

fn lost_tokens(report: &CacheReport, budgets: &Budgets) -> Option<BudgetMiss> {
    let most = budgets.max_lost_tokens?;
    let lost = report.totals.lost;
    (lost > most).then(|| BudgetMiss::LostTokens {
        most,
        lost,
        worst: worst(report),
    })
}

fn header_changes(report: &CacheReport, budgets: &Budgets) -> Option<BudgetMiss> {
    let most = budgets.max_header_changes?;
    let rows: Vec<usize> = billed(report)
        .filter(|(_, row)| {
            row.certain_break()
                .is_some_and(|broken| broken.cause.is_header())
        })
        .map(|(index, _)| index)
        .collect();
    let changes = rows.len() as u64;
    let beyond = usize::try_from(most).unwrap_or(usize::MAX);
    (changes > most).then(|| BudgetMiss::HeaderChanges {
        most,
        changes,
        row: rows.get(beyond).copied(),
    })
}

fn cache_read(report: &CacheReport, budgets: &Budgets) -> Option<BudgetMiss> {
    if !budgets.require_cache_read {
        return None;
    }
    let rows: Vec<usize> = billed(report)
        .filter(|(_, row)| {
            let is_exempt = matches!(row.verdict, CacheVerdict::First | CacheVerdict::BelowUnit);
            row.hit == Some(0) && !is_exempt
        })
        .map(|(index, _)| index)
        .collect();
    let row = rows.first().copied();
    row.map(|row| BudgetMiss::NoCacheRead {
        requests: rows.len() as u64,
        row: Some(row),
    })
}

fn billed(report: &CacheReport) -> impl Iterator<Item = (usize, &CacheRow)> {
    report
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.inherited)
}

fn worst(report: &CacheReport) -> Option<usize> {
    billed(report)
        .filter(|(_, row)| row.is_bust())
        .min_by_key(|(index, row)| (Reverse(row.lost), *index))
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::answer::sample;

    fn names(report: &CacheReport, budgets: Budgets) -> Vec<&'static str> {
        missed(report, &budgets)
            .iter()
            .map(BudgetMiss::budget)
            .collect()
    }

    #[test]
    fn a_log_within_its_budgets_misses_none() {
        let budgets = Budgets {
            min_hit_rate: Some(0.9),
            min_requests: 1,
            max_lost_tokens: Some(0),
            max_header_changes: Some(0),
            require_cache_read: true,
        };
        assert_eq!(missed(&sample::quiet(), &budgets), []);
        assert_eq!(missed(&sample::eventful(""), &Budgets::default()), []);
    }

    #[test]
    fn every_budget_can_be_missed() {
        let budgets = Budgets {
            min_hit_rate: Some(0.9),
            min_requests: 5,
            max_lost_tokens: Some(1000),
            max_header_changes: Some(1),
            require_cache_read: true,
        };
        let report = sample::eventful("");
        let misses = missed(&report, &budgets);
        let names: Vec<&str> = misses.iter().map(BudgetMiss::budget).collect();
        assert_eq!(
            names,
            [
                "min-hit-rate",
                "max-lost-tokens",
                "max-header-changes",
                "require-cache-read"
            ]
        );
        let places: Vec<Option<(u64, u64)>> = misses
            .iter()
            .map(|miss| {
                let row = report.rows.get(miss.row()?)?;
                Some((row.turn, row.step))
            })
            .collect();
        let largest = Some((4, 3));
        assert_eq!(places, [largest, largest, Some((2, 3)), Some((2, 1))]);
    }

    #[test]
    fn a_short_session_is_no_false_alarm() {
        let budgets = Budgets {
            min_hit_rate: Some(1.0),
            min_requests: 3,
            ..Budgets::default()
        };
        assert_eq!(names(&sample::quiet(), budgets), Vec::<&str>::new());
        let strict = Budgets {
            min_requests: 2,
            ..budgets
        };
        assert_eq!(names(&sample::quiet(), strict), ["min-hit-rate"]);
    }
}
