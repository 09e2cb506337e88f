//! JSON of `verify`: one object for a run, or one object per file.
//!
//! **Takes** a [`Report`]. **Gives** `dsh-audit/verify/v1` (`schemas/verify.json`), written while it is made.
//! **Never** holds a whole document, and never prints a character raw that a terminal would act on.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use crate::finding::{Bytes, Finding, Place, Related};
use crate::line::Span;
use crate::verdict::Fingerprint;

use super::safe::is_hostile;
use super::{Excerpts, FileReport, Look, MigrationFacts, Report, SessionFacts, TOOL};

/// Writes the run as one object and a line feed.
pub(super) fn write(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let files = Files {
        files: report.files,
        look,
    };
    let view = RunView {
        schema: format!("dsh-audit/{}/v1", report.command),
        tool: TOOL,
        exit_code: report.exit_code,
        files,
        passed_over: report.passed_over.len() as u64,
        unused_baseline: report
            .unused
            .iter()
            .map(|(fingerprint, accepted)| UnusedView {
                fingerprint: fingerprint.to_string(),
                code: &accepted.code,
                reason: accepted.reason.as_deref(),
            })
            .collect(),
    };
    JsonText::write(&view, out)
}

/// Writes one object and a line feed for each file.
pub(super) fn write_lines(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    report
        .files
        .iter()
        .try_for_each(|file| JsonText::write(&FileView::of(file, look), out))
}

/// How this program prints JSON.
pub(crate) struct JsonText;

impl JsonText {
    /// Writes a value on one line, and a line feed. Hostile characters are written as `\u` escapes, so that the document
    /// may be looked at in a terminal.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
        JsonText::write_value(value, out)?;
        out.write_all(b"\n")
    }

    /// Writes a value alone.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write_value(value: &impl Serialize, mut out: &mut dyn Write) -> io::Result<()> {
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, JsonText);
        value.serialize(&mut serializer).map_err(io::Error::from)
    }
}

impl serde_json::ser::Formatter for JsonText {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(is_hostile) {
            let (clean, tail) = rest.split_at(at);
            out.write_all(clean.as_bytes())?;
            let mut chars = tail.chars();
            if let Some(hostile) = chars.next() {
                for unit in hostile.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunView<'r> {
    schema: String,
    tool: &'static str,
    exit_code: u8,
    files: Files<'r>,
    passed_over: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused_baseline: Vec<UnusedView<'r>>,
}

#[derive(Serialize)]
struct UnusedView<'r> {
    fingerprint: String,
    code: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'r str>,
}

struct Files<'r> {
    files: &'r [FileReport],
    look: Look,
}

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.files.len()))?;
        for file in self.files {
            seq.serialize_element(&FileView::of(file, self.look))?;
        }
        seq.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView<'r> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionView<'r>>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_sha256: Option<&'r str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_generations: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    migrated_from: Option<&'r MigrationFacts>,
    counts: CountsView,
    #[serde(skip_serializing_if = "is_zero")]
    accepted: u64,
    findings: Findings<'r>,
}

impl<'r> FileView<'r> {
    fn of(file: &'r FileReport, look: Look) -> FileView<'r> {
        let counts = file.verdict.counts;
        FileView {
            path: file.path.to_string_lossy().into_owned(),
            session: file.session.as_ref().map(SessionView::of),
            verdict: file.verdict.outcome.as_str(),
            error: file.error.as_deref(),
            input_sha256: file.digest.as_deref(),
            other_generations: file
                .older
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
            parent_path: file
                .parent
                .as_ref()
                .map(|path| path.to_string_lossy().into_owned()),
            migrated_from: file.migration.as_ref(),
            counts: CountsView {
                error: counts.error,
                warning: counts.warning,
                note: counts.note,
            },
            accepted: file.verdict.accepted.len() as u64,
            findings: Findings { file, look },
        }
    }
}

#[derive(Serialize)]
struct SessionView<'r> {
    id: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    dialect: &'static str,
    events: u64,
    turns: u64,
    steps: u64,
    requests: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inherited: Option<InheritedView>,
}

#[derive(Serialize)]
struct InheritedView {
    events: u64,
    turns: u64,
    steps: u64,
    requests: u64,
}

impl<'r> SessionView<'r> {
    fn of(facts: &'r SessionFacts) -> SessionView<'r> {
        let inherited = facts.inherited.filter(|inherited| inherited.events > 0);
        SessionView {
            id: &facts.id,
            version: facts.version,
            dialect: facts.dialect,
            events: facts.events,
            turns: facts.turns,
            steps: facts.steps,
            requests: facts.requests,
            parent: facts.parent.as_deref(),
            inherited: inherited.map(|inherited| InheritedView {
                events: inherited.events,
                turns: inherited.turns,
                steps: inherited.steps,
                requests: inherited.requests,
            }),
        }
    }
}

#[derive(Serialize)]
struct CountsView {
    error: u64,
    warning: u64,
    note: u64,
}

struct Findings<'r> {
    file: &'r FileReport,
    look: Look,
}

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let verdict = &self.file.verdict;
        let mut seq = serializer.serialize_seq(Some(verdict.findings.len()))?;
        for (finding, fingerprint) in verdict.findings.iter().zip(&verdict.fingerprints) {
            let (fingerprint, look) = (*fingerprint, self.look);
            seq.serialize_element(&FindingView {
                finding,
                fingerprint,
                look,
            })?;
        }
        seq.end()
    }
}

struct FindingView<'r> {
    finding: &'r Finding,
    fingerprint: Fingerprint,
    look: Look,
}

impl Serialize for FindingView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finding = self.finding;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &finding.rule.id())?;
        map.serialize_entry("name", finding.rule.name)?;
        map.serialize_entry("level", finding.level.as_str())?;
        map.serialize_entry("certainty", finding.certainty.as_str())?;
        map.serialize_entry("message", &finding.message)?;
        serialize_place(&mut map, &finding.at, self.look)?;
        if !finding.related.is_empty() {
            let look = self.look;
            let related: Vec<_> = finding
                .related
                .iter()
                .map(|related| RelatedView { related, look })
                .collect();
            map.serialize_entry("related", &related)?;
        }
        if let Some(help) = &finding.help {
            map.serialize_entry("help", help)?;
        }
        map.serialize_entry("fingerprint", &self.fingerprint.to_string())?;
        map.end()
    }
}

struct RelatedView<'r> {
    related: &'r Related,
    look: Look,
}

impl Serialize for RelatedView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("message", &self.related.message)?;
        serialize_place(&mut map, &self.related.at, self.look)?;
        map.end()
    }
}

/// The members of a place, among those of what stands there. What is not known is absent.
fn serialize_place<M: SerializeMap>(map: &mut M, at: &Place, look: Look) -> Result<(), M::Error> {
    if let Some(line) = at.line {
        map.serialize_entry("line", &line.0)?;
    }
    match at.bytes {
        Some(Bytes::Decoded(span)) => map.serialize_entry("span", &SpanView::of(span))?,
        Some(Bytes::File(span)) => map.serialize_entry("fileSpan", &SpanView::of(span))?,
        None => {}
    }
    for (name, number) in [
        ("seq", at.seq.map(|seq| seq.0)),
        ("turn", at.turn),
        ("step", at.step),
    ] {
        if let Some(number) = number {
            map.serialize_entry(name, &number)?;
        }
    }
    if let Some(pointer) = &at.pointer {
        map.serialize_entry("pointer", pointer)?;
    }
    if let (Some(excerpt), Excerpts::Shown) = (&at.excerpt, look.excerpt) {
        map.serialize_entry("excerpt", &excerpt.text)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct SpanView {
    start: u64,
    end: u64,
}

impl SpanView {
    fn of(span: Span) -> SpanView {
        SpanView {
            start: span.start,
            end: span.end,
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_characters_are_escaped_and_mean_the_same() {
        let text = "a\u{1b}[31m\u{9b}\u{202e}\u{e0041}\"é\n";
        let mut out = Vec::new();
        JsonText::write(&text, &mut out).expect("a vector takes all");
        let printed = String::from_utf8(out).expect("JSON is text");
        assert!(!printed.trim_end().chars().any(is_hostile), "{printed}");
        assert_eq!(
            serde_json::from_str::<String>(&printed).expect("valid"),
            text
        );
    }
}
