//! Questions about the cache reports of many logs at once.
//!
//! **Takes** [`CacheReport`]s, in input order. **Gives** sums, groups, orders and missed budgets.
//! **Never** reads a log: what a report holds is enough, so reports of other machines add up to the same.

mod budget;
mod groups;

pub use budget::missed;
pub use groups::groups;

use std::cmp::Reverse;

use super::answer::{CacheReport, CacheRow, CacheTotals, OneShotTotals, WindowCount};

/// The sum over all reports.
pub fn totals<'r>(reports: impl IntoIterator<Item = &'r CacheReport>) -> CacheTotals {
    let mut totals = CacheTotals::default();
    reports
        .into_iter()
        .for_each(|report| totals.add(&report.totals));
    totals
}

/// The sum over all calls that are not the loop's.
pub fn one_shots<'r>(reports: impl IntoIterator<Item = &'r CacheReport>) -> OneShotTotals {
    let mut totals = OneShotTotals::default();
    reports
        .into_iter()
        .for_each(|report| totals.add(&report.one_shot_totals()));
    totals
}

/// How often the predicted window held, over all reports.
pub fn window<'r>(reports: impl IntoIterator<Item = &'r CacheReport>) -> WindowCount {
    let mut window = WindowCount::default();
    reports
        .into_iter()
        .for_each(|report| window.add(&report.window));
    window
}

/// Indices of the reports, worst first: by tokens lost, then by the number of busts, then in input order.
pub fn worst_first(reports: &[&CacheReport]) -> Vec<usize> {
    let mut order: Vec<(usize, &CacheTotals)> = reports
        .iter()
        .map(|report| &report.totals)
        .enumerate()
        .collect();
    order.sort_by_key(|(at, totals)| (Reverse((totals.lost, totals.busts())), *at));
    order.into_iter().map(|(at, _)| at).collect()
}

/// A request whose prefix broke or was lost, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Bust<'r> {
    /// The report's index.
    pub report: usize,
    /// The row's index.
    pub index: usize,
    /// The row.
    pub row: &'r CacheRow,
    /// An earlier request that begins this one better than the last one does.
    pub earlier: Option<&'r CacheRow>,
}

/// The busts of all reports, in order of tokens lost; those whose loss is not known stand last.
pub fn busts<'r>(reports: &[&'r CacheReport]) -> Vec<Bust<'r>> {
    let mut busts = Vec::new();
    for (at, report) in reports.iter().enumerate() {
        let rows = report.rows.iter().enumerate();
        busts.extend(
            rows.filter(|(_, row)| row.is_bust())
                .map(|(index, row)| Bust {
                    report: at,
                    index,
                    row,
                    earlier: row.best_earlier.and_then(|index| report.rows.get(index)),
                }),
        );
    }
    busts.sort_by_key(|bust| (Reverse(bust.row.lost), bust.report, bust.index));
    busts
}
