//! The rule catalogue as a table or as JSON.
//!
//! **Takes** the rules. **Gives** one row per rule, in the order of codes. **Never** judges.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use serde::Serialize;

use crate::finding::{Level, Rule};

use super::paint::Tone;
use super::{JsonText, Look, TOOL};

/// Writes the catalogue as a table.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_rules(rules: &[&Rule], look: Look, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(look.width).unwrap_or(u16::MAX))
        .set_header(["code", "level", "name", "reported when"]);
    for rule in rules {
        table.add_row([
            rule.id(),
            rule.level.as_str().to_string(),
            rule.name.to_string(),
            rule.summary.replace('`', ""),
        ]);
    }
    for column in 0..3 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Left);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    if let Some(column) = table.column_mut(3) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(24)));
    }
    for line in table.trim_fmt().lines() {
        writeln!(out, "{}", paint_line(line, look))?;
    }
    Ok(())
}

/// Paints the code at the beginning of a row by its level.
fn paint_line(line: &str, look: Look) -> String {
    let line = line.strip_prefix(' ').unwrap_or(line);
    let Some((code, rest)) = line
        .split_once(' ')
        .filter(|(code, _)| code.starts_with("DSH"))
    else {
        return line.to_string();
    };
    let tone = match rest.trim_start() {
        rest if rest.starts_with(Level::Error.as_str()) => Tone::Bad,
        rest if rest.starts_with(Level::Warning.as_str()) => Tone::Doubt,
        _ => Tone::Calm,
    };
    format!("{} {rest}", look.paint.tone(tone, code))
}

#[derive(Serialize)]
struct CatalogueView<'r> {
    schema: &'static str,
    tool: &'static str,
    rules: Vec<RuleView<'r>>,
}

#[derive(Serialize)]
struct RuleView<'r> {
    code: String,
    name: &'r str,
    level: &'static str,
    summary: &'r str,
    page: &'r str,
}

/// Writes the catalogue as `dsh-audit/rules/v1`.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_rules_json(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    let rules = rules.iter().map(|rule| RuleView {
        code: rule.id(),
        name: rule.name,
        level: rule.level.as_str(),
        summary: rule.summary,
        page: rule.page,
    });
    let view = CatalogueView {
        schema: "dsh-audit/rules/v1",
        tool: TOOL,
        rules: rules.collect(),
    };
    JsonText::write(&view, out)
}
