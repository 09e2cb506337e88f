//! Audits all inputs: files side by side, results in input order.
//!
//! **Takes** a [`Plan`]. **Gives** [`Audited`]. **Never** lets the number of workers, or the order in which they finish,
//! be seen in a result.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::compare::Capture;
use crate::report::{Excerpts, FileReport, MigrationFacts, write_limits};
use crate::verdict::{self, Outcome};

use super::discover::{Found, How};
use super::exit::Status;
use super::job::{self, Answer, LineCounts};
use super::lineage::{self, Fork};
use super::migrations::{self, Step};
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
    /// The lines of all inputs.
    pub(crate) lines: LineCounts,
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
    note_special(plan);
    let (reports, lines) = side_by_side(plan, capture, audience)?;
    let mut audited = Audited {
        lines,
        ..Audited::default()
    };
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

/// One result per input, in input order: every file for itself, then forks against their parents.
fn side_by_side(
    plan: &Plan,
    capture: Option<&Capture<'_>>,
    audience: Audience,
) -> Result<(Vec<FileReport>, LineCounts), String> {
    let found = &plan.inputs.found;
    let workers = Workers::start(plan.jobs.min(found.len()).max(1))?;
    let progress = Progress::begin(found.iter().map(|found| found.size).sum(), audience);
    let answers = workers.all(
        found,
        |found| found.size,
        |found| {
            let answer = answer_to(plan, capture, found);
            progress.advance(found.size);
            answer
        },
    );
    let (mut answers, mut errors): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
    let lines = LineCounts {
        all: answers.iter().map(|answer| answer.lines.all).sum(),
        fast: answers.iter().map(|answer| answer.lines.fast).sum(),
    };
    let mut related = relate(plan, &workers, &mut answers, &mut errors);
    if plan.look.excerpt == Excerpts::Hidden {
        let migrations = related.migrations.values_mut();
        let lost = migrations.flat_map(|migration| &mut migration.lost);
        lost.filter_map(|lost| lost.pointer.as_mut())
            .for_each(job::hide_keys);
    }
    let weighed = found.iter().zip(answers).zip(errors).enumerate();
    let reports = weighed.map(|(at, ((found, answer), error))| FileReport {
        parent: related.parents.remove(&at),
        migration: related.migrations.remove(&at),
        ..weigh(plan, found, answer, error)
    });
    Ok((reports.collect(), lines))
}

/// Says which inputs are no regular files.
pub(super) fn note_special(plan: &Plan) {
    for path in &plan.inputs.special {
        output::note(format_args!("left aside, no regular file: {}", shown(path)));
    }
}

/// Does `work` on every input, side by side; the results stand in input order.
///
/// # Errors
///
/// The workers cannot be started.
pub(super) fn on_all<R: Send>(
    plan: &Plan,
    audience: Audience,
    work: impl Fn(&Found) -> R + Sync,
) -> Result<Vec<R>, String> {
    let found = &plan.inputs.found;
    let workers = Workers::start(plan.jobs.min(found.len()).max(1))?;
    let progress = Progress::begin(found.iter().map(|found| found.size).sum(), audience);
    Ok(workers.all(
        found,
        |found| found.size,
        |found| {
            let result = work(found);
            progress.advance(found.size);
            result
        },
    ))
}

/// What inputs have to do with each other, by index.
#[derive(Default)]
struct Related {
    /// The parent's log.
    parents: BTreeMap<usize, PathBuf>,
    /// What a log has of the generation before it.
    migrations: BTreeMap<usize, MigrationFacts>,
}

/// Compares forks with their parents, and generations of one session with each other.
fn relate(
    plan: &Plan,
    workers: &Workers,
    answers: &mut [Answer],
    errors: &mut [Option<String>],
) -> Related {
    let (found, mut related) = (&plan.inputs.found, Related::default());
    let forks = lineage::forks(found, answers);
    let descents = workers.all(&forks, Fork::size, |fork| fork.descent(&plan.reading));
    let parents = lineage::apply(descents, answers, errors);
    for (at, parent) in parents.into_iter().enumerate() {
        let parent = parent.and_then(|parent| found.get(parent));
        related
            .parents
            .extend(parent.map(|found| (at, found.path.clone())));
    }
    let steps = migrations::steps(found, answers);
    let compared = workers.all(&steps, Step::size, |step| step.compare(&plan.reading));
    for (step, migration) in steps.iter().zip(compared) {
        match migration {
            Ok(migration) => related.migrations.extend([step.tell(&migration, answers)]),
            Err(error) => output::note(format_args!("generations not compared: {error}")),
        }
    }
    related
}

/// Threads that work on inputs.
struct Workers(rayon::ThreadPool);

impl Workers {
    fn start(number: usize) -> Result<Workers, String> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(number)
            .build()
            .map(Workers)
            .map_err(|error| format!("cannot start {number} workers: {error}"))
    }

    /// Does `work` on all items; the results stand in the order of the items.
    fn all<T: Sync, R: Send>(
        &self,
        items: &[T],
        size: impl Fn(&T) -> u64,
        work: impl Fn(&T) -> R + Sync,
    ) -> Vec<R> {
        // The largest first, so that none of them is left to run alone at the end.
        let mut order: Vec<(usize, &T)> = items.iter().enumerate().collect();
        order.sort_by_key(|(at, item)| (std::cmp::Reverse(size(item)), *at));
        let mut results: Vec<(usize, R)> = self.0.install(|| {
            let order = order.into_iter().par_bridge();
            order.map(|(at, item)| (at, work(item))).collect()
        });
        results.sort_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

fn answer_to(
    plan: &Plan,
    capture: Option<&Capture<'_>>,
    found: &Found,
) -> (Answer, Option<String>) {
    let answer = match &found.problem {
        Some(problem) => Err(problem.clone()),
        None => {
            let budgets = plan.config.budgets.budgets();
            job::audit(found, &plan.reading, capture, &budgets)
        }
    };
    match answer {
        Ok(answer) => (answer, None),
        Err(error) => (Answer::unreadable(), Some(error)),
    }
}

/// Whether a result is of a file that is no session log of this harness.
pub(super) fn is_foreign(report: &FileReport) -> bool {
    report.verdict.outcome == Outcome::Foreign
}

/// Says on standard error which findings limit another command's answer.
pub(super) fn say_limits(plan: &Plan, report: &FileReport) {
    if report.error.is_some() || !report.verdict.findings.is_empty() {
        output::on_stderr(|out| write_limits(report, plan.stderr_look, out));
    }
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
    let mut verdict = verdict::decide(
        answer.findings,
        answer.standing,
        &identity,
        &policy,
        &plan.baseline,
        plan.reading.max_findings,
    );
    if plan.look.excerpt == Excerpts::Hidden {
        job::hide_content(&mut verdict.findings);
    }
    FileReport {
        path: found.path.clone(),
        session: answer.session,
        verdict,
        error,
        digest: answer.digest,
        older: found.older.clone(),
        parent: None,
        migration: None,
    }
}
