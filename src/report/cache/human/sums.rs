//! Sums over many logs: the logs worst first, groups, and how often the predicted window held.
//!
//! **Takes** a [`CacheRun`]. **Gives** tables that end with a total. **Never** sums a request twice.

use std::io::{self, Write};

use crate::analyse::answer::{CacheTotals, Grouping};
use crate::analyse::fleet;

use super::super::super::Look;
use super::super::super::paint::Tone;
use super::super::super::safe::{Safe, SafePath};
use super::super::super::words::{count, grouped};
use super::super::CacheRun;
use super::super::words::{sums_in_cells, window_in_words};
use super::log::{tone_of, write_labelled};
use super::table::{Rows, Side};

/// Writes the logs, worst first, and their total.
pub(super) fn write_overview(
    run: &CacheRun<'_>,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Rows::headed(&headings("log"));
    let order = fleet::worst_first(&run.reports());
    let readable = |at: &usize| run.files.get(*at).is_some_and(|file| file.error.is_none());
    let order: Vec<usize> = order.into_iter().filter(readable).collect();
    let shown = order.len().min(look.of_a_code.saturating_mul(2));
    for at in order.iter().take(shown) {
        if let Some(file) = run.files.get(*at) {
            add(
                &mut table,
                SafePath(&file.path).to_string(),
                &file.report.totals,
            );
        }
    }
    if order.len() > shown {
        let left_out = grouped((order.len() - shown) as u64);
        table.add(vec![format!("… and {left_out} more")], Some(Tone::Faint));
    }
    let mut logs = count(order.len() as u64, "log");
    let unreadable = run.files.len() - order.len();
    if unreadable > 0 {
        logs.push_str(&format!(", {} not read", grouped(unreadable as u64)));
    }
    finish(table, logs, &fleet::totals(run.reports()), look, out)
}

/// Writes groups and their total.
pub(super) fn write_groups(
    run: &CacheRun<'_>,
    by: Grouping,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Rows::headed(&headings(by.as_str()));
    let mut sum = CacheTotals::default();
    for group in fleet::groups(run.reports(), by) {
        add(&mut table, Safe(&group.key).to_string(), &group.totals);
        sum.add(&group.totals);
    }
    finish(table, "together".into(), &sum, look, out)
}

fn headings(first: &str) -> [(&str, Side); 7] {
    [
        (first, Side::Name),
        ("requests", Side::Right),
        ("prompt", Side::Right),
        ("rate", Side::Right),
        ("lost", Side::Right),
        ("busts", Side::Right),
        ("cost lost", Side::Right),
    ]
}

fn finish(
    mut table: Rows,
    name: String,
    totals: &CacheTotals,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    table.add(cells(name, totals), Some(Tone::Strong));
    table.drop_empty();
    table.write(look, out)?;
    let note = "  rate: without first requests, where there are others";
    writeln!(out, "{}\n", look.paint.tone(Tone::Faint, note))
}

fn add(table: &mut Rows, name: String, totals: &CacheTotals) {
    let tone = match tone_of(totals) {
        Tone::Good => None,
        tone => Some(tone),
    };
    table.add(cells(name, totals), tone);
}

fn cells(name: String, totals: &CacheTotals) -> Vec<String> {
    std::iter::once(name).chain(sums_in_cells(totals)).collect()
}

/// Writes how often the predicted window held.
pub(super) fn write_window(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    for (label, text) in window_in_words(&run.reports()) {
        write_labelled(label, &text, look, out)?;
    }
    writeln!(out)
}
