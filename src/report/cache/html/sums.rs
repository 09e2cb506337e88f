//! Sums on the page: tiles, the logs worst first, groups.
//!
//! **Takes** totals. **Gives** markup; exact numbers stand in `value` where the text is shortened. **Never** adds anything up.

use maud::{Markup, html};

use crate::analyse::answer::{CacheTotals, Grouping, OneShotTotals};
use crate::analyse::fleet;

use super::super::super::Look;
use super::super::super::safe::{Safe, SafePath};
use super::super::super::words::{count, grouped};
use super::super::CacheRun;
use super::super::numbers::{self, NOT_KNOWN, share, tokens};
use super::super::words::{busts_in_words, calls_in_words, sums_in_cells, without_first};

/// The sums of a log or of a run, large.
pub(super) fn tiles(totals: &CacheTotals, calls: &OneShotTotals) -> Markup {
    let (prompt, hit) = without_first(totals);
    let missed = totals.prompt.saturating_sub(totals.hit);
    html! {
        dl.tiles {
            div.tile {
                dt { "hit rate" }
                dd {
                    b class=(class_of(totals)) { (share(totals.hit, totals.prompt)) }
                    @if totals.first_prompt > 0 && prompt > 0 {
                        span { (share(hit, prompt)) " without first requests" }
                    } @else if totals.with_usage == 0 {
                        span { "usage was not reported" }
                    }
                }
            }
            div.tile {
                dt { "prompt tokens" }
                dd {
                    b { (number("prompt", totals.prompt, totals)) }
                    span {
                        (number("hit", totals.hit, totals)) " cached, "
                        (number("missed", missed, totals)) " missed; "
                        (number("output", totals.output, totals)) " output"
                    }
                }
            }
            div.tile {
                dt { "lost tokens" }
                dd {
                    b.doubt[totals.lost > 0] { (number("lost", totals.lost, totals)) }
                    span {
                        @if totals.busts() == 0 { "no bust" } @else { (busts_in_words(totals)) }
                    }
                }
            }
            @if totals.priced > 0 {
                div.tile {
                    dt { "cost" }
                    dd {
                        b { (numbers::paid(&totals.cost)) }
                        @if totals.cost.iter().any(|cost| cost.lost > 0) {
                            span {
                                (numbers::lost(&totals.cost)) " of it lost; "
                                (numbers::intact(&totals.cost)) " with an intact prefix"
                            }
                        }
                        @if totals.priced < totals.requests {
                            span {
                                (count(totals.requests - totals.priced, "request"))
                                " without a known price"
                            }
                        }
                    }
                }
            }
        }
        @if calls.calls > 0 { p.soft { "Besides: " (calls_in_words(calls)) "." } }
    }
}

/// A number in short, with its exact value beside it.
fn number(name: &str, exact: u64, totals: &CacheTotals) -> Markup {
    let shown = match totals.with_usage {
        0 => NOT_KNOWN.to_string(),
        _ => tokens(exact),
    };
    html! { data class=(name) value=(exact) title=(grouped(exact)) { (shown) } }
}

fn class_of(totals: &CacheTotals) -> &'static str {
    match totals.rate_without_first().or(totals.rate()) {
        None => "soft",
        Some(rate) if rate >= 0.9 => "good",
        Some(rate) if rate >= 0.5 => "doubt",
        Some(_) => "bad",
    }
}

/// The logs, worst first, each with a link to its section where it has one.
pub(super) fn overview(run: &CacheRun<'_>, look: Look) -> Markup {
    let order: Vec<usize> = fleet::worst_first(&run.reports())
        .into_iter()
        .filter(|at| run.files.get(*at).is_some_and(|file| file.error.is_none()))
        .collect();
    let linked = look.of_a_code.saturating_mul(2);
    let rows = order.iter().enumerate().filter_map(|(place, at)| {
        let file = run.files.get(*at)?;
        let name = SafePath(&file.path).to_string();
        let name = if place < linked {
            html! { a href={"#l" (at + 1)} { (name) } }
        } else {
            html! { (name) }
        };
        Some((name, &file.report.totals))
    });
    html! {
        section {
            h2 { "Logs, worst first" }
            (table("log", rows.collect(), &fleet::totals(run.reports())))
        }
    }
}

/// Groups of requests.
pub(super) fn groups(run: &CacheRun<'_>, by: Grouping) -> Markup {
    let groups = fleet::groups(run.reports(), by);
    let mut sum = CacheTotals::default();
    groups.iter().for_each(|group| sum.add(&group.totals));
    let rows = groups.iter().map(|group| {
        let key = Safe(&group.key).to_string();
        (html! { (key) }, &group.totals)
    });
    html! {
        section {
            h2 { "By " (by.as_str()) }
            (table(by.as_str(), rows.collect(), &sum))
        }
    }
}

fn table(first: &str, rows: Vec<(Markup, &CacheTotals)>, sum: &CacheTotals) -> Markup {
    html! {
        div.scroll {
            table {
                caption { "Hit rate: without first requests, where there are others." }
                thead {
                    tr {
                        th scope="col" { (first) }
                        th.r.wide scope="col" { "requests" }
                        th.r.wide scope="col" { "prompt" }
                        th.r scope="col" { "hit rate" }
                        th.r scope="col" { "lost" }
                        th.r.wide scope="col" { "busts" }
                        th.r.wide scope="col" { "cost lost" }
                    }
                }
                tbody { @for (name, totals) in &rows { (row(name, totals)) } }
                tfoot { (row(&html! { "together" }, sum)) }
            }
        }
    }
}

fn row(name: &Markup, totals: &CacheTotals) -> Markup {
    let [requests, prompt, rate, lost, busts, cost] = sums_in_cells(totals);
    html! {
        tr {
            td { (name) }
            td.r.wide { (requests) }
            td.r.wide { (prompt) }
            td.r { (rate) }
            td.r { (lost) }
            td.r.wide { (busts) }
            td.r.wide { (cost) }
        }
    }
}
