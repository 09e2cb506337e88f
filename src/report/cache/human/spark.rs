//! The hit rate over a log's requests, as one line of bars, and the busts' numbers beneath.
//!
//! **Takes** rows and the columns there are. **Gives** two texts of the same width. **Never** hides a loss: where a column
//! stands for several requests it shows the worst of them.

use crate::analyse::answer::{CacheRow, CacheVerdict};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Columns of a bar where there is room for it.
const WIDEST_BAR: usize = 2;

/// A request without usage.
const SILENT: char = '·';

/// The line of bars, and the line of marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spark {
    /// One bar per request, or per group of requests.
    pub(super) bars: String,
    /// Under each bust the number it has in the list, `▴` where that has two digits.
    pub(super) marks: String,
}

/// Draws rows in at most `columns`. `rank` gives the number of a bust by the row's index.
pub(super) fn draw(
    rows: &[CacheRow],
    columns: usize,
    rank: impl Fn(usize) -> Option<usize>,
) -> Spark {
    let shown: Vec<(usize, &CacheRow)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.inherited)
        .collect();
    let per_column = shown.len().div_ceil(columns.max(1)).max(1);
    let bar_columns = (columns / shown.len().max(1)).clamp(1, WIDEST_BAR);
    let mut spark = Spark {
        bars: String::new(),
        marks: String::new(),
    };
    for group in shown.chunks(per_column) {
        let level = group.iter().filter_map(|(_, row)| level(row)).min();
        let bar = level.and_then(|level| BARS.get(level)).unwrap_or(&SILENT);
        spark.bars.extend(std::iter::repeat_n(bar, bar_columns));
        let best = group.iter().filter_map(|(index, _)| rank(*index)).min();
        spark.marks.push(match best {
            None => ' ',
            Some(rank) => u32::try_from(rank)
                .ok()
                .and_then(|rank| char::from_digit(rank, 10))
                .unwrap_or('▴'),
        });
        spark
            .marks
            .extend(std::iter::repeat_n(' ', bar_columns - 1));
    }
    spark.marks.truncate(spark.marks.trim_end().len());
    spark
}

/// The bar of a request: 0 for nothing, 7 for nearly all. First requests are shown like any other.
fn level(row: &CacheRow) -> Option<usize> {
    let (prompt, hit) = row
        .usage()
        .filter(|_| row.verdict != CacheVerdict::Inherited)?;
    let eighths = u128::from(hit) * 8 / u128::from(prompt.max(1));
    Some(usize::try_from(eighths).unwrap_or(7).min(7))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::answer::sample;

    #[test]
    fn a_bar_for_each_request_and_a_mark_for_each_bust() {
        let report = sample::eventful("");
        let busts: Vec<usize> = (0..report.rows.len())
            .filter(|at| report.rows[*at].is_bust())
            .collect();
        let rank = |index| Some(busts.iter().position(|at| *at == index)? + 1);
        let spark = draw(&report.rows, 29, rank);
        assert_eq!(spark.bars, "▁███▁█▁▄█▁█▁██·");
        assert_eq!(spark.marks, "    1 23 4 5 6");
        let wide = draw(&report.rows, 30, rank);
        assert_eq!(wide.bars, "▁▁██████▁▁██▁▁▄▄██▁▁██▁▁████··");
        assert_eq!(wide.marks, "        1   2 3   4   5   6");
    }

    #[test]
    fn a_column_shows_its_worst_request() {
        let mut rows = vec![sample::kept(1, 1, 1, 9000); 1000];
        rows[700] = sample::with_hit(rows[700].clone(), CacheVerdict::Lost, 0);
        let spark = draw(&rows, 50, |index| (index == 700).then_some(1));
        assert_eq!(spark.bars.chars().count(), 50);
        assert_eq!(spark.bars.chars().position(|bar| bar == '▁'), Some(35));
        assert_eq!(spark.marks.chars().position(|mark| mark == '1'), Some(35));
    }
}
