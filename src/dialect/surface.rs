//! `surfaceOp` and `sourceEventSeqs`: their shape, and on which types they may stand.
//!
//! **Takes** a record's two members. **Gives** the operation and the sources. **Never** knows the surface itself.
//!
//! Source: format reference, sections A.3 and B.0; rules 0404 to 0407.

use super::draft::Draft;
use super::vocabulary::{Kind, OLD, Word};
use crate::event::{Fault, Scope, SourcesFault, Surface};
use crate::line::Seq;
use crate::record::{Kind as JsonKind, Raw, SourceSeqs};

/// Decodes and checks both members. `known` is the type's word, where some build of this generation knows it.
pub(super) fn decode<'line>(
    draft: &mut Draft<'line, '_>,
    known: Option<&Word>,
) -> (Option<Surface<'line>>, Option<SourceSeqs<'line>>) {
    let (op, sources) = (draft.record.surface_op, draft.record.source_event_seqs);
    let Some(word) = known.filter(|word| word.kind.is_message()) else {
        forbid(draft, known, op, sources);
        return (None, None);
    };
    let only_old = draft.facts.known & word.known == 0;
    let Some(op) = op else {
        let scope = if only_old { Scope::Old } else { Scope::Any };
        draft.note(Fault::SurfaceOpMissing, scope, draft.record.value);
        draft.broken |= !only_old;
        return (None, None);
    };
    let surface = operation(draft, op);
    let sources = sources.and_then(|raw| self::sources(draft, word, raw));
    (surface, sources)
}

/// Notes members that stand on a type that makes no message.
fn forbid(
    draft: &mut Draft<'_, '_>,
    known: Option<&Word>,
    op: Option<Raw<'_>>,
    sources: Option<Raw<'_>>,
) {
    // From version 3 on an unknown type that may be passed over keeps them, without effect.
    if known.is_none() && draft.record.ignorable.is_some() && draft.facts.has_system_messages {
        return;
    }
    for (name, value) in [("surfaceOp", op), ("sourceEventSeqs", sources)] {
        if let Some(raw) = value {
            draft.note(Fault::SurfaceOpUnexpected(name), Scope::Any, raw);
            draft.broken = true;
        }
    }
}

fn operation<'line>(draft: &mut Draft<'line, '_>, op: Raw<'line>) -> Option<Surface<'line>> {
    if op.is_str("append") {
        return Some(Surface::Append);
    }
    let why = match replace(draft, op) {
        Ok(surface) => return Some(surface),
        Err(why) => why,
    };
    draft.note(Fault::SurfaceOpBad(why), Scope::Any, op);
    draft.broken = true;
    None
}

fn replace<'line>(
    draft: &Draft<'line, '_>,
    op: Raw<'line>,
) -> Result<Surface<'line>, &'static str> {
    if op.kind() != JsonKind::Object {
        return Err("is neither \"append\" nor an object");
    }
    let (start_key, end_key) = draft.facts.replace_keys;
    if !op.get("op").is_some_and(|op| op.is_str("replace")) {
        return Err("has no \"op\":\"replace\"");
    }
    let exact = op.members().all(|(key, _)| {
        ["op", start_key, end_key]
            .iter()
            .any(|known| key.is_str(known))
    });
    let seq = |key| {
        op.get(key)
            .and_then(Raw::safe_int)
            .and_then(|n| u64::try_from(n).ok())
    };
    match (seq(start_key), seq(end_key)) {
        (Some(_), Some(_)) if !exact => Err("has a member too many"),
        (Some(start), Some(end)) => {
            let own = draft.at.seq.map_or(u64::MAX, |seq| seq.0);
            if draft.facts.has_system_messages && (start >= own || end >= own) {
                return Err("names an end that is not earlier");
            }
            Ok(Surface::Replace {
                start: Seq(start),
                end: Seq(end),
                raw: op,
            })
        }
        _ => Err("lacks a start or an end"),
    }
}

fn sources<'line>(
    draft: &mut Draft<'line, '_>,
    word: &Word,
    raw: Raw<'line>,
) -> Option<SourceSeqs<'line>> {
    let facts = draft.facts;
    let mut bad = |fault, scope, breaks: bool| {
        draft.note(Fault::Sources(fault), scope, raw);
        draft.broken |= breaks;
    };
    if facts.has_streams && word.kind == Kind::AssistantMessage {
        bad(SourcesFault::Forbidden, Scope::Any, true);
        return None;
    }
    if raw.kind() != JsonKind::Array {
        bad(SourcesFault::NotAnArray, Scope::Any, true);
        return None;
    }
    let seqs = SourceSeqs::of(raw);
    if seqs.bad_member.is_some() {
        bad(SourcesFault::BadMember, Scope::Any, true);
        return None;
    }
    if seqs.has_pair && word.known & OLD != 0 && facts.has_old_turns {
        bad(SourcesFault::Range, Scope::Old, false);
    }
    if let Some(seq) = seqs.repeated() {
        bad(SourcesFault::Duplicate(seq), Scope::Any, false);
    } else if seqs.has_pair && !seqs.is_increasing {
        bad(SourcesFault::Unordered, Scope::Any, false);
    }
    // An answer without chunks has an empty list from 2026-07-17 on.
    if seqs.is_empty() && word.kind != Kind::AssistantMessage {
        bad(SourcesFault::Empty, Scope::Any, false);
    }
    let own = draft.at.seq.map_or(0, |seq| seq.0);
    if let Some((_, last)) = seqs.ends.filter(|(_, last)| last.0 >= own) {
        draft.note(
            Fault::Sources(SourcesFault::NotEarlier(last)),
            Scope::Any,
            raw,
        );
    }
    Some(seqs)
}
