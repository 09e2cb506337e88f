//! `dsh-audit diff-headers`.
//!
//! **Takes** its arguments. **Gives** the headers of all inputs and what changed between them, or how they compare with those of
//! another log or of a lock. **Never** says anything of a log that must be rejected.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::analyse::answer::{Part, Timeline};
use crate::analyse::header::{Deadline, HeaderState, Limits, timeline};
use crate::compare::{Kin, headers};
use crate::log::Log;
use crate::report::count;
use crate::report::diff::{self, Comparison, DiffFile, DiffFormat, DiffLook, DiffReport};

use super::args::{DiffHeaders, Input};
use super::audit;
use super::discover::{Found, How};
use super::environment::Environment;
use super::exit::Status;
use super::header_lock::HeaderLock;
use super::header_pairs;
use super::job::{self, Answer};
use super::limits::limits_headers;
use super::output::{self, Sink};
use super::plan::{Plan, shown};
use super::progress::Audience;
use super::values::{DiffFormatArg, PartArg};

/// Runs the command.
///
/// # Errors
///
/// There is no complete answer; the message is one line.
pub(super) fn run(args: &DiffHeaders, environment: &Environment) -> Result<Status, String> {
    let plan = Plan::make(&input_of(args), &args.output, &args.policy, environment)?;
    let wish = Wish::of(args)?;
    check_targets(&plan, args)?;
    let is_watched = environment.stderr_is_terminal && !args.output.look.quiet;
    let audience = match is_watched {
        true => Audience::Terminal,
        false => Audience::None,
    };
    audit::note_special(&plan);
    let results = audit::on_all(&plan, audience, |found| one_file(&plan, found, &wish))?;
    let mut heard = Vec::new();
    let mut status = Status::Passed;
    for (found, one) in plan.inputs.found.iter().zip(results) {
        if found.how == How::Walked && audit::is_foreign(&one.file.report) {
            continue;
        }
        status = status.and(Status::of(&one.file.report.verdict));
        audit::say_limits(&plan, &one.file.report);
        heard.push((found, one));
    }
    if heard.is_empty() {
        output::error("no session log among the files found");
        status = status.and(Status::NotComplete);
    }
    let comparisons = header_pairs::comparisons(&plan, &wish, &heard)?;
    if wish.is_check() && comparisons.iter().any(Comparison::differs) {
        status = status.and(Status::Failed);
    }
    if let Some(path) = &args.write_lock {
        write_lock(&header_pairs::lock(&wish, &heard)?, path)?;
    }
    if plan.exit_zero {
        status = status.forgiving_findings();
    }
    let files: Vec<DiffFile> = heard.into_iter().map(|(_, one)| one.file).collect();
    let report = DiffReport {
        exit_code: status.code(),
        shows_timelines: !wish.needs_states(),
        files: &files,
        comparisons: &comparisons,
    };
    write(&plan, args, &report)?;
    Ok(status)
}

fn write(plan: &Plan, args: &DiffHeaders, report: &DiffReport<'_>) -> Result<(), String> {
    let look = DiffLook {
        look: plan.look,
        stat: args.stat,
    };
    let format = match args.format {
        DiffFormatArg::Human => DiffFormat::Human,
        DiffFormatArg::Json => DiffFormat::Json,
        DiffFormatArg::Markdown => DiffFormat::Markdown,
    };
    plan.sink
        .write(|out| diff::write(report, format, look, out))
}

/// What is read: the paths, or the two logs that are compared.
fn input_of(args: &DiffHeaders) -> Input {
    let paths = match args.between.is_empty() {
        true => &args.input.paths,
        false => &args.between,
    };
    Input {
        paths: paths.clone(),
        ..args.input.clone()
    }
}

fn write_lock(lock: &HeaderLock, path: &Path) -> Result<(), String> {
    Sink::File(path.to_path_buf()).write(|out| lock.write(out))?;
    let headers: usize = lock.logs.iter().map(|(_, headers)| headers.len()).sum();
    let headers = count(headers as u64, "header");
    let logs = count(lock.logs.len() as u64, "log");
    output::note(format_args!(
        "{headers} of {logs} locked in {}",
        shown(path)
    ));
    Ok(())
}

/// Refuses to write over what is read, and one file twice.
fn check_targets(plan: &Plan, args: &DiffHeaders) -> Result<(), String> {
    let lock = ("--write-lock", args.write_lock.as_deref());
    let output = ("--output", args.output.output.as_deref());
    output::refuse_same(output, &[lock, ("--lock", args.lock.as_deref())])?;
    output::refuse_same(lock, &[("--config", args.policy.config.as_deref())])?;
    let inputs = plan.inputs.found.iter().map(|found| found.path.as_path());
    match &args.write_lock {
        Some(target) if output::is_an_input(target, inputs) => {
            Err(format!("{} is one of the inputs", target.display()))
        }
        _ => Ok(()),
    }
}

/// What is asked for.
pub(super) struct Wish {
    /// The parts; all of them if nothing else was said.
    pub(super) parts: Vec<Part>,
    /// Whether two logs are compared with each other.
    pub(super) is_between: bool,
    /// The lock to compare with.
    pub(super) lock: Option<HeaderLock>,
    writes_lock: bool,
    /// Whether text of the logs may be shown.
    pub(super) shows_text: bool,
    patience: Duration,
}

impl Wish {
    fn of(args: &DiffHeaders) -> Result<Wish, String> {
        let only: Vec<Part> = args.only.iter().map(part_of).collect();
        let is_wanted = |part: &Part| only.is_empty() || only.contains(part);
        Ok(Wish {
            parts: Part::ALL.into_iter().filter(is_wanted).collect(),
            is_between: !args.between.is_empty(),
            lock: args.lock.as_deref().map(HeaderLock::load).transpose()?,
            writes_lock: args.write_lock.is_some(),
            shows_text: !args.output.no_excerpt,
            patience: Duration::from_secs(args.deadline),
        })
    }

    /// Whether the headers themselves are needed, to be compared with others.
    fn needs_states(&self) -> bool {
        self.is_between || self.lock.is_some() || self.writes_lock
    }

    /// Whether the command is asked if headers differ, not how they change.
    fn is_check(&self) -> bool {
        self.lock.is_some()
    }

    /// The limits of one comparison that begins now.
    #[expect(
        clippy::disallowed_methods,
        reason = "a clock bounds the work: an answer that it made coarser says so"
    )]
    pub(super) fn limits(&self) -> Limits {
        let at = Instant::now().checked_add(self.patience);
        let deadline = at.map(|at| Deadline {
            at,
            is_past: |at| Instant::now() > at,
        });
        Limits {
            deadline,
            ..Limits::default()
        }
    }
}

fn part_of(arg: &PartArg) -> Part {
    match arg {
        PartArg::System => Part::System,
        PartArg::Tools => Part::Tools,
        PartArg::Config => Part::Config,
        PartArg::Prefix => Part::Prefix,
    }
}

/// What one file says.
pub(super) struct OneFile {
    /// For the report.
    pub(super) file: DiffFile,
    /// Its headers, where they are needed.
    pub(super) states: Option<Vec<HeaderState>>,
    /// What it says of its descent.
    pub(super) kin: Option<Kin>,
}

fn one_file(plan: &Plan, found: &Found, wish: &Wish) -> OneFile {
    let result = match &found.problem {
        Some(problem) => Err(problem.clone()),
        None => job::with_log(
            found,
            &plan.reading,
            job::Wanted::REQUESTS,
            |log, mut answer| {
                answer.findings.retain(limits_headers);
                let kin = answer.kin.take();
                let report = audit::weigh(plan, found, answer, None);
                let shows_timeline = !wish.needs_states();
                let timeline = shows_timeline.then(|| timeline_of(log, wish)).flatten();
                let states = wish.needs_states().then(|| headers::states(log)).flatten();
                Ok(OneFile {
                    file: DiffFile { report, timeline },
                    states,
                    kin,
                })
            },
        ),
    };
    result.unwrap_or_else(|error| OneFile {
        file: DiffFile {
            report: audit::weigh(plan, found, Answer::unreadable(), Some(error)),
            timeline: None,
        },
        states: None,
        kin: None,
    })
}

fn timeline_of(log: &Log<'_>, wish: &Wish) -> Option<Timeline> {
    let (requests, prompts) = (log.requests()?, log.prompts()?);
    let mut found = timeline(&log.session, requests, prompts, &wish.limits());
    if wish.parts != Part::ALL {
        found.keep_parts(&wish.parts);
    }
    if !wish.shows_text {
        found.hide_text();
    }
    Some(found)
}
