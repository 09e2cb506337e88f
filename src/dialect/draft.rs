//! A record on its way to becoming an event, and what is wrong with it so far.
//!
//! **Takes** a record and the sink for faults. **Gives** notes with their places. **Never** decides what must hold.

use super::generation::Facts;
use super::ledger::Ledger;
use crate::event::{At, Fault, Faults, Scope};
use crate::record::{Kind as JsonKind, Raw, Record};

/// A record on its way to becoming an event.
pub(super) struct Draft<'line, 'a> {
    pub(super) facts: &'static Facts,
    pub(super) has_depth: bool,
    pub(super) record: &'a Record<'line>,
    pub(super) at: At,
    pub(super) faults: &'a mut Faults,
    /// Whether something was noted that leaves no usable event.
    pub(super) broken: bool,
    /// Words of open unions that were noted already.
    pub(super) seen: &'a mut Vec<String>,
    pub(super) ledger: &'a mut Ledger,
}

impl<'line> Draft<'line, '_> {
    pub(super) fn note(&mut self, fault: Fault, scope: Scope, value: Raw<'_>) {
        self.faults
            .note_value(fault, scope, self.at, self.record.value, value);
    }

    /// Notes what leaves no usable event.
    pub(super) fn breaks(&mut self, fault: Fault, value: Option<Raw<'_>>) {
        self.note(fault, Scope::Any, value.unwrap_or(self.record.value));
        self.broken = true;
    }

    /// Notes a word of an open union that no known build writes: the first time it comes.
    pub(super) fn unfamiliar(&mut self, what: &'static str, word: Raw<'_>) {
        const MOST: usize = 1_000;
        let text = shown(word);
        if self.seen.len() < MOST && !self.seen.contains(&text) {
            self.seen.push(text.clone());
            self.note(Fault::OpenVocabulary { what, word: text }, Scope::Any, word);
        }
    }

    /// Notes that a member of the data is not what it must be.
    pub(super) fn data(&mut self, scope: Scope, pointer: &str, why: &'static str, value: Raw<'_>) {
        let fault = Fault::Data {
            pointer: format!("/data{pointer}"),
            why,
            log_only: false,
        };
        self.note(fault, scope, value);
    }
}

/// A value as text for a message, however long or odd. Where a word has its place, what an object or a list holds is content.
pub(super) fn shown(raw: Raw<'_>) -> String {
    match (raw.text(), raw.kind()) {
        (Some(text), _) => text.to_lossy().into_owned(),
        (None, JsonKind::Object) => "{…}".to_owned(),
        (None, JsonKind::Array) => "[…]".to_owned(),
        (None, _) => String::from_utf8_lossy(raw.bytes()).into_owned(),
    }
}

/// A whole number that is not negative.
pub(super) fn whole(raw: Option<Raw<'_>>) -> Option<u64> {
    raw.and_then(Raw::safe_int)
        .and_then(|n| u64::try_from(n).ok())
}
