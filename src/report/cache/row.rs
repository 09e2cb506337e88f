//! One request as a flat row: the fact table of `--format jsonl`, and what `merge` reads back.
//!
//! **Takes** a [`CacheRow`] or a call that is not the loop's. **Gives** [`FlatRow`], and the answer's types from it again.
//! **Never** leaves a column out: what is not known is `null`, so that every row has the same columns in the same order.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::analyse::answer::{
    Break, CacheRow, CacheVerdict, Cause, Cost, Currency, Expectation, OneShotRow, Purpose,
    ReplaceKind, SegmentName, Unit,
};
use crate::line::{LineNo, Millis, Seq, Span};

use super::super::Excerpts;
use super::{CacheSession, story};

/// The kind of a row that is a request of the loop; other calls have their purpose there.
const REQUEST: &str = "request";

/// A row, column by column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FlatRow<'r> {
    pub(super) path: Cow<'r, str>,
    pub(super) session_id: Cow<'r, str>,
    pub(super) version: Option<u64>,
    pub(super) dialect: Option<Cow<'r, str>>,
    pub(super) kind: Cow<'r, str>,
    pub(super) index: u64,
    turn: Option<u64>,
    step: Option<u64>,
    attempt: Option<u32>,
    seq: Option<u64>,
    boundary_seq: Option<u64>,
    header_seq: Option<u64>,
    line: Option<u64>,
    time_ms: i64,
    day: Cow<'r, str>,
    idle_ms: Option<i64>,
    provider: Option<Cow<'r, str>>,
    model: Option<Cow<'r, str>>,
    inherited: bool,
    prompt: Option<u64>,
    hit: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    prompt_bytes: Option<u64>,
    kept_bytes: Option<u64>,
    unit: Option<u64>,
    unit_inferred: Option<bool>,
    expected_low: Option<u64>,
    expected_high: Option<u64>,
    verdict: Option<Cow<'r, str>>,
    cause: Option<Cow<'r, str>>,
    certainty: Option<Cow<'r, str>>,
    cause_name: Option<Cow<'r, str>>,
    cause_from: Option<Cow<'r, str>>,
    cause_to: Option<Cow<'r, str>>,
    on_resume: Option<bool>,
    segment: Option<Cow<'r, str>>,
    segment_name: Option<Cow<'r, str>>,
    segment_index: Option<u64>,
    segment_seq: Option<u64>,
    segment_byte: Option<u64>,
    cause_seq: Option<u64>,
    cause_line: Option<u64>,
    cause_start: Option<u64>,
    cause_end: Option<u64>,
    before: Option<Cow<'r, str>>,
    after: Option<Cow<'r, str>>,
    best_earlier: Option<u64>,
    lost: Option<u64>,
    currency: Option<Cow<'r, str>>,
    paid_pico: Option<u128>,
    lost_pico: Option<u128>,
}

/// What the rows of one log have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'r> {
    pub(super) path: &'r str,
    pub(super) session_id: &'r str,
    pub(super) session: Option<&'r CacheSession>,
    pub(super) unit: Unit,
    pub(super) excerpt: Excerpts,
}

impl<'r> FlatRow<'r> {
    fn begin(origin: Origin<'r>, index: usize, time: Millis) -> FlatRow<'r> {
        let (year, month, day, _) = time.civil();
        FlatRow {
            path: origin.path.into(),
            session_id: origin.session_id.into(),
            version: origin.session.and_then(|session| session.version),
            dialect: origin
                .session
                .map(|session| session.dialect.as_str().into()),
            index: index as u64,
            time_ms: time.0,
            day: format!("{year:04}-{month:02}-{day:02}").into(),
            ..FlatRow::default()
        }
    }

    /// The row of a request, the `index`th of its log.
    pub(super) fn of_request(origin: Origin<'r>, index: usize, row: &'r CacheRow) -> FlatRow<'r> {
        let certainty = story::certainty(row).map(|certainty| certainty.as_str().into());
        let mut flat = FlatRow {
            kind: REQUEST.into(),
            turn: Some(row.turn),
            step: Some(row.step),
            attempt: Some(row.attempt),
            seq: Some(row.seq.0),
            boundary_seq: Some(row.boundary.0),
            header_seq: Some(row.header.0),
            line: Some(row.line.0),
            idle_ms: row.idle.map(|idle| idle.0),
            provider: row.provider.as_deref().map(Cow::from),
            model: row.model.as_deref().map(Cow::from),
            inherited: row.inherited,
            prompt: row.prompt,
            hit: row.hit,
            cache_write: row.cache_write,
            output: row.output,
            prompt_bytes: Some(row.prompt_bytes),
            kept_bytes: Some(row.kept_bytes),
            unit: Some(origin.unit.tokens),
            unit_inferred: Some(origin.unit.inferred),
            expected_low: row.expected.map(|window| window.low),
            expected_high: row.expected.map(|window| window.high),
            verdict: Some(row.verdict.as_str().into()),
            certainty,
            best_earlier: row.best_earlier.map(|index| index as u64),
            lost: row.lost,
            ..FlatRow::begin(origin, index, row.time)
        };
        flat.set_cost(row.cost.as_ref());
        if let Some(broken) = &row.broken {
            flat.set_break(broken, origin.excerpt);
        }
        flat
    }

    /// The row of a call that is not the loop's.
    pub(super) fn of_call(origin: Origin<'r>, index: usize, call: &'r OneShotRow) -> FlatRow<'r> {
        let mut flat = FlatRow {
            kind: call.purpose.as_str().into(),
            seq: Some(call.seq.0),
            prompt: call.prompt,
            hit: call.hit,
            output: call.output,
            ..FlatRow::begin(origin, index, call.time)
        };
        flat.set_cost(call.cost.as_ref());
        flat
    }

    fn set_cost(&mut self, cost: Option<&'r Cost>) {
        self.currency = cost.map(|cost| cost.currency.0.as_str().into());
        self.paid_pico = cost.map(|cost| cost.paid);
        self.lost_pico = cost.map(|cost| cost.lost);
    }

    fn set_break(&mut self, broken: &'r Break, excerpt: Excerpts) {
        self.cause = Some(broken.cause.as_str().into());
        let (name, from, to): (Option<Cow<'_, str>>, Option<Cow<'_, str>>, _) = match &broken.cause
        {
            Cause::Provider { from, to } | Cause::Model { from, to } => {
                (None, Some(from.into()), Some(to.into()))
            }
            Cause::Config { members } => (Some(members.join(",").into()), None, None),
            Cause::ToolAdded(tool)
            | Cause::ToolRemoved(tool)
            | Cause::ToolChanged(tool)
            | Cause::ToolsMoved(tool) => (Some(tool.into()), None, None),
            Cause::Replace { range, .. } => (
                None,
                Some(range.0.to_string().into()),
                Some(range.1.to_string().into()),
            ),
            Cause::SystemText
            | Cause::SessionPrefix
            | Cause::Offload
            | Cause::Redacted
            | Cause::Dialect
            | Cause::Unexplained => (None, None, None),
        };
        (self.cause_name, self.cause_from, self.cause_to) = (name, from, to);
        self.on_resume = Some(broken.on_resume);
        let (word, name, index, seq) = match &broken.segment {
            SegmentName::Route => ("route", None, None, None),
            SegmentName::System => ("system", None, None, None),
            SegmentName::Tool(tool) => ("tool", Some(tool.into()), None, None),
            SegmentName::Prefix(at) => ("prefix", None, Some(*at as u64), None),
            SegmentName::Message(at, seq) => ("message", None, Some(*at as u64), *seq),
        };
        self.segment = Some(word.into());
        (self.segment_name, self.segment_index) = (name, index);
        self.segment_seq = seq.map(|seq| seq.0);
        self.segment_byte = Some(broken.byte);
        self.cause_seq = broken.seq.map(|seq| seq.0);
        self.cause_line = broken.line.map(|line| line.0);
        self.cause_start = broken.span.map(|span| span.start);
        self.cause_end = broken.span.map(|span| span.end);
        if excerpt == Excerpts::Shown {
            self.before = Some(broken.before.as_str().into());
            self.after = Some(broken.after.as_str().into());
        }
    }
}

/// What a row that was read says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    /// Of a request; with the unit of its log.
    Request(Box<CacheRow>, Unit),
    /// Of a call that is not the loop's.
    Call(OneShotRow),
}

impl FlatRow<'_> {
    /// The answer that the row was made from.
    ///
    /// # Errors
    ///
    /// A column that every row of this kind has is missing, or holds a word this build does not know.
    pub(super) fn told(&self) -> Result<Told, String> {
        if self.kind == REQUEST {
            return self.request();
        }
        let purpose = [Purpose::Compaction, Purpose::Title, Purpose::Search]
            .into_iter()
            .find(|purpose| purpose.as_str() == self.kind)
            .ok_or_else(|| unknown("kind", &self.kind))?;
        Ok(Told::Call(OneShotRow {
            purpose,
            seq: Seq(need("seq", self.seq)?),
            time: Millis(self.time_ms),
            prompt: self.prompt,
            hit: self.hit,
            output: self.output,
            cost: self.cost()?,
        }))
    }

    fn request(&self) -> Result<Told, String> {
        let unit = Unit {
            tokens: need("unit", self.unit)?,
            inferred: self.unit_inferred.unwrap_or(false),
        };
        let window = self.expected_low.zip(self.expected_high);
        let row = CacheRow {
            turn: need("turn", self.turn)?,
            step: need("step", self.step)?,
            attempt: need("attempt", self.attempt)?,
            seq: Seq(need("seq", self.seq)?),
            boundary: Seq(need("boundarySeq", self.boundary_seq)?),
            header: Seq(need("headerSeq", self.header_seq)?),
            line: LineNo(need("line", self.line)?),
            time: Millis(self.time_ms),
            idle: self.idle_ms.map(Millis),
            provider: self.provider.as_deref().map(String::from),
            model: self.model.as_deref().map(String::from),
            inherited: self.inherited,
            prompt: self.prompt,
            hit: self.hit,
            cache_write: self.cache_write,
            output: self.output,
            prompt_bytes: need("promptBytes", self.prompt_bytes)?,
            kept_bytes: need("keptBytes", self.kept_bytes)?,
            expected: window.map(|(low, high)| Expectation { low, high }),
            verdict: self.known_verdict()?,
            broken: self.broken()?,
            best_earlier: self
                .best_earlier
                .and_then(|index| usize::try_from(index).ok()),
            lost: self.lost,
            cost: self.cost()?,
        };
        Ok(Told::Request(Box::new(row), unit))
    }

    fn known_verdict(&self) -> Result<CacheVerdict, String> {
        const ALL: [CacheVerdict; 9] = [
            CacheVerdict::First,
            CacheVerdict::Kept,
            CacheVerdict::Better,
            CacheVerdict::Broken,
            CacheVerdict::Lost,
            CacheVerdict::Contradicted,
            CacheVerdict::BelowUnit,
            CacheVerdict::NotReported,
            CacheVerdict::Inherited,
        ];
        let word = need("verdict", self.verdict.as_deref())?;
        ALL.into_iter()
            .find(|verdict| verdict.as_str() == word)
            .ok_or_else(|| unknown("verdict", word))
    }

    fn cost(&self) -> Result<Option<Cost>, String> {
        let amounts = self.paid_pico.zip(self.lost_pico);
        let Some((code, (paid, lost))) = self.currency.as_deref().zip(amounts) else {
            return Ok(None);
        };
        let currency = Currency::of_code(code).ok_or_else(|| unknown("currency", code))?;
        Ok(Some(Cost {
            currency,
            paid,
            lost,
        }))
    }

    fn broken(&self) -> Result<Option<Break>, String> {
        let Some(word) = self.cause.as_deref() else {
            return Ok(None);
        };
        Ok(Some(Break {
            segment: self.known_segment()?,
            byte: need("segmentByte", self.segment_byte)?,
            cause: self.known_cause(word)?,
            on_resume: self.on_resume.unwrap_or(false),
            seq: self.cause_seq.map(Seq),
            line: self.cause_line.map(LineNo),
            span: self
                .cause_start
                .zip(self.cause_end)
                .map(|(start, end)| Span { start, end }),
            before: self.before.as_deref().unwrap_or_default().into(),
            after: self.after.as_deref().unwrap_or_default().into(),
        }))
    }

    fn known_segment(&self) -> Result<SegmentName, String> {
        let index = || {
            let index = need("segmentIndex", self.segment_index)?;
            usize::try_from(index).map_err(|_| unknown("segmentIndex", &index.to_string()))
        };
        Ok(match need("segment", self.segment.as_deref())? {
            "route" => SegmentName::Route,
            "system" => SegmentName::System,
            "tool" => SegmentName::Tool(self.segment_name.as_deref().unwrap_or_default().into()),
            "prefix" => SegmentName::Prefix(index()?),
            "message" => SegmentName::Message(index()?, self.segment_seq.map(Seq)),
            other => return Err(unknown("segment", other)),
        })
    }

    fn known_cause(&self, word: &str) -> Result<Cause, String> {
        let text =
            |column: &Option<Cow<'_, str>>| column.as_deref().unwrap_or_default().to_string();
        let (name, from, to) = (
            text(&self.cause_name),
            text(&self.cause_from),
            text(&self.cause_to),
        );
        let replace = |kind| {
            let first = from.parse().map_err(|_| unknown("causeFrom", &from))?;
            let last = to.parse().map_err(|_| unknown("causeTo", &to))?;
            let range = (Seq(first), Seq(last));
            Ok::<Cause, String>(Cause::Replace { kind, range })
        };
        Ok(match word {
            "provider" => Cause::Provider { from, to },
            "model" => Cause::Model { from, to },
            "config" => Cause::Config {
                members: name.split(',').map(String::from).collect(),
            },
            "system-text" => Cause::SystemText,
            "tool-added" => Cause::ToolAdded(name),
            "tool-removed" => Cause::ToolRemoved(name),
            "tool-changed" => Cause::ToolChanged(name),
            "tools-moved" => Cause::ToolsMoved(name),
            "session-prefix" => Cause::SessionPrefix,
            "compaction" => replace(ReplaceKind::Compaction)?,
            "pruned-result" => replace(ReplaceKind::PrunedResult)?,
            "system-replaced" => replace(ReplaceKind::SystemHead)?,
            "replace" => replace(ReplaceKind::Other)?,
            "image-offload" => Cause::Offload,
            "redacted-header" => Cause::Redacted,
            "dialect" => Cause::Dialect,
            "unexplained" => Cause::Unexplained,
            other => return Err(unknown("cause", other)),
        })
    }
}

fn need<T>(column: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("`{column}` is missing"))
}

fn unknown(column: &str, word: &str) -> String {
    format!("`{column}` is \"{word}\", which this version does not know")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::answer::sample;

    fn origin() -> Origin<'static> {
        Origin {
            path: "a.jsonl",
            session_id: "s",
            session: None,
            unit: Unit::default(),
            excerpt: Excerpts::Shown,
        }
    }

    fn through_json(flat: &FlatRow<'_>) -> Told {
        let text = serde_json::to_string(flat).expect("a row is JSON");
        let read: FlatRow<'_> = serde_json::from_str(&text).expect("and back");
        assert_eq!(&read, flat);
        read.told().expect("this build wrote it")
    }

    #[test]
    fn what_is_written_is_read_again() {
        let report = sample::eventful("\u{1b}[31m\"漢");
        for (index, row) in report.rows.iter().enumerate() {
            let flat = FlatRow::of_request(origin(), index, row);
            let expected = Told::Request(Box::new(row.clone()), report.unit);
            assert_eq!(through_json(&flat), expected);
        }
        for (index, call) in report.one_shots.iter().enumerate() {
            let flat = FlatRow::of_call(origin(), index, call);
            assert_eq!(through_json(&flat), Told::Call(call.clone()));
        }
    }

    #[test]
    fn every_cause_survives() {
        let (from, to) = ("a".to_string(), "b".to_string());
        let range = (Seq(1), Seq(9));
        let replaced = |kind| Cause::Replace { kind, range };
        let causes = [
            Cause::Provider {
                from: from.clone(),
                to: to.clone(),
            },
            Cause::Model { from, to },
            Cause::Config {
                members: vec!["temperature".into(), "reasoningEffort".into()],
            },
            Cause::SystemText,
            Cause::ToolAdded("t".into()),
            Cause::ToolRemoved("t".into()),
            Cause::ToolChanged("t".into()),
            Cause::ToolsMoved("t".into()),
            Cause::SessionPrefix,
            replaced(ReplaceKind::Compaction),
            replaced(ReplaceKind::PrunedResult),
            replaced(ReplaceKind::SystemHead),
            replaced(ReplaceKind::Other),
            Cause::Offload,
            Cause::Redacted,
            Cause::Dialect,
            Cause::Unexplained,
        ];
        for cause in causes {
            let row = sample::broken(
                sample::kept(1, 1, 1, 9000),
                0,
                SegmentName::Message(3, None),
                cause,
            );
            let flat = FlatRow::of_request(origin(), 0, &row);
            assert_eq!(
                through_json(&flat),
                Told::Request(Box::new(row), Unit::default())
            );
        }
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let row = sample::kept(1, 1, 1, 9000);
        let mut flat = FlatRow::of_request(origin(), 0, &row);
        flat.verdict = Some("splendid".into());
        let said = flat.told().expect_err("no such verdict");
        assert_eq!(
            said,
            "`verdict` is \"splendid\", which this version does not know"
        );
        flat.verdict = None;
        assert_eq!(flat.told(), Err("`verdict` is missing".into()));
    }
}
