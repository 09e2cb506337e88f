//! Cache reports of a run for tests: an eventful log, a quiet one, one without usage, one that cannot be read.
//!
//! **Takes** nothing. **Gives** results as `cli` would build them. **Never** exists outside tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::analyse::answer::{Budgets, CacheReport, CacheVerdict, sample};
use crate::analyse::fleet;

use super::{CacheFile, CacheRun, CacheSession, Parts};

/// A result of a report.
pub(super) fn file(path: &str, report: CacheReport, budgets: &Budgets) -> CacheFile {
    CacheFile {
        path: PathBuf::from(path),
        session: Some(CacheSession {
            version: Some(0),
            dialect: "released".into(),
        }),
        outcome: "clean".into(),
        error: None,
        digest: None,
        misses: fleet::missed(&report, budgets),
        changes: BTreeMap::new(),
        report,
    }
}

/// The run's files; `hostile` stands wherever a log's own text may stand.
pub(super) fn files(hostile: &str) -> Vec<CacheFile> {
    let budgets = Budgets {
        min_hit_rate: Some(0.9),
        max_lost_tokens: Some(10_000),
        max_header_changes: Some(2),
        require_cache_read: true,
        ..Budgets::default()
    };
    let mut silent = sample::quiet();
    for row in &mut silent.rows {
        row.verdict = CacheVerdict::NotReported;
        (row.prompt, row.hit, row.output) = (None, None, None);
        (row.lost, row.cost, row.expected) = (None, None, None);
    }
    silent.session_id = "silent".into();
    silent.sum_up();
    let mut unreadable = file(
        &format!("logs/{hostile}"),
        CacheReport::default(),
        &Budgets::default(),
    );
    unreadable.session = None;
    unreadable.outcome = "unreadable".into();
    unreadable.error = Some(format!("cannot read: {hostile}"));
    vec![
        file("logs/quiet/session.jsonl", sample::quiet(), &budgets),
        file(
            "logs/eventful/session.jsonl",
            sample::eventful(hostile),
            &budgets,
        ),
        file("logs/silent/session.v3.jsonl.zstd", silent, &budgets),
        unreadable,
    ]
}

/// The run over files.
pub(super) fn run(files: &[CacheFile], parts: Parts) -> CacheRun<'_> {
    CacheRun {
        exit_code: 2,
        files,
        passed_over: &[],
        prices: None,
        parts,
    }
}
