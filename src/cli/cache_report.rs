//! `dsh-audit cache-report`.
//!
//! **Takes** its arguments. **Gives** the cache report of all inputs in one format, and on standard error what limits it.
//! **Never** decides anything while rendering.

use crate::analyse::answer::{Budgets, Grouping};
use crate::analyse::cache::{CacheOptions, PriceTable};
use crate::report::{
    self, CacheFile, CacheFormat, CacheParts, CacheRun, CacheSession, ExplainWindow, FileReport,
    OnlyBusts,
};

use super::audit;
use super::cache_args::{
    BudgetArgs, CacheFormatArg, CacheModelArgs, CachePartsArgs, CacheReport, GroupingArg,
};
use super::config::BudgetSettings;
use super::discover::{Found, How};
use super::environment::Environment;
use super::exit::Status;
use super::job::{self, CacheAnswer, Changes};
use super::limits::{is_of_a_budget, limits_requests};
use super::output;
use super::plan::Plan;
use super::price_file;
use super::progress::Audience;

/// Runs the command.
///
/// # Errors
///
/// There is no complete answer; the message is one line.
pub(super) fn run(args: &CacheReport, environment: &Environment) -> Result<Status, String> {
    let plan = Plan::make(&args.input, &args.output, &args.policy, environment)?;
    output::refuse_same(
        ("--output", args.output.output.as_deref()),
        &[("--prices", args.model.prices.as_deref())],
    )?;
    let options = CacheOptions {
        unit: args.model.cache_unit,
        prices: prices_of(&args.model)?,
    };
    let budgets = settings_of(args.budgets).or(plan.config.budgets).budgets();
    let is_watched = environment.stderr_is_terminal && !args.output.look.quiet;
    let audience = if is_watched {
        Audience::Terminal
    } else {
        Audience::None
    };
    audit::note_special(&plan);
    let changes = match (args.format, args.output.no_excerpt) {
        (CacheFormatArg::Html, false) => Changes::Wanted,
        _ => Changes::Unwanted,
    };
    let work = |found: &Found| one_file(&plan, found, &options, &budgets, changes);
    let results = audit::on_all(&plan, audience, work)?;
    let mut status = Status::Passed;
    let (mut files, mut passed_over) = (Vec::new(), Vec::new());
    for (found, (limits, file)) in plan.inputs.found.iter().zip(results) {
        if found.how == How::Walked && audit::is_foreign(&limits) {
            passed_over.push(file.path);
            continue;
        }
        status = status.and(Status::of(&limits.verdict));
        say_limits(&plan, limits);
        files.push(file);
    }
    if files.is_empty() {
        let number = report::count(passed_over.len() as u64, "file");
        output::error(format_args!("no session log among {number}"));
        status = status.and(Status::NotComplete);
    }
    if plan.exit_zero {
        status = status.forgiving_findings();
    }
    let run = CacheRun {
        exit_code: status.code(),
        files: &files,
        passed_over: &passed_over,
        prices: Some(&options.prices),
        parts: parts_of(args.parts),
    };
    let format = format_of(args.format);
    plan.sink
        .write(|out| report::write_cache(&run, format, plan.look, out))?;
    Ok(status)
}

/// The report of one file, and what limits it.
fn one_file(
    plan: &Plan,
    found: &Found,
    options: &CacheOptions,
    budgets: &Budgets,
    changes: Changes,
) -> (FileReport, CacheFile) {
    let answer = match &found.problem {
        Some(problem) => Err(problem.clone()),
        None => job::cache_report(found, &plan.reading, options, budgets, changes),
    };
    let (mut cache, error) = match answer {
        Ok(cache) => (cache, None),
        Err(error) => (CacheAnswer::unreadable(), Some(error)),
    };
    cache
        .answer
        .findings
        .retain(|finding| limits_requests(finding) || is_of_a_budget(finding));
    let limits = audit::weigh(plan, found, cache.answer, error);
    let file = CacheFile {
        path: limits.path.clone(),
        session: limits.session.as_ref().map(|session| CacheSession {
            version: session.version,
            dialect: session.dialect.into(),
        }),
        outcome: limits.verdict.outcome.as_str().into(),
        error: limits.error.clone(),
        digest: limits.digest.clone(),
        report: cache.report,
        misses: cache.misses,
        changes: cache.changes,
    };
    (limits, file)
}

/// Says on standard error what limits the report of a file. Missed budgets stand in the report itself.
fn say_limits(plan: &Plan, mut limits: FileReport) {
    limits.verdict.leave_out(is_of_a_budget);
    if !limits.verdict.findings.is_empty() {
        output::on_stderr(|out| report::write_limits(&limits, plan.stderr_look, out));
    }
}

fn prices_of(args: &CacheModelArgs) -> Result<PriceTable, String> {
    let tables = match &args.prices {
        Some(path) => price_file::load(path)?,
        None => vec![PriceTable::built_in()],
    };
    let known: Vec<String> = tables.iter().map(|table| table.currency.clone()).collect();
    let mut matching = tables.into_iter().filter(|table| match &args.currency {
        Some(currency) => table.currency.eq_ignore_ascii_case(currency),
        None => true,
    });
    match (matching.next(), matching.next()) {
        (Some(table), None) => Ok(table),
        (None, _) => Err(format!(
            "no prices in {}; there are some in {} (--prices FILE brings others)",
            args.currency.as_deref().unwrap_or("any currency"),
            known.join(", ")
        )),
        (Some(one), Some(other)) if one.currency == other.currency => Err(format!(
            "two tables of prices in {}: a file holds one of each currency",
            one.currency
        )),
        (Some(_), Some(_)) => Err(format!(
            "prices in several currencies: choose with --currency one of {}",
            known.join(", ")
        )),
    }
}

/// What a report holds.
pub(super) fn parts_of(args: CachePartsArgs) -> CacheParts {
    CacheParts {
        by: args.by.map(|by| match by {
            GroupingArg::Session => Grouping::Session,
            GroupingArg::Model => Grouping::Model,
            GroupingArg::Cause => Grouping::Cause,
            GroupingArg::Day => Grouping::Day,
        }),
        only: args.busts.then_some(OnlyBusts),
        window: args.explain_window.then_some(ExplainWindow),
    }
}

/// The budgets that the command line sets.
pub(super) fn settings_of(args: BudgetArgs) -> BudgetSettings {
    BudgetSettings {
        min_hit_rate: args.min_hit_rate,
        min_requests: args.min_requests,
        max_header_changes: args.max_header_changes,
        max_lost_tokens: args.max_lost_tokens,
        require_cache_read: args.require_cache_read.then_some(true),
    }
}

/// The format in the report's terms.
pub(super) fn format_of(arg: CacheFormatArg) -> CacheFormat {
    match arg {
        CacheFormatArg::Human => CacheFormat::Human,
        CacheFormatArg::Json => CacheFormat::Json,
        CacheFormatArg::Jsonl => CacheFormat::Jsonl,
        CacheFormatArg::Html => CacheFormat::Html,
        CacheFormatArg::Markdown => CacheFormat::Markdown,
    }
}
