//! `dsh-audit explain`, `rules`, `schema` and `formats`: what the program knows about itself.
//!
//! **Takes** codes and names. **Gives** pages, the catalogue, schemas. **Never** reads a log.

use crate::report::{self, schema};

use super::args::{Explain, Formats, Rules, Schema};
use super::environment::Environment;
use super::exit::Status;
use super::job;
use super::output::Sink;
use super::plan;
use super::suggest;
use super::values::{ColorArg, ListFormat};

/// Prints the pages of rules.
///
/// # Errors
///
/// A rule that does not exist; the message names the one that was probably meant.
pub(super) fn explain(args: &Explain, environment: &Environment) -> Result<Status, String> {
    let mut rules = Vec::new();
    for wanted in &args.rules {
        rules.push(job::find_rule(wanted).ok_or_else(|| unknown_rule(wanted))?);
    }
    let look = look_of(args.color, environment);
    Sink::Stdout.write(|out| {
        for (at, rule) in rules.iter().enumerate() {
            if at > 0 {
                writeln!(out, "\n")?;
            }
            report::write_page(rule, look, out)?;
        }
        Ok(())
    })?;
    Ok(Status::Passed)
}

fn unknown_rule(wanted: &str) -> String {
    let ids: Vec<String> = job::catalogue().iter().map(|rule| rule.id()).collect();
    let names = job::catalogue().iter().map(|rule| rule.name);
    let hint = suggest::closest(wanted, names.chain(ids.iter().map(String::as_str)))
        .map_or(String::new(), |closest| {
            format!("; did you mean `{closest}`?")
        });
    format!("no rule `{wanted}`{hint} (`dsh-audit rules` lists all)")
}

/// Prints the catalogue.
///
/// # Errors
///
/// Standard output cannot be written.
pub(super) fn rules(args: &Rules, environment: &Environment) -> Result<Status, String> {
    let look = look_of(args.color, environment);
    Sink::Stdout.write(|out| match args.format {
        ListFormat::Human => report::write_rules(job::catalogue(), look, out),
        ListFormat::Json => report::write_rules_json(job::catalogue(), out),
    })?;
    Ok(Status::Passed)
}

/// Prints a schema, or the names of all.
///
/// # Errors
///
/// A schema that does not exist.
pub(super) fn schema(args: &Schema) -> Result<Status, String> {
    let text = match &args.name {
        None => schema::SCHEMAS
            .iter()
            .map(|(name, _)| format!("{name}\n"))
            .collect(),
        Some(name) => schema::find(name).map(str::to_string).ok_or_else(|| {
            let names: Vec<&str> = schema::SCHEMAS.iter().map(|(name, _)| *name).collect();
            format!("no schema `{name}`; there are {}", names.join(", "))
        })?,
    };
    Sink::Stdout.write(|out| out.write_all(text.as_bytes()))?;
    Ok(Status::Passed)
}

/// Prints the support matrix.
///
/// # Errors
///
/// Standard output cannot be written.
pub(super) fn formats(args: &Formats, environment: &Environment) -> Result<Status, String> {
    let look = look_of(args.color, environment);
    let rows = job::formats();
    Sink::Stdout.write(|out| match args.format {
        ListFormat::Human => report::write_formats(&rows, look, out),
        ListFormat::Json => report::write_formats_json(&rows, out),
    })?;
    Ok(Status::Passed)
}

fn look_of(color: ColorArg, environment: &Environment) -> report::Look {
    plan::plain_look(
        environment.paint(color, environment.stdout_is_terminal),
        environment,
    )
}
