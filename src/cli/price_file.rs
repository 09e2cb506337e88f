//! A file of prices, which takes the place of the built-in table.
//!
//! **Takes** TOML. **Gives** one [`PriceTable`] for each currency in it. **Never** passes over a key it does not know, and never
//! rounds a price.

use std::fs;
use std::path::Path;

use toml::value::Datetime;

use crate::analyse::answer::Currency;
use crate::analyse::cache::{Peak, Price, PriceRow, PriceTable};
use crate::line::Millis;

use super::discover::cannot_read;
use super::toml_reader::{Reader, Spot, Table};

/// Reads the tables of a file.
///
/// # Errors
///
/// It cannot be read, is no TOML, or has a key or value that is not known; the message is one line.
pub(super) fn load(path: &Path) -> Result<Vec<PriceTable>, String> {
    let shown = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| format!("{shown}: {}", cannot_read(&error)))?;
    parse(&text).map_err(|error| format!("{shown}:{error}"))
}

fn parse(text: &str) -> Result<Vec<PriceTable>, String> {
    let reader = Reader::new(text);
    let mut top = reader.top()?;
    let mut tables = Vec::new();
    for mut table in top.tables("table")? {
        tables.push(PriceTable {
            currency: currency(&reader, &mut table)?,
            source: needed(&reader, &mut table, "source")?,
            captured: needed(&reader, &mut table, "captured")?,
            rows: rows(&reader, &mut table)?,
        });
        table.finish()?;
    }
    top.finish()?;
    match tables.is_empty() {
        true => Err("1: expected tables of prices, [[table]]".into()),
        false => Ok(tables),
    }
}

fn currency(reader: &Reader<'_>, table: &mut Table<'_, '_>) -> Result<String, String> {
    let (code, spot) = match table.text("currency")? {
        Some(found) => found,
        None => (String::new(), table.spot()),
    };
    let wrong = || reader.wrong(spot, "expected `currency`, a code like \"USD\"");
    Ok(Currency::of_code(&code).ok_or_else(wrong)?.0)
}

fn needed(
    reader: &Reader<'_>,
    table: &mut Table<'_, '_>,
    key: &'static str,
) -> Result<String, String> {
    let text = table.text(key)?.map(|(text, _)| text);
    text.ok_or_else(|| reader.wrong(table.spot(), format_args!("expected `{key}`, a string")))
}

fn rows(reader: &Reader<'_>, table: &mut Table<'_, '_>) -> Result<Vec<PriceRow>, String> {
    let mut rows = Vec::new();
    for mut row in table.tables("price")? {
        let models = row.texts("models")?;
        let wrong = || reader.wrong(row.spot(), "expected `models`, a list of strings");
        let models = models.ok_or_else(wrong)?;
        let from = time(reader, row.time("from")?)?;
        let from = from.ok_or_else(|| reader.wrong(row.spot(), "expected `from`, a time"))?;
        let until = row.time("until")?;
        rows.push(PriceRow {
            provider: needed(reader, &mut row, "provider")?,
            models: models.into_iter().map(|(model, _)| model).collect(),
            from,
            until: time(reader, until)?,
            price: price(reader, &mut row)?,
            peak: peak(reader, &mut row)?,
        });
        row.finish()?;
    }
    Ok(rows)
}

fn peak(reader: &Reader<'_>, row: &mut Table<'_, '_>) -> Result<Option<Peak>, String> {
    let Some(mut peak) = row.table("peak")? else {
        return Ok(None);
    };
    let wrong = |spot: Spot| {
        let example = "expected hours in UTC like [\"01-04\", \"06-10\"]";
        reader.wrong(spot, example)
    };
    let mut hours = Vec::new();
    let spans = peak.texts("hours")?;
    for (span, spot) in spans.ok_or_else(|| wrong(peak.spot()))? {
        let hour = |text: &str| text.parse::<u32>().ok().filter(|hour| *hour <= 24);
        let ends = span.split_once('-');
        let ends = ends.and_then(|(from, to)| Some((hour(from)?, hour(to)?)));
        hours.push(
            ends.filter(|(from, to)| from < to)
                .ok_or_else(|| wrong(spot))?,
        );
    }
    let mut unknown_days = Vec::new();
    for (day, spot) in peak.texts("unknown-days")?.unwrap_or_default() {
        let parts: Vec<Option<u32>> = day.split('-').map(|part| part.parse().ok()).collect();
        match parts[..] {
            [Some(year), Some(month @ 1..=12), Some(day @ 1..=31)] => {
                unknown_days.push((i64::from(year), month, day));
            }
            _ => return Err(reader.wrong(spot, "expected a day like \"2026-10-01\"")),
        }
    }
    let result = Peak {
        hours,
        weekdays_only: peak.truth("weekdays-only")?.unwrap_or(false),
        unknown_days,
        price: price(reader, &mut peak)?,
    };
    peak.finish()?;
    Ok(Some(result))
}

fn price(reader: &Reader<'_>, table: &mut Table<'_, '_>) -> Result<Price, String> {
    let mut member = |key: &'static str| {
        let Some((digits, spot)) = table.decimal(key)? else {
            let what = format_args!("expected `{key}`, a price per million tokens");
            return Err(reader.wrong(table.spot(), what));
        };
        let price = millionths(&digits);
        price.ok_or_else(|| reader.wrong(spot, "expected a price with at most six decimals"))
    };
    Ok(Price {
        hit: member("hit")?,
        miss: member("miss")?,
        output: member("output")?,
    })
}

/// A decimal number in millionths: of a price per million tokens, so many pico-units per token.
fn millionths(digits: &str) -> Option<u64> {
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    if rest.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let rest: u64 = format!("{rest:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(rest)
}

fn time(reader: &Reader<'_>, time: Option<(Datetime, Spot)>) -> Result<Option<Millis>, String> {
    let Some((time, spot)) = time else {
        return Ok(None);
    };
    let millis = millis_of(time);
    let wrong = || reader.wrong(spot, "expected a time in UTC like 2026-08-16T16:00:00Z");
    millis.map(Some).ok_or_else(wrong)
}

/// Midnight where no time is given; other zones than UTC are refused.
fn millis_of(time: Datetime) -> Option<Millis> {
    let date = time.date?;
    let is_utc = match (time.time, time.offset) {
        (None, None) => true,
        (Some(_), Some(toml::value::Offset::Z)) => true,
        (Some(_), Some(toml::value::Offset::Custom { minutes })) => minutes == 0,
        _ => false,
    };
    if !is_utc {
        return None;
    }
    let (year, month) = (i64::from(date.year), i64::from(date.month));
    // Counted from 0000-03-01, so that a leap day ends its year.
    let (year, month) = match month {
        0..=2 => (year - 1, month + 9),
        month => (year, month - 3),
    };
    let days = year * 365 + year / 4 - year / 100
        + year / 400
        + (153 * month + 2) / 5
        + i64::from(date.day)
        - 1
        - 719_468;
    let clock = time.time.map_or(0, |time| {
        i64::from(time.hour) * 3600
            + i64::from(time.minute) * 60
            + i64::from(time.second.unwrap_or(0))
    });
    Some(Millis((days * 86_400 + clock) * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[[table]]
currency = "CNY"
source = "our contract"
captured = "2026-11-30"

[[table.price]]
provider = "deepseek-official"
models = ["deepseek-v4-flash"]
from = 2026-08-16T16:00:00Z
until = 2027-01-01
hit = 0.0028
miss = 1
output = 4.5
peak = { hours = ["01-04"], weekdays-only = true, unknown-days = ["2026-10-01"], hit = 0.0056, miss = 2, output = 9 }
"#;

    #[test]
    fn a_table_is_read_exactly() {
        let tables = parse(TEXT).expect("prices");
        let [table] = &tables[..] else {
            panic!("one table");
        };
        assert_eq!(table.currency, "CNY");
        let row = table.rows.first().expect("a row");
        assert_eq!(row.from.to_string(), "2026-08-16 16:00:00Z");
        assert_eq!(
            row.until.map(|until| until.to_string()),
            Some("2027-01-01 00:00:00Z".into())
        );
        let price = Price {
            hit: 2800,
            miss: 1_000_000,
            output: 4_500_000,
        };
        assert_eq!(row.price, price);
        let peak = row.peak.as_ref().expect("peak hours");
        assert_eq!((&peak.hours[..], peak.price.hit), (&[(1, 4)][..], 5600));
        assert_eq!(peak.unknown_days, [(2026, 10, 1)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |from: &str, to: &str| {
            let text = TEXT.replace(from, to);
            assert_ne!(text, TEXT);
            parse(&text).expect_err("refused")
        };
        assert!(wrong("hit = 0.0028", "hit = -1").starts_with("12: expected a number"));
        assert!(wrong("0.0028", "0.00000001").contains("at most six decimals"));
        assert!(wrong("00:00Z", "00:00+08:00").contains("a time in UTC"));
        assert!(wrong("01-04", "04-01").contains("expected hours"));
        assert!(wrong("models", "modles").contains("expected `models`"));
        assert!(wrong("miss = 1\n", "").contains("expected `miss`"));
        assert!(parse("").is_err());
    }

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        for text in ["1970-01-01", "2000-02-29", "2026-12-31", "2024-03-01"] {
            let time: Datetime = text.parse().expect("a date");
            let millis = millis_of(time).expect("UTC");
            assert_eq!(millis.to_string(), format!("{text} 00:00:00Z"));
        }
    }
}
