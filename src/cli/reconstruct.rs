//! `dsh-audit reconstruct`.
//!
//! **Takes** its arguments. **Gives** one row per request, and on standard error what limits the answer.
//! **Never** prints a request of a log that must be rejected, and never holds more than one row.

use std::io::{self, Write};

use crate::report::{Detail, What};

use super::args::Reconstruct;
use super::audit;
use super::discover::{Found, How};
use super::environment::Environment;
use super::exit::Status;
use super::job::{self, Answer};
use super::limits::limits_requests;
use super::output;
use super::plan::Plan;
use super::rows::{self, Form, Left, Wish};
use super::values::RowFormat;

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
        what: if args.wire.is_some() {
            What::Body
        } else {
            What::Options
        },
        calls: args.calls,
        step: args.step,
        names_paths: plan.inputs.found.len() > 1,
    };
    if wish.form == Form::Raw && wish.names_paths {
        return Err("--raw prints one request of one log; several were given".into());
    }
    let mut status = Status::Passed;
    let mut answered = 0_usize;
    plan.sink.write(|out| {
        for found in &plan.inputs.found {
            if let Some(one) = one_file(&plan, found, &wish, out)? {
                status = status.and(one);
                answered += 1;
            }
        }
        Ok(())
    })?;
    if answered == 0 {
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
    let mut stopped: io::Result<Left> = Ok(Left::default());
    let result = match &found.problem {
        Some(problem) => Err(problem.clone()),
        None => job::with_log(
            found,
            &plan.reading,
            job::Wanted::REQUESTS,
            |log, mut answer| {
                answer.findings.retain(limits_requests);
                let report = audit::weigh(plan, found, answer, None);
                // Decided before the first request is written.
                let status = Status::of(&report.verdict);
                stopped = rows::write(log, found, wish, out);
                Ok((status, report))
            },
        ),
    };
    let Left { missing, notes } = unless_reader_gone(stopped)?;
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
    unless_reader_gone(out.flush())?;
    if let Some(missing) = missing {
        output::error(missing);
    }
    if plan.look.detail != Detail::Quiet {
        notes.iter().for_each(output::note);
    }
    audit::say_limits(plan, &report);
    Ok(Some(status))
}

/// What was written; nothing more where the reader went away, which changes no exit code.
fn unless_reader_gone<T: Default>(written: io::Result<T>) -> io::Result<T> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(T::default()),
        written => written,
    }
}
