//! The command line as types.
//!
//! **Takes** argv. **Gives** [`Args`]. **Never** opens a file or reads the environment.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args as Group, Parser, Subcommand};

use super::cache_args::{CacheReport, Merge};
use super::values::{
    ColorArg, DiffFormatArg, FailOnArg, ListFormat, MmapArg, PartArg, RowFormat, StepArg,
    VerifyFormat, WireArg, parse_size,
};

/// Audits session logs of the DeepSeek Harness: offline, read-only, exact.
#[derive(Debug, Parser)]
#[command(
    name = "dsh-audit",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The exit codes, as every help page ends.
const EXIT_CODES: &str = "\
Exit status:
  0    everything was checked, and nothing reaches --fail-on
  1    findings at or above --fail-on
  2    no complete audit: wrong usage, an unreadable file, no file matched
  3    a file of a generation that is not supported, or no session log of this harness
  101  a bug";

/// The exit codes of a command that reads no log.
const MERGE_EXIT_CODES: &str = "\
Exit status:
  0    everything was added up, and every budget is met
  1    a budget is missed, or the run of a report ended with 1
  2    wrong usage, a file that is no cache report, or the run of a report ended with 2
  3    the run of a report ended with 3
  101  a bug";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Is the log sound, and is every request explained by it?
    #[command(after_help = EXIT_CODES)]
    Verify(Verify),
    /// The exact options of every request, byte for byte
    #[command(after_help = EXIT_CODES)]
    Reconstruct(Reconstruct),
    /// What changed between consecutive request headers, and what it cost
    #[command(after_help = EXIT_CODES)]
    DiffHeaders(DiffHeaders),
    /// Where the provider's prefix cache was kept or lost, why, and what it cost
    #[command(after_help = EXIT_CODES)]
    CacheReport(CacheReport),
    /// Adds up cache reports of many runs or machines
    #[command(after_help = MERGE_EXIT_CODES)]
    Merge(Merge),
    /// What a rule checks, why it matters, and what to do
    Explain(Explain),
    /// All rules with their levels
    Rules(Rules),
    /// The JSON Schema of an output
    Schema(Schema),
    /// The generations of session logs, and what is done with each
    Formats(Formats),
    /// Completions for a shell, on standard output
    Completions(Completions),
    /// The manual page of the program or of a command, on standard output
    Man(Man),
}

/// `dsh-audit verify`.
#[derive(Debug, Group)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Compare each request with those captured in FILE: options or bodies, one JSON object a line
    #[arg(long, value_name = "FILE", help_heading = "Comparison")]
    pub(crate) against: Option<PathBuf>,
    /// In human text, show sessions as a tree, forks under their parents, and no findings
    #[arg(long, help_heading = "Output")]
    pub(crate) tree: bool,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = VerifyFormat::Human, help_heading = "Output")]
    pub(crate) format: VerifyFormat,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Write all findings of this run to a baseline, keeping reasons that stand there
    #[arg(long, value_name = "FILE", help_heading = "Policy")]
    pub(crate) write_baseline: Option<PathBuf>,
}

/// `dsh-audit reconstruct`.
#[derive(Debug, Group)]
pub(crate) struct Reconstruct {
    #[command(flatten)]
    pub(crate) input: Input,
    /// One JSON object per request, or a table
    #[arg(long, value_enum, default_value_t = RowFormat::Jsonl, help_heading = "Output")]
    pub(crate) format: RowFormat,
    /// The provider's request bodies in place of the options; SHA-256 is then the body's
    #[arg(long, value_enum, value_name = "PROVIDER", help_heading = "Output")]
    pub(crate) wire: Option<WireArg>,
    /// Also the calls that are not the loop's: compactions, titles, web searches
    #[arg(long, conflicts_with_all = ["wire", "step"], help_heading = "Selection")]
    pub(crate) calls: bool,
    /// Leave the options out: numbers and SHA-256 only
    #[arg(long, help_heading = "Selection")]
    pub(crate) digest: bool,
    /// One request: turn and step, and the attempt where there are several
    #[arg(long, value_name = "T.S[.A]", help_heading = "Selection")]
    pub(crate) step: Option<StepArg>,
    /// With --step: the bytes of the options alone, followed by nothing
    #[arg(long, requires = "step", conflicts_with_all = ["digest", "format"], help_heading = "Selection")]
    pub(crate) raw: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

/// `dsh-audit diff-headers`.
#[derive(Debug, Group)]
pub(crate) struct DiffHeaders {
    #[command(flatten)]
    pub(crate) input: Input,
    /// For a terminal, one JSON object for the run, or for a pull request
    #[arg(long, value_enum, default_value_t = DiffFormatArg::Human, help_heading = "Output")]
    pub(crate) format: DiffFormatArg,
    /// One line for each header
    #[arg(long, help_heading = "Output")]
    pub(crate) stat: bool,
    /// These parts of headers only
    #[arg(
        long,
        value_enum,
        value_name = "PART",
        value_delimiter = ',',
        help_heading = "Selection"
    )]
    pub(crate) only: Vec<PartArg>,
    /// Compare the headers of two logs with each other
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["paths", "home"], help_heading = "Selection")]
    pub(crate) between: Vec<PathBuf>,
    /// Fail if the headers differ from those in this file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "between",
        help_heading = "Lock"
    )]
    pub(crate) lock: Option<PathBuf>,
    /// Write the headers to a file, for --lock
    #[arg(long, value_name = "FILE", conflicts_with_all = ["between", "lock"], help_heading = "Lock")]
    pub(crate) write_lock: Option<PathBuf>,
    /// Seconds after which the comparison of a log becomes coarser, and says so
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        help_heading = "Input"
    )]
    pub(crate) deadline: u64,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

/// `dsh-audit explain`.
#[derive(Debug, Group)]
pub(crate) struct Explain {
    /// Codes (DSH0302, 302) or names (legacy-header-delta)
    #[arg(required = true, value_name = "CODE|NAME")]
    pub(crate) rules: Vec<String>,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorArg::Auto)]
    pub(crate) color: ColorArg,
}

/// `dsh-audit rules`.
#[derive(Debug, Group)]
pub(crate) struct Rules {
    /// A table, or JSON with every page
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    pub(crate) format: ListFormat,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorArg::Auto)]
    pub(crate) color: ColorArg,
}

/// `dsh-audit schema`.
#[derive(Debug, Group)]
pub(crate) struct Schema {
    /// Which output; without a name, all names
    pub(crate) name: Option<String>,
}

/// `dsh-audit formats`.
#[derive(Debug, Group)]
pub(crate) struct Formats {
    /// A table, or JSON
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    pub(crate) format: ListFormat,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorArg::Auto)]
    pub(crate) color: ColorArg,
}

/// `dsh-audit completions`.
#[derive(Debug, Group)]
pub(crate) struct Completions {
    /// For which shell
    pub(crate) shell: clap_complete::Shell,
}

/// `dsh-audit man`.
#[derive(Debug, Group)]
pub(crate) struct Man {
    /// A command; without one, the program's own page
    pub(crate) command: Option<String>,
}

/// What is read, and how.
#[derive(Clone, Debug, Group)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// Files, directories (walked for *.jsonl, *.jsonl.zstd, *.jsonl.zst), globs, or - for standard input
    #[arg(value_name = "PATH", help_heading = "Input")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also $DSH_HOME/sessions, by default ~/.dsh/sessions; never read unasked
    #[arg(long)]
    pub(crate) home: bool,
    /// Take every generation of a session, not the highest only
    #[arg(long)]
    pub(crate) all_generations: bool,
    /// Map files into memory; a mapped file must not shrink while it is read
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = MmapArg::Auto, overrides_with = "no_mmap")]
    pub(crate) mmap: MmapArg,
    /// The same as --mmap=never
    #[arg(long)]
    pub(crate) no_mmap: bool,
    /// Longest line that is read
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = parse_size)]
    pub(crate) max_line: u64,
    /// Most bytes that a compressed log may hold
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = parse_size)]
    pub(crate) max_decompressed: u64,
    /// Most findings kept of a file; all are counted
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) max_findings: usize,
    /// Take every line apart in the general way: slower, and to the same result
    #[arg(long)]
    pub(crate) no_fast_path: bool,
    /// Files read at the same time; by default one per core
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
}

/// Where the report goes, and what of it.
#[derive(Debug, Group)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print no content of a log
    #[arg(long)]
    pub(crate) no_excerpt: bool,
    /// In human text, show all findings, not ten of a code
    #[arg(long)]
    pub(crate) no_limit: bool,
    /// Give the SHA-256 of each file as it was read
    #[arg(long)]
    pub(crate) input_digest: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

/// How human text looks.
#[derive(Clone, Copy, Debug, Group)]
#[command(next_help_heading = "Output")]
pub(crate) struct LookArgs {
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorArg::Auto)]
    pub(crate) color: ColorArg,
    /// Say only what is wrong
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say also what was left aside
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// What weighs how much.
#[derive(Debug, Group)]
#[command(next_help_heading = "Policy")]
pub(crate) struct PolicyArgs {
    /// Least level that makes the run fail [default: error]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) fail_on: Option<FailOnArg>,
    /// Exit with 0 where findings would give 1
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Configuration; without it dsh-audit.toml is looked for upward from here
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub(crate) config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long)]
    pub(crate) no_config: bool,
    /// Accept the findings that this file names
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }
}
