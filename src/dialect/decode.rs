//! Records into events: one normal form for every generation.
//!
//! **Takes** a record behind the session header. **Gives** an [`Event`], or notes what is wrong with the record.
//! **Never** needs another record: what depends on neighbours is the fold's.
//!
//! Source: format reference, sections A.3, B.0 to B.5.

use super::fast::{self, Repeat};
use super::generation::{Facts, Generation};
use super::ledger::Ledger;
use super::vocabulary::{Kind, Member, OLD, Ty, Word, word};
use super::{SessionHeader, chunk, header_shape, message, surface};
use crate::event::{
    At, Body, Compaction, EndReason, Event, Fault, Faults, Legacy, OneShot, Outcome, Retry, Scope,
    StepName, Stream, Summary, ToolCall,
};
use crate::line::{Line, Millis, Seq};
use crate::record::{DeltaKind, Kind as JsonKind, PackedRow, Raw, Record};

/// Decodes the records of one log.
#[derive(Debug)]
pub struct Decoder {
    facts: &'static Facts,
    has_depth: bool,
    maybe_fixture: bool,
    fixture_rows: Option<bool>,
    next: u64,
    seen: Vec<String>,
    ledger: Ledger,
    repeat: Repeat,
}

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
    seen: &'a mut Vec<String>,
    ledger: &'a mut Ledger,
}

impl<'line> Draft<'line, '_> {
    pub(super) fn note(&mut self, fault: Fault, scope: Scope, value: Raw<'_>) {
        self.faults
            .note_value(fault, scope, self.at, self.record.value, value);
    }

    fn breaks(&mut self, fault: Fault, value: Option<Raw<'_>>) {
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

impl Decoder {
    /// A decoder for the log behind this header.
    pub fn new(header: &SessionHeader<'_>) -> Decoder {
        Decoder {
            facts: header.generation.facts(),
            has_depth: header.has_depth,
            maybe_fixture: matches!(header.generation, Generation::V0),
            fixture_rows: None,
            next: 0,
            seen: Vec::new(),
            ledger: Ledger::default(),
            repeat: Repeat::new(),
        }
    }

    /// Whether the log is a committed fixture whose rows lack `seq` and `time`.
    pub fn is_fixture(&self) -> bool {
        self.fixture_rows == Some(true)
    }

    /// Hands on the event of a line that needs no closer look: the same that [`Decoder::decode`] gives for its record, where that
    /// notes nothing. `None` says nothing of the line.
    #[inline]
    pub fn decode_fast<'line, T>(
        &mut self,
        line: &Line<'line>,
        then: impl FnOnce(&Event<'line>) -> T,
    ) -> Option<T> {
        if self.facts.has_streams {
            return None;
        }
        fast::read(line, &mut self.repeat, |event| {
            // Its numbers are there.
            self.fixture_rows.get_or_insert(false);
            follow(
                &mut self.next,
                &mut self.ledger,
                Some(event.seq),
                event.count,
            );
            then(event)
        })
    }

    /// Decodes one record.
    pub fn decode<'line>(
        &mut self,
        record: &Record<'line>,
        at: At,
        faults: &mut Faults,
    ) -> Outcome<'line> {
        let fixture = *self.fixture_rows.get_or_insert_with(|| {
            self.maybe_fixture
                && [record.seq, record.seq0, record.time, record.time0]
                    .iter()
                    .all(Option::is_none)
        });
        let outcome = self.decode_row(record, at, fixture, faults);
        let (seq, count) = match &outcome {
            Outcome::Event(event) => (Some(event.seq), event.count),
            Outcome::Unusable { seq, count } => {
                self.ledger.lose();
                (*seq, *count)
            }
        };
        follow(&mut self.next, &mut self.ledger, seq, count);
        outcome
    }

    fn decode_row<'line>(
        &mut self,
        record: &Record<'line>,
        mut at: At,
        fixture: bool,
        faults: &mut Faults,
    ) -> Outcome<'line> {
        if !self.facts.has_streams
            && let Some(tag) = record.kind
            && let Some(kind) = packed_kind(tag)
        {
            return self.packed(record, (tag, kind), at, fixture, faults);
        }
        at.seq = record
            .seq
            .and_then(seq_of)
            .or(fixture.then_some(Seq(self.next)));
        let mut draft = Draft {
            facts: self.facts,
            has_depth: self.has_depth,
            record,
            at,
            faults,
            broken: false,
            seen: &mut self.seen,
            ledger: &mut self.ledger,
        };
        let name = envelope(&mut draft, fixture);
        let time = Millis(record.time.and_then(Raw::safe_int).unwrap_or(0));
        let (Some(seq), Some((name, data)), false) = (at.seq, name, draft.broken) else {
            return Outcome::Unusable {
                seq: at.seq,
                count: 1,
            };
        };
        let found = name.text().and_then(|text| word(text.bytes()));
        let known = found.filter(|word| knows(self.facts, word));
        let (surface, sources) = surface::decode(&mut draft, known);
        let scope_of_name = unknown_scope(self.facts, found);
        if let Some(scope) = scope_of_name.filter(|_| record.ignorable.is_none()) {
            draft.note(Fault::UnknownType { name: shown(name) }, scope, name);
        }
        if draft.broken {
            return Outcome::Unusable {
                seq: Some(seq),
                count: 1,
            };
        }
        let body = match known {
            Some(word) => body(&mut draft, word, data),
            None => Body::Unknown,
        };
        if draft.broken {
            return Outcome::Unusable {
                seq: Some(seq),
                count: 1,
            };
        }
        let ignorable = record.ignorable.is_some();
        let value = record.value;
        Outcome::Event(Event {
            at,
            value,
            seq,
            count: 1,
            time,
            ignorable,
            surface,
            sources,
            name,
            body,
        })
    }

    fn packed<'line>(
        &self,
        record: &Record<'line>,
        (tag, kind): (Raw<'line>, DeltaKind),
        mut at: At,
        fixture: bool,
        faults: &mut Faults,
    ) -> Outcome<'line> {
        let missing = fixture.then_some((Seq(self.next), Millis(0)));
        at.seq = record.seq0.and_then(seq_of).or(missing.map(|(seq, _)| seq));
        match PackedRow::parse(kind, record, missing) {
            Ok(row) => Outcome::Event(Event {
                at,
                value: record.value,
                seq: row.seq0,
                count: row.run.len,
                time: row.run.time0,
                ignorable: false,
                surface: None,
                sources: None,
                name: tag,
                body: Body::Deltas(row_step(&row), row.run),
            }),
            Err(defect) => {
                faults.note_value(
                    Fault::PackedRow(defect),
                    Scope::Any,
                    at,
                    record.value,
                    record.value,
                );
                Outcome::Unusable {
                    seq: None,
                    count: 0,
                }
            }
        }
    }
}

/// Whether some build of this generation reads the type, or it is one that rejects the log.
fn knows(facts: &Facts, word: &Word) -> bool {
    let old = if facts.has_old_turns { OLD } else { 0 };
    word.known & (facts.known | old) != 0 || matches!(word.kind, Kind::HeaderDelta | Kind::ModeSet)
}

pub(super) fn row_step(row: &PackedRow<'_>) -> StepName {
    StepName {
        turn: whole(Some(row.turn)).unwrap_or(0),
        step: whole(Some(row.step)).unwrap_or(0),
    }
}

/// Counts a row's numbers.
#[inline]
fn follow(next: &mut u64, ledger: &mut Ledger, seq: Option<Seq>, count: u64) {
    // A gap or a second branch: rows that others refer to may be missing.
    if seq.is_some_and(|seq| seq.0 != *next) {
        ledger.lose();
    }
    *next = seq.map_or(*next, |seq| seq.0).saturating_add(count);
}

/// The storage tags: rows that stand for a run of chunk events.
pub(super) fn packed_kind(tag: Raw<'_>) -> Option<DeltaKind> {
    match tag.text()?.bytes() {
        b"text-chunks" => Some(DeltaKind::Text),
        b"reasoning-chunks" => Some(DeltaKind::Reasoning),
        b"tool-call-chunks" => Some(DeltaKind::ToolCall),
        _ => None,
    }
}

fn seq_of(raw: Raw<'_>) -> Option<Seq> {
    raw.safe_int().and_then(|n| u64::try_from(n).ok()).map(Seq)
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

/// Checks the envelope; gives the type and the data where both are there.
fn envelope<'line>(
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
fn unknown_scope(facts: &Facts, word: Option<&Word>) -> Option<Scope> {
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
fn check_shape(draft: &mut Draft<'_, '_>, word: &Word, data: Raw<'_>) {
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

/// A whole number that is not negative.
pub(super) fn whole(raw: Option<Raw<'_>>) -> Option<u64> {
    raw.and_then(Raw::safe_int)
        .and_then(|n| u64::try_from(n).ok())
}

fn step_name(data: Raw<'_>) -> StepName {
    StepName {
        turn: whole(data.get("turn")).unwrap_or(0),
        step: whole(data.get("step")).unwrap_or(0),
    }
}

fn body<'line>(draft: &mut Draft<'line, '_>, word: &Word, data: Raw<'line>) -> Body<'line> {
    let log_only = Body::LogOnly {
        in_turn: !word.free,
    };
    if data.kind() != JsonKind::Object {
        let informs = word.kind == Kind::LogOnly;
        let fault = Fault::Data {
            pointer: "/data".into(),
            why: "is no object",
            log_only: informs,
        };
        draft.note(
            fault,
            if informs { Scope::Released } else { Scope::Any },
            data,
        );
        draft.broken = !informs;
        return log_only;
    }
    check_shape(draft, word, data);
    let turn = || whole(data.get("turn")).unwrap_or(0);
    match word.kind {
        Kind::TurnStart => Body::TurnStart {
            turn: turn(),
            trigger: data.get("trigger").is_some(),
        },
        Kind::TurnEnd => Body::TurnEnd {
            turn: turn(),
            reason: end_reason(draft, data),
        },
        Kind::StepStart => Body::StepStart(step_name(data)),
        Kind::StepEnd => Body::StepEnd(step_name(data)),
        Kind::UserMessage
        | Kind::AssistantMessage
        | Kind::ToolResult
        | Kind::ContextMessage
        | Kind::SteeringMessage
        | Kind::SystemMessage
        | Kind::DeveloperMessage => message::decode(draft, word.kind, data),
        Kind::Chunk => match data.get("chunk") {
            Some(raw) => Body::Chunk(step_name(data), chunk::decode(draft, raw)),
            None => log_only,
        },
        Kind::Attempt => match data.get("stream") {
            Some(raw) => Body::Attempt(step_name(data), Stream { raw }),
            None => log_only,
        },
        Kind::Header => header_shape::decode(draft, data),
        Kind::HeaderDelta => Body::Legacy(Legacy::HeaderDelta),
        Kind::ModeSet => Body::Legacy(Legacy::ModeSet),
        Kind::RequestContext => Body::Context {
            in_history: data
                .get("systemPromptUpdate")
                .is_some_and(|raw| raw.is_str("in-history")),
        },
        Kind::ToolCall => {
            tool_call(data).map_or(log_only, |(step, call)| Body::ToolCall(step, call))
        }
        Kind::CompactionStart => Body::CompactionStart(compaction(data)),
        Kind::CompactionSummary => {
            let summary = Summary {
                shadowed: data.get("shadowedSeqs"),
                range: data.get("shadowedRange"),
            };
            Body::CompactionSummary(compaction(data), summary)
        }
        Kind::CompactionEnd => Body::CompactionEnd(compaction(data)),
        Kind::Prune => Body::Prune {
            shadowed: data.get("shadowedSeqs"),
        },
        Kind::Retry => Body::Retry(step_name(data), retry(data)),
        Kind::RetryStarted => Body::RetryStarted(step_name(data), retry(data)),
        Kind::EndSeed => Body::EndSeed {
            inherited: data.get("inherited").and_then(Raw::as_bool) == Some(true),
        },
        Kind::Offload => data.get("targets").map_or(log_only, Body::Offload),
        Kind::TitleRequest => Body::OneShot(OneShot::Title, data),
        Kind::SearchRequest => Body::OneShot(OneShot::Search, data),
        Kind::Inbox => Body::Inbox {
            queued: data
                .get("target")
                .is_some_and(|target| target.is_str("next-turn"))
                && data
                    .get("inserted")
                    .is_some_and(|inserted| inserted.elements().next().is_some()),
        },
        Kind::LogOnly => {
            refers(draft, word, data);
            log_only
        }
    }
}

/// Notes a log-only event that refers wrongly to another.
fn refers(draft: &mut Draft<'_, '_>, word: &Word, data: Raw<'_>) {
    if let Some((member, why)) = draft.ledger.check(word.name.as_bytes(), data) {
        let fault = Fault::Data {
            pointer: format!("/data/{member}"),
            why,
            log_only: true,
        };
        draft.note(fault, Scope::Released, data.get(member).unwrap_or(data));
    }
}

fn tool_call(data: Raw<'_>) -> Option<(StepName, ToolCall<'_>)> {
    let (id, name) = (data.get("callId")?, data.get("name")?);
    Some((
        step_name(data),
        ToolCall {
            id,
            name,
            arguments: data.get("arguments")?,
        },
    ))
}

fn compaction(data: Raw<'_>) -> Compaction<'_> {
    Compaction {
        id: data.get("compactionId"),
        turn: whole(data.get("turn")),
        failed: data.get("error").is_some(),
        data,
    }
}

fn retry(data: Raw<'_>) -> Retry<'_> {
    Retry {
        id: data.get("retryId"),
        data,
    }
}

const OLD_END_REASONS: &[&str] = &[
    "completed",
    "aborted",
    "error",
    "disposed",
    "max-tokens",
    "rejected",
    "interrupted",
    "blocked",
];

fn end_reason<'line>(draft: &mut Draft<'line, '_>, data: Raw<'line>) -> EndReason<'line> {
    let raw = data.get("reason").unwrap_or(data);
    let kind = raw.get("kind");
    let known =
        |words: &[&str]| kind.is_some_and(|kind| words.iter().any(|word| kind.is_str(word)));
    let fault = || Fault::Vocabulary {
        what: "turn/end reason",
        word: kind.map(shown).unwrap_or_default(),
    };
    if !draft.facts.has_old_turns {
        if !known(draft.facts.end_reasons) {
            draft.note(fault(), Scope::Any, kind.unwrap_or(raw));
        }
        return EndReason { raw };
    }
    // Loaders let `rejected` of older builds pass, so a fork of one may hold it in any turn.
    if !known(draft.facts.end_reasons) && !known(&["rejected"]) {
        draft.note(fault(), Scope::Released, kind.unwrap_or(raw));
    }
    if !known(OLD_END_REASONS) {
        draft.note(fault(), Scope::Old, kind.unwrap_or(raw));
    }
    EndReason { raw }
}
