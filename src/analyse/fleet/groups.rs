//! Requests grouped by what they have in common.
//!
//! **Takes** [`CacheReport`]s and a [`Grouping`]. **Gives** one [`Group`] for each value that occurs.
//! **Never** counts a request twice, or one that the parent session paid for.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::analyse::answer::{CacheReport, CacheRow, CacheTotals, Cause, Group, Grouping};
use crate::line::Millis;

/// The groups. Days stand in their order; sessions and causes by tokens lost; models by prompt tokens, the most first.
pub fn groups<'r>(reports: impl IntoIterator<Item = &'r CacheReport>, by: Grouping) -> Vec<Group> {
    let mut sums: BTreeMap<String, CacheTotals> = BTreeMap::new();
    for report in reports {
        for row in report.rows.iter().filter(|row| !row.inherited) {
            if let Some(key) = key_of(report, row, by) {
                sums.entry(key).or_default().count(row);
            }
        }
    }
    let mut groups: Vec<Group> = sums
        .into_iter()
        .map(|(key, totals)| Group { key, totals })
        .collect();
    match by {
        Grouping::Day => {}
        Grouping::Session | Grouping::Cause => groups.sort_by_key(|group| {
            let totals = &group.totals;
            Reverse((totals.lost, totals.busts()))
        }),
        Grouping::Model => groups.sort_by_key(|group| Reverse(group.totals.prompt)),
    }
    groups
}

fn key_of(report: &CacheReport, row: &CacheRow, by: Grouping) -> Option<String> {
    match by {
        Grouping::Session => Some(report.session_id.clone()),
        Grouping::Model => Some(match (&row.model, &row.provider) {
            (Some(model), Some(provider)) => format!("{model} · {provider}"),
            (Some(name), None) | (None, Some(name)) => name.clone(),
            (None, None) => "not named".into(),
        }),
        Grouping::Cause => row.is_bust().then(|| {
            let cause = row.broken.as_ref().map(|broken| &broken.cause);
            cause.unwrap_or(&Cause::Unexplained).as_str().to_string()
        }),
        Grouping::Day => Some(day_of(row.time)),
    }
}

/// `2026-08-21`, in UTC.
fn day_of(time: Millis) -> String {
    let (year, month, day, _) = time.civil();
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::super::totals;
    use super::*;
    use crate::analyse::answer::sample;

    #[test]
    fn groups_of_any_kind_but_causes_add_up_to_the_whole() {
        let reports = [sample::eventful(""), sample::quiet()];
        for by in [Grouping::Session, Grouping::Model, Grouping::Day] {
            let mut sum = CacheTotals::default();
            for group in groups(&reports, by) {
                sum.add(&group.totals);
            }
            assert_eq!(sum, totals(&reports), "{by:?}");
        }
    }

    #[test]
    fn causes_hold_every_bust_once() {
        let reports = [sample::eventful(""), sample::quiet()];
        let by_cause = groups(&reports, Grouping::Cause);
        let keys: Vec<&str> = by_cause.iter().map(|group| group.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "model",
                "unexplained",
                "tools-moved",
                "system-text",
                "compaction",
                "session-prefix"
            ]
        );
        let lost: u64 = by_cause.iter().map(|group| group.totals.lost).sum();
        assert_eq!(lost, totals(&reports).lost);
        let busts: u64 = by_cause.iter().map(|group| group.totals.requests).sum();
        assert_eq!(busts, totals(&reports).busts());
    }

    #[test]
    fn days_are_in_utc_and_in_order() {
        let days = groups(&[sample::eventful("")], Grouping::Day);
        let keys: Vec<&str> = days.iter().map(|group| group.key.as_str()).collect();
        assert_eq!(keys, ["2026-08-21", "2026-08-22"]);
    }
}
