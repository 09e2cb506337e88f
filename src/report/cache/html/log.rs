//! One log on the page: its sums, its timeline, its busts, and a table of its requests.
//!
//! **Takes** a [`CacheFile`]. **Gives** a section. **Never** draws a bust without saying what is known of it.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::analyse::answer::{CacheReport, CacheRow, Grouping, HeaderChange};
use crate::analyse::fleet::{self, Bust};

use super::super::super::safe::{Safe, SafePath};
use super::super::super::words::{count, grouped};
use super::super::super::{Excerpts, Look};
use super::super::difference::Difference;
use super::super::numbers::{self, NOT_KNOWN, share};
use super::super::pick::pick;
use super::super::words::{miss, period};
use super::super::{CacheFile, story};
use super::{chart, header, sums};

/// The most busts that are folded away.
const MOST_FOLDED: usize = 500;

/// The most rows of the table.
const MOST_ROWS: usize = 2000;

/// The section of the log that stands at `at` among the inputs.
pub(super) fn section(
    at: usize,
    file: &CacheFile,
    busts_only: bool,
    look: Look,
    style: &mut String,
) -> Markup {
    let report = &file.report;
    let name = format!("l{}", at + 1);
    let busts = fleet::busts(&[report]);
    html! {
        section id=(name) {
            h2 { (SafePath(&file.path).to_string()) }
            p.soft { (facts(file)) }
            @if !file.misses.is_empty() {
                ul.misses {
                    @for missed in &file.misses { li { "✗ " (miss(missed, report)) } }
                }
            }
            @if report.rows.is_empty() {
                p { "No request." }
            } @else {
                (sums::tiles(&report.totals, &report.one_shot_totals()))
                @if !busts_only { (chart::draw(&name, &report.rows, &busts, style)) }
                (bust_list(&name, file, &busts, look))
                @if !busts_only { (requests(report, look)) }
            }
        }
    }
}

fn facts(file: &CacheFile) -> String {
    let mut facts = Vec::new();
    if let Some(session) = &file.session {
        facts.push(session.in_words());
    }
    let models = fleet::groups([&file.report], Grouping::Model);
    facts.extend(models.iter().map(|model| Safe(&model.key).to_string()));
    facts.push(count(file.report.totals.requests, "request"));
    let inherited = file.report.rows.iter().filter(|row| row.inherited).count();
    if inherited > 0 {
        facts.push(format!("{} inherited", grouped(inherited as u64)));
    }
    facts.extend(period(&file.report.totals));
    facts.join(" · ")
}

/// The busts: the first ones of each cause in sight, the others folded away.
fn bust_list(name: &str, file: &CacheFile, busts: &[Bust<'_>], look: Look) -> Markup {
    let picked = pick(busts, look);
    let told: BTreeSet<usize> = picked.told.iter().map(|(rank, _)| *rank).collect();
    let is_folded = |(rank, _): &(usize, &Bust<'_>)| !told.contains(rank);
    let others = (1..).zip(busts).filter(is_folded);
    html! {
        @if !busts.is_empty() {
            h3 { "Busts, by loss" }
            ol.busts {
                @for (rank, bust) in &picked.told { (bust_entry(name, *rank, bust, change_of(file, bust), look)) }
            }
            @if let Some(summary) = &picked.others {
                details {
                    summary { "And " (summary) }
                    ol.busts {
                        @for (rank, bust) in others.take(MOST_FOLDED) {
                            (bust_entry(name, rank, bust, None, look))
                        }
                    }
                    @if busts.len() > MOST_FOLDED + told.len() {
                        p.soft { "The JSON has all." }
                    }
                }
            }
        }
    }
}

/// What the header changes that broke the prefix.
fn change_of<'r>(file: &'r CacheFile, bust: &Bust<'_>) -> Option<&'r HeaderChange> {
    let broken = bust.row.broken.as_ref()?;
    let changes = &file.changes;
    let by_event = |seq| changes.get(&seq);
    broken.cause.is_header().then_some(())?;
    by_event(bust.row.header).or_else(|| by_event(bust.row.boundary))
}

fn bust_entry(
    name: &str,
    rank: usize,
    bust: &Bust<'_>,
    change: Option<&HeaderChange>,
    look: Look,
) -> Markup {
    let row = bust.row;
    let lost = story::loss(row);
    let event = row
        .broken
        .as_ref()
        .and_then(|broken| Some((broken.seq?, broken.line?)));
    let sides = story::sides(row).filter(|_| look.excerpt == Excerpts::Shown);
    html! {
        li id={(name) "b" (rank)} data-lost=(row.lost.unwrap_or(0)) {
            p {
                span.rank { (rank) }
                strong.doubt { (lost) }
                @if let Some(cost) = row.cost.as_ref().filter(|cost| cost.lost > 0) {
                    ", " (numbers::money(cost.lost, &cost.currency.0))
                }
                " · " strong { (story::cause(row)) }
            }
            p.soft {
                "request " (story::request(row)) ", line " (grouped(row.line.0)) ", " (row.time.to_string())
                @if let Some((seq, line)) = event {
                    "; the change: seq " (seq.0) ", line " (grouped(line.0))
                }
            }
            dl.said {
                @for said in story::tell(bust) {
                    dt { (said.certainty.as_str()) } dd { (said.text) }
                }
            }
            @if let Some((before, after)) = &sides { (diff(&Difference::of(before, after))) }
            @if let Some(change) = change { (header::change(change)) }
        }
    }
}

fn diff(difference: &Difference) -> Markup {
    let Difference { before, after } = difference;
    html! {
        div.diff {
            @if !before.is_empty() {
                div.was { "− " (before.start) del { (before.changed) } (before.end) }
            }
            @if !after.is_empty() {
                div.is { "+ " (after.start) ins { (after.changed) } (after.end) }
            }
        }
    }
}

fn requests(report: &CacheReport, look: Look) -> Markup {
    let shown = match look.of_a_code {
        usize::MAX => usize::MAX,
        _ => MOST_ROWS,
    };
    let left_out = report.rows.len().saturating_sub(shown);
    html! {
        details {
            summary { "All requests, as a table" }
            div.scroll {
                table {
                    thead {
                        tr {
                            th scope="col" { "request" }
                            th.r scope="col" { "prompt" }
                            th.r scope="col" { "cached" }
                            th.r scope="col" { "rate" }
                            th.r.wide scope="col" { "output" }
                            th.r.wide scope="col" { "lost" }
                            th scope="col" { "verdict" }
                            th.wide scope="col" { "cause" }
                        }
                    }
                    tbody { @for row in report.rows.iter().take(shown) { (request(row)) } }
                }
            }
            @if left_out > 0 {
                p.soft { "… and " (count(left_out as u64, "request")) " more; the JSON has all." }
            }
        }
    }
}

fn request(row: &CacheRow) -> Markup {
    let exact = |number: Option<u64>| number.map_or(NOT_KNOWN.to_string(), grouped);
    let rate = row
        .usage()
        .map_or(NOT_KNOWN.to_string(), |(prompt, hit)| share(hit, prompt));
    html! {
        tr.(row.verdict.as_str()) {
            td { (story::request(row)) }
            td.r { (exact(row.prompt)) }
            td.r { (exact(row.hit)) }
            td.r { (rate) }
            td.r.wide { (exact(row.output)) }
            td.r.wide { (exact(row.lost)) }
            td { (row.verdict.as_str()) }
            td.wide { (story::cause(row)) }
        }
    }
}
