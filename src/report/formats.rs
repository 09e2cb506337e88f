//! The support matrix as a table or as JSON.
//!
//! **Takes** rows of the matrix. **Gives** one line each. **Never** knows what a version is.

use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::paint::Tone;
use super::{JsonText, Look, TOOL};

/// A generation of session logs, and what this build does with it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct FormatRow {
    /// The header's number.
    pub(crate) version: &'static str,
    /// Who wrote it, and when.
    pub(crate) builds: &'static str,
    /// Whether it is read, reconstructed and verified.
    pub(crate) supported: bool,
    /// The release of this program that first read it.
    pub(crate) since: &'static str,
    /// What to know about it.
    pub(crate) notes: &'static str,
}

/// Writes the matrix as a table.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_formats(rows: &[FormatRow], look: Look, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(look.width).unwrap_or(u16::MAX))
        .set_header([
            "version",
            "written by",
            "read",
            "rebuilt",
            "verified",
            "since",
            "notes",
        ]);
    for row in rows {
        let word = if row.supported { "yes" } else { "no" };
        table.add_row([
            row.version,
            row.builds,
            word,
            word,
            word,
            row.since,
            row.notes,
        ]);
    }
    for (at, line) in table.trim_fmt().lines().enumerate() {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if at == 0 {
            writeln!(out, "{}", look.paint.tone(Tone::Strong, line))?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct FormatsView<'r> {
    schema: &'static str,
    tool: &'static str,
    formats: &'r [FormatRow],
}

/// Writes the matrix as `dsh-audit/formats/v1`.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_formats_json(formats: &[FormatRow], out: &mut dyn Write) -> io::Result<()> {
    JsonText::write(
        &FormatsView {
            schema: "dsh-audit/formats/v1",
            tool: TOOL,
            formats,
        },
        out,
    )
}
