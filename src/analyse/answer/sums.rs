//! How rows of the cache model add up.
//!
//! **Takes** rows. **Gives** totals: the same ones whether the rows come from one log, from many, or from reports that
//! other machines wrote. **Never** counts a request that another session paid for.

use super::{
    Break, CacheReport, CacheRow, CacheTotals, CacheVerdict, Cause, Cost, OneShotRow,
    OneShotTotals, Unit, WindowCount,
};

/// Bytes do not translate into tokens evenly: by this factor tokens may be off that are scaled by bytes.
pub(crate) const SCALE: f64 = 1.5;

impl Cause {
    /// Whether the cause stands in the header: what every request sends in front of its history.
    pub fn is_header(&self) -> bool {
        use super::ReplaceKind::SystemHead;
        match self {
            Cause::Provider { .. }
            | Cause::Model { .. }
            | Cause::Config { .. }
            | Cause::SystemText
            | Cause::ToolAdded(_)
            | Cause::ToolRemoved(_)
            | Cause::ToolChanged(_)
            | Cause::ToolsMoved(_)
            | Cause::SessionPrefix
            | Cause::Redacted => true,
            Cause::Replace { kind, .. } => *kind == SystemHead,
            Cause::Offload | Cause::Dialect | Cause::Unexplained => false,
        }
    }

    /// Whether the wire prompt differs for certain. An option of the call alone may or may not matter to the provider.
    pub fn is_certain(&self) -> bool {
        !matches!(
            self,
            Cause::Config { .. } | Cause::Redacted | Cause::Unexplained
        )
    }
}

impl CacheRow {
    /// The break that the log shows for certain, whether or not usage tells what came of it.
    pub fn certain_break(&self) -> Option<&Break> {
        self.broken
            .as_ref()
            .filter(|broken| broken.cause.is_certain())
    }

    /// Whether the request is worth a word: its prefix broke or was lost, and this session paid for it.
    pub fn is_bust(&self) -> bool {
        let by_verdict = match self.verdict {
            CacheVerdict::Broken | CacheVerdict::Lost | CacheVerdict::Contradicted => true,
            CacheVerdict::NotReported => self.certain_break().is_some(),
            CacheVerdict::First
            | CacheVerdict::Kept
            | CacheVerdict::Better
            | CacheVerdict::BelowUnit
            | CacheVerdict::Inherited => false,
        };
        by_verdict && !self.inherited
    }

    /// Tokens lost that no event explains; none where the hit is not known.
    pub fn lost_unexplained(&self) -> u64 {
        let lost = self.lost.unwrap_or(0);
        match self.verdict {
            CacheVerdict::Lost => lost,
            CacheVerdict::Broken => self.lost_of_the_rest().unwrap_or(0),
            _ => 0,
        }
    }

    /// Tokens lost of the part that a break left, where the hit is so far below that part that it is no matter of scale.
    pub fn lost_of_the_rest(&self) -> Option<u64> {
        self.certain_break()?;
        let (rest, (_, hit)) = (self.expected?.high, self.usage()?);
        let is_plain = hit as f64 * SCALE + (Unit::default().tokens as f64) < rest as f64;
        is_plain.then(|| rest.saturating_sub(hit).min(self.lost.unwrap_or(0)))
    }

    /// Prompt and hit, where both were reported.
    pub fn usage(&self) -> Option<(u64, u64)> {
        self.prompt.zip(self.hit)
    }
}

impl CacheReport {
    /// Sets totals and window to what the rows amount to.
    pub fn sum_up(&mut self) {
        self.totals = CacheTotals::default();
        self.window = WindowCount::default();
        for row in &self.rows {
            self.totals.count(row);
            self.window.count(row, self.unit);
        }
    }

    /// What the calls that are not the loop's amount to.
    pub fn one_shot_totals(&self) -> OneShotTotals {
        let mut totals = OneShotTotals::default();
        self.one_shots.iter().for_each(|call| totals.count(call));
        totals
    }
}

impl CacheTotals {
    /// Adds a request.
    pub fn count(&mut self, row: &CacheRow) {
        if row.inherited {
            return;
        }
        self.requests += 1;
        if let Some((prompt, hit)) = row.usage() {
            self.with_usage += 1;
            add(&mut self.prompt, prompt);
            add(&mut self.hit, hit);
            if row.verdict == CacheVerdict::First {
                add(&mut self.first_prompt, prompt);
                add(&mut self.first_hit, hit);
            }
        }
        add(&mut self.output, row.output.unwrap_or(0));
        add(&mut self.lost, row.lost.unwrap_or(0));
        add(&mut self.lost_unexplained, row.lost_unexplained());
        if row.is_bust() {
            match row.verdict {
                CacheVerdict::Lost => self.unexplained += 1,
                _ => self.broken += 1,
            }
        }
        if let Some(cost) = &row.cost {
            self.priced += 1;
            add_cost(&mut self.cost, cost);
        }
        self.widen(Some(row.time), Some(row.time));
    }

    /// Adds other totals.
    pub fn add(&mut self, other: &CacheTotals) {
        self.requests += other.requests;
        self.with_usage += other.with_usage;
        add(&mut self.prompt, other.prompt);
        add(&mut self.hit, other.hit);
        add(&mut self.output, other.output);
        add(&mut self.first_prompt, other.first_prompt);
        add(&mut self.first_hit, other.first_hit);
        add(&mut self.lost, other.lost);
        add(&mut self.lost_unexplained, other.lost_unexplained);
        self.broken += other.broken;
        self.unexplained += other.unexplained;
        other
            .cost
            .iter()
            .for_each(|cost| add_cost(&mut self.cost, cost));
        self.priced += other.priced;
        self.widen(other.first_time, other.last_time);
    }

    fn widen(&mut self, first: Option<crate::line::Millis>, last: Option<crate::line::Millis>) {
        self.first_time = [self.first_time, first].into_iter().flatten().min();
        self.last_time = self.last_time.max(last);
    }

    /// Requests whose prefix broke or was lost.
    pub fn busts(&self) -> u64 {
        self.broken + self.unexplained
    }
}

impl OneShotTotals {
    /// Adds a call.
    pub fn count(&mut self, call: &OneShotRow) {
        self.calls += 1;
        if let Some((prompt, hit)) = call.prompt.zip(call.hit) {
            add(&mut self.prompt, prompt);
            add(&mut self.hit, hit);
        }
        add(&mut self.output, call.output.unwrap_or(0));
        if let Some(cost) = &call.cost {
            add_cost(&mut self.cost, cost);
        }
    }

    /// Adds other totals.
    pub fn add(&mut self, other: &OneShotTotals) {
        self.calls += other.calls;
        add(&mut self.prompt, other.prompt);
        add(&mut self.hit, other.hit);
        add(&mut self.output, other.output);
        other
            .cost
            .iter()
            .for_each(|cost| add_cost(&mut self.cost, cost));
    }
}

impl WindowCount {
    /// Adds a request.
    pub fn count(&mut self, row: &CacheRow, unit: Unit) {
        let Some((_, hit)) = row.usage().filter(|_| !row.inherited) else {
            return;
        };
        self.hits += 1;
        if unit.tokens > 0 && hit.is_multiple_of(unit.tokens) {
            self.multiples += 1;
        }
        match &row.broken {
            Some(broken) => {
                if broken.cause.is_header() {
                    self.changes += 1;
                    self.changes_to_zero += u64::from(hit == 0);
                }
            }
            None => self.place(row, hit),
        }
    }

    fn place(&mut self, row: &CacheRow, hit: u64) {
        let is_judged = matches!(
            row.verdict,
            CacheVerdict::Kept | CacheVerdict::Better | CacheVerdict::Lost
        );
        let Some(window) = row.expected.filter(|_| is_judged) else {
            return;
        };
        if hit < window.low {
            self.below += 1;
        } else if hit > window.high {
            self.above += 1;
        } else {
            self.inside += 1;
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &WindowCount) {
        self.inside += other.inside;
        self.below += other.below;
        self.above += other.above;
        self.changes_to_zero += other.changes_to_zero;
        self.changes += other.changes;
        self.multiples += other.multiples;
        self.hits += other.hits;
    }

    /// Requests with an unchanged prefix.
    pub fn judged(&self) -> u64 {
        self.inside + self.below + self.above
    }
}

/// Adds tokens. What a log claims may be more than any sum holds: the sum is then as large as it can be.
fn add(sum: &mut u64, tokens: u64) {
    *sum = sum.saturating_add(tokens);
}

/// Adds an amount to that of its currency; currencies stay in the order of their codes.
fn add_cost(sums: &mut Vec<Cost>, cost: &Cost) {
    match sums.binary_search_by(|sum| sum.currency.cmp(&cost.currency)) {
        Ok(at) => {
            if let Some(sum) = sums.get_mut(at) {
                sum.paid = sum.paid.saturating_add(cost.paid);
                sum.lost = sum.lost.saturating_add(cost.lost);
            }
        }
        Err(at) => sums.insert(at, cost.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::super::{Currency, Expectation, SegmentName};
    use super::*;
    use crate::line::Millis;

    fn row(verdict: CacheVerdict, prompt: u64, hit: u64) -> CacheRow {
        CacheRow {
            lost: None,
            ..sample::with_hit(sample::kept(1, 1, 1, prompt), verdict, hit)
        }
    }

    #[test]
    fn what_the_parent_paid_is_not_counted() {
        let mut totals = CacheTotals::default();
        let inherited = CacheRow {
            inherited: true,
            ..row(CacheVerdict::Inherited, 1000, 0)
        };
        totals.count(&inherited);
        assert_eq!(totals, CacheTotals::default());
    }

    #[test]
    fn absent_usage_is_not_zero() {
        let mut totals = CacheTotals::default();
        let mut silent = row(CacheVerdict::NotReported, 1000, 0);
        silent.hit = None;
        totals.count(&silent);
        assert_eq!((totals.requests, totals.with_usage), (1, 0));
        assert_eq!(totals.rate(), None);
    }

    #[test]
    fn totals_of_parts_are_totals_of_the_whole() {
        let mut euro = row(CacheVerdict::Lost, 2048, 0);
        euro.lost = Some(2048);
        euro.time = Millis(10);
        euro.cost = Some(Cost {
            currency: Currency("EUR".into()),
            paid: 7,
            lost: 2,
        });
        let rows = [
            row(CacheVerdict::First, 1000, 128),
            euro,
            row(CacheVerdict::Kept, 3000, 2944),
        ];
        let mut whole = CacheTotals::default();
        rows.iter().for_each(|row| whole.count(row));
        let mut parts = CacheTotals::default();
        for row in rows.iter().rev() {
            let mut one = CacheTotals::default();
            one.count(row);
            parts.add(&one);
        }
        assert_eq!(parts, whole);
        assert_eq!((whole.unexplained, whole.lost), (1, 2048));
        assert_eq!(whole.first_time, Some(Millis(10)));
        let codes: Vec<&str> = whole
            .cost
            .iter()
            .map(|cost| cost.currency.0.as_str())
            .collect();
        assert_eq!(codes, ["EUR", "USD"]);
        assert!(
            whole
                .rate_without_first()
                .is_some_and(|rate| (rate - 2944.0 / 5048.0).abs() < 1e-9)
        );
    }

    #[test]
    fn sums_end_where_numbers_do() {
        let mut huge = row(CacheVerdict::Lost, 1000, 0);
        (huge.prompt, huge.hit) = (Some(u64::MAX), Some(u64::MAX));
        (huge.output, huge.lost) = (Some(u64::MAX), Some(u64::MAX));
        huge.cost = Some(Cost {
            currency: Currency("EUR".into()),
            paid: u128::MAX,
            lost: u128::MAX,
        });
        let mut totals = CacheTotals::default();
        totals.count(&huge);
        totals.count(&huge);
        totals.add(&totals.clone());
        assert_eq!(
            (totals.prompt, totals.lost_unexplained),
            (u64::MAX, u64::MAX)
        );
    }

    #[test]
    fn a_break_explains_the_loss_behind_it_alone() {
        let mut totals = CacheTotals::default();
        let before = row(CacheVerdict::Kept, 10_000, 9_984);
        let mut broken = sample::broken(before, 1_000, SegmentName::System, Cause::SystemText);
        broken.lost = Some(8_000);
        broken.expected = Some(Expectation {
            low: 0,
            high: 6_000,
        });
        totals.count(&broken);
        let mut lost = row(CacheVerdict::Lost, 10_000, 9_000);
        lost.lost = Some(500);
        totals.count(&lost);
        assert_eq!((totals.lost, totals.lost_unexplained), (8_500, 5_500));
        broken.expected = Some(Expectation {
            low: 0,
            high: 1_408,
        });
        assert_eq!(broken.lost_unexplained(), 0);
    }

    #[test]
    fn the_window_counts_kept_prefixes_only() {
        let mut window = WindowCount::default();
        let mut kept = row(CacheVerdict::Kept, 3000, 2944);
        kept.expected = Some(Expectation {
            low: 2816,
            high: 2944,
        });
        window.count(&kept, Unit::default());
        kept.hit = Some(2800);
        kept.verdict = CacheVerdict::Lost;
        window.count(&kept, Unit::default());
        window.count(&row(CacheVerdict::First, 100, 0), Unit::default());
        assert_eq!((window.inside, window.below, window.above), (1, 1, 0));
        assert_eq!((window.hits, window.multiples), (3, 2));
    }
}
