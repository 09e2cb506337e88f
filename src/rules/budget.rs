//! Rule 0807: a log that missed a budget for its cache.
//!
//! **Takes** missed budgets and the report they were judged by. **Gives** one finding for each. **Never** judges a log without
//! a budget.

use super::catalogue::HIT_RATE_BELOW_BUDGET;
use crate::analyse::answer::{BudgetMiss, CacheReport};
use crate::finding::{Finding, Place};

/// What is said of budgets that a log missed.
pub fn budget_findings(report: &CacheReport, misses: &[BudgetMiss]) -> Vec<Finding> {
    let finding = |miss: &BudgetMiss| {
        let at = place(report, miss);
        let name = miss.budget();
        let found = Finding::new(&HIT_RATE_BELOW_BUDGET, message(miss), at, name.as_bytes());
        found.help(format!(
            "budget {name}; `dsh-audit cache-report --busts` shows the losses in order"
        ))
    };
    misses.iter().map(finding).collect()
}

fn message(miss: &BudgetMiss) -> String {
    let percent = |rate: f64| (rate * 1000.0).floor() / 10.0;
    match miss {
        BudgetMiss::HitRate { least, rate, .. } => format!(
            "hit rate is {} %, the budget is {} %",
            percent(*rate),
            percent(*least)
        ),
        BudgetMiss::LostTokens { most, lost, .. } => {
            format!("{lost} tokens are lost, the budget is {most}")
        }
        BudgetMiss::HeaderChanges { most, changes, .. } => {
            let times = if *changes == 1 { "time" } else { "times" };
            format!("the header breaks the prefix {changes} {times}, the budget is {most}")
        }
        BudgetMiss::NoCacheRead { requests: 1, .. } => {
            "a request after the first reads nothing from the cache".into()
        }
        BudgetMiss::NoCacheRead { requests, .. } => {
            format!("{requests} requests after the first read nothing from the cache")
        }
    }
}

/// The request to look at first; else the first of the log.
fn place(report: &CacheReport, miss: &BudgetMiss) -> Place {
    let row = miss
        .row()
        .and_then(|row| report.rows.get(row))
        .or(report.rows.first());
    row.map_or_else(Place::default, |row| Place {
        line: Some(row.line),
        seq: Some(row.seq),
        turn: Some(row.turn),
        step: Some(row.step),
        ..Place::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::answer::{Budgets, sample};
    use crate::analyse::fleet;

    #[test]
    fn every_missed_budget_is_one_short_finding() {
        let report = sample::eventful("");
        let budgets = Budgets {
            min_hit_rate: Some(0.9),
            max_lost_tokens: Some(1000),
            max_header_changes: Some(0),
            require_cache_read: true,
            ..Budgets::default()
        };
        let misses = fleet::missed(&report, &budgets);
        let findings = budget_findings(&report, &misses);
        assert_eq!(findings.len(), 4);
        assert_eq!(
            findings.first().map(|finding| finding.message.as_str()),
            Some("hit rate is 62.8 %, the budget is 90 %")
        );
        for finding in findings {
            assert!(finding.message.len() <= 90 && finding.at.turn.is_some());
        }
    }
}
