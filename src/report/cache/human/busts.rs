//! Requests whose prefix broke or was lost, each with what is known of it.
//!
//! **Takes** rows, in order of loss. **Gives** a block for each. **Never** prints more of a log than the bounded texts on
//! both sides of the first difference, and none of them where excerpts are hidden.

use std::io::{self, Write};
use std::path::Path;

use crate::analyse::answer::{CacheRow, Cost};
use crate::analyse::fleet::{self, Bust};
use crate::finding::Certainty;

use super::super::super::columns::{cut_end, cut_start, width};
use super::super::super::paint::Tone;
use super::super::super::safe::SafePath;
use super::super::super::words::{grouped, wrapped};
use super::super::super::{Excerpts, Look};
use super::super::difference::Difference;
use super::super::numbers;
use super::super::pick::pick;
use super::super::{CacheFile, CacheRun, story};
use super::log;

/// Columns of the widest certainty, and of the gap behind it.
const LABEL: usize = 12;

/// Writes the busts of all logs, in order of loss.
pub(super) fn write_all(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let missing = |file: &&CacheFile| !file.misses.is_empty();
    for file in run.files.iter().filter(missing) {
        writeln!(
            out,
            "{}",
            look.paint.tone(Tone::Strong, SafePath(&file.path))
        )?;
        log::write_misses(file, look, out)?;
        writeln!(out)?;
    }
    let busts = fleet::busts(&run.reports());
    if busts.is_empty() {
        return writeln!(out, "  no prefix broke, and none was lost\n");
    }
    let several = run.files.len() > 1;
    let path = |at: usize| run.files.get(at).filter(|_| several);
    write_list(
        &busts,
        |at| path(at).map(|file| file.path.as_path()),
        look,
        out,
    )
}

/// Writes busts in their order; of each cause the first ones, then how many more there are.
pub(super) fn write_list<'p>(
    busts: &[Bust<'_>],
    path: impl Fn(usize) -> Option<&'p Path>,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let picked = pick(busts, look);
    for (rank, bust) in picked.told {
        write(bust, rank, path(bust.report), look, out)?;
    }
    let Some(others) = picked.others else {
        return Ok(());
    };
    let text = format!("… and {others} (--no-limit shows them)");
    for line in wrapped(&text, look.width.saturating_sub(2)) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

/// Writes one bust, the `rank`th; with its log where several are mixed.
fn write(
    bust: &Bust<'_>,
    rank: usize,
    path: Option<&Path>,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let row = bust.row;
    let indent = format!("#{rank}").len() + 1;
    write_head(row, rank, indent, path, look, out)?;
    let room = look.width.saturating_sub(2 + indent + LABEL);
    let mut excerpt_is_due = look.excerpt == Excerpts::Shown;
    for said in story::tell(bust) {
        if excerpt_is_due && said.certainty != Certainty::Observed {
            write_excerpt(row, indent, look, out)?;
            excerpt_is_due = false;
        }
        let mut label = said.certainty.as_str();
        for line in wrapped(&said.text, room) {
            let name = look.paint.tone(Tone::Faint, format!("{label:<LABEL$}"));
            writeln!(out, "  {:indent$}{name}{line}", "")?;
            label = "";
        }
    }
    if excerpt_is_due {
        write_excerpt(row, indent, look, out)?;
    }
    writeln!(out)
}

fn write_head(
    row: &CacheRow,
    rank: usize,
    indent: usize,
    path: Option<&Path>,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lost = story::loss(row);
    let money = row.cost.as_ref().filter(|cost| cost.lost > 0);
    let money = money.map_or(String::new(), |Cost { currency, lost, .. }| {
        format!(", {}", numbers::money(*lost, &currency.0))
    });
    let room = look
        .width
        .saturating_sub(2 + indent + width(&lost) + width(&money) + " · ".len());
    let cause = cut_end(&story::cause(row), room);
    let number = look.paint.tone(Tone::Strong, format!("#{rank}"));
    let lost = look.paint.tone(Tone::Doubt, lost);
    writeln!(out, "  {number} {lost}{money} · {cause}")?;
    if let Some(path) = path {
        let path = cut_start(
            &SafePath(path).to_string(),
            look.width.saturating_sub(2 + indent),
        );
        writeln!(out, "  {:indent$}{path}", "")?;
    }
    let mut place = format!(
        "request {}, line {}, {}",
        story::request(row),
        grouped(row.line.0),
        row.time
    );
    if let Some(broken) = &row.broken
        && let (Some(seq), Some(line)) = (broken.seq, broken.line)
    {
        place.push_str(&format!(
            "; the change: seq {seq}, line {}",
            grouped(line.0)
        ));
    }
    for line in wrapped(&place, look.width.saturating_sub(2 + indent)) {
        writeln!(
            out,
            "  {:indent$}{}",
            "",
            look.paint.tone(Tone::Faint, line)
        )?;
    }
    Ok(())
}

/// Both sides of the first difference, what differs in a tone.
fn write_excerpt(row: &CacheRow, indent: usize, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let Some((before, after)) = story::sides(row) else {
        return Ok(());
    };
    let difference = Difference::of(&before, &after);
    let room = look.width.saturating_sub(2 + indent + LABEL + 2);
    for (sign, side, tone) in [
        ("-", difference.before, Tone::Bad),
        ("+", difference.after, Tone::Good),
    ] {
        if side.is_empty() {
            continue;
        }
        let side = side.cut(room);
        let changed = look.paint.tone(tone, side.changed).to_string();
        let sign = look.paint.tone(tone, sign);
        writeln!(
            out,
            "  {:width$}{sign} {}{changed}{}",
            "",
            side.start,
            side.end,
            width = indent + LABEL
        )?;
    }
    Ok(())
}
