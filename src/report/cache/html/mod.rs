//! Cache reports as one page that needs nothing else: no network, no script.
//!
//! **Takes** a [`CacheRun`]. **Gives** HTML with its style and its charts inside. **Never** writes text of a log but through
//! the sanitiser and the template's escaping, and never decides: its numbers are those of the other formats.

mod chart;
mod header;
mod log;
mod policy;
mod sums;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::analyse::fleet;

use super::super::safe::{Safe, SafePath};
use super::super::words::count;
use super::super::{Look, TOOL};
use super::story::NOT_SHOWN;
use super::words::{price_source, window_in_words};
use super::{CacheFile, CacheRun};

const STYLE: &str = include_str!("page.css");

/// Writes the run.
pub(super) fn write(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let mut style = STYLE.to_string();
    let body = body(run, look, &mut style);
    let policy = policy::policy(&style);
    let title = match run.files {
        [file] => format!("Prefix cache: {}", SafePath(&file.path)),
        files => format!("Prefix cache: {}", count(files.len() as u64, "log")),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="generator" content=(TOOL);
                title { (title) }
                style { (PreEscaped(&style)) }
            }
            body { (body) }
        }
    };
    out.write_all(page.into_string().as_bytes())?;
    out.write_all(b"\n")
}

fn body(run: &CacheRun<'_>, look: Look, style: &mut String) -> Markup {
    let several = run.files.len() > 1;
    let totals = fleet::totals(run.reports());
    html! {
        header {
            h1 { "Prefix cache" }
            @if several {
                p.soft { (count(run.files.len() as u64, "log")) ", " (count(totals.requests, "request")) }
                (sums::tiles(&totals, &fleet::one_shots(run.reports())))
            }
        }
        main {
            @for file in run.files.iter().filter(|file| file.error.is_some()) { (error(file)) }
            @if several { (sums::overview(run, look)) }
            @if let Some(by) = run.parts.by { (sums::groups(run, by)) }
            (logs(run, look, style))
            @if run.parts.window.is_some() {
                section {
                    h2 { "Prediction" }
                    dl.said {
                        @for (label, text) in window_in_words(&run.reports()) {
                            dt { (label) } dd { (text) }
                        }
                    }
                }
            }
        }
        footer {
            p { "What a log cannot show:" }
            ul { @for text in NOT_SHOWN { li { (text) } } }
            p {
                "Observed: the log shows it. Coincident: two things at the same request; that one caused the other is an \
                 inference. Possible: the log allows it and does not decide it."
            }
            @if let Some(source) = price_source(run) { p { (source) } }
            p { (TOOL) }
        }
    }
}

fn error(file: &CacheFile) -> Markup {
    let error = file.error.as_deref().unwrap_or_default();
    html! {
        p.misses { strong { (SafePath(&file.path).to_string()) } ": " (Safe(error).to_string()) }
    }
}

/// The logs, worst first; no more than a person reads.
fn logs(run: &CacheRun<'_>, look: Look, style: &mut String) -> Markup {
    let order: Vec<(usize, &CacheFile)> = fleet::worst_first(&run.reports())
        .into_iter()
        .filter_map(|at| Some((at, run.files.get(at)?)))
        .filter(|(_, file)| file.error.is_none())
        .collect();
    let shown = look.of_a_code.saturating_mul(2);
    let left_out = order.len().saturating_sub(shown);
    html! {
        @for (at, file) in order.iter().take(shown) {
            (log::section(*at, file, run.parts.only.is_some(), look, style))
        }
        @if left_out > 0 {
            p.soft { "… and " (count(left_out as u64, "log")) " with less to say (--no-limit shows them)" }
        }
    }
}
