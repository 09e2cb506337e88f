//! Sentences about a whole log: its period, and the budgets it missed.
//!
//! **Takes** totals and [`BudgetMiss`]es. **Gives** plain English. **Never** colours or escapes it for a format.

use crate::analyse::answer::{BudgetMiss, CacheReport, CacheTotals, OneShotTotals};
use crate::analyse::fleet;

use super::super::safe::Safe;
use super::super::words::{count, grouped};
use super::numbers::{self, limit, share, tokens};
use super::{CacheRun, story};

/// Where prices come from, if any was used.
pub(super) fn price_source(run: &CacheRun<'_>) -> Option<String> {
    let table = run.prices?;
    let is_used = run.files.iter().any(|file| file.report.totals.priced > 0);
    is_used.then(|| {
        let (source, captured) = (Safe(&table.source), Safe(&table.captured));
        format!("Prices: {source}, as captured on {captured}.")
    })
}

/// From when to when: `2026-08-21 09:01 – 11:43 UTC`. Absent where there is no request.
pub(super) fn period(totals: &CacheTotals) -> Option<String> {
    // Without the seconds. A year may have more than four digits.
    let minute = |text: String| text.rsplit_once(':').map(|(minute, _)| minute.to_string());
    let first = minute(totals.first_time?.to_string())?;
    let last = minute(totals.last_time?.to_string())?;
    let (day, time) = last.split_at_checked(last.rfind(' ')?)?;
    Some(match (first == last, first.starts_with(day)) {
        (true, _) => format!("{first} UTC"),
        (_, true) => format!("{first} –{time} UTC"),
        (_, false) => format!("{first} – {last} UTC"),
    })
}

/// A missed budget: `hit rate 41.2 % is below --min-hit-rate 90 %; worst at request 4.3`.
pub(super) fn miss(miss: &BudgetMiss, report: &CacheReport) -> String {
    let name = miss.budget();
    let at = miss.row().and_then(|row| report.rows.get(row));
    let at = |word: &str| {
        at.map_or(String::new(), |row| {
            format!("; {word} at request {}", story::request(row))
        })
    };
    match miss {
        BudgetMiss::HitRate { least, rate, .. } => format!(
            "hit rate {} is below {name} {}{}",
            limit((rate * 1000.0).floor() / 1000.0),
            limit(*least),
            at("worst")
        ),
        BudgetMiss::LostTokens { most, lost, .. } => format!(
            "{} lost tokens are above {name} {}{}",
            grouped(*lost),
            grouped(*most),
            at("most")
        ),
        BudgetMiss::HeaderChanges { most, changes, .. } => format!(
            "{} {} above {name} {}{}",
            count(*changes, "header change"),
            if *changes == 1 { "is" } else { "are" },
            grouped(*most),
            at("beyond it")
        ),
        BudgetMiss::NoCacheRead { requests: 1, .. } => {
            format!(
                "1 request reads nothing from the cache ({name}){}",
                at("it stands")
            )
        }
        BudgetMiss::NoCacheRead { requests, .. } => format!(
            "{} requests read nothing from the cache ({name}){}",
            grouped(*requests),
            at("first")
        ),
    }
}

/// Prompt and hit without first requests.
pub(super) fn without_first(totals: &CacheTotals) -> (u64, u64) {
    (
        totals.prompt.saturating_sub(totals.first_prompt),
        totals.hit.saturating_sub(totals.first_hit),
    )
}

/// `1.41k in 2 busts, each with a logged cause`: what was lost, where any usage tells it.
pub(super) fn loss_in_words(totals: &CacheTotals) -> String {
    let busts = busts_in_words(totals);
    match totals.with_usage {
        0 => format!("not known: usage was not reported; {busts}"),
        _ => format!("{} in {busts}", tokens(totals.lost)),
    }
}

/// `6 busts: 5 with a logged cause, 1 without; no event explains 1.2k of it`.
pub(super) fn busts_in_words(totals: &CacheTotals) -> String {
    let mut text = counted_busts(totals);
    if totals.broken > 0 && totals.lost_unexplained > 0 {
        let lost = tokens(totals.lost_unexplained);
        text.push_str(&format!("; no event explains {lost} of it"));
    }
    text
}

fn counted_busts(totals: &CacheTotals) -> String {
    let busts = count(totals.busts(), "bust");
    match (totals.broken, totals.unexplained) {
        (1, 0) => format!("{busts}, with a logged cause"),
        (_, 0) => format!("{busts}, each with a logged cause"),
        (0, 1) => format!("{busts}, not explained by the log"),
        (0, _) => format!("{busts}, none explained by the log"),
        (broken, unexplained) => format!(
            "{busts}: {} with a logged cause, {} without",
            grouped(broken),
            grouped(unexplained)
        ),
    }
}

/// `0.0206 USD, of it 0.0158 USD lost; 0.0048 USD with an intact prefix`.
pub(super) fn cost_in_words(totals: &CacheTotals) -> String {
    let paid = numbers::paid(&totals.cost);
    let mut text = match totals.cost.iter().any(|cost| cost.lost > 0) {
        true => format!(
            "{paid}, of it {} lost; {} with an intact prefix",
            numbers::lost(&totals.cost),
            numbers::intact(&totals.cost)
        ),
        false => paid,
    };
    let unpriced = totals.requests.saturating_sub(totals.priced);
    if unpriced > 0 {
        text.push_str(&format!(
            " ({} without a known price)",
            count(unpriced, "request")
        ));
    }
    text
}

/// `1 call outside the loop: 12.4k prompt, 1.0 % cached, 0.0033 USD`.
pub(super) fn calls_in_words(calls: &OneShotTotals) -> String {
    let cost = match numbers::paid(&calls.cost).as_str() {
        "" => String::new(),
        cost => format!(", {cost}"),
    };
    let usage = match calls.prompt {
        0 => "usage was not reported".into(),
        prompt => format!(
            "{} prompt, {} cached",
            tokens(prompt),
            share(calls.hit, prompt)
        ),
    };
    format!(
        "{} outside the loop: {usage}{cost}",
        count(calls.calls, "call")
    )
}

/// How often the predicted window held, as labels and sentences.
pub(super) fn window_in_words(reports: &[&CacheReport]) -> Vec<(&'static str, String)> {
    let window = fleet::window(reports.iter().copied());
    let mut units: Vec<(u64, &str)> = reports
        .iter()
        .map(|report| match report.unit.inferred {
            true => (report.unit.tokens, "inferred"),
            false => (report.unit.tokens, "assumed"),
        })
        .collect();
    units.sort_unstable();
    units.dedup();
    let units: Vec<String> = units
        .into_iter()
        .map(|(unit, how)| format!("{} tokens ({how})", grouped(unit)))
        .collect();
    vec![
        (
            "window",
            format!(
                "{} of {} hits behind an unchanged prefix lie in the predicted window ({}); {} \
                 below it, {} above",
                grouped(window.inside),
                grouped(window.judged()),
                share(window.inside, window.judged()),
                grouped(window.below),
                grouped(window.above)
            ),
        ),
        (
            "headers",
            format!(
                "the hit is 0 behind {} of {} header changes",
                grouped(window.changes_to_zero),
                grouped(window.changes)
            ),
        ),
        (
            "unit",
            format!(
                "{}; {} of {} hits are multiples of it",
                units.join(", "),
                grouped(window.multiples),
                grouped(window.hits)
            ),
        ),
    ]
}

/// A row of a table of sums: requests, prompt, hit rate without first requests, lost tokens, busts, cost of the loss.
pub(super) fn sums_in_cells(totals: &CacheTotals) -> [String; 6] {
    let (prompt, hit) = match without_first(totals) {
        (0, _) => (totals.prompt, totals.hit),
        rest => rest,
    };
    let known = |number: u64| match totals.with_usage {
        0 => numbers::NOT_KNOWN.to_string(),
        _ => tokens(number),
    };
    let cost = match totals.cost.iter().any(|cost| cost.lost > 0) {
        true => numbers::lost(&totals.cost),
        false => String::new(),
    };
    [
        grouped(totals.requests),
        known(totals.prompt),
        share(hit, prompt),
        known(totals.lost),
        grouped(totals.busts()),
        cost,
    ]
}
