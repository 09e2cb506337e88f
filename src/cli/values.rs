//! What options take: words, sizes, requests.
//!
//! **Takes** the text of one argument. **Gives** its value, or what was expected. **Never** knows which option it is.

use clap::ValueEnum;

/// Forms of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyFormat {
    /// For a terminal
    Human,
    /// One object for the run
    Json,
    /// One object per file
    Jsonl,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// For an issue or a pull request
    Markdown,
}

/// Forms of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// A table without the options
    Human,
    /// One object per request
    Jsonl,
}

/// Whose request bodies are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WireArg {
    /// DeepSeek: chat completions for versions 0 to 3, the Messages interface for version 4
    Deepseek,
}

/// Forms of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormatArg {
    /// For a terminal
    Human,
    /// One object for the run
    Json,
    /// For a pull request
    Markdown,
}

/// Parts of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartArg {
    /// The system prompt
    System,
    /// The tools
    Tools,
    /// Provider, model, and options of the call
    Config,
    /// The messages in front of the history (until 2026-07-27)
    Prefix,
}

/// Forms of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A table
    Human,
    /// One object
    Json,
}

/// Whether files are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MmapArg {
    /// Files that nobody has written to for some seconds
    Auto,
    /// All regular files
    Always,
    /// None
    Never,
}

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal
    Auto,
    /// Yes
    Always,
    /// No
    Never,
}

/// Where a run begins to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOnArg {
    /// At errors
    Error,
    /// At warnings
    Warning,
    /// At notes
    Note,
    /// Never
    Never,
}

/// A request by its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepArg {
    /// Its turn.
    pub(crate) turn: u64,
    /// Its step.
    pub(crate) step: u64,
    /// Its attempt; the step's last one if absent.
    pub(crate) attempt: Option<u64>,
}

impl std::str::FromStr for StepArg {
    type Err = String;

    fn from_str(text: &str) -> Result<StepArg, String> {
        let wrong = || "expected TURN.STEP or TURN.STEP.ATTEMPT, as in 2.1 or 2.1.3".to_string();
        let numbers: Result<Vec<u64>, _> = text.split('.').map(str::parse).collect();
        match numbers.map_err(|_| wrong())?[..] {
            [turn, step] => Ok(StepArg {
                turn,
                step,
                attempt: None,
            }),
            [turn, step, attempt] => Ok(StepArg {
                turn,
                step,
                attempt: Some(attempt),
            }),
            _ => Err(wrong()),
        }
    }
}

/// Reads `65536`, `64KiB`, `512MiB`, `16GiB`, and the same without `iB`.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return Err("expected a number of bytes, or one with KiB, MiB, GiB or TiB".into()),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| "expected a number of bytes".to_string())?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "larger than any file".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_steps_are_read() {
        assert_eq!(parse_size("512MiB"), Ok(512 << 20));
        assert_eq!(parse_size("16g"), Ok(16 << 30));
        assert_eq!(parse_size("7"), Ok(7));
        assert!(parse_size("-1").is_err() && parse_size("1XB").is_err());
        assert!(parse_size("99999999999TiB").is_err());
        assert_eq!(
            "2.1".parse(),
            Ok(StepArg {
                turn: 2,
                step: 1,
                attempt: None
            })
        );
        assert_eq!(
            "2.1.3".parse(),
            Ok(StepArg {
                turn: 2,
                step: 1,
                attempt: Some(3)
            })
        );
        assert!("2".parse::<StepArg>().is_err() && "2.1.3.4".parse::<StepArg>().is_err());
    }
}
