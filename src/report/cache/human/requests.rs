//! The table of a log's requests.
//!
//! **Takes** rows. **Gives** a table in which quiet stretches are one line each. **Never** folds a bust away, unless there are
//! more lines than a person reads: then it says how many.

use std::io::{self, Write};

use crate::analyse::answer::{CacheReport, CacheRow, CacheVerdict};

use super::super::super::Look;
use super::super::super::paint::Tone;
use super::super::super::words::count;
use super::super::numbers::{share, tokens, tokens_or_dash, total};
use super::super::story;
use super::table::{Rows, Side};

/// Requests alike from which on they share a line.
const A_STRETCH: usize = 3;

/// Most lines, for each finding of a code that is shown elsewhere.
const LINES_PER_CODE: usize = 3;

/// Writes the table.
pub(super) fn write(
    report: &CacheReport,
    rank: impl Fn(usize) -> Option<usize>,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Rows::headed(&[
        ("request", Side::Left),
        ("prompt", Side::Right),
        ("cached", Side::Right),
        ("rate", Side::Right),
        ("lost", Side::Right),
        ("verdict", Side::Left),
        ("cause", Side::Left),
    ]);
    let most = look.of_a_code.saturating_mul(LINES_PER_CODE);
    let is_limited = look.of_a_code != usize::MAX;
    let mut at = 0;
    let mut left_out = 0;
    for stretch in report.rows.chunk_by(|a, b| is_limited && is_alike(a, b)) {
        let lines = match stretch.len() {
            0..A_STRETCH => stretch.chunks(1),
            len => stretch.chunks(len),
        };
        for rows in lines {
            if table.len() < most {
                add(&mut table, rows, at, &rank);
            } else {
                left_out += rows.len();
            }
            at += rows.len();
        }
    }
    table.drop_empty();
    table.write(look, out)?;
    if left_out > 0 {
        let left_out = count(left_out as u64, "request");
        writeln!(out, "  … and {left_out} more (--no-limit shows them)")?;
    }
    Ok(())
}

/// Whether two requests in a row are the same to a reader: nothing happened in either.
fn is_alike(one: &CacheRow, next: &CacheRow) -> bool {
    one.verdict == next.verdict
        && !one.is_bust()
        && !next.is_bust()
        && one.broken.is_none()
        && next.broken.is_none()
}

fn add(table: &mut Rows, rows: &[CacheRow], at: usize, rank: &impl Fn(usize) -> Option<usize>) {
    let [first, .., last] = rows else {
        if let [row] = rows {
            add_one(table, row, rank(at));
        }
        return;
    };
    let usage: Vec<(u64, u64)> = rows.iter().filter_map(CacheRow::usage).collect();
    let prompt = total(usage.iter().map(|(prompt, _)| *prompt));
    let hit = total(usage.iter().map(|(_, hit)| *hit));
    let known = |number| (!usage.is_empty()).then_some(number);
    let verdict = format!("{} ×{}", first.verdict.as_str(), rows.len());
    let cells = vec![
        format!("{} – {}", story::request(first), story::request(last)),
        tokens_or_dash(known(prompt)),
        tokens_or_dash(known(hit)),
        share(hit, prompt),
        String::new(),
        verdict,
        String::new(),
    ];
    table.add(cells, tone(first));
}

fn add_one(table: &mut Rows, row: &CacheRow, rank: Option<usize>) {
    let verdict = match rank {
        Some(rank) => format!("{} #{rank}", row.verdict.as_str()),
        None => row.verdict.as_str().to_string(),
    };
    let lost = row.lost.filter(|lost| *lost > 0);
    let rate = row
        .usage()
        .map_or_else(|| share(0, 0), |(prompt, hit)| share(hit, prompt));
    let cells = vec![
        story::request(row),
        tokens_or_dash(row.prompt),
        tokens_or_dash(row.hit),
        rate,
        lost.map(tokens).unwrap_or_default(),
        verdict,
        story::cause(row),
    ];
    table.add(cells, tone(row));
}

fn tone(row: &CacheRow) -> Option<Tone> {
    match row.verdict {
        CacheVerdict::Broken => Some(Tone::Doubt),
        CacheVerdict::Lost | CacheVerdict::Contradicted => Some(Tone::Bad),
        CacheVerdict::NotReported if row.is_bust() => Some(Tone::Doubt),
        CacheVerdict::Inherited | CacheVerdict::NotReported | CacheVerdict::BelowUnit => {
            Some(Tone::Faint)
        }
        CacheVerdict::First | CacheVerdict::Kept | CacheVerdict::Better => None,
    }
}
