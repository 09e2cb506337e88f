//! Version 0: every build from 2026-06-21 to release 0.1.2. Its dialects are told apart per turn and per request (`settle`).
//!
//! **Takes** nothing. **Gives** its facts. **Never** applies to other generations.

use super::generation::{Facts, Interface};
use super::vocabulary::RELEASED;

pub(super) const FACTS: Facts = Facts {
    known: RELEASED,
    has_old_turns: true,
    has_streams: false,
    header_keys: None,
    marks_inherited: false,
    replace_keys: ("start", "end"),
    has_system_messages: false,
    has_tool_role: false,
    has_tool_history: false,
    interface: Interface::EarlyChat,
    header_reasons: &["initial", "resume", "change", "series"],
    end_reasons: &[
        "completed",
        "blocked",
        "aborted",
        "error",
        "max-tokens",
        "interrupted",
    ],
};
