//! `dsh-loggen`: writes healthy session logs for benchmarks, tests and fixtures.
#![allow(
    clippy::print_stderr,
    reason = "a developer's tool that speaks to a terminal"
)]

#[path = "mod.rs"]
mod loggen;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use loggen::{Encoding, Fork, Model, Recipe, Shape, write_log};

const USAGE: &str = "\
Writes a healthy session log that depends on its options alone.

usage: dsh-loggen [OPTION…] [-o FILE]

  --shape SHAPE      seed, released (default), packed, late (0.1.2), v2, v3, v4
  --zstd             one frame for the header line, one per append batch
  --bytes SIZE       about this size (5KB, 200MB, 1GiB), measured as raw `released` lines
  --steps N          this many steps; with --bytes, as large as needed
  --step-bytes SIZE  the raw size of a step
  --seed N           what the session depends on (1)
  --model NAME       flash (default) or pro: how versions 3 and 4 treat a changed system prompt
  --cadence N        something unusual about every N steps (12)
  --with LIST        clock: the time of day in the system prompt
  --without LIST     compactions, header-changes, retries, resumes, steering, unicode
  --fork-of SEED     the log inherits from the session that SEED tells
  --fork-turn N      the turn behind which it does (2)
  --count N          N logs with the seeds SEED, SEED+1, …; -o is then a folder
  -o FILE            instead of standard output
";

struct Job {
    recipe: Recipe,
    count: Option<u64>,
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        eprint!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match parse(&words).and_then(|job| run(&job).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("dsh-loggen: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(job: &Job) -> io::Result<()> {
    match (&job.output, job.count) {
        (Some(folder), Some(count)) => write_many(&job.recipe, folder, count),
        (None, Some(_)) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "--count needs -o FOLDER",
        )),
        (Some(path), None) => report(&job.recipe, BufWriter::new(File::create(path)?)),
        (None, None) => report(&job.recipe, io::stdout().lock()),
    }
}

fn report(recipe: &Recipe, out: impl Write) -> io::Result<()> {
    let counts = write_log(recipe, out)?;
    eprintln!(
        "{} bytes decoded, {} lines, {} events, {} turns, {} steps, {} requests",
        counts.bytes, counts.lines, counts.events, counts.turns, counts.steps, counts.requests
    );
    Ok(())
}

fn write_many(recipe: &Recipe, folder: &Path, count: u64) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let suffix = if recipe.encoding == Encoding::Zstd {
        "jsonl.zstd"
    } else {
        "jsonl"
    };
    for at in 0..count {
        let recipe = Recipe {
            seed: recipe.seed + at,
            ..recipe.clone()
        };
        let path = folder.join(format!("session-{:05}.{suffix}", recipe.seed));
        write_log(&recipe, BufWriter::new(File::create(path)?))?;
    }
    Ok(())
}

fn parse(words: &[String]) -> Result<Job, String> {
    let mut job = Job {
        recipe: Recipe::default(),
        count: None,
        output: None,
    };
    let (mut parent, mut turn) = (None, 2);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--zstd" {
            job.recipe.encoding = Encoding::Zstd;
            continue;
        }
        let value = words
            .next()
            .ok_or_else(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "-o" => job.output = Some(value.into()),
            "--count" => job.count = Some(number(value)?),
            "--fork-of" => parent = Some(number(value)?),
            "--fork-turn" => turn = number(value)?,
            _ => set(&mut job.recipe, word, value)?,
        }
    }
    job.recipe.fork = parent.map(|parent| Fork { parent, turn });
    if job.recipe.bytes.is_none() && job.recipe.steps.is_none() {
        job.recipe.steps = Some(20);
    }
    Ok(job)
}

fn set(recipe: &mut Recipe, option: &str, value: &str) -> Result<(), String> {
    match option {
        "--shape" => {
            let known = Shape::NAMES.iter().find(|(name, _)| *name == value);
            recipe.shape = known.ok_or_else(|| format!("no shape {value}"))?.1;
        }
        "--bytes" => recipe.bytes = Some(size(value)?),
        "--steps" => recipe.steps = Some(number(value)?),
        "--step-bytes" => recipe.step_size = Some(size(value)?),
        "--seed" => recipe.seed = number(value)?,
        "--cadence" => recipe.cadence = number(value)?.max(1),
        "--model" => {
            recipe.model = Model::named(value).ok_or_else(|| format!("no model {value}"))?
        }
        "--with" => value
            .split(',')
            .try_for_each(|habit| switch(recipe, habit, true))?,
        "--without" => value
            .split(',')
            .try_for_each(|habit| switch(recipe, habit, false))?,
        _ => return Err(format!("no option {option}; see --help")),
    }
    Ok(())
}

fn switch(recipe: &mut Recipe, habit: &str, on: bool) -> Result<(), String> {
    let habits = &mut recipe.habits;
    let switch = match habit {
        "compactions" => &mut habits.compactions,
        "header-changes" => &mut habits.header_changes,
        "retries" => &mut habits.retries,
        "resumes" => &mut habits.resumes,
        "steering" => &mut habits.steering,
        "unicode" => &mut habits.unicode,
        "clock" => &mut habits.clock,
        _ => return Err(format!("no habit {habit}")),
    };
    *switch = on;
    Ok(())
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

/// `200MB`, `64KiB`, `1234`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "B" => 1,
        "KB" | "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        unit => return Err(format!("no unit {unit}")),
    };
    Ok(number(digits)? * unit)
}
