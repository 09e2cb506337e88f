//! JSON of `diff-headers`: one object for a run.
//!
//! **Takes** a [`DiffReport`]. **Gives** `dsh-audit/diff-headers/v1` (`schemas/diff-headers.json`). **Never** prints a member that does
//! not apply.

use std::io::{self, Write};

use serde::Serialize;

use super::signs::{KeptView, MoveView, PatternView};
use super::views::ChangeView;
use super::{Comparison, DiffFile, DiffReport};
use crate::analyse::answer::{HeaderPair, HeaderRow, HeaderSpot, Part, Timeline};
use crate::report::{JsonText, TOOL, words};

/// Writes the run as one object and a line feed.
pub(super) fn write(report: &DiffReport<'_>, out: &mut dyn Write) -> io::Result<()> {
    let view = RunView {
        schema: "dsh-audit/diff-headers/v1",
        tool: TOOL,
        exit_code: report.exit_code,
        files: report.files.iter().map(FileView::of).collect(),
        comparisons: report.comparisons.iter().map(ComparisonView::of).collect(),
    };
    JsonText::write(&view, out)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunView<'r> {
    schema: &'static str,
    tool: &'static str,
    exit_code: u8,
    files: Vec<FileView<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comparisons: Vec<ComparisonView<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView<'r> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'r str>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'r str>,
    /// What limits the answer, in words; the findings themselves stand on standard error.
    #[serde(skip_serializing_if = "String::is_empty")]
    limits: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_sha256: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<TimelineView<'r>>,
}

impl<'r> FileView<'r> {
    fn of(file: &'r DiffFile) -> FileView<'r> {
        let report = &file.report;
        FileView {
            path: report.path.to_string_lossy().into_owned(),
            session_id: report.session.as_ref().map(|facts| facts.id.as_str()),
            verdict: report.verdict.outcome.as_str(),
            error: report.error.as_deref(),
            limits: words::levels(report.verdict.counts),
            input_sha256: report.digest.as_deref(),
            timeline: file.timeline.as_ref().map(TimelineView::of),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TimelineView<'r> {
    requests: u64,
    distinct: u64,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
    patterns: Vec<PatternView<'r>>,
    headers: Vec<RowView<'r>>,
}

impl<'r> TimelineView<'r> {
    fn of(timeline: &'r Timeline) -> TimelineView<'r> {
        TimelineView {
            requests: timeline.requests,
            distinct: timeline.distinct,
            left_out: timeline.left_out,
            patterns: timeline.patterns.iter().map(PatternView::of).collect(),
            headers: timeline.rows.iter().map(RowView::of).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RowView<'r> {
    seq: u64,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u64>,
    time: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "is_false")]
    starts_series: bool,
    instance: u32,
    #[serde(skip_serializing_if = "is_false")]
    inherited: bool,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moves: Vec<MoveView<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redacted: Vec<&'static str>,
    size: SizeView,
    #[serde(skip_serializing_if = "Option::is_none")]
    returns_to: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<KeptView<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SizeView {
    system_bytes: u64,
    system_lines: u64,
    tools: u64,
    tools_bytes: u64,
    prefix: u64,
    prefix_bytes: u64,
}

impl<'r> RowView<'r> {
    fn of(row: &'r HeaderRow) -> RowView<'r> {
        let change = row.change.as_ref();
        RowView {
            seq: row.seq.0,
            line: row.line.0,
            turn: row.turn,
            step: row.step,
            attempt: row.attempt,
            time: row.time.0,
            since_ms: row.since,
            reason: row.reason.map(|reason| reason.as_str()),
            starts_series: row.starts_series,
            instance: row.instance,
            inherited: row.inherited,
            verdict: row.verdict.as_str(),
            moves: row.moves.iter().map(MoveView::of).collect(),
            redacted: names(&row.redacted),
            size: SizeView {
                system_bytes: row.size.system,
                system_lines: row.size.system_lines,
                tools: row.size.tools,
                tools_bytes: row.size.tools_bytes,
                prefix: row.size.prefix,
                prefix_bytes: row.size.prefix_bytes,
            },
            returns_to: row.returns_to.map(|seq| seq.0),
            pattern: row.pattern,
            change: change
                .filter(|change| !change.is_empty())
                .map(ChangeView::of),
            kept: change
                .and_then(|change| change.kept.as_ref())
                .map(KeptView::of),
        }
    }
}

fn names(parts: &[Part]) -> Vec<&'static str> {
    parts.iter().map(|part| part.as_str()).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparisonView<'r> {
    kind: &'static str,
    old: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<String>,
    differs: bool,
    pairs: Vec<PairView<'r>>,
}

impl<'r> ComparisonView<'r> {
    fn of(comparison: &'r Comparison) -> ComparisonView<'r> {
        let new = comparison.new.as_ref();
        ComparisonView {
            kind: comparison.kind.as_str(),
            old: comparison.old.to_string_lossy().into_owned(),
            new: new.map(|path| path.to_string_lossy().into_owned()),
            differs: comparison.differs(),
            pairs: comparison.pairs.iter().map(PairView::of).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PairView<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<SpotView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<SpotView>,
    differs: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redacted: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeView<'r>>,
}

impl<'r> PairView<'r> {
    fn of(pair: &'r HeaderPair) -> PairView<'r> {
        let change = Some(&pair.change).filter(|change| !change.is_empty());
        PairView {
            old: pair.old.map(SpotView::of),
            new: pair.new.map(SpotView::of),
            differs: pair.differs(),
            redacted: names(&pair.redacted),
            change: change.map(ChangeView::of),
        }
    }
}

#[derive(Serialize)]
struct SpotView {
    #[serde(skip_serializing_if = "Option::is_none")]
    locked: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
}

impl SpotView {
    fn of(spot: HeaderSpot) -> SpotView {
        SpotView {
            locked: spot.locked,
            seq: spot.locked.is_none().then_some(spot.seq.0),
            turn: spot.turn,
            step: spot.step,
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}
