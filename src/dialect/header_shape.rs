//! Header snapshots: their shape, and what in them is redacted.
//!
//! **Takes** a header event's data. **Gives** a [`HeaderEvent`]. **Never** compares two headers.
//!
//! Source: format reference, sections A.9, B.1, B.2 (H-HDR-SHAPE), B.4 and K.

use super::detect::is_placeholder;
use super::draft::{Draft, shown};
use super::shape::fits;
use super::vocabulary::Ty;
use crate::event::{Body, Fault, HeaderEvent, Legacy, Scope};
use crate::record::{Kind as JsonKind, Raw};

/// Decodes a header event.
pub(super) fn decode<'line>(draft: &mut Draft<'line, '_>, data: Raw<'line>) -> Body<'line> {
    let reason = data.get("reason");
    if reason.is_some_and(|reason| reason.is_str("fallback")) && draft.facts.has_old_turns {
        return Body::Legacy(Legacy::FallbackReason);
    }
    let is =
        |words: &[&str]| reason.is_some_and(|reason| words.iter().any(|word| reason.is_str(word)));
    let unknown = match (is(draft.facts.header_reasons), is(&["series"])) {
        (false, _) => Some(Scope::Any),
        // Written since 0.1.2 only.
        (true, true) if draft.facts.has_old_turns => Some(Scope::Old),
        _ => None,
    };
    if let Some(scope) = unknown {
        let word = reason.map(shown).unwrap_or_default();
        draft.note(Fault::HeaderReason(word), scope, reason.unwrap_or(data));
    }
    let header = data
        .get("header")
        .filter(|header| header.kind() == JsonKind::Object);
    match header {
        Some(header) => check(draft, header),
        None => {
            draft.note(
                Fault::HeaderShape("header is no object"),
                Scope::Any,
                data.get("header").unwrap_or(data),
            );
            draft.broken = true;
        }
    }
    let starts_series = data.get("startsSeries").and_then(Raw::as_bool) == Some(true)
        || reason.is_some_and(|reason| reason.is_str("series"));
    let redacted = header.is_some_and(is_redacted);
    Body::Header(HeaderEvent {
        header,
        reason,
        starts_series,
        redacted,
    })
}

/// Whether a header's system prompt, tools or prefix are placeholders of a committed fixture.
fn is_redacted(header: Raw<'_>) -> bool {
    let named = |name: &str| header.get(name);
    let tools = named("tools");
    is_placeholder(named("system"))
        || is_placeholder(tools)
        || tools.is_some_and(|tools| {
            tools
                .elements()
                .next()
                .is_some_and(|tool| tool.kind() == JsonKind::String)
        })
        || named("messagePrefix").is_some_and(|prefix| is_placeholder(prefix.elements().next()))
}

fn check(draft: &mut Draft<'_, '_>, header: Raw<'_>) {
    let config = header
        .get("config")
        .filter(|config| config.kind() == JsonKind::Object);
    let Some(config) = config else {
        draft.note(
            Fault::HeaderShape("config is no object"),
            Scope::Any,
            header,
        );
        draft.broken = true;
        return;
    };
    let text = |name: &str| config.get(name).is_some_and(|value| fits(value, Ty::Text));
    let mut bad = |why, scope, value: Raw<'_>| draft.note(Fault::HeaderShape(why), scope, value);
    if !text("model") {
        bad("config has no model", Scope::Any, config);
    }
    if !text("provider") {
        let why = "config has no provider";
        match config.get("provider") {
            Some(provider) => bad(why, Scope::Any, provider),
            None => bad(why, Scope::Released, config),
        }
    }
    if let Some(effort) = config
        .get("reasoningEffort")
        .filter(|effort| !fits(*effort, Ty::Text))
    {
        bad(
            "config.reasoningEffort is no string, or empty",
            Scope::Any,
            effort,
        );
    }
    for name in ["temperature", "maxTokens"] {
        if let Some(value) = config.get(name).filter(|value| !fits(*value, Ty::Num)) {
            bad(
                "config.temperature or config.maxTokens is no number",
                Scope::Any,
                value,
            );
        }
    }
    if let Some(stop) = config
        .get("stop")
        .filter(|stop| stop.kind() != JsonKind::Array)
    {
        bad("config.stop is no array", Scope::Any, stop);
    }
    parts(draft, header);
    adapter_defaults(draft, header, config);
}

fn parts(draft: &mut Draft<'_, '_>, header: Raw<'_>) {
    if let Some(system) = header.get("system") {
        if draft.facts.has_system_messages {
            draft.note(
                Fault::HeaderShape("the system prompt stands in the header"),
                Scope::Any,
                system,
            );
        } else if !fits(system, Ty::Str) {
            draft.note(
                Fault::HeaderShape("system is no string"),
                Scope::Any,
                system,
            );
        } else if system.text().is_some_and(|text| text.is_empty()) {
            draft.note(Fault::HeaderEmptyPart("system"), Scope::Any, system);
        }
    }
    for name in ["tools", "messagePrefix"] {
        let Some(part) = header.get(name) else {
            continue;
        };
        if part.kind() != JsonKind::Array {
            if !is_placeholder(Some(part)) {
                let why = if name == "tools" {
                    "tools is no array"
                } else {
                    "messagePrefix is no array"
                };
                draft.note(Fault::HeaderShape(why), Scope::Any, part);
            }
        } else if part.elements().next().is_none() {
            draft.note(Fault::HeaderEmptyPart(name), Scope::Any, part);
        }
    }
}

fn adapter_defaults(draft: &mut Draft<'_, '_>, header: Raw<'_>, config: Raw<'_>) {
    let Some(defaults) = header.get("adapterDefaults") else {
        return;
    };
    let sound = defaults.kind() == JsonKind::Object
        && defaults.members().all(|(key, value)| {
            ["reasoningEffort", "maxTokens"]
                .iter()
                .any(|name| key.is_str(name) && config.get(name).is_some())
                && value.as_bool() == Some(true)
        });
    if !sound {
        draft.note(
            Fault::HeaderShape("adapterDefaults flags what the config does not have"),
            Scope::Any,
            defaults,
        );
    } else if draft.facts.has_system_messages && defaults.members().next().is_none() {
        draft.note(
            Fault::HeaderEmptyPart("adapterDefaults"),
            Scope::Any,
            defaults,
        );
    }
}
