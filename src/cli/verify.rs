//! `dsh-audit verify`.
//!
//! **Takes** its arguments. **Gives** the audit of all inputs in one format.
//! **Never** decides anything while rendering.

use std::path::Path;

use crate::compare::Capture;
use crate::report::{self, Format, Look, Report, Setting};
use crate::source::Source;
use crate::verdict::Fingerprint;

use super::args::Verify;
use super::audit;
use super::baseline_file;
use super::environment::Environment;
use super::exit::Status;
use super::job::{self, LineCounts};
use super::output::{self, Sink};
use super::plan::{Plan, refuse_input, shown};
use super::progress::Audience;
use super::reading;
use super::values::VerifyFormat;

/// Runs the command.
///
/// # Errors
///
/// There is no complete audit; the message is one line.
pub(super) fn run(args: &Verify, environment: &Environment) -> Result<Status, String> {
    let plan = Plan::make(&args.input, &args.output, &args.policy, environment)?;
    let is_watched = environment.stderr_is_terminal && !args.output.look.quiet;
    let audience = if is_watched {
        Audience::Terminal
    } else {
        Audience::None
    };
    let capture = args.against.as_deref();
    let against = ("--against", capture);
    let baseline = ("--write-baseline", args.write_baseline.as_deref());
    let output = ("--output", args.output.output.as_deref());
    output::refuse_same(output, &[baseline, against])?;
    output::refuse_same(
        baseline,
        &[("--config", args.policy.config.as_deref()), against],
    )?;
    let to_write = match &args.write_baseline {
        Some(path) => {
            refuse_input(path, &plan.inputs)?;
            Some((path, baseline_file::load_if_there(path)?))
        }
        None => None,
    };
    let captured = capture.map(|path| open(path, &plan));
    let captured = captured.transpose()?;
    let capture = captured
        .as_ref()
        .map(|(name, source)| Capture::read(source).map_err(|error| format!("{name}: {error}")));
    let audited = audit::audit(&plan, capture.transpose()?.as_ref(), audience)?;
    let used = audited
        .files
        .iter()
        .flat_map(|file| file.verdict.accepted.iter().copied());
    let unused = plan.baseline.unused(used.collect::<Vec<Fingerprint>>());
    let report = Report {
        command: "verify",
        exit_code: audited.status.code(),
        setting: if args.tree {
            Setting::Tree
        } else {
            Setting::List
        },
        files: &audited.files,
        passed_over: &audited.passed_over,
        unused: &unused,
        catalogue: job::catalogue(),
    };
    let format = format_of(args.format);
    plan.sink
        .write(|out| report::write(&report, format, plan.look, out))?;
    if let (Format::Github, Some(path)) = (format, &environment.step_summary) {
        let look = Look {
            paint: report::Paint::Plain,
            ..plan.look
        };
        Sink::End(path.clone()).write(|out| report::write_summary(&report, look, out))?;
    }
    if matches!(format, Format::Jsonl | Format::Sarif | Format::Github) {
        // The other formats have a place for it.
        for (fingerprint, accepted) in &unused {
            output::note(format_args!(
                "unused in the baseline: {} {fingerprint}",
                accepted.code
            ));
        }
    }
    if args.output.look.verbose {
        let LineCounts { all, fast } = audited.lines;
        output::note(format_args!("{fast} of {all} lines took the fast path"));
    }
    if let Some((path, before)) = &to_write {
        let text = baseline_file::text_of(&audited.files, &plan.baseline, before);
        Sink::File(path.to_path_buf()).write(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(audited.status)
}

/// Opens a capture. Its name stands in messages.
fn open(path: &Path, plan: &Plan) -> Result<(String, Source), String> {
    let name = shown(path);
    let source = reading::open_again(path, &plan.reading);
    let source = source.map_err(|error| format!("{name}: {error}"))?;
    Ok((name, source))
}

fn format_of(arg: VerifyFormat) -> Format {
    match arg {
        VerifyFormat::Human => Format::Human,
        VerifyFormat::Json => Format::Json,
        VerifyFormat::Jsonl => Format::Jsonl,
        VerifyFormat::Sarif => Format::Sarif,
        VerifyFormat::Github => Format::Github,
        VerifyFormat::Markdown => Format::Markdown,
    }
}
