//! Everything that is decided before the first file is opened.
//!
//! **Takes** [`args`](super::args) and the environment. **Gives** [`Plan`].
//! **Never** opens a log.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use crate::log::Parser;
use crate::report::{Detail, Excerpts, Look, Paint};
use crate::source::InputDigest;
use crate::verdict::{Baseline, FailOn};

use super::args::{Input, Output, PolicyArgs};
use super::baseline_file;
use super::config::{Config, From};
use super::discover::{self, Discovery, Generations};
use super::environment::Environment;
use super::output::{self, Sink};
use super::reading::{Mapping, Reading};
use super::values::{FailOnArg, MmapArg};

/// What a command that reads logs is going to do.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What is read.
    pub(crate) inputs: Discovery,
    /// How it is read.
    pub(crate) reading: Reading,
    /// How many files at the same time.
    pub(crate) jobs: usize,
    /// How results look.
    pub(crate) look: Look,
    /// How findings on standard error look.
    pub(crate) stderr_look: Look,
    /// Where results go.
    pub(crate) sink: Sink,
    /// The configuration in force.
    pub(crate) config: Config,
    /// What `--fail-on` says.
    pub(crate) fail_on: Option<FailOn>,
    /// Whether findings are forgiven at the end.
    pub(crate) exit_zero: bool,
    /// Accepted findings.
    pub(crate) baseline: Baseline,
}

impl Plan {
    /// Makes the plan.
    ///
    /// # Errors
    ///
    /// Wrong usage, or a configuration or baseline that cannot be used; the message is one line.
    pub(crate) fn make(
        input: &Input,
        out: &Output,
        policy: &PolicyArgs,
        environment: &Environment,
    ) -> Result<Plan, String> {
        let inputs = inputs_of(input, environment)?;
        let sink = out.output.clone().map_or(Sink::Stdout, Sink::File);
        for target in [&out.output, &environment.step_summary]
            .into_iter()
            .flatten()
        {
            refuse_input(target, &inputs)?;
        }
        let (config, baseline) = (policy.config.as_deref(), policy.baseline.as_deref());
        output::refuse_same(
            ("--output", out.output.as_deref()),
            &[("--config", config), ("--baseline", baseline)],
        )?;
        let config = Config::load(&config_of(policy, environment))?;
        let baseline = policy.baseline.as_ref().or(config.baseline.as_ref());
        let baseline =
            baseline.map_or(Ok(Baseline::default()), |path| baseline_file::load(path))?;
        let to_terminal = environment.stdout_is_terminal && sink == Sink::Stdout;
        Ok(Plan {
            inputs,
            reading: reading_of(input, out),
            jobs: input.jobs.map_or_else(cores, NonZeroUsize::get),
            look: look_of(
                out,
                environment.paint(out.look.color, to_terminal),
                environment,
            ),
            stderr_look: look_of(
                out,
                environment.paint(out.look.color, environment.stderr_is_terminal),
                environment,
            ),
            sink,
            config,
            fail_on: policy.fail_on.map(fail_on_of),
            exit_zero: policy.exit_zero,
            baseline,
        })
    }
}

/// Checks that what is to be written is nothing that is read.
///
/// # Errors
///
/// It is; the message is one line.
pub(crate) fn refuse_input(target: &Path, inputs: &Discovery) -> Result<(), String> {
    let older = inputs.found.iter().flat_map(|found| &found.older);
    let found = inputs.found.iter().map(|found| &found.path);
    match output::is_an_input(target, found.chain(older).map(PathBuf::as_path)) {
        true => Err(format!("{} is one of the inputs", target.display())),
        false => Ok(()),
    }
}

fn inputs_of(input: &Input, environment: &Environment) -> Result<Discovery, String> {
    let mut paths = input.paths.clone();
    if input.home {
        let sessions = environment.sessions.clone();
        paths.push(sessions.ok_or("--home: neither DSH_HOME nor HOME is set")?);
    }
    if paths.is_empty() {
        return Err("nothing to read: give a file, a directory, a glob, - or --home".into());
    }
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err("standard input can be read once only".into());
    }
    let take = if input.all_generations {
        Generations::All
    } else {
        Generations::Highest
    };
    Ok(discover::discover(&paths, take))
}

fn config_of(policy: &PolicyArgs, environment: &Environment) -> From {
    match &policy.config {
        _ if policy.no_config => From::Nothing,
        Some(path) => From::File(path.clone()),
        None => From::Above(environment.directory.clone()),
    }
}

fn reading_of(input: &Input, out: &Output) -> Reading {
    let mmap = if input.no_mmap {
        MmapArg::Never
    } else {
        input.mmap
    };
    Reading {
        mmap: match mmap {
            MmapArg::Auto => Mapping::Auto,
            MmapArg::Always => Mapping::Always,
            MmapArg::Never => Mapping::Never,
        },
        max_line: input.max_line,
        max_decompressed: input.max_decompressed,
        max_findings: input.max_findings,
        parser: if input.no_fast_path {
            Parser::General
        } else {
            Parser::Fast
        },
        digest: if out.input_digest {
            InputDigest::Wanted
        } else {
            InputDigest::Unwanted
        },
    }
}

fn look_of(out: &Output, paint: Paint, environment: &Environment) -> Look {
    let look = plain_look(paint, environment);
    Look {
        excerpt: if out.no_excerpt {
            Excerpts::Hidden
        } else {
            Excerpts::Shown
        },
        of_a_code: if out.no_limit {
            usize::MAX
        } else {
            look.of_a_code
        },
        detail: match (out.look.quiet, out.look.verbose) {
            (true, _) => Detail::Quiet,
            (_, true) => Detail::Verbose,
            _ => Detail::Normal,
        },
        ..look
    }
}

/// The look of a command that prints no findings.
pub(crate) fn plain_look(paint: Paint, environment: &Environment) -> Look {
    Look {
        paint,
        width: environment.width,
        excerpt: Excerpts::Shown,
        of_a_code: 10,
        detail: Detail::Normal,
    }
}

fn fail_on_of(arg: FailOnArg) -> FailOn {
    use crate::finding::Level;
    match arg {
        FailOnArg::Error => FailOn::Level(Level::Error),
        FailOnArg::Warning => FailOn::Level(Level::Warning),
        FailOnArg::Note => FailOn::Level(Level::Note),
        FailOnArg::Never => FailOn::Never,
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// A path as messages show it; made harmless where it is printed.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
