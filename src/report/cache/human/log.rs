//! One log: its head, its rate over time, its sums, its requests and its busts.
//!
//! **Takes** a [`CacheFile`]. **Gives** a section that fits the terminal. **Never** says more than ten busts unless asked.

use std::io::{self, Write};

use crate::analyse::answer::{CacheReport, CacheTotals};
use crate::analyse::fleet;

use super::super::super::columns::{cut_end, width};
use super::super::super::paint::Tone;
use super::super::super::safe::{Safe, SafePath};
use super::super::super::words::{count, wrapped};
use super::super::super::{Detail, Look};
use super::super::CacheFile;
use super::super::numbers::{NOT_KNOWN, share, tokens};
use super::super::words::{
    calls_in_words, cost_in_words, loss_in_words, miss, period, without_first,
};
use super::{busts, requests, spark};

/// Columns of the widest label and of the gap behind it.
const LABEL: usize = 10;

/// Writes the section.
pub(super) fn write(file: &CacheFile, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let report = &file.report;
    write_head(file, look, out)?;
    if report.rows.is_empty() {
        return writeln!(out, "  no request to report on\n");
    }
    let ranked = fleet::busts(&[report]);
    let rank = |index: usize| Some(ranked.iter().position(|bust| bust.index == index)? + 1);
    let drawn = spark::draw(&report.rows, look.width.saturating_sub(LABEL + 2), rank);
    write_rate(report, &drawn, look, out)?;
    write_sums(report, look, out)?;
    write_misses(file, look, out)?;
    writeln!(out)?;
    if look.detail >= Detail::Normal {
        requests::write(report, rank, look, out)?;
        writeln!(out)?;
    }
    busts::write_list(&ranked, |_| None, look, out)
}

/// Writes the budgets that a log missed.
pub(super) fn write_misses(file: &CacheFile, look: Look, out: &mut dyn Write) -> io::Result<()> {
    for missed in &file.misses {
        let text = format!("✗ {}", miss(missed, &file.report));
        for (at, line) in wrapped(&text, look.width.saturating_sub(4))
            .iter()
            .enumerate()
        {
            let indent = if at == 0 { "" } else { "  " };
            writeln!(out, "  {indent}{}", look.paint.tone(Tone::Bad, line))?;
        }
    }
    Ok(())
}

fn write_head(file: &CacheFile, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let totals = &file.report.totals;
    let (mark, tone) = match (file.misses.is_empty() && file.is_answered(), totals.busts()) {
        (false, _) => ("✗", Tone::Bad),
        (true, 0) if file.outcome == "clean" => ("✓", Tone::Good),
        (true, _) => ("!", Tone::Doubt),
    };
    let path = look
        .paint
        .tone(Tone::Strong, SafePath(&file.path))
        .to_string();
    write!(out, "{} {path}", look.paint.tone(tone, mark))?;
    match file.is_answered() {
        true => writeln!(out)?,
        false => writeln!(out, "  {}", look.paint.tone(tone, Safe(&file.outcome)))?,
    }
    let mut facts = Vec::new();
    if let Some(session) = &file.session {
        facts.push(session.in_words());
    }
    let models = fleet::groups([&file.report], crate::analyse::answer::Grouping::Model);
    match models.as_slice() {
        [] => {}
        [model] => facts.push(Safe(&model.key).to_string()),
        models => facts.push(count(models.len() as u64, "model")),
    }
    let inherited = file.report.rows.iter().filter(|row| row.inherited).count();
    let mut more = vec![count(totals.requests, "request")];
    if inherited > 0 {
        more.push(format!("{inherited} inherited"));
    }
    more.extend(period(totals));
    let room = look.width.saturating_sub(2);
    let lines = match [facts.as_slice(), &more].concat().join(" · ") {
        whole if width(&whole) <= room => vec![whole],
        _ => vec![facts.join(" · "), more.join(" · ")],
    };
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let line = cut_end(line, room);
        writeln!(out, "  {}", look.paint.tone(Tone::Faint, line))?;
    }
    if let Some(digest) = &file.digest {
        let digest = look.paint.tone(Tone::Faint, format!("sha256 {digest}"));
        writeln!(out, "  {digest}")?;
    }
    writeln!(out)
}

fn write_rate(
    report: &CacheReport,
    drawn: &spark::Spark,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let totals = &report.totals;
    let tone = tone_of(totals);
    let label = look
        .paint
        .tone(Tone::Faint, format!("{:<LABEL$}", "hit rate"));
    writeln!(out, "  {label}{}", look.paint.tone(tone, &drawn.bars))?;
    if !drawn.marks.is_empty() {
        let marks = look.paint.tone(Tone::Strong, &drawn.marks);
        writeln!(out, "  {:LABEL$}{marks}", "")?;
    }
    if totals.with_usage == 0 {
        return writeln!(out, "  {:LABEL$}usage was not reported", "");
    }
    let rate = look
        .paint
        .tone(Tone::Strong, share(totals.hit, totals.prompt));
    let (prompt, hit) = without_first(totals);
    let rest = match share(hit, prompt).as_str() {
        NOT_KNOWN => String::new(),
        rest if totals.first_prompt > 0 => format!("{rest} without the first request"),
        _ => String::new(),
    };
    write!(out, "  {:LABEL$}{rate} of the prompt", "")?;
    if rest.is_empty() {
        return writeln!(out);
    }
    let line = LABEL + "  100.0 % of the prompt, ".len() + width(&rest);
    match line <= look.width {
        true => writeln!(out, ", {rest}"),
        false => writeln!(out, "\n  {:LABEL$}{rest}", ""),
    }
}

/// How a rate looks: a prefix that holds is close to everything.
pub(super) fn tone_of(totals: &CacheTotals) -> Tone {
    match totals.rate_without_first().or(totals.rate()) {
        None => Tone::Faint,
        Some(rate) if rate >= 0.9 => Tone::Good,
        Some(rate) if rate >= 0.5 => Tone::Doubt,
        Some(_) => Tone::Bad,
    }
}

fn write_sums(report: &CacheReport, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let totals = &report.totals;
    if totals.with_usage > 0 {
        let text = format!(
            "{} = {} cached + {} missed; {} output",
            tokens(totals.prompt),
            tokens(totals.hit),
            tokens(totals.prompt.saturating_sub(totals.hit)),
            tokens(totals.output),
        );
        let without = totals.requests.saturating_sub(totals.with_usage);
        let text = match without {
            0 => text,
            _ => format!("{text}; {} without usage", count(without, "request")),
        };
        write_labelled("prompt", &text, look, out)?;
    }
    if totals.busts() > 0 {
        write_labelled("lost", &loss_in_words(totals), look, out)?;
    }
    if totals.priced > 0 {
        write_labelled("cost", &cost_in_words(totals), look, out)?;
    }
    let calls = report.one_shot_totals();
    if calls.calls > 0 {
        write_labelled("besides", &calls_in_words(&calls), look, out)?;
    }
    Ok(())
}

/// Writes a line that begins with a faint label, broken under itself.
pub(super) fn write_labelled(
    label: &str,
    text: &str,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut label = label;
    for line in wrapped(text, look.width.saturating_sub(LABEL + 2)) {
        let name = look.paint.tone(Tone::Faint, format!("{label:<LABEL$}"));
        writeln!(out, "  {name}{line}")?;
        label = "";
    }
    Ok(())
}
