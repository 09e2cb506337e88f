//! Version 3 (0.1.5): the system prompt is a message of the surface, protected at its head.
//!
//! **Takes** nothing. **Gives** its facts. **Never** applies to other generations.

use super::generation::Facts;
use super::v2;
use super::vocabulary::V3;

pub(super) const FACTS: Facts = Facts {
    known: V3,
    replace_keys: ("startSeq", "endSeq"),
    has_system_messages: true,
    ..v2::FACTS
};
