//! The part of the command line that is about cache reports, as types.
//!
//! **Takes** argv. **Gives** the arguments of `cache-report` and `merge`. **Never** opens a file or reads the environment.

use std::path::PathBuf;

use clap::{Args as Group, ValueEnum};

use super::args::{Input, LookArgs, Output, PolicyArgs};

/// `dsh-audit cache-report`.
#[derive(Debug, Group)]
pub(crate) struct CacheReport {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = CacheFormatArg::Human, help_heading = "Output")]
    pub(crate) format: CacheFormatArg,
    #[command(flatten)]
    pub(crate) parts: CachePartsArgs,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) model: CacheModelArgs,
    #[command(flatten)]
    pub(crate) budgets: BudgetArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

/// `dsh-audit merge`.
#[derive(Debug, Group)]
pub(crate) struct Merge {
    /// Cache reports as JSON or as rows (--format json or jsonl), or - for standard input
    #[arg(required = true, value_name = "FILE", help_heading = "Input")]
    pub(crate) files: Vec<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = CacheFormatArg::Human, help_heading = "Output")]
    pub(crate) format: CacheFormatArg,
    #[command(flatten)]
    pub(crate) parts: CachePartsArgs,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Print no content of a log
    #[arg(long, help_heading = "Output")]
    pub(crate) no_excerpt: bool,
    /// In human text, show all logs and busts, not ten
    #[arg(long, help_heading = "Output")]
    pub(crate) no_limit: bool,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    #[command(flatten)]
    pub(crate) budgets: BudgetArgs,
    /// Exit with 0 where findings would give 1
    #[arg(long, help_heading = "Policy")]
    pub(crate) exit_zero: bool,
}

/// What a cache report holds.
#[derive(Clone, Copy, Debug, Group)]
#[command(next_help_heading = "Output")]
pub(crate) struct CachePartsArgs {
    /// Only the requests whose prefix broke or was lost, in order of loss
    #[arg(long)]
    pub(crate) busts: bool,
    /// Sums by what requests have in common
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) by: Option<GroupingArg>,
    /// Say how often the predicted window of hits held
    #[arg(long)]
    pub(crate) explain_window: bool,
}

/// By what the cache model reckons.
#[derive(Debug, Group)]
#[command(next_help_heading = "Model")]
pub(crate) struct CacheModelArgs {
    /// Steps in which the provider caches [default: 128, or what the hits have in common]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cache_unit: Option<u64>,
    /// Prices instead of the built-in table
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Currency, where a table has several
    #[arg(long, value_name = "CODE")]
    pub(crate) currency: Option<String>,
}

/// What a log's cache may lose before the run fails.
#[derive(Clone, Copy, Debug, Group)]
#[command(next_help_heading = "Budgets, for each log")]
pub(crate) struct BudgetArgs {
    /// Least share of prompt tokens read from the cache, without first requests: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(crate) min_hit_rate: Option<f64>,
    /// Fewest requests, without first ones, over which the hit rate is judged [default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) min_requests: Option<u64>,
    /// Most tokens lost to broken or lost prefixes
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_lost_tokens: Option<u64>,
    /// Most requests whose prefix broke in the header
    #[arg(long, value_name = "N")]
    pub(crate) max_header_changes: Option<u64>,
    /// Every request after the first reads from the cache
    #[arg(long)]
    pub(crate) require_cache_read: bool,
}

/// Forms of cache reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheFormatArg {
    /// For a terminal
    Human,
    /// One object for the run
    Json,
    /// One flat row per request
    Jsonl,
    /// One page that needs nothing else
    Html,
    /// For an issue or a pull request
    Markdown,
}

/// What requests have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupingArg {
    /// The session
    Session,
    /// The model
    Model,
    /// Why the prefix broke
    Cause,
    /// The day, in UTC
    Day,
}

/// Reads `0.9` and `90%`.
fn parse_share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share = number.parse::<f64>().map(|number| number / scale);
    share
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "expected a share from 0 to 1, or from 0% to 100%".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read() {
        assert_eq!(parse_share("0.9"), Ok(0.9));
        assert_eq!(parse_share("90 %"), Ok(0.9));
        assert!(parse_share("90").is_err() && parse_share("NaN").is_err());
    }
}
