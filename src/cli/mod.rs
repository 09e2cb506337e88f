//! The command line: argv becomes a plan, files become results, results become output and an exit code.
//!
//! **Takes** the process's arguments and environment. **Gives** an [`ExitCode`].
//! **Never** reads a log itself (`job` does), words a finding, or renders one.

mod args;
mod audit;
mod baseline_file;
mod cache_args;
mod cache_report;
mod config;
mod diff_headers;
mod discover;
mod environment;
mod exit;
mod explain;
mod generations;
mod header_lock;
mod header_pairs;
mod job;
mod limits;
mod lineage;
mod merge;
mod migrations;
mod output;
mod plan;
mod price_file;
mod progress;
mod reading;
mod reconstruct;
mod rows;
mod shell;
mod suggest;
mod toml_reader;
mod usage;
mod values;
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use environment::Environment;
use exit::Status;

/// Runs the program on the arguments of the process.
pub fn main() -> ExitCode {
    run(environment::arguments())
}

/// Runs the program on arguments, its own name first.
///
/// Wrong usage ends with exit code 2, help and version with 0.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let environment = Environment::read();
    let result = match Args::try_parse_from(arguments) {
        Ok(args) => run_command(args, &environment),
        Err(error) => usage::tell(error, &environment),
    };
    result
        .unwrap_or_else(|message| {
            output::error(message);
            Status::NotComplete
        })
        .into()
}

fn run_command(args: Args, environment: &Environment) -> Result<Status, String> {
    match args.command {
        Command::Verify(args) => verify::run(&args, environment),
        Command::Reconstruct(args) => reconstruct::run(&args, environment),
        Command::DiffHeaders(args) => diff_headers::run(&args, environment),
        Command::CacheReport(args) => cache_report::run(&args, environment),
        Command::Merge(args) => merge::run(&args, environment),
        Command::Explain(args) => explain::explain(&args, environment),
        Command::Rules(args) => explain::rules(&args, environment),
        Command::Schema(args) => explain::schema(&args),
        Command::Formats(args) => explain::formats(&args, environment),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}
