//! Tokens, rates, spans of time and money as people read them.
//!
//! **Takes** numbers. **Gives** short text, the same in every format for people. **Never** rounds a loss away: what is not
//! nothing is not shown as `0`, and what is not everything is not shown as `100 %`.

use crate::analyse::answer::Cost;
use crate::line::Millis;

use super::super::words::grouped;

/// What stands where a number is not known.
pub(super) const NOT_KNOWN: &str = "–";

/// The sum of tokens, as large as it can be where it would be larger.
pub(super) fn total(tokens: impl IntoIterator<Item = u64>) -> u64 {
    tokens.into_iter().fold(0, u64::saturating_add)
}

/// `999`, `12.3k`, `1.23M`: three digits.
pub(super) fn tokens(number: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1000, "k"), (1_000_000, "M"), (1_000_000_000, "G")];
    if number < 1000 {
        return number.to_string();
    }
    for (unit, letter) in UNITS {
        for decimals in [2, 1, 0] {
            let tenth = unit / 10_u64.pow(decimals);
            let rounded = number.saturating_add(tenth / 2) / tenth;
            let is_last = letter == "G" && decimals == 0;
            if rounded < 1000 || is_last {
                return with_decimals(rounded, decimals, letter);
            }
        }
    }
    number.to_string()
}

fn with_decimals(number: u64, decimals: u32, letter: &str) -> String {
    let scale = 10_u64.pow(decimals);
    let whole = grouped(number / scale);
    match decimals {
        0 => format!("{whole}{letter}"),
        decimals => {
            let rest = number % scale;
            format!("{whole}.{rest:0width$}{letter}", width = decimals as usize)
        }
    }
}

/// The same, or a dash.
pub(super) fn tokens_or_dash(number: Option<u64>) -> String {
    number.map_or(NOT_KNOWN.to_string(), tokens)
}

/// `99.4 %`, rounded down, so that only everything is `100 %`.
pub(super) fn share(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole));
    match (part, whole) {
        (_, 0) => NOT_KNOWN.to_string(),
        (0, _) => "0 %".into(),
        (part, whole) if part >= whole => "100 %".into(),
        (part, whole) => match part * 1000 / whole {
            0 => "<0.1 %".into(),
            thousandths => format!("{}.{} %", thousandths / 10, thousandths % 10),
        },
    }
}

/// A rate between 0 and 1 in the same form: of a limit, so it is not rounded.
pub(super) fn limit(rate: f64) -> String {
    format!("{} %", (rate * 1e6).round() / 1e4)
}

/// `12 s`, `3 min`, `14 h`, `3 d`.
pub(super) fn span(time: Millis) -> String {
    let seconds = time.0.max(0) / 1000;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// `0.0123 USD`: four decimals, or three digits of something smaller.
pub(super) fn money(pico: u128, currency: &str) -> String {
    const ONE: u128 = 1_000_000_000_000;
    let mut decimals = 4;
    // Three digits of an amount below a hundredth.
    while decimals < 12 && pico > 0 && pico < 10_u128.pow(14 - decimals) {
        decimals += 1;
    }
    let unit = 10_u128.pow(12 - decimals);
    let rounded = pico.saturating_add(unit / 2) / unit;
    let scale = 10_u128.pow(decimals);
    let whole = grouped(u64::try_from(rounded / scale).unwrap_or(u64::MAX));
    if pico >= 1000 * ONE {
        return format!("{whole} {currency}");
    }
    match pico {
        0 => format!("0 {currency}"),
        _ => format!(
            "{whole}.{:0width$} {currency}",
            rounded % scale,
            width = decimals as usize
        ),
    }
}

/// What was paid, in every currency that occurs. Empty where nothing was.
pub(super) fn paid(costs: &[Cost]) -> String {
    amounts(costs, |cost| cost.paid)
}

/// What was lost, in every currency that occurs.
pub(super) fn lost(costs: &[Cost]) -> String {
    amounts(costs, |cost| cost.lost)
}

/// What an intact prefix would have cost.
pub(super) fn intact(costs: &[Cost]) -> String {
    amounts(costs, |cost| cost.paid.saturating_sub(cost.lost))
}

fn amounts(costs: &[Cost], of: impl Fn(&Cost) -> u128) -> String {
    let amounts: Vec<String> = costs
        .iter()
        .map(|cost| money(of(cost), &cost.currency.0))
        .collect();
    amounts.join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_of_tokens() {
        let shown = [0, 999, 1000, 1004, 12_345, 122_558, 999_499, 999_500].map(tokens);
        assert_eq!(
            shown,
            [
                "0", "999", "1.00k", "1.00k", "12.3k", "123k", "999k", "1.00M"
            ]
        );
        assert_eq!(tokens(12_999_999_999), "13.0G");
        assert_eq!(tokens(u64::MAX), "18,446,744,073G");
    }

    #[test]
    fn a_rate_never_hides_the_last_token() {
        assert_eq!(share(9999, 10_000), "99.9 %");
        assert_eq!(share(10_000, 10_000), "100 %");
        assert_eq!(share(1, 10_000), "<0.1 %");
        assert_eq!(share(0, 10_000), "0 %");
        assert_eq!(share(0, 0), "–");
        assert_eq!(share(u64::MAX - 1, u64::MAX), "99.9 %");
        assert_eq!(limit(0.9), "90 %");
        assert_eq!(limit(0.999), "99.9 %");
    }

    #[test]
    fn spans_have_one_unit() {
        let shown = [
            0,
            12_999,
            119_000,
            120_000,
            7_199_000,
            52_000_000,
            200_000_000,
        ]
        .map(|millis| span(Millis(millis)));
        assert_eq!(
            shown,
            ["0 s", "12 s", "119 s", "2 min", "119 min", "14 h", "2 d"]
        );
        assert_eq!(span(Millis(-5)), "0 s");
    }

    #[test]
    fn amounts_say_their_currency() {
        assert_eq!(money(0, "USD"), "0 USD");
        assert_eq!(money(12_345_678_901, "USD"), "0.0123 USD");
        assert_eq!(money(2_700_000_000, "USD"), "0.00270 USD");
        assert_eq!(money(123_456, "USD"), "0.000000123 USD");
        assert_eq!(money(1_500_000_000_000, "USD"), "1.5000 USD");
        assert_eq!(money(1_234_000_000_000_000, "CNY"), "1,234 CNY");
    }
}
