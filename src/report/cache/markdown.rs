//! Cache reports as Markdown that can be pasted into an issue or a pull request.
//!
//! **Takes** a [`CacheRun`]. **Gives** a heading, a table of logs, the busts, and what a log cannot show.
//! **Never** lets text of a log become markup, a mention, a link or HTML.

use std::io::{self, Write};
use std::path::Path;

use crate::analyse::answer::{CacheTotals, Grouping};
use crate::analyse::fleet::{self, Bust};

use super::super::markdown::{code, outcome};
use super::super::safe::{MarkdownText, Safe, SafePath};
use super::super::words::{count, grouped};
use super::super::{Excerpts, Look};
use super::numbers::{share, tokens};
use super::pick::pick;
use super::story::{self, NOT_SHOWN};
use super::words::{
    busts_in_words, cost_in_words, miss, price_source, sums_in_cells, window_in_words,
};
use super::{CacheFile, CacheRun};

/// Writes the run.
pub(super) fn write(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "## dsh-audit cache-report: {}\n",
        outcome(run.exit_code)
    )?;
    let totals = fleet::totals(run.reports());
    writeln!(out, "{}.\n", sum(run, &totals))?;
    for file in run.files {
        write_trouble(file, out)?;
    }
    let has_trouble = |file: &CacheFile| file.error.is_some() || !file.misses.is_empty();
    if run.files.iter().any(has_trouble) {
        writeln!(out)?;
    }
    if run.parts.only.is_none() {
        write_logs(run, look, out)?;
    }
    write_busts(run, look, out)?;
    if let Some(by) = run.parts.by {
        write_groups(run, by, out)?;
    }
    if run.parts.window.is_some() {
        writeln!(out, "### Prediction\n")?;
        for (label, text) in window_in_words(&run.reports()) {
            writeln!(out, "- {label}: {text}")?;
        }
        writeln!(out)?;
    }
    let prices =
        price_source(run).map_or(String::new(), |source| format!(" {}", MarkdownText(source)));
    writeln!(
        out,
        "<sub>What a log cannot show: {}.{prices}</sub>",
        NOT_SHOWN.join("; ")
    )
}

fn sum(run: &CacheRun<'_>, totals: &CacheTotals) -> String {
    let mut parts = vec![
        count(run.files.len() as u64, "log"),
        count(totals.requests, "request"),
    ];
    if totals.with_usage > 0 {
        parts.push(format!("hit rate **{}**", share(totals.hit, totals.prompt)));
    }
    parts.push(match totals.busts() {
        0 => "no prefix broke, and none was lost".to_string(),
        busts if totals.with_usage == 0 => {
            format!("loss not known in {}", count(busts, "bust"))
        }
        _ => format!(
            "**{}** tokens lost in {}",
            tokens(totals.lost),
            busts_in_words(totals)
        ),
    });
    if totals.priced > 0 {
        parts.push(cost_in_words(totals));
    }
    parts.join(" · ")
}

fn write_trouble(file: &CacheFile, out: &mut dyn Write) -> io::Result<()> {
    let path = MarkdownText(SafePath(&file.path)).to_string();
    if let Some(error) = &file.error {
        writeln!(out, "- ❌ {path}: {}", MarkdownText(Safe(error)))?;
    }
    for missed in &file.misses {
        let text = MarkdownText(miss(missed, &file.report)).to_string();
        writeln!(out, "- ❌ {path}: {text}")?;
    }
    Ok(())
}

const RATE: &str = "\n<sub>Hit rate: without first requests, where there are others.</sub>\n";

const HEADINGS: &str = "| requests | prompt | hit rate | lost | busts | cost lost |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |";

fn write_logs(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let order: Vec<&CacheFile> = fleet::worst_first(&run.reports())
        .into_iter()
        .filter_map(|at| run.files.get(at))
        .filter(|file| file.error.is_none())
        .collect();
    if order.is_empty() {
        return Ok(());
    }
    writeln!(out, "| log {HEADINGS}")?;
    let shown = look.of_a_code.saturating_mul(2);
    for file in order.iter().take(shown) {
        let path = MarkdownText(SafePath(&file.path)).to_string();
        write_totals(&path, &file.report.totals, out)?;
    }
    if order.len() > shown {
        let left_out = grouped((order.len() - shown) as u64);
        writeln!(out, "| … and {left_out} more |  |  |  |  |  |  |")?;
    }
    writeln!(out, "{RATE}")
}

fn write_groups(run: &CacheRun<'_>, by: Grouping, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### By {}\n", by.as_str())?;
    writeln!(out, "| {} {HEADINGS}", by.as_str())?;
    for group in fleet::groups(run.reports(), by) {
        let key = MarkdownText(Safe(&group.key)).to_string();
        write_totals(&key, &group.totals, out)?;
    }
    writeln!(out, "{RATE}")
}

fn write_totals(name: &str, totals: &CacheTotals, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| {name} | {} |", sums_in_cells(totals).join(" | "))
}

fn write_busts(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let busts = fleet::busts(&run.reports());
    if busts.is_empty() {
        return Ok(());
    }
    writeln!(out, "### Busts, by loss\n")?;
    let picked = pick(&busts, look);
    for (_, bust) in picked.told {
        let several = run.files.len() > 1;
        let file = run.files.get(bust.report).filter(|_| several);
        write_bust(bust, file.map(|file| file.path.as_path()), look, out)?;
    }
    if let Some(others) = picked.others {
        writeln!(out, "\n… and {others}.")?;
    }
    writeln!(out)
}

fn write_bust(
    bust: &Bust<'_>,
    path: Option<&Path>,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let row = bust.row;
    let lost = format!("**{}**", story::loss(row));
    let path = path.map_or(String::new(), |path| {
        format!(" in {}", MarkdownText(SafePath(path)))
    });
    writeln!(
        out,
        "1. {lost}{path} at request {}, line {}: {}",
        story::request(row),
        grouped(row.line.0),
        MarkdownText(story::cause(row))
    )?;
    for said in story::tell(bust) {
        let text = MarkdownText(&said.text).to_string();
        writeln!(out, "   - *{}*: {text}", said.certainty.as_str())?;
    }
    let Some((before, after)) = story::sides(row).filter(|_| look.excerpt == Excerpts::Shown)
    else {
        return Ok(());
    };
    for (name, side) in [("before", before), ("after", after)] {
        if !side.is_empty() {
            writeln!(out, "   - {name}: {}", code(&side))?;
        }
    }
    Ok(())
}
