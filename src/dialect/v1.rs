//! Version 1 of September 2026: version 0 with exact header keys and without its legacy spellings. No release wrote it.
//!
//! **Takes** nothing. **Gives** its facts. **Never** applies to version 1 of June, which is refused.

use super::generation::Facts;
use super::v0;

pub(super) const FACTS: Facts = Facts {
    header_keys: Some(&[
        "type",
        "version",
        "id",
        "createdAt",
        "cwd",
        "parentSession",
        "seedLength",
        "origin",
        "delegationDepth",
        "agentPreset",
    ]),
    ..v0::FACTS
};
