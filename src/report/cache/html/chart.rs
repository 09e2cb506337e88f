//! The timeline of one log: a bar per request, and a mark over each bust.
//!
//! **Takes** rows and ranked busts. **Gives** inline SVG in percentages, so that it fits any width, and the marks' places as
//! CSS. **Never** hides a bust: one without a mark of its own has a tick.

use std::fmt::Write;

use maud::{Markup, html};

use crate::analyse::answer::CacheRow;
use crate::analyse::fleet::Bust;

use super::super::super::words::grouped;
use super::super::numbers::{tokens, total};
use super::super::story;

/// The most bars; more requests share bars.
const MOST_BARS: usize = 240;

/// The fewest places for bars, so that a short log has no walls.
const FEWEST_PLACES: usize = 16;

/// The most numbered marks.
const MOST_MARKS: usize = 12;

/// The height of the plot, in pixels. The style sheet has the same.
const HEIGHT: f64 = 192.0;

/// What the bars count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    /// Tokens: cached, missed, output.
    Tokens,
    /// Bytes of the prompt, where no request reported its usage: kept from the request before, and new.
    Bytes,
}

/// A bar: one request, or several side by side.
struct Bar<'r> {
    rows: &'r [(usize, &'r CacheRow)],
    measure: Measure,
    cached: f64,
    missed: f64,
    output: f64,
    is_known: bool,
}

/// The chart of a log, `name` being the prefix of its ids. Adds the places of its marks to `style`.
pub(super) fn draw(
    name: &str,
    rows: &[CacheRow],
    busts: &[Bust<'_>],
    style: &mut String,
) -> Markup {
    let shown: Vec<(usize, &CacheRow)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.inherited)
        .collect();
    let per_bar = shown.len().div_ceil(MOST_BARS).max(1);
    let measure = match shown.iter().any(|(_, row)| row.usage().is_some()) {
        true => Measure::Tokens,
        false => Measure::Bytes,
    };
    let bars: Vec<Bar<'_>> = shown
        .chunks(per_bar)
        .map(|rows| Bar::of(rows, measure))
        .collect();
    let places = bars.len().max(FEWEST_PLACES) as f64;
    let tallest = bars.iter().map(Bar::height).fold(1.0, f64::max);
    let top = nice_top(tallest);
    let column = |index: usize| {
        let at = bars.iter().position(|bar| bar.holds(index))?;
        Some((at as f64 + 0.5) / places * 100.0)
    };
    let number = grouped(shown.len() as u64);
    let label = match measure {
        Measure::Tokens => format!(
            "Tokens of {number} requests: cached, missed, and output. The table below has the numbers."
        ),
        Measure::Bytes => format!(
            "Bytes of the prompts of {number} requests: kept from the request before, and new."
        ),
    };
    html! {
        figure {
            div.plot {
                (marks(name, busts, &column, style))
                (axis(top))
                svg.bars role="img" aria-label=(label) {
                    (grid())
                    @for (at, bar) in bars.iter().enumerate() {
                        (bar.draw(at as f64 / places, 1.0 / places, top))
                    }
                    (ticks(busts, &column))
                }
                (turns(&bars, places))
            }
            ul.key {
                @match measure {
                    Measure::Tokens => {
                        li { i.c {} "cached" }
                        li { i.m {} "missed" }
                        li { i.o {} "output" }
                    }
                    Measure::Bytes => {
                        li { i.c {} "kept from the request before" }
                        li { i.m {} "new" }
                    }
                }
                @if !busts.is_empty() { li { i.b {} "prefix broken or lost, numbered by loss" } }
            }
            figcaption {
                @match measure {
                    Measure::Tokens => "Tokens per request, in order",
                    Measure::Bytes => "Bytes of the prompt per request, in order: usage was not reported",
                }
                @if per_bar > 1 { "; each bar is the mean of " (per_bar) " requests" }
                ". Dashed lines begin turns."
            }
        }
    }
}

impl<'r> Bar<'r> {
    fn of(rows: &'r [(usize, &'r CacheRow)], measure: Measure) -> Bar<'r> {
        let mean = |sum: u64, of: usize| sum as f64 / of.max(1) as f64;
        if measure == Measure::Bytes {
            let all = total(rows.iter().map(|(_, row)| row.prompt_bytes));
            let kept = total(rows.iter().map(|(_, row)| row.kept_bytes));
            return Bar {
                rows,
                measure,
                cached: mean(kept, rows.len()),
                missed: mean(all.saturating_sub(kept), rows.len()),
                output: 0.0,
                is_known: true,
            };
        }
        let usage: Vec<(u64, u64)> = rows.iter().filter_map(|(_, row)| row.usage()).collect();
        let hit = total(usage.iter().map(|(_, hit)| *hit));
        let prompt = total(usage.iter().map(|(prompt, _)| *prompt));
        let output = total(rows.iter().filter_map(|(_, row)| row.output));
        Bar {
            rows,
            measure,
            cached: mean(hit, usage.len()),
            missed: mean(prompt.saturating_sub(hit), usage.len()),
            output: mean(output, rows.len()),
            is_known: !usage.is_empty(),
        }
    }

    fn height(&self) -> f64 {
        self.cached + self.missed + self.output
    }

    fn holds(&self, index: usize) -> bool {
        self.rows.iter().any(|(at, _)| *at == index)
    }

    /// One group of boxes from the ground up; `x` and `width` are shares of the plot.
    fn draw(&self, x: f64, width: f64, top: f64) -> Markup {
        let (left, wide) = (percent(x + width * 0.09), percent(width * 0.82));
        let mut ground = HEIGHT;
        let mut boxes = Vec::new();
        for (class, part) in [("c", self.cached), ("m", self.missed), ("o", self.output)] {
            let height = part / top * HEIGHT;
            ground -= height;
            if height > 0.0 {
                boxes.push((class, pixels(ground), pixels(height)));
            }
        }
        html! {
            g.col {
                title { (self.describe()) }
                rect.hit x=(percent(x)) y="0" width=(percent(width)) height=(pixels(HEIGHT)) {}
                @for (class, y, height) in &boxes {
                    rect class=(class) x=(left) y=(y) width=(wide) height=(height) {}
                }
                @if !self.is_known {
                    rect.q x=(left) y=(pixels(HEIGHT - 3.0)) width=(wide) height="3" {}
                }
            }
        }
    }

    fn describe(&self) -> String {
        let name = match self.rows {
            [(_, row)] => format!("request {}: {}", story::request(row), row.verdict.as_str()),
            [(_, first), .., (_, last)] => {
                format!(
                    "requests {} to {}",
                    story::request(first),
                    story::request(last)
                )
            }
            [] => String::new(),
        };
        if !self.is_known {
            return format!("{name}; usage was not reported");
        }
        let whole = |part: f64| grouped(part.round() as u64);
        if self.measure == Measure::Bytes {
            let (kept, new) = (whole(self.cached), whole(self.missed));
            return format!("{name}; {kept} bytes kept, {new} new");
        }
        format!(
            "{name}; {} cached, {} missed, {} output",
            whole(self.cached),
            whole(self.missed),
            whole(self.output)
        )
    }
}

fn marks(
    name: &str,
    busts: &[Bust<'_>],
    column: &impl Fn(usize) -> Option<f64>,
    style: &mut String,
) -> Markup {
    let mut marks = Vec::new();
    for (at, bust) in busts.iter().take(MOST_MARKS).enumerate() {
        if let Some(x) = column(bust.index) {
            let rank = at + 1;
            // Writing to a string cannot fail.
            let _ = write!(style, "#{name}m{rank} b{{left:{x:.3}%}}");
            marks.push((rank, bust));
        }
    }
    html! {
        div.strip {
            @for (rank, bust) in &marks {
                a.mark id={(name) "m" (rank)} href={"#" (name) "b" (rank)} {
                    b { (rank) }
                    span.tip role="tooltip" { (tip(*rank, bust)) }
                }
            }
        }
    }
}

fn tip(rank: usize, bust: &Bust<'_>) -> Markup {
    let row = bust.row;
    let lost = story::loss(row);
    html! {
        strong { "#" (rank) " · request " (story::request(row)) " · " (lost) }
        @for said in story::tell(bust) {
            span { (said.certainty.as_str()) ": " (said.text) }
        }
    }
}

/// Ticks for busts that have no mark.
fn ticks(busts: &[Bust<'_>], column: &impl Fn(usize) -> Option<f64>) -> Markup {
    let places: Vec<f64> = busts
        .iter()
        .skip(MOST_MARKS)
        .filter_map(|bust| column(bust.index))
        .collect();
    html! {
        @for x in &places {
            rect.tick x=(format!("{:.3}%", x - 0.1)) y="-6" width="0.2%" height="5" {}
        }
    }
}

fn axis(top: f64) -> Markup {
    html! {
        svg.axis aria-hidden="true" {
            @for share in [0.0, 0.5, 1.0] {
                text x="85%" y=(pixels(HEIGHT * (1.0 - share) + 4.0)) text-anchor="end" {
                    (short(top * share))
                }
            }
        }
    }
}

/// A number of the axis, which is round.
fn short(number: f64) -> String {
    let text = tokens(number.round() as u64);
    match text.split_once('.') {
        Some((whole, rest)) => {
            let letter: String = rest.chars().filter(|c| !c.is_ascii_digit()).collect();
            let decimals: String = rest.chars().filter(char::is_ascii_digit).collect();
            match decimals.trim_end_matches('0') {
                "" => format!("{whole}{letter}"),
                decimals => format!("{whole}.{decimals}{letter}"),
            }
        }
        None => text,
    }
}

fn grid() -> Markup {
    html! {
        @for share in [0.0, 0.5, 1.0] {
            line.grid x1="0" x2="100%" y1=(pixels(HEIGHT * share)) y2=(pixels(HEIGHT * share)) {}
        }
    }
}

/// A line where a turn begins, and its number where there is room.
fn turns(bars: &[Bar<'_>], places: f64) -> Markup {
    let first_turn = |bar: &Bar<'_>| bar.rows.first().map(|(_, row)| row.turn);
    let mut begins: Vec<(f64, u64)> = Vec::new();
    let mut before = None;
    for (at, bar) in bars.iter().enumerate() {
        let turn = first_turn(bar);
        if let (Some(turn), true) = (turn, turn != before) {
            begins.push((at as f64 / places, turn));
        }
        before = turn;
    }
    let mut free = -1.0;
    let mut labels = Vec::new();
    for (x, turn) in &begins {
        if *x >= free {
            // The first one says what it is.
            free = x + if labels.is_empty() { 0.13 } else { 0.07 };
            labels.push((percent(*x), *turn));
        }
    }
    html! {
        svg.turns aria-hidden="true" {
            @for (x, _) in begins.iter().skip(1).take(MOST_BARS / 2) {
                line.turn x1=(percent(*x)) x2=(percent(*x)) y1=(pixels(-HEIGHT)) y2="4" {}
            }
            @for (at, (x, turn)) in labels.iter().enumerate() {
                text x=(x) y="15" { @if at == 0 { "turn " } (turn) }
            }
        }
    }
}

/// The lowest of 1, 2, 2.5, 5, 10 … times a power of ten that holds the tallest bar.
fn nice_top(tallest: f64) -> f64 {
    let power = 10_f64.powf(tallest.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let fits = steps
        .iter()
        .map(|step| step * power)
        .find(|top| *top >= tallest);
    fits.unwrap_or(tallest)
}

fn percent(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}

fn pixels(length: f64) -> String {
    format!("{length:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::answer::sample;
    use crate::analyse::fleet;

    #[test]
    fn the_axis_ends_at_a_round_number() {
        let tops = [1.0, 9.0, 10.0, 11.0, 15_312.0, 99_999.0].map(nice_top);
        assert_eq!(tops, [1.0, 10.0, 10.0, 15.0, 20_000.0, 100_000.0]);
    }

    #[test]
    fn many_requests_share_bars_and_every_bust_is_seen() {
        let report = sample::eventful("");
        let rows: Vec<CacheRow> = report.rows.iter().cycle().take(5000).cloned().collect();
        let long = sample::report("long", rows);
        let busts = fleet::busts(&[&long]);
        let mut style = String::new();
        let text = draw("l1", &long.rows, &busts, &mut style).into_string();
        assert!(text.matches("class=\"col\"").count() <= MOST_BARS);
        assert_eq!(text.matches("class=\"mark\"").count(), MOST_MARKS);
        assert_eq!(
            text.matches("class=\"tick\"").count(),
            busts.len() - MOST_MARKS
        );
        assert_eq!(style.matches("{left:").count(), MOST_MARKS);
    }
}
