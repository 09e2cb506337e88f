//! The session header: whether a file is a session log of this harness, and of which generation.
//!
//! **Takes** the first line. **Gives** [`Detected`]. **Never** looks at any shape before the version is known.
//!
//! Source: format reference, sections 0.1, 0.2, A.2 and A.9.

use super::generation::Generation;
use crate::event::{At, Fault, Faults, Scope};
use crate::record::{Raw, Record};

/// What the first line says.
#[derive(Debug)]
pub enum Detected<'line> {
    /// A session log this build reads.
    Session(SessionHeader<'line>),
    /// A session log of a generation this build does not read.
    Unsupported(Support),
    /// No session log, for this reason (a predicate).
    NotASessionLog(&'static str),
    /// The log of another agent.
    Foreign,
}

/// Why a generation is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// The version as it stands in the header.
    pub version: String,
    /// Whether it is newer than what this build reads; else it is older.
    pub newer: bool,
}

/// The session header, its values as they stand.
#[derive(Clone, Copy, Debug)]
pub struct SessionHeader<'line> {
    /// The generation.
    pub generation: Generation,
    /// The session's id; absent in a malformed header.
    pub id: Option<Raw<'line>>,
    /// The session this one was forked from.
    pub parent: Option<Raw<'line>>,
    /// The working directory.
    pub cwd: Option<Raw<'line>>,
    /// How many events are inherited (versions 0 and 1).
    pub seed_length: u64,
    /// Whether events are inherited (version 2 and later).
    pub is_seeded: bool,
    /// Whether the header names a delegation depth: builds from 2026-07-20 on.
    pub has_depth: bool,
    /// Whether the log is a committed fixture by its header: no version, or placeholders.
    pub fixture: bool,
}

/// Reads the first line.
pub fn detect<'line>(record: &Record<'line>, at: At, faults: &mut Faults) -> Detected<'line> {
    let value = record.value;
    if !value.get("type").is_some_and(|kind| kind.is_str("session")) {
        return Detected::NotASessionLog("is no object with \"type\":\"session\"");
    }
    let created = value.get("createdAt");
    if created.is_none_or(|created| created.number().is_none())
        && value
            .get("timestamp")
            .is_some_and(|time| time.text().is_some())
    {
        return Detected::Foreign;
    }
    let has_depth = value.get("delegationDepth").is_some();
    let version = value.get("version");
    let generation = match version.map(|version| (version, version.number())) {
        None => Generation::V0,
        Some((raw, None)) => {
            faults.note_value(bad("version is no number"), Scope::Any, at, value, raw);
            Generation::V0
        }
        Some((raw, Some(number))) => match supported(number, has_depth) {
            Ok(generation) => generation,
            Err(newer) => {
                let version = String::from_utf8_lossy(&raw.printed()).into_owned();
                return Detected::Unsupported(Support { version, newer });
            }
        },
    };
    let header = SessionHeader {
        generation,
        id: value.get("id").filter(|id| id.text().is_some()),
        parent: value.get("parentSession").filter(|id| id.text().is_some()),
        cwd: value.get("cwd").filter(|cwd| cwd.text().is_some()),
        seed_length: count(value.get("seedLength")),
        is_seeded: value
            .get("isSeeded")
            .and_then(Raw::as_bool)
            .unwrap_or(false),
        has_depth,
        fixture: version.is_none()
            || ["id", "cwd"]
                .iter()
                .any(|name| is_placeholder(value.get(name))),
    };
    check(&header, record, at, faults);
    Detected::Session(header)
}

/// The generation of a version number, or whether an unread one is newer.
fn supported(number: f64, has_depth: bool) -> Result<Generation, bool> {
    if number == 1.0 && !has_depth {
        return Err(false); // June 2026: the same number, another shape
    }
    let whole = number >= 0.0 && number.fract() == 0.0 && number < 1e6;
    let generation = if whole {
        Generation::of(number as u64)
    } else {
        None
    };
    generation.ok_or(number > 0.0)
}

fn count(raw: Option<Raw<'_>>) -> u64 {
    raw.and_then(Raw::safe_int)
        .and_then(|n| u64::try_from(n).ok())
        .unwrap_or(0)
}

fn bad(why: &str) -> Fault {
    Fault::SessionHeader(why.to_owned())
}

/// Whether a value is a fixture's placeholder, such as `{{cwd}}` or `{{cwd}}/workspace`.
pub(crate) fn is_placeholder(raw: Option<Raw<'_>>) -> bool {
    raw.and_then(Raw::text)
        .is_some_and(|text| text.bytes().starts_with(b"{{"))
}

fn check(header: &SessionHeader<'_>, record: &Record<'_>, at: At, faults: &mut Faults) {
    let value = record.value;
    let mut note = |why: String, raw: Option<Raw<'_>>| {
        faults.note_value(
            Fault::SessionHeader(why),
            Scope::Any,
            at,
            value,
            raw.unwrap_or(value),
        );
    };
    if header.id.is_none() {
        note("id is no string".into(), value.get("id"));
    }
    let whole = |raw: Raw<'_>| raw.safe_int().is_some_and(|n| n >= 0);
    let created = value.get("createdAt");
    match created.and_then(Raw::number) {
        None => note("createdAt is no number".into(), created),
        Some(_) if created.is_some_and(|raw| !whole(raw)) && header.has_depth => {
            note(
                "createdAt is no whole number of milliseconds".into(),
                created,
            );
        }
        Some(_) => {}
    }
    if let Some(cwd) = value.get("cwd") {
        match cwd.text() {
            None => note("cwd is no string".into(), Some(cwd)),
            Some(text) if !is_absolute(text.bytes()) && !is_placeholder(Some(cwd)) => {
                note("cwd is not absolute".into(), Some(cwd));
            }
            Some(_) => {}
        }
    }
    if let Some(parent) = value
        .get("parentSession")
        .filter(|raw| raw.text().is_none())
    {
        note("parentSession is no string".into(), Some(parent));
    }
    for name in ["seedLength", "delegationDepth"] {
        if let Some(raw) = value.get(name).filter(|raw| !whole(*raw)) {
            note(format!("{name} is no whole number"), Some(raw));
        }
    }
    if let Some(origin) = value.get("origin").filter(|raw| !raw.is_str("subagent")) {
        note("origin is not \"subagent\"".into(), Some(origin));
    }
    for name in ["sandboxMode", "approvalPolicy"] {
        if let Some(raw) = value.get(name) {
            note(format!("{name} is a retired member"), Some(raw));
        }
    }
    let facts = header.generation.facts();
    if let Some(keys) = facts.header_keys {
        for (key, _) in value.members() {
            if !keys.iter().any(|known| key.is_str(known)) {
                let name = key
                    .text()
                    .map(|text| text.to_lossy().into_owned())
                    .unwrap_or_default();
                note(
                    format!(
                        "{name} is no member of a version {} header",
                        header.generation.version()
                    ),
                    Some(key),
                );
            }
        }
        if facts.marks_inherited && value.get("isSeeded").and_then(Raw::as_bool).is_none() {
            note("isSeeded is no boolean".into(), value.get("isSeeded"));
        }
        if !header.has_depth {
            note("delegationDepth is missing".into(), None);
        }
    }
}

/// Absolute on any platform the harness runs on.
fn is_absolute(path: &[u8]) -> bool {
    match path {
        [b'/' | b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}
