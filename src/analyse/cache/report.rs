//! The report of one log: a forward walk over its requests and their prompts.
//!
//! **Takes** a session, its settlement and a walk. **Gives** a [`CacheReport`]. **Never** holds a prompt: one row per request.

use super::super::answer::{
    Break, CacheReport, CacheRow, CacheVerdict, Cost, Currency, OneShotRow, Purpose, Unit,
};
use super::cause::Pair;
use super::prices::PriceTable;
use super::verdict::{self, Outcome, Reported, Warm};
use crate::dialect::Derived;
use crate::event::OneShot;
use crate::fold::{Session, Usage};
use crate::line::Millis;
use crate::record::Raw;
use crate::request::{Request, Requests};
use crate::wire::{Kept, Prompt, Prompts};

/// How a report is made.
#[derive(Clone, Debug)]
pub struct CacheOptions {
    /// In what steps the provider caches; absent: 128, or what the hits show.
    pub unit: Option<u64>,
    /// What tokens cost.
    pub prices: PriceTable,
}

impl Default for CacheOptions {
    fn default() -> Self {
        CacheOptions {
            unit: None,
            prices: PriceTable::built_in(),
        }
    }
}

/// Reports on a log's requests.
///
/// `prompts` and `requests` are fresh walks over the same session. Costs time in proportion to what is new in each request.
pub fn report<'s, 'log>(
    session: &'s Session<'log>,
    mut prompts: Prompts<'s, 'log>,
    session_id: String,
    mut requests: Requests<'s, 'log>,
    options: &CacheOptions,
) -> CacheReport {
    let hits = session
        .attempts
        .iter()
        .filter_map(|attempt| attempt.usage.and_then(|usage| usage.cache_read));
    let unit = match options.unit {
        Some(tokens) => Unit {
            tokens: tokens.max(1),
            inferred: false,
        },
        None => verdict::infer_unit(hits),
    };
    let mut walk = Walk {
        session,
        options,
        unit,
        last: None,
        rows: Vec::new(),
    };
    while let Some(request) = requests.next_request() {
        let prompt = prompts.take(&request);
        walk.request(&request, &prompt);
    }
    let one_shots = one_shots(session, options);
    let mut report = CacheReport {
        session_id,
        rows: walk.rows,
        one_shots,
        unit,
        ..CacheReport::default()
    };
    report.sum_up();
    report
}

struct Walk<'s, 'log, 'o> {
    session: &'s Session<'log>,
    options: &'o CacheOptions,
    unit: Unit,
    last: Option<Last>,
    rows: Vec<CacheRow>,
}

/// The request before.
#[derive(Clone)]
struct Last {
    derived: Derived,
    ended: Millis,
    inherited: bool,
    warm: Option<Warm>,
}

impl<'s, 'log> Walk<'s, 'log, '_> {
    fn request(&mut self, request: &Request<'_, 'log>, prompt: &Prompt<'_, 'log>) {
        let derived = request.derived();
        let attempt = request.attempt();
        let usage = attempt.and_then(|attempt| attempt.usage);
        let reported = usage.and_then(reported);
        let time = attempt.map_or(request.step().time, |attempt| attempt.time);
        let broken = self.broken(derived, prompt);
        let (kept_bytes, share) = shares(prompt, broken.as_ref());
        let outcome = self.judge(derived, reported, broken.as_ref(), share);
        let header = request.header();
        let member = |name: &str| {
            let value = header.raw.get("config").and_then(|config| config.get(name));
            value
                .and_then(Raw::text)
                .map(|text| text.to_lossy().into_owned())
        };
        let (outcome, broken) = self.explain(derived, outcome, broken);
        let (seq, line) = request.shows_at();
        let mut row = CacheRow {
            turn: request.turn().number,
            step: request.step().number,
            attempt: derived.number,
            boundary: derived.boundary,
            header: header.seq,
            seq,
            line,
            time,
            idle: self
                .last
                .as_ref()
                .map(|last| Millis(time.0.saturating_sub(last.ended.0))),
            provider: member("provider"),
            model: member("model"),
            inherited: derived.inherited,
            prompt: reported.map(|reported| reported.prompt),
            hit: reported.and_then(|reported| reported.hit),
            cache_write: usage.and_then(|usage| usage.cache_write),
            output: usage.and_then(|usage| usage.output),
            prompt_bytes: prompt.bytes,
            kept_bytes,
            expected: outcome.expected,
            verdict: outcome.verdict,
            best_earlier: better_earlier(prompt, kept_bytes, broken.as_ref()),
            broken,
            lost: outcome.lost,
            cost: None,
        };
        row.cost = self.cost(&row);
        self.remember(
            derived,
            attempt.map_or(time, |attempt| attempt.ended),
            usage,
            &row,
        );
        self.rows.push(row);
    }

    /// What else may explain a loss that the prompt does not: a redacted header, or a changed config.
    fn explain(
        &self,
        derived: &Derived,
        outcome: Outcome,
        broken: Option<Break>,
    ) -> (Outcome, Option<Break>) {
        let Some(pair) = self
            .pair(derived)
            .filter(|_| outcome.verdict == CacheVerdict::Lost)
        else {
            return (outcome, broken);
        };
        match pair.redacted() {
            Some(redacted) => (
                Outcome {
                    verdict: CacheVerdict::Broken,
                    ..outcome
                },
                Some(redacted),
            ),
            None => (outcome, broken.or_else(|| pair.config())),
        }
    }

    fn pair<'p>(&'p self, now: &'p Derived) -> Option<Pair<'p, 'log>> {
        let last = self.last.as_ref()?;
        Some(Pair {
            session: self.session,
            before: &last.derived,
            now,
        })
    }

    fn broken(&self, derived: &Derived, prompt: &Prompt<'_, 'log>) -> Option<Break> {
        let pair = self.pair(derived)?;
        if let Some(route) = pair.route() {
            return Some(route);
        }
        let kept: &Kept<'log> = prompt.kept.as_ref()?;
        let broken = kept.broken.as_ref()?;
        let mut after = Vec::new();
        let written = prompt
            .write_segment(kept.segments, &mut after)
            .unwrap_or(false);
        Some(pair.segment(broken, written.then_some(after)))
    }

    fn judge(
        &self,
        derived: &Derived,
        reported: Option<Reported>,
        broken: Option<&Break>,
        share: f64,
    ) -> Outcome {
        if derived.inherited {
            return Outcome::without_judgement(CacheVerdict::Inherited);
        }
        let Some(last) = self.last.as_ref().filter(|last| !last.inherited) else {
            return Outcome::without_judgement(CacheVerdict::First);
        };
        match (reported, last.warm, broken) {
            (Some(reported), warm, Some(_)) => verdict::broken(reported, warm, share, self.unit),
            (Some(reported), Some(warm), None) => verdict::extends(reported, warm, self.unit),
            (None, _, Some(_)) => Outcome::without_judgement(CacheVerdict::Broken),
            (_, _, None) => Outcome::without_judgement(CacheVerdict::NotReported),
        }
    }

    fn remember(&mut self, derived: &Derived, ended: Millis, usage: Option<Usage>, row: &CacheRow) {
        let earlier = self.last.take().and_then(|last| last.warm);
        let warm = match (row.prompt, row.broken.is_some()) {
            (Some(prompt), _) => Some(Warm {
                prompt,
                output: usage.and_then(|usage| usage.output),
            }),
            // A request without usage does not cool what stood before it, but how far it got is not known.
            (None, false) => earlier.map(|warm| Warm {
                output: None,
                ..warm
            }),
            (None, true) => None,
        };
        self.last = Some(Last {
            derived: derived.clone(),
            ended,
            inherited: derived.inherited,
            warm,
        });
    }

    fn cost(&self, row: &CacheRow) -> Option<Cost> {
        if row.inherited {
            return None;
        }
        let price =
            self.options
                .prices
                .price(row.provider.as_deref()?, row.model.as_deref()?, row.time)?;
        let (prompt, hit) = (row.prompt?, row.hit?);
        let times = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let paid = times(hit, price.hit)
            + times(prompt.saturating_sub(hit), price.miss)
            + times(row.output.unwrap_or(0), price.output);
        let lost = times(row.lost.unwrap_or(0), price.miss.saturating_sub(price.hit));
        Some(Cost {
            currency: Currency(self.options.prices.currency.clone()),
            paid,
            lost,
        })
    }
}

/// What a usage says of the prompt. Absent is not reported, never 0.
fn reported(usage: Usage) -> Option<Reported> {
    let input = usage.input?;
    let (hit, write) = (usage.cache_read, usage.cache_write.unwrap_or(0));
    Some(Reported {
        prompt: input + hit.unwrap_or(0) + write,
        hit,
    })
}

/// An earlier request that begins this one further than the last one does. What another route has in its cache is not known.
fn better_earlier(prompt: &Prompt<'_, '_>, kept: u64, broken: Option<&Break>) -> Option<usize> {
    use super::super::answer::SegmentName;
    let on_route = broken.is_some_and(|broken| broken.segment == SegmentName::Route);
    let earlier = prompt.earlier.as_ref().filter(|_| !on_route)?;
    (earlier.bytes > kept).then_some(earlier.request)
}

/// How many bytes were kept from the request before, and which share of the prompt any earlier request had.
fn shares(prompt: &Prompt<'_, '_>, broken: Option<&Break>) -> (u64, f64) {
    use super::super::answer::SegmentName;
    let on_route = broken.is_some_and(|broken| broken.segment == SegmentName::Route);
    let kept = match (&prompt.kept, on_route) {
        (Some(kept), false) => kept.bytes,
        _ => 0,
    };
    let best = match (&prompt.earlier, on_route) {
        (Some(earlier), false) => earlier.bytes.max(kept),
        _ => kept,
    };
    (kept, best as f64 / prompt.bytes.max(1) as f64)
}

fn one_shots(session: &Session<'_>, options: &CacheOptions) -> Vec<OneShotRow> {
    let row = |purpose, seq, time, usage: Option<Usage>, data: Raw<'_>| {
        let reported = usage.and_then(reported);
        let (prompt, hit) = (reported.map(|r| r.prompt), reported.and_then(|r| r.hit));
        let output = usage.and_then(|usage| usage.output);
        let text = |name: &str| {
            data.get(name)
                .and_then(Raw::text)
                .map(|text| text.to_lossy().into_owned())
        };
        let price = text("provider")
            .zip(text("model"))
            .and_then(|(provider, model)| options.prices.price(&provider, &model, time));
        let cost = price.zip(prompt.zip(hit)).map(|(price, (prompt, hit))| {
            let times = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
            let paid = times(hit, price.hit)
                + times(prompt.saturating_sub(hit), price.miss)
                + times(output.unwrap_or(0), price.output);
            Cost {
                currency: Currency(options.prices.currency.clone()),
                paid,
                lost: 0,
            }
        });
        OneShotRow {
            purpose,
            seq,
            time,
            prompt,
            hit,
            output,
            cost,
        }
    };
    let compactions = session.compactions.iter().map(|compaction| {
        let usage = compaction.data.get("usage").map(Usage::read);
        row(
            Purpose::Compaction,
            compaction.seq,
            compaction.time,
            usage,
            compaction.data,
        )
    });
    let others = session.one_shots.iter().map(|call| {
        let purpose = match call.kind {
            OneShot::Title => Purpose::Title,
            OneShot::Search => Purpose::Search,
        };
        row(purpose, call.seq, call.time, None, call.data)
    });
    let mut rows: Vec<OneShotRow> = compactions.chain(others).collect();
    rows.sort_by_key(|row| row.seq);
    rows
}
