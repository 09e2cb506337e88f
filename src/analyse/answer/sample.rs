//! Cache reports for tests: one log in which everything happens once, and quiet ones.
//!
//! **Takes** nothing. **Gives** reports as the analysis would build them. **Never** exists outside tests.

use super::{
    Break, CacheReport, CacheRow, CacheVerdict, Cause, Cost, Currency, Expectation, OneShotRow,
    Purpose, ReplaceKind, SegmentName,
};
use crate::line::{LineNo, Millis, Seq, Span};

/// Where the sample begins: 2026-08-21 09:01:15Z.
const START: i64 = 1_787_302_875_000;

/// A request whose prefix was kept, `minutes` after the start.
pub(crate) fn kept(turn: u64, step: u64, minutes: i64, prompt: u64) -> CacheRow {
    let number = turn * 100 + step * 10;
    let hit = prompt.saturating_sub(200) / 128 * 128;
    CacheRow {
        turn,
        step,
        attempt: 1,
        boundary: Seq(number + 2),
        header: Seq(7),
        seq: Seq(number + 2),
        line: LineNo(number + 4),
        time: Millis(START + minutes * 60_000),
        idle: Some(Millis(12_000)),
        provider: Some("deepseek-official".into()),
        model: Some("deepseek-v4-flash".into()),
        inherited: false,
        prompt: Some(prompt),
        hit: Some(hit),
        cache_write: None,
        output: Some(312),
        prompt_bytes: prompt * 4,
        kept_bytes: (prompt * 4).saturating_sub(700),
        expected: Some(Expectation {
            low: hit,
            high: hit + 128,
        }),
        verdict: CacheVerdict::Kept,
        broken: None,
        best_earlier: None,
        lost: Some(0),
        cost: Some(cost(prompt, hit, 312, 0)),
    }
}

fn cost(prompt: u64, hit: u64, output: u64, lost: u64) -> Cost {
    let paid =
        u128::from(prompt - hit) * 220_000 + u128::from(hit) * 7000 + u128::from(output) * 660_000;
    Cost {
        currency: Currency("USD".into()),
        paid,
        lost: u128::from(lost) * 213_000,
    }
}

/// The same request with another hit: what an intact prefix would have given is lost.
pub(crate) fn with_hit(mut row: CacheRow, verdict: CacheVerdict, hit: u64) -> CacheRow {
    let (prompt, due) = (row.prompt.unwrap_or(0), row.hit.unwrap_or(0));
    let lost = due.saturating_sub(hit);
    row.verdict = verdict;
    row.hit = Some(hit);
    row.lost = Some(lost);
    row.cost = Some(cost(prompt, hit, 312, lost));
    row
}

/// The same request with a broken prefix.
pub(crate) fn broken(row: CacheRow, hit: u64, segment: SegmentName, cause: Cause) -> CacheRow {
    let mut row = with_hit(row, CacheVerdict::Broken, hit);
    row.kept_bytes = hit * 4;
    row.header = Seq(row.boundary.0 - 1);
    row.expected = Some(Expectation { low: 0, high: hit });
    row.broken = Some(Break {
        segment,
        byte: 118,
        cause,
        on_resume: false,
        seq: Some(row.header),
        line: Some(LineNo(row.line.0 - 2)),
        span: Some(Span {
            start: 23_619,
            end: 23_700,
        }),
        before: "Today is Friday, 09:13:55. Be brief.".into(),
        after: "Today is Friday, 09:14:02. Be brief.".into(),
    });
    row
}

/// The report of rows.
pub(crate) fn report(session_id: &str, rows: Vec<CacheRow>) -> CacheReport {
    let mut report = CacheReport {
        session_id: session_id.into(),
        rows,
        ..CacheReport::default()
    };
    report.sum_up();
    report
}

/// A log in which everything happens once. `hostile` stands wherever a log's own text may stand.
pub(crate) fn eventful(hostile: &str) -> CacheReport {
    let system = broken(
        kept(2, 1, 13, 10_400),
        0,
        SegmentName::System,
        Cause::SystemText,
    );
    let mut tools = broken(
        kept(2, 3, 15, 12_100),
        1024,
        SegmentName::Tool("read".into()),
        Cause::ToolsMoved(format!("read{hostile}")),
    );
    if let Some(broken) = &mut tools.broken {
        broken.before = format!("{{\"name\":\"read{hostile}\",\"description\":\"Reads\"}}");
        broken.after = format!("{{\"name\":\"bash{hostile}\",\"description\":\"Runs\"}}");
        broken.on_resume = true;
    }
    let replace = Cause::Replace {
        kind: ReplaceKind::Compaction,
        range: (Seq(12), Seq(231)),
    };
    let compaction = broken(
        kept(3, 1, 22, 9_000),
        3_968,
        SegmentName::Message(0, Some(Seq(240))),
        replace,
    );
    let mut evicted = with_hit(kept(4, 1, 900, 13_000), CacheVerdict::Lost, 0);
    evicted.idle = Some(Millis(52_000_000));
    let model = Cause::Model {
        from: "deepseek-v4-flash".into(),
        to: format!("deepseek-v4-pro{hostile}"),
    };
    let mut switched = broken(kept(4, 3, 905, 14_000), 0, SegmentName::Route, model);
    switched.model = Some(format!("deepseek-v4-pro{hostile}"));
    let mut odd = broken(
        kept(4, 5, 908, 15_000),
        256,
        SegmentName::Prefix(1),
        Cause::SessionPrefix,
    );
    odd.verdict = CacheVerdict::Contradicted;
    odd.hit = Some(14_720);
    odd.lost = None;
    let mut silent = kept(4, 6, 909, 15_200);
    silent.verdict = CacheVerdict::NotReported;
    (silent.prompt, silent.hit, silent.lost, silent.cost) = (None, None, None, None);
    (silent.expected, silent.output) = (None, None);
    let mut inherited = kept(0, 1, 0, 4_000);
    inherited.verdict = CacheVerdict::Inherited;
    inherited.inherited = true;
    let mut retry = kept(1, 2, 3, 8_900);
    retry.attempt = 2;
    let rows = vec![
        inherited,
        with_hit(kept(1, 1, 1, 8_000), CacheVerdict::First, 0),
        kept(1, 2, 2, 8_900),
        retry,
        kept(1, 3, 4, 9_500),
        system,
        kept(2, 2, 14, 11_000),
        tools,
        compaction,
        kept(3, 2, 23, 9_600),
        evicted,
        kept(4, 2, 902, 13_500),
        switched,
        with_hit(kept(4, 4, 906, 14_500), CacheVerdict::Better, 14_464),
        odd,
        silent,
    ];
    let mut report = report(&format!("session{hostile}"), rows);
    if let Some(first) = report
        .rows
        .iter_mut()
        .find(|row| row.verdict == CacheVerdict::First)
    {
        (first.lost, first.idle, first.expected) = (None, None, None);
    }
    report.one_shots.push(OneShotRow {
        purpose: Purpose::Compaction,
        seq: Seq(239),
        time: Millis(START + 21 * 60_000),
        prompt: Some(12_400),
        hit: Some(128),
        output: Some(900),
        cost: Some(cost(12_400, 128, 900, 0)),
    });
    report.sum_up();
    report
}

/// A log in which nothing happens.
pub(crate) fn quiet() -> CacheReport {
    let first = CacheRow {
        lost: None,
        idle: None,
        expected: None,
        ..with_hit(kept(1, 1, 1, 5_000), CacheVerdict::First, 4_864)
    };
    report(
        "quiet",
        vec![first, kept(1, 2, 2, 5_600), kept(1, 3, 3, 6_100)],
    )
}
