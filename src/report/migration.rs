//! What a generation of a session has of the one before it.
//!
//! **Takes** [`MigrationFacts`]. **Gives** a line for a person, or the members of an object. **Never** calls a change a loss.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::paint::Tone;
use super::safe::{Safe, SafePath};
use super::{Look, words};

/// A word for machines, and a few for people.
pub(crate) type Word = (&'static str, &'static str);

/// What a log has of the requests of the generation before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MigrationFacts {
    /// The log of that generation.
    pub(crate) from: PathBuf,
    /// Its version.
    pub(crate) version: u64,
    /// How many requests it has.
    pub(crate) requests: u64,
    /// How many of them stand in this one, too, and say the same.
    pub(crate) kept: u64,
    /// How many only this one has.
    pub(crate) new: u64,
    /// What is written otherwise in those that were kept, and in how many.
    pub(crate) changes: Vec<(Word, u64)>,
    /// Those that are missing, or say something else.
    pub(crate) lost: Vec<LostRequest>,
}

/// A request that did not survive a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostRequest {
    /// Its turn.
    pub(crate) turn: u64,
    /// Its step.
    pub(crate) step: u64,
    /// Its attempt.
    pub(crate) attempt: u64,
    /// Where it says something else; absent if it is missing.
    pub(crate) pointer: Option<String>,
}

/// How many lost requests a person is told by number.
const MOST_NAMED: usize = 5;

/// Writes it for a person.
pub(super) fn write(facts: &MigrationFacts, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let name = facts
        .from
        .file_name()
        .map(PathBuf::from)
        .unwrap_or_default();
    let kept = if facts.lost.is_empty() {
        format!("all {} kept", words::count(facts.requests, "request"))
    } else {
        let requests = words::count(facts.requests, "request");
        format!("{} of {requests} kept", words::grouped(facts.kept))
    };
    let mut text = format!(
        "from {} (v{}): {kept}, {} new",
        SafePath(&name),
        facts.version,
        words::grouped(facts.new)
    );
    for (at, ((_, change), requests)) in facts.changes.iter().enumerate() {
        let lead = if at == 0 { ";" } else { "," };
        text.push_str(&format!("{lead} {change} ({})", words::grouped(*requests)));
    }
    for line in words::wrapped(&text, look.width.saturating_sub(4)) {
        writeln!(out, "  {}", look.paint.tone(Tone::Faint, line))?;
    }
    for lost in facts.lost.iter().take(MOST_NAMED) {
        let what = match &lost.pointer {
            Some(pointer) => format!("says something else at {}", Safe(pointer)),
            None => "is missing".to_owned(),
        };
        let line = format!(
            "request {}.{}.{} {what}",
            lost.turn, lost.step, lost.attempt
        );
        writeln!(out, "  {}", look.paint.tone(Tone::Doubt, line))?;
    }
    match facts.lost.len().saturating_sub(MOST_NAMED) {
        0 => Ok(()),
        more => writeln!(
            out,
            "  … and {} more",
            words::count(more as u64, "lost request")
        ),
    }
}

impl Serialize for MigrationFacts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Changes<'r>(&'r [(Word, u64)]);
        impl Serialize for Changes<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|((word, _), requests)| (word, requests)))
            }
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.from.to_string_lossy())?;
        map.serialize_entry("version", &self.version)?;
        map.serialize_entry("requests", &self.requests)?;
        map.serialize_entry("kept", &self.kept)?;
        map.serialize_entry("new", &self.new)?;
        map.serialize_entry("changes", &Changes(&self.changes))?;
        map.serialize_entry("lost", &self.lost)?;
        map.end()
    }
}

impl Serialize for LostRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("turn", &self.turn)?;
        map.serialize_entry("step", &self.step)?;
        map.serialize_entry("attempt", &self.attempt)?;
        if let Some(pointer) = &self.pointer {
            map.serialize_entry("pointer", pointer)?;
        }
        map.end()
    }
}
