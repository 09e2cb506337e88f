//! What every record of a type must hold, whatever it says.
//!
//! **Takes** a draft. **Gives** its type and data, or notes on what is missing or of another kind. **Never** reads what the data mean.
//!
//! Source: format reference, sections A.3 and B.0; the generations reference, section 2.4.

use super::draft::{Draft, shown};
use super::generation::Facts;
use super::vocabulary::{Kind, Member, OLD, Ty, Word};
use crate::event::{Fault, Scope};
use crate::record::{Kind as JsonKind, Raw};

/// Checks the envelope; gives the type and the data where both are there.
pub(super) fn envelope<'line>(
    draft: &mut Draft<'line, '_>,
    fixture: bool,
) -> Option<(Raw<'line>, Raw<'line>)> {
    let record = draft.record;
    match record.kind {
        None => draft.breaks(Fault::EnvelopeLacks("type"), None),
        Some(kind) if kind.text().is_none() => {
            draft.breaks(Fault::EnvelopeType("type"), Some(kind))
        }
        Some(_) => {}
    }
    for (name, value) in [("seq", record.seq), ("time", record.time)] {
        let Some(raw) = value else {
            if !fixture {
                draft.breaks(Fault::EnvelopeLacks(name), None);
            }
            continue;
        };
        match (raw.number(), raw.safe_int()) {
            (None, _) => draft.breaks(Fault::EnvelopeType(name), Some(raw)),
            (_, None) => draft.breaks(Fault::UnsafeNumber(name), Some(raw)),
            (_, Some(n)) if n < 0 && name == "seq" => {
                draft.breaks(Fault::UnsafeNumber(name), Some(raw))
            }
            (_, Some(n)) if n < 0 && draft.facts.has_old_turns => {
                draft.note(Fault::UnsafeNumber(name), Scope::Old, raw);
            }
            _ => {}
        }
    }
    if let Some(key) = record.extra {
        draft.breaks(Fault::EnvelopeExtra(shown(key)), Some(key));
    }
    if let Some(raw) = record.seq0.or(record.time0) {
        let name = if record.seq0.is_some() {
            "seq0"
        } else {
            "time0"
        };
        draft.breaks(Fault::EnvelopeExtra(name.into()), Some(raw));
    }
    if let Some(raw) = record.ignorable {
        if raw.as_bool() != Some(true) {
            draft.breaks(Fault::EnvelopeType("ignorable"), Some(raw));
        } else if !draft.has_depth && draft.facts.has_old_turns {
            draft.note(Fault::EnvelopeExtra("ignorable".into()), Scope::Old, raw);
        }
    }
    match record.data {
        None => draft.breaks(Fault::EnvelopeLacks("data"), None),
        Some(data) if draft.facts.has_streams && data.kind() != JsonKind::Object => {
            draft.breaks(Fault::EnvelopeType("data"), Some(data));
        }
        Some(_) => {}
    }
    Some((record.kind?, record.data?))
}

/// In which turns a type is unknown.
pub(super) fn unknown_scope(facts: &Facts, word: Option<&Word>) -> Option<Scope> {
    let known = word.map_or(0, |word| match word.kind {
        Kind::HeaderDelta | Kind::ModeSet => !0,
        _ => word.known,
    });
    match (
        facts.has_old_turns && known & OLD != 0,
        known & facts.known != 0,
    ) {
        (_, true) => None,
        (true, false) => Some(Scope::Released),
        (false, false) => Some(Scope::Any),
    }
}

/// Checks that data has the members its type asks for.
pub(super) fn check_shape(draft: &mut Draft<'_, '_>, word: &Word, data: Raw<'_>) {
    let log_only = matches!(
        word.kind,
        Kind::LogOnly | Kind::Inbox | Kind::TitleRequest | Kind::SearchRequest
    );
    let judged_everywhere =
        !log_only && !matches!(word.kind, Kind::Prune | Kind::CompactionSummary);
    let scope = if judged_everywhere {
        Scope::Any
    } else {
        Scope::Released
    };
    for &Member { name, ty, required } in word.shape {
        let found = data.get(name);
        let why = match found {
            None if required => "is missing",
            Some(value) if !fits(value, ty) => wrong(ty),
            _ => continue,
        };
        let fault = Fault::Data {
            pointer: format!("/data/{name}"),
            why,
            log_only,
        };
        draft.note(fault, scope, found.unwrap_or(data));
        draft.broken |= judged_everywhere && matches!(name, "turn" | "step");
    }
}

pub(super) fn fits(value: Raw<'_>, ty: Ty) -> bool {
    match ty {
        Ty::Any => true,
        Ty::Bool => value.as_bool().is_some(),
        Ty::Int => value.safe_int().is_some_and(|n| n >= 0),
        Ty::Num => value.number().is_some(),
        Ty::Str => value.kind() == JsonKind::String,
        Ty::Text => value.kind() == JsonKind::String && !value.is_str(""),
        Ty::Array => value.kind() == JsonKind::Array,
        Ty::Object => value.kind() == JsonKind::Object,
        Ty::OneOf(words) => words.iter().any(|word| value.is_str(word)),
    }
}

fn wrong(ty: Ty) -> &'static str {
    match ty {
        Ty::Any => "is missing",
        Ty::Bool => "is no boolean",
        Ty::Int => "is no whole number",
        Ty::Num => "is no number",
        Ty::Str => "is no string",
        Ty::Text => "is no string, or empty",
        Ty::Array => "is no array",
        Ty::Object => "is no object",
        Ty::OneOf(_) => "is outside its vocabulary",
    }
}
