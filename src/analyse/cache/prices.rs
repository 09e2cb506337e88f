//! What a token costs, by route, model and time.
//!
//! **Takes** a provider, a model and an event's time. **Gives** a [`Price`] where the table covers them. **Never** extrapolates: an
//! unknown model, another provider or an uncovered time has no price.

use crate::line::Millis;

/// Prices of one provider's models in one currency.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceTable {
    /// Currency code.
    pub currency: String,
    /// Where the prices come from.
    pub source: String,
    /// The day they were captured: `2026-12-01`.
    pub captured: String,
    /// Rows; of those that cover a request, the latest counts.
    pub rows: Vec<PriceRow>,
}

/// The price of some models from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceRow {
    /// The route they were sold on.
    pub provider: String,
    /// Names of the models.
    pub models: Vec<String>,
    /// From when.
    pub from: Millis,
    /// Until when, exclusive; absent where no end is known.
    pub until: Option<Millis>,
    /// The price, outside of peak hours where there are some.
    pub price: Price,
    /// The price in peak hours.
    pub peak: Option<Peak>,
}

/// Pico-units of the currency per token (a millionth of the price per million tokens, in millionths).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Prompt tokens read from the cache.
    pub hit: u64,
    /// Other prompt tokens.
    pub miss: u64,
    /// Output tokens.
    pub output: u64,
}

/// Peak hours and their price.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// Hours of the day in UTC, from inclusive to exclusive.
    pub hours: Vec<(u32, u32)>,
    /// Whether they are peak on Monday to Friday only.
    pub weekdays_only: bool,
    /// Days on which the table does not know whether peak hours apply, as `(year, month, day)`: no price in those hours.
    pub unknown_days: Vec<(i64, u32, u32)>,
    /// The price.
    pub price: Price,
}

/// A price of the built-in table, in micro-dollars per million tokens, which is pico-dollars per token.
const fn price(hit: u64, miss: u64, output: u64) -> Price {
    Price { hit, miss, output }
}

const FLASH: [&str; 5] = [
    "deepseek-v4-flash",
    "deepseek-flash",
    "deepseek-v4-flash-vision-exp",
    "deepseek-chat",
    "deepseek-reasoner",
];
const PRO: [&str; 1] = ["deepseek-v4-pro"];

const APRIL_LIST: Millis = Millis(1_776_988_800_000); // 2026-04-24 00:00
const APRIL_CUT: Millis = Millis(1_777_205_700_000); // 2026-04-26 12:15
const AUGUST: Millis = Millis(1_786_896_000_000); // 2026-08-16 16:00
const SEPTEMBER: Millis = Millis(1_789_012_800_000); // 2026-09-10 04:00
/// One source dates the September card twelve hours earlier.
const SEPTEMBER_EARLY: Millis = Millis(1_788_969_600_000); // 2026-09-09 16:00
const ALIASES_END: Millis = Millis(1_784_851_200_000); // 2026-07-24 00:00

impl PriceTable {
    /// The official provider's prices in US dollars, as captured on 2026-12-01.
    pub fn built_in() -> PriceTable {
        let flash = |from, until, price, peak| row(&FLASH, from, until, price, peak);
        let pro = |from, until, price, peak| row(&PRO, from, until, price, peak);
        let everyday = |price| Some(peak(price, false));
        let workdays = |price| Some(peak(price, true));
        PriceTable {
            currency: "USD".into(),
            source: "the provider's pricing page and dated reports of its changes".into(),
            captured: "2026-12-01".into(),
            rows: vec![
                flash(
                    APRIL_LIST,
                    Some(APRIL_CUT),
                    price(28_000, 140_000, 280_000),
                    None,
                ),
                flash(
                    APRIL_CUT,
                    Some(AUGUST),
                    price(2_800, 140_000, 280_000),
                    None,
                ),
                flash(
                    AUGUST,
                    Some(SEPTEMBER_EARLY),
                    price(7_000, 220_000, 660_000),
                    everyday(price(14_000, 440_000, 1_320_000)),
                ),
                flash(
                    SEPTEMBER,
                    None,
                    price(3_000, 150_000, 600_000),
                    workdays(price(6_000, 300_000, 1_200_000)),
                ),
                pro(
                    APRIL_LIST,
                    Some(APRIL_CUT),
                    price(145_000, 1_740_000, 3_480_000),
                    None,
                ),
                pro(
                    APRIL_CUT,
                    Some(AUGUST),
                    price(3_625, 435_000, 870_000),
                    None,
                ),
                pro(
                    AUGUST,
                    None,
                    price(22_000, 660_000, 1_980_000),
                    everyday(price(44_000, 1_320_000, 3_960_000)),
                ),
            ],
        }
    }

    /// The price of a request.
    pub fn price(&self, provider: &str, model: &str, time: Millis) -> Option<Price> {
        let covers = |row: &&PriceRow| {
            row.provider == provider
                && row.models.iter().any(|known| known == model)
                && row.from <= time
                && row.until.is_none_or(|until| time < until)
        };
        // The older names of the flash model are no longer served.
        if matches!(model, "deepseek-chat" | "deepseek-reasoner") && time >= ALIASES_END {
            return None;
        }
        self.rows
            .iter()
            .filter(covers)
            .max_by_key(|row| row.from)?
            .at(time)
    }
}

fn row(
    models: &[&str],
    from: Millis,
    until: Option<Millis>,
    price: Price,
    peak: Option<Peak>,
) -> PriceRow {
    let models = models.iter().map(|model| (*model).to_owned()).collect();
    PriceRow {
        provider: "deepseek-official".into(),
        models,
        from,
        until,
        price,
        peak,
    }
}

fn peak(price: Price, weekdays_only: bool) -> Peak {
    // Public holidays in China behind the September card; their hours have no price, since the table cannot tell.
    let unknown_days = match weekdays_only {
        true => [(2026, 9, 25)]
            .into_iter()
            .chain((1..=8).map(|day| (2026, 10, day)))
            .collect(),
        false => Vec::new(),
    };
    Peak {
        hours: vec![(1, 4), (6, 10)],
        weekdays_only,
        unknown_days,
        price,
    }
}

impl PriceRow {
    fn at(&self, time: Millis) -> Option<Price> {
        let Some(peak) = &self.peak else {
            return Some(self.price);
        };
        let (year, month, day, millis) = time.civil();
        let hour = millis / 3_600_000;
        // 1970-01-01 was a Thursday.
        let weekday = (time.0.div_euclid(86_400_000) + 3).rem_euclid(7);
        let in_hours = peak
            .hours
            .iter()
            .any(|(from, to)| (*from..*to).contains(&hour));
        let works = !peak.weekdays_only || weekday < 5;
        if !(in_hours && works) {
            return Some(self.price);
        }
        (!peak.unknown_days.contains(&(year, month, day))).then_some(peak.price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn hit(model: &str, time: Millis) -> Option<u64> {
        PriceTable::built_in()
            .price("deepseek-official", model, time)
            .map(|price| price.hit)
    }

    #[test]
    fn prices_change_by_date() {
        assert_eq!(hit("deepseek-v4-flash", Millis(APRIL_LIST.0 - 1)), None);
        assert_eq!(hit("deepseek-v4-flash", APRIL_LIST), Some(28_000));
        assert_eq!(hit("deepseek-v4-flash", APRIL_CUT), Some(2_800));
        assert_eq!(hit("deepseek-v4-pro", APRIL_CUT), Some(3_625));
        assert_eq!(APRIL_CUT.to_string(), "2026-04-26 12:15:00Z");
        assert_eq!(AUGUST.to_string(), "2026-08-16 16:00:00Z");
        assert_eq!(SEPTEMBER.to_string(), "2026-09-10 04:00:00Z");
        assert_eq!(SEPTEMBER_EARLY.to_string(), "2026-09-09 16:00:00Z");
        assert_eq!(ALIASES_END.to_string(), "2026-07-24 00:00:00Z");
        assert_eq!(APRIL_LIST.to_string(), "2026-04-24 00:00:00Z");
    }

    #[test]
    fn prices_change_by_hour() {
        let midnight = Millis(1_789_344_000_000); // Monday, 2026-09-14
        assert_eq!(midnight.to_string(), "2026-09-14 00:00:00Z");
        let at = |hours| Millis(midnight.0 + hours * HOUR);
        assert_eq!(hit("deepseek-flash", at(0)), Some(3_000));
        assert_eq!(hit("deepseek-flash", at(1)), Some(6_000));
        assert_eq!(hit("deepseek-flash", at(4)), Some(3_000));
        assert_eq!(hit("deepseek-flash", at(1 - 24)), Some(3_000), "a Sunday");
        assert_eq!(
            hit("deepseek-v4-pro", at(1 - 24)),
            Some(44_000),
            "every day"
        );
        assert_eq!(
            hit("deepseek-flash", at(1 + 17 * 24)),
            None,
            "a public holiday"
        );
    }

    #[test]
    fn what_the_table_does_not_cover_has_no_price() {
        let table = PriceTable::built_in();
        assert_eq!(
            table.price("reseller", "deepseek-v4-flash", APRIL_CUT),
            None
        );
        assert_eq!(table.price("deepseek-official", "other", APRIL_CUT), None);
        assert_eq!(hit("deepseek-chat", ALIASES_END), None);
        assert_eq!(
            hit("deepseek-flash", SEPTEMBER_EARLY),
            None,
            "two sources disagree"
        );
    }
}
