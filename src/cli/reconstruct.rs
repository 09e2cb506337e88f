//! `dsh-audit reconstruct`.
//!
//! **Takes** its arguments. **Gives** one row per request, and on standard error what limits the answer.
//! **Never** prints a request of a log that must be rejected, and never holds more than one row.

use std::io::{self, Write};

use crate::log::{Log, Retain};
use crate::report::{self, FileReport, Paint, RequestRow, Sending};
use crate::request::{Digests, Request};

use super::args::{Reconstruct, RowFormat, StepArg};
use super::audit;
use super::discover::{Found, How};
use super::environment::Environment;
use super::exit::Status;
use super::job::{self, Answer};
use super::limits::limits_requests;
use super::output::{self, Written};
use super::plan::{Plan, shown};

/// What is written of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A row of JSON with the options.
    Whole,
    /// A row of JSON without them.
    Numbers,
    /// A row for a person.
    Text(Paint),
    /// The options alone.
    Raw,
}

struct Wish {
    form: Form,
    step: Option<StepArg>,
    names_paths: bool,
}

/// Runs the command.
///
/// # Errors
///
/// There is no complete answer; the message is one line.
pub(super) fn run(args: &Reconstruct, environment: &Environment) -> Result<Status, String> {
    let plan = Plan::make(&args.input, &args.output, &args.policy, environment)?;
    let wish = Wish {
        form: match (args.raw, args.format, args.digest) {
            (true, ..) => Form::Raw,
            (_, RowFormat::Human, _) => Form::Text(plan.look.paint),
            (_, RowFormat::Jsonl, true) => Form::Numbers,
            (_, RowFormat::Jsonl, false) => Form::Whole,
        },
        step: args.step,
        names_paths: plan.inputs.found.len() > 1,
    };
    if wish.form == Form::Raw && wish.names_paths {
        return Err("--raw prints one request of one log; several were given".into());
    }
    let mut status = Status::Passed;
    let mut answered = 0_usize;
    let written = plan.sink.write(|out| {
        for found in &plan.inputs.found {
            if let Some(one) = one_file(&plan, found, &wish, out)? {
                status = status.and(one);
                answered += 1;
            }
        }
        Ok(())
    })?;
    if answered == 0 && written == Written::All {
        output::error("no session log among the files found");
        status = status.and(Status::NotComplete);
    }
    Ok(if plan.exit_zero {
        status.forgiving_findings()
    } else {
        status
    })
}

/// Writes the requests of one file; `None` if a walk found it and it is no session log.
fn one_file(
    plan: &Plan,
    found: &Found,
    wish: &Wish,
    out: &mut dyn Write,
) -> io::Result<Option<Status>> {
    let mut stopped: io::Result<Option<String>> = Ok(None);
    let result = match &found.problem {
        Some(problem) => Err(problem.clone()),
        None => job::with_log(found, &plan.reading, Retain::Messages, |log, mut answer| {
            answer.findings.retain(limits_requests);
            let report = audit::weigh(plan, found, answer, None);
            // Decided before the first request is written.
            let status = Status::of(&report.verdict);
            stopped = write_requests(log, found, wish, out);
            Ok((status, report))
        }),
    };
    let missing = stopped?;
    let (status, report) = match result {
        Ok((status, report)) if missing.is_none() => (status, report),
        Ok((_, report)) => (Status::NotComplete, report),
        Err(error) => {
            let report = audit::weigh(plan, found, Answer::unreadable(), Some(error));
            (Status::NotComplete, report)
        }
    };
    if status == Status::NotSupported && found.how == How::Walked && audit::is_foreign(&report) {
        return Ok(None);
    }
    out.flush()?;
    if let Some(missing) = missing {
        output::error(missing);
    }
    say_limits(plan, &report);
    Ok(Some(status))
}

fn say_limits(plan: &Plan, report: &FileReport) {
    if report.error.is_some() || !report.verdict.findings.is_empty() {
        output::on_stderr(|out| report::write_limits(report, plan.stderr_look, out));
    }
}

/// Writes the requests of a log; gives a message if the one that was asked for does not exist.
fn write_requests(
    log: &Log<'_>,
    found: &Found,
    wish: &Wish,
    out: &mut dyn Write,
) -> io::Result<Option<String>> {
    let Some(mut requests) = log.requests() else {
        return Ok(None);
    };
    let wanted = match wish.step {
        None => None,
        Some(step) => match place_of(log, step) {
            Some(place) => Some(place),
            None => return Ok(Some(no_such_request(step, found))),
        },
    };
    if let Form::Text(paint) = wish.form {
        RequestRow::write_heading(paint, wish.names_paths.then_some(found.path.as_path()), out)?;
    }
    let mut digests = Digests::default();
    let mut at = 0;
    while let Some(request) = requests.next_request() {
        if wanted.is_none_or(|wanted| wanted == at) {
            // One request alone continues no digest.
            let mut alone = Digests::default();
            let digests = if wanted.is_some() {
                &mut alone
            } else {
                &mut digests
            };
            write_request(&request, digests, found, wish, out)?;
        }
        at += 1;
    }
    Ok(None)
}

/// The place of a request among the log's: of the attempt that is named, else of the step's last one.
fn place_of(log: &Log<'_>, wanted: StepArg) -> Option<usize> {
    log.settlement.requests.iter().rposition(|request| {
        let step = log.session.steps.get(request.step.get());
        let turn = step.and_then(|step| log.session.turns.get(step.turn.get()));
        let is_step = step.is_some_and(|step| step.number == wanted.step)
            && turn.is_some_and(|turn| turn.number == wanted.turn);
        is_step
            && wanted
                .attempt
                .is_none_or(|attempt| attempt == u64::from(request.number))
    })
}

fn no_such_request(step: StepArg, found: &Found) -> String {
    let attempt = step
        .attempt
        .map_or(String::new(), |attempt| format!(", attempt {attempt}"));
    format!(
        "no request of turn {}, step {}{attempt} in {}",
        step.turn,
        step.step,
        shown(&found.path)
    )
}

fn write_request(
    request: &Request<'_, '_>,
    digests: &mut Digests,
    found: &Found,
    wish: &Wish,
    mut out: &mut dyn Write,
) -> io::Result<()> {
    if wish.form == Form::Raw {
        return request.write_options(&mut out);
    }
    let derived = request.derived();
    let row = RequestRow {
        path: wish.names_paths.then_some(found.path.as_path()),
        turn: request.turn().number,
        step: request.step().number,
        attempt: u64::from(derived.number),
        boundary: derived.boundary.0,
        header: request.header().seq.0,
        sending: Sending {
            inherited: derived.inherited,
            unsent: derived.unsent,
        },
        messages: request.surface().len() as u64,
        sha256: &digests.next(request)?,
    };
    match wish.form {
        Form::Text(paint) => row.write_text(paint, out),
        Form::Numbers => row.write_json(None, out),
        Form::Whole | Form::Raw => {
            let options = |mut out: &mut dyn Write| request.write_options(&mut out);
            row.write_json(Some(&options), out)
        }
    }
}
