//! `dsh-audit merge`.
//!
//! **Takes** cache reports that runs or machines wrote. **Gives** one report over all their logs.
//! **Never** reads a session log, and never counts a row twice.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use crate::analyse::fleet;
use crate::report::{self, CacheRun, Detail, Excerpts, Look, MergedCaches};

use super::cache_args::Merge;
use super::cache_report::{format_of, parts_of, settings_of};
use super::discover::cannot_read;
use super::environment::Environment;
use super::exit::Status;
use super::output::{self, Sink};
use super::plan::{plain_look, shown};

/// Runs the command.
///
/// # Errors
///
/// A file that cannot be read or is no cache report; the message is one line.
pub(super) fn run(args: &Merge, environment: &Environment) -> Result<Status, String> {
    let inputs = args.files.iter().map(|path| path.as_path());
    if let Some(target) = &args.output
        && output::is_an_input(target, inputs)
    {
        return Err(format!("{} is one of the inputs", target.display()));
    }
    let mut merged = MergedCaches::default();
    for path in &args.files {
        add(&mut merged, path).map_err(|error| format!("{}: {error}", shown(path)))?;
    }
    if merged.repeated > 0 {
        let rows = report::count(merged.repeated, "row");
        output::note(format_args!("{rows} stood there twice and count once"));
    }
    let mut status = merged
        .exit_codes
        .iter()
        .filter_map(|code| Status::from_code(*code))
        .fold(Status::Passed, Status::and);
    let budgets = settings_of(args.budgets).budgets();
    let mut files = merged.finish();
    for file in &mut files {
        file.misses = fleet::missed(&file.report, &budgets);
        if !file.misses.is_empty() {
            status = status.and(Status::Failed);
        }
    }
    if args.exit_zero {
        status = status.forgiving_findings();
    }
    let run = CacheRun {
        exit_code: status.code(),
        files: &files,
        passed_over: &[],
        prices: None,
        parts: parts_of(args.parts),
    };
    let sink = args.output.clone().map_or(Sink::Stdout, Sink::File);
    let look = look_of(args, &sink, environment);
    let format = format_of(args.format);
    sink.write(|out| report::write_cache(&run, format, look, out))?;
    Ok(status)
}

fn add(merged: &mut MergedCaches, path: &Path) -> Result<(), String> {
    if path.as_os_str() == "-" {
        return merged.add(io::stdin().lock());
    }
    let file = File::open(path).map_err(|error| cannot_read(&error))?;
    merged.add(BufReader::with_capacity(1 << 20, file))
}

fn look_of(args: &Merge, sink: &Sink, environment: &Environment) -> Look {
    let to_terminal = environment.stdout_is_terminal && *sink == Sink::Stdout;
    let paint = environment.paint(args.look.color, to_terminal);
    let look = plain_look(paint, environment);
    Look {
        excerpt: if args.no_excerpt {
            Excerpts::Hidden
        } else {
            Excerpts::Shown
        },
        of_a_code: if args.no_limit {
            usize::MAX
        } else {
            look.of_a_code
        },
        detail: match (args.look.quiet, args.look.verbose) {
            (true, _) => Detail::Quiet,
            (_, true) => Detail::Verbose,
            _ => Detail::Normal,
        },
        ..look
    }
}
