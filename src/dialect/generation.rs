//! What tells the generations of the format apart, as one table.
//!
//! **Takes** a version number. **Gives** the [`Generation`] and its facts. **Never** reads a log.

use super::vocabulary::Known;
use super::{v0, v1, v2, v3, v4};
use crate::event::Conduct;

/// A generation of the log format that this build reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// 2026-06-21 to 2026-09-03.
    V0,
    /// A step of migrations (September); the shapes of version 0.
    V1,
    /// 2026-09-04 to 2026-09-07: a response's chunks stand inside its event.
    V2,
    /// 2026-09-08 to 2026-09-21: the system prompt is a surface message.
    V3,
    /// From 2026-09-22: tool role, developer messages, producer sources.
    V4,
}

/// Which of the provider's interfaces the builds of a generation speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Chat completions; how an answer is repeated depends on the build.
    EarlyChat,
    /// Chat completions, as the last builds that spoke it did.
    Chat,
    /// The Messages interface.
    Messages,
}

/// What a generation writes differently from the others.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Types its reader knows, in turns that are not old.
    pub(crate) known: Known,
    /// Whether turns of builds before 2026-08-05 can be told by their trigger.
    pub(crate) has_old_turns: bool,
    /// Whether chunks stand inside the response's event.
    pub(crate) has_streams: bool,
    /// Whether the session header has exact keys, with `isSeeded` in the place of `seedLength`.
    pub(crate) header_keys: Option<&'static [&'static str]>,
    /// Whether a fork's inherited part ends with a marked `session/end-seed`.
    pub(crate) marks_inherited: bool,
    /// The members of a replace that name its ends.
    pub(crate) replace_keys: (&'static str, &'static str),
    /// Whether the system prompt is a surface message.
    pub(crate) has_system_messages: bool,
    /// Whether tool results have a role of their own, and sources name their producer.
    pub(crate) has_tool_role: bool,
    /// The members behind the messages of a request.
    pub(crate) has_tool_history: bool,
    /// What its builds speak with the provider.
    pub(crate) interface: Interface,
    /// Reasons of a header.
    pub(crate) header_reasons: &'static [&'static str],
    /// Reasons of a turn's end, in turns that are not old.
    pub(crate) end_reasons: &'static [&'static str],
}

impl Generation {
    /// The generation with this number.
    pub fn of(version: u64) -> Option<Generation> {
        [
            Generation::V0,
            Generation::V1,
            Generation::V2,
            Generation::V3,
            Generation::V4,
        ]
        .into_iter()
        .find(|generation| generation.version() == version)
    }

    /// Its number in the session header.
    pub fn version(self) -> u64 {
        self as u64
    }

    pub(crate) fn facts(self) -> &'static Facts {
        match self {
            Generation::V0 => &v0::FACTS,
            Generation::V1 => &v1::FACTS,
            Generation::V2 => &v2::FACTS,
            Generation::V3 => &v3::FACTS,
            Generation::V4 => &v4::FACTS,
        }
    }

    /// What its builds speak with the provider.
    pub fn interface(self) -> Interface {
        self.facts().interface
    }

    /// What the fold must know of it.
    pub fn conduct(self) -> Conduct {
        let facts = self.facts();
        Conduct {
            has_streams: facts.has_streams,
            protects_head: facts.has_system_messages,
        }
    }
}

/// A row of the support matrix.
#[derive(Debug)]
pub struct Format {
    /// The header's number.
    pub version: &'static str,
    /// Who wrote it, and when.
    pub builds: &'static str,
    /// What this tool does with it: read, reconstructed, verified.
    pub supported: bool,
    /// What to know about it.
    pub notes: &'static str,
    /// The release of this tool that first read it.
    pub since: &'static str,
}

/// Every version there is, and what this build does with it.
pub static FORMATS: &[Format] = &[
    Format {
        version: "1 (June)",
        builds: "2026-06-16 to 2026-06-21",
        supported: false,
        notes: "no request headers: nothing to reconstruct",
        since: "-",
    },
    Format {
        version: "0",
        builds: "2026-06-21 to 2026-09-03, releases up to 0.1.2",
        supported: true,
        notes: "every dialect; logs with header deltas (2026-07-06 to 2026-07-17) are rejected",
        since: "0.1.0",
    },
    Format {
        version: "1 (September)",
        builds: "a migration step, no release",
        supported: true,
        notes: "shapes of version 0",
        since: "0.1.0",
    },
    Format {
        version: "2",
        builds: "0.1.3-alpha, 2026-09-04 to 2026-09-07",
        supported: true,
        notes: "streams inside the response event",
        since: "0.1.0",
    },
    Format {
        version: "3",
        builds: "0.1.5, 2026-09-08 to 2026-09-21",
        supported: true,
        notes: "system prompt on the surface",
        since: "0.1.0",
    },
    Format {
        version: "4",
        builds: "0.1.7 to 0.2.1, from 2026-09-22",
        supported: true,
        notes: "tool role, developer messages, deferred tools, images",
        since: "0.1.0",
    },
    Format {
        version: "5 and up",
        builds: "forks; no upstream writer known",
        supported: false,
        notes: "refused before any shape is looked at",
        since: "-",
    },
];
