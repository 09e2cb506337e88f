//! JSON of cache reports: one object for a run, or one flat row per request.
//!
//! **Takes** a [`CacheRun`]. **Gives** `dsh-audit/cache-report/v1` and `dsh-audit/cache-report-row/v1`, written while they
//! are made; the rows of both are the same. **Never** holds a whole document.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::analyse::answer::{BudgetMiss, CacheTotals, Cost, OneShotTotals, Unit, WindowCount};
use crate::analyse::fleet;

use super::super::{JsonText, Look, TOOL};
use super::row::{FlatRow, Origin};
use super::story::NOT_SHOWN;
use super::{CacheFile, CacheRun};

/// What a run's object names as its schema.
pub(crate) const SCHEMA: &str = "dsh-audit/cache-report/v1";

/// Writes the run as one object and a line feed.
pub(super) fn write(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let reports = run.reports();
    let reports = || reports.iter().copied();
    let groups = run.parts.by.map(|by| GroupsView {
        by: by.as_str(),
        rows: fleet::groups(reports(), by)
            .into_iter()
            .map(|group| GroupView {
                totals: TotalsView::of(&group.totals),
                key: group.key,
            })
            .collect(),
    });
    let view = RunView {
        schema: SCHEMA,
        tool: TOOL,
        exit_code: run.exit_code,
        totals: TotalsView::of(&fleet::totals(reports())),
        one_shots: OneShotsView::of(&fleet::one_shots(reports())),
        window: WindowView::of(&fleet::window(reports())),
        prices: run.prices.map(|table| PricesView {
            currency: &table.currency,
            source: &table.source,
            captured: &table.captured,
        }),
        groups,
        logs: Logs {
            files: run.files,
            look,
        },
        passed_over: run.passed_over.len() as u64,
        not_shown: NOT_SHOWN,
    };
    JsonText::write(&view, out)
}

/// Writes one flat row and a line feed for each request, and for each call that is not the loop's.
pub(super) fn write_rows(run: &CacheRun<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    for file in run.files {
        let path = file.path.to_string_lossy();
        let origin = origin_of(file, &path, look);
        rows_of(file, origin).try_for_each(|row| JsonText::write(&row, out))?;
    }
    Ok(())
}

fn origin_of<'r>(file: &'r CacheFile, path: &'r str, look: Look) -> Origin<'r> {
    Origin {
        path,
        session_id: &file.report.session_id,
        session: file.session.as_ref(),
        unit: file.report.unit,
        excerpt: look.excerpt,
    }
}

fn rows_of<'r>(file: &'r CacheFile, origin: Origin<'r>) -> impl Iterator<Item = FlatRow<'r>> {
    let requests = file.report.rows.iter().enumerate();
    let calls = file.report.one_shots.iter().enumerate();
    requests
        .map(move |(index, row)| FlatRow::of_request(origin, index, row))
        .chain(calls.map(move |(index, call)| FlatRow::of_call(origin, index, call)))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunView<'r> {
    schema: &'static str,
    tool: &'static str,
    exit_code: u8,
    totals: TotalsView,
    one_shots: OneShotsView,
    window: WindowView,
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<PricesView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<GroupsView>,
    logs: Logs<'r>,
    passed_over: u64,
    not_shown: [&'static str; 3],
}

#[derive(Serialize)]
struct PricesView<'r> {
    currency: &'r str,
    source: &'r str,
    captured: &'r str,
}

#[derive(Serialize)]
struct GroupsView {
    by: &'static str,
    rows: Vec<GroupView>,
}

#[derive(Serialize)]
struct GroupView {
    key: String,
    totals: TotalsView,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TotalsView {
    requests: u64,
    with_usage: u64,
    prompt: u64,
    hit: u64,
    output: u64,
    first_prompt: u64,
    first_hit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_without_first: Option<f64>,
    lost: u64,
    lost_unexplained: u64,
    broken: u64,
    unexplained: u64,
    priced: u64,
    cost: Vec<CostView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_time_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_time_ms: Option<i64>,
}

impl TotalsView {
    fn of(totals: &CacheTotals) -> TotalsView {
        TotalsView {
            requests: totals.requests,
            with_usage: totals.with_usage,
            prompt: totals.prompt,
            hit: totals.hit,
            output: totals.output,
            first_prompt: totals.first_prompt,
            first_hit: totals.first_hit,
            rate: totals.rate(),
            rate_without_first: totals.rate_without_first(),
            lost: totals.lost,
            lost_unexplained: totals.lost_unexplained,
            broken: totals.broken,
            unexplained: totals.unexplained,
            priced: totals.priced,
            cost: totals.cost.iter().map(CostView::of).collect(),
            first_time_ms: totals.first_time.map(|time| time.0),
            last_time_ms: totals.last_time.map(|time| time.0),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CostView {
    currency: String,
    paid_pico: u128,
    lost_pico: u128,
}

impl CostView {
    fn of(cost: &Cost) -> CostView {
        CostView {
            currency: cost.currency.0.clone(),
            paid_pico: cost.paid,
            lost_pico: cost.lost,
        }
    }
}

#[derive(Serialize)]
struct OneShotsView {
    calls: u64,
    prompt: u64,
    hit: u64,
    output: u64,
    cost: Vec<CostView>,
}

impl OneShotsView {
    fn of(totals: &OneShotTotals) -> OneShotsView {
        OneShotsView {
            calls: totals.calls,
            prompt: totals.prompt,
            hit: totals.hit,
            output: totals.output,
            cost: totals.cost.iter().map(CostView::of).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WindowView {
    inside: u64,
    below: u64,
    above: u64,
    header_changes: u64,
    header_changes_to_zero: u64,
    hits: u64,
    multiples_of_unit: u64,
}

impl WindowView {
    fn of(window: &WindowCount) -> WindowView {
        WindowView {
            inside: window.inside,
            below: window.below,
            above: window.above,
            header_changes: window.changes,
            header_changes_to_zero: window.changes_to_zero,
            hits: window.hits,
            multiples_of_unit: window.multiples,
        }
    }
}

struct Logs<'r> {
    files: &'r [CacheFile],
    look: Look,
}

impl Serialize for Logs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.files.len()))?;
        for file in self.files {
            seq.serialize_element(&LogView::of(file, self.look))?;
        }
        seq.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogView<'r> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionView<'r>>,
    verdict: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_sha256: Option<&'r str>,
    unit: UnitView,
    totals: TotalsView,
    one_shots: OneShotsView,
    window: WindowView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missed_budgets: Vec<MissView>,
    rows: Rows<'r>,
}

impl<'r> LogView<'r> {
    fn of(file: &'r CacheFile, look: Look) -> LogView<'r> {
        LogView {
            path: file.path.to_string_lossy().into_owned(),
            session: file.session.as_ref().map(|session| SessionView {
                id: &file.report.session_id,
                version: session.version,
                dialect: &session.dialect,
            }),
            verdict: &file.outcome,
            error: file.error.as_deref(),
            input_sha256: file.digest.as_deref(),
            unit: UnitView::of(file.report.unit),
            totals: TotalsView::of(&file.report.totals),
            one_shots: OneShotsView::of(&file.report.one_shot_totals()),
            window: WindowView::of(&file.report.window),
            missed_budgets: file.misses.iter().map(MissView::of).collect(),
            rows: Rows { file, look },
        }
    }
}

#[derive(Serialize)]
struct SessionView<'r> {
    id: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    dialect: &'r str,
}

#[derive(Serialize)]
struct UnitView {
    tokens: u64,
    inferred: bool,
}

impl UnitView {
    fn of(unit: Unit) -> UnitView {
        UnitView {
            tokens: unit.tokens,
            inferred: unit.inferred,
        }
    }
}

#[derive(Serialize)]
struct MissView {
    budget: &'static str,
    limit: NumberView,
    actual: NumberView,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
}

impl MissView {
    fn of(miss: &BudgetMiss) -> MissView {
        use NumberView::{Share, Whole};
        let (limit, actual) = match miss {
            BudgetMiss::HitRate { least, rate, .. } => (Share(*least), Share(*rate)),
            BudgetMiss::LostTokens { most, lost, .. } => (Whole(*most), Whole(*lost)),
            BudgetMiss::HeaderChanges { most, changes, .. } => (Whole(*most), Whole(*changes)),
            BudgetMiss::NoCacheRead { requests, .. } => (Whole(0), Whole(*requests)),
        };
        MissView {
            budget: miss.budget(),
            limit,
            actual,
            row: miss.row().map(|row| row as u64),
        }
    }
}

/// A number as its budget counts.
enum NumberView {
    Whole(u64),
    Share(f64),
}

impl Serialize for NumberView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            NumberView::Whole(number) => serializer.serialize_u64(*number),
            NumberView::Share(share) => serializer.serialize_f64(*share),
        }
    }
}

struct Rows<'r> {
    file: &'r CacheFile,
    look: Look,
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let path = self.file.path.to_string_lossy();
        let origin = origin_of(self.file, &path, self.look);
        let mut seq = serializer.serialize_seq(None)?;
        for row in rows_of(self.file, origin) {
            seq.serialize_element(&row)?;
        }
        seq.end()
    }
}
