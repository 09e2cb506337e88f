//! Audits all inputs: files side by side, results in input order.
//!
//! **Takes** a [`Plan`]. **Gives** [`Audited`]. **Never** lets the number of workers, or the order in which they finish,
//! be seen in a result.

use std::path::PathBuf;

use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::compare::Capture;
use crate::report::FileReport;
use crate::verdict::{self, Outcome};

use super::discover::{Found, How};
use super::exit::Status;
use super::job::{self, Answer};
use super::output;
use super::plan::{Plan, shown};
use super::progress::{Audience, Progress};

/// What became of all inputs.
#[derive(Debug, Default)]
pub(crate) struct Audited {
    /// A result for each, in input order.
    pub(crate) files: Vec<FileReport>,
    /// Files that a walk found and that are no session logs.
    pub(crate) passed_over: Vec<PathBuf>,
    /// What the run amounts to.
    pub(crate) status: Status,
}

/// Audits all inputs of the plan.
///
/// # Errors
///
/// The workers cannot be started.
pub(crate) fn audit(
    plan: &Plan,
    capture: Option<&Capture<'_>>,
    audience: Audience,
) -> Result<Audited, String> {
    for path in &plan.inputs.special {
        output::note(format_args!("left aside, no regular file: {}", shown(path)));
    }
    let reports = side_by_side(plan, capture, audience)?;
    let mut audited = Audited::default();
    for (found, report) in plan.inputs.found.iter().zip(reports) {
        if found.how == How::Walked && is_foreign(&report) {
            audited.passed_over.push(report.path);
            continue;
        }
        audited.status = audited.status.and(Status::of(&report.verdict));
        audited.files.push(report);
    }
    if audited.files.is_empty() {
        let number = crate::report::count(audited.passed_over.len() as u64, "file");
        output::error(format_args!("no session log among {number}"));
        audited.status = audited.status.and(Status::NotComplete);
    }
    if plan.exit_zero {
        audited.status = audited.status.forgiving_findings();
    }
    Ok(audited)
}

/// One result per input, in input order.
fn side_by_side(
    plan: &Plan,
    capture: Option<&Capture<'_>>,
    audience: Audience,
) -> Result<Vec<FileReport>, String> {
    let found = &plan.inputs.found;
    let progress = Progress::begin(found.iter().map(|found| found.size).sum(), audience);
    let one = |at: usize, found: &Found| {
        let report = report_of(plan, capture, found);
        progress.advance(found.size);
        (at, report)
    };
    // The largest first, so that none of them is left to run alone at the end.
    let mut order: Vec<(usize, &Found)> = found.iter().enumerate().collect();
    order.sort_by_key(|(at, found)| (std::cmp::Reverse(found.size), *at));
    let workers = plan.jobs.min(found.len()).max(1);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()
        .map_err(|error| format!("cannot start {workers} workers: {error}"))?;
    let mut reports: Vec<(usize, FileReport)> = pool.install(|| {
        order
            .into_iter()
            .par_bridge()
            .map(|(at, found)| one(at, found))
            .collect()
    });
    reports.sort_by_key(|(at, _)| *at);
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}

fn report_of(plan: &Plan, capture: Option<&Capture<'_>>, found: &Found) -> FileReport {
    let answer = match &found.problem {
        Some(problem) => Err(problem.clone()),
        None => job::audit(found, &plan.reading, capture),
    };
    let (answer, error) = match answer {
        Ok(answer) => (answer, None),
        Err(error) => (Answer::unreadable(), Some(error)),
    };
    weigh(plan, found, answer, error)
}

/// Whether a result is of a file that is no session log of this harness.
pub(super) fn is_foreign(report: &FileReport) -> bool {
    report.verdict.outcome == Outcome::Foreign
}

/// Applies policy and baseline to what the rules said.
pub(super) fn weigh(
    plan: &Plan,
    found: &Found,
    mut answer: Answer,
    error: Option<String>,
) -> FileReport {
    let policy = plan.config.policy_for(&found.path, plan.fail_on);
    answer.findings.retain(|finding| {
        let allowed = |name: &str| plan.config.allows_event_type(&found.path, name);
        !finding.about.as_deref().is_some_and(allowed)
    });
    // Without a session id a finding is told from those of other files by the path.
    let identity = match &answer.session {
        Some(facts) => facts.id.clone(),
        None => format!("path:{}", shown(&found.path)),
    };
    let verdict = verdict::decide(
        answer.findings,
        answer.standing,
        &identity,
        &policy,
        &plan.baseline,
        plan.reading.max_findings,
    );
    FileReport {
        path: found.path.clone(),
        session: answer.session,
        verdict,
        error,
        digest: answer.digest,
        older: found.older.clone(),
    }
}
