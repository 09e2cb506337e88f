//! Version 4 (0.1.7 to 0.2.1): tool results have a role, tools change through developer messages, sources name their producer.
//!
//! **Takes** nothing. **Gives** its facts. **Never** applies to other generations.

use super::generation::{Facts, Interface};
use super::v3;
use super::vocabulary::V4;

pub(super) const FACTS: Facts = Facts {
    known: V4,
    has_tool_role: true,
    has_tool_history: true,
    interface: Interface::Messages,
    end_reasons: &[
        "completed",
        "blocked",
        "aborted",
        "error",
        "max-tokens",
        "interrupted",
        "forked",
    ],
    ..v3::FACTS
};
