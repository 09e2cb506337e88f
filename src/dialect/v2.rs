//! Version 2 (0.1.3-alpha): an attempt is one event, with the chunks of its response inside.
//!
//! **Takes** nothing. **Gives** its facts. **Never** applies to other generations.

use super::generation::{Facts, Interface};
use super::v0;
use super::vocabulary::V2;

pub(super) const HEADER_KEYS: &[&str] = &[
    "type",
    "version",
    "id",
    "createdAt",
    "cwd",
    "parentSession",
    "isSeeded",
    "origin",
    "delegationDepth",
    "agentPreset",
];

pub(super) const FACTS: Facts = Facts {
    known: V2,
    has_old_turns: false,
    has_streams: true,
    header_keys: Some(HEADER_KEYS),
    marks_inherited: true,
    interface: Interface::Chat,
    ..v0::FACTS
};
