//! The header in force: snapshots, loop instances, and what a snapshot must not do.
//!
//! **Takes** header events and loads. **Gives** header facts. **Never** knows a request's messages.
//!
//! Source: format reference, sections A.4, D.1 and H.7; generations reference, section 4.3.

use std::borrow::Cow;

use super::Fold;
use super::session::{HeaderFact, HeaderIx, HeaderReason};
use crate::event::{Event, Fault, Faults, HeaderEvent, Message, Scope};
use crate::line::Seq;
use crate::record::{Kind as JsonKind, Raw, Text};

/// Members of a config that are compared, as the harness does.
const CONFIG: [&str; 6] = [
    "provider",
    "model",
    "reasoningEffort",
    "temperature",
    "maxTokens",
    "stop",
];

#[derive(Debug, Default)]
pub(super) struct Headers {
    in_force: Option<HeaderIx>,
    /// The last snapshot, also behind a fault.
    any: bool,
    forgotten: bool,
    instance: u32,
    started: bool,
    loaded: Option<Seq>,
    /// Whether a system message that a migration made stands behind the last snapshot.
    migrated_prompt: bool,
    in_attempt: bool,
}

impl Headers {
    pub(super) fn in_force(&self) -> Option<HeaderIx> {
        self.in_force
    }

    pub(super) fn instance(&self) -> u32 {
        self.instance
    }

    /// Behind a fault the header is unknown until the next one.
    pub(super) fn forget(&mut self) {
        self.in_force = None;
        self.forgotten = true;
    }

    /// A header belongs to the attempts of its own step.
    pub(super) fn step_closed(&mut self) {
        self.in_attempt = false;
    }

    pub(super) fn loaded(&mut self, at: Seq) {
        if self.started {
            self.instance += 1;
            self.started = false;
        }
        self.loaded = Some(at);
    }

    pub(super) fn system_message(&mut self, id: Option<Raw<'_>>) {
        let by_codec = |id: Raw<'_>| {
            id.text()
                .is_some_and(|text| text.bytes().starts_with(b"v2-to-v3-system-"))
        };
        self.migrated_prompt |= id.is_some_and(by_codec);
    }
}

impl Fold<'_> {
    pub(super) fn header(
        &mut self,
        event: &Event<'_>,
        header: &HeaderEvent<'_>,
        faults: &mut Faults,
    ) {
        let Some(raw) = header.header else { return };
        let reason = reason(header.reason);
        let redacted = header.redacted;
        self.placed_header(event, faults);
        self.judge_reason(event, header, reason, redacted, faults);
        if matches!(reason, HeaderReason::Initial | HeaderReason::Resume) && self.headers.started {
            self.headers.instance += 1;
        }
        self.headers.started = true;
        self.headers.loaded = None;
        self.headers.migrated_prompt = false;
        self.headers.in_attempt = true;
        self.session.names_provider |= raw
            .get("config")
            .is_some_and(|config| config.get("provider").is_some());
        let previous = self.session.headers.last().map(|header| header.raw);
        let raw = match previous.filter(|previous| previous.bytes() == raw.bytes()) {
            Some(previous) => raw.rebased(previous.bytes()),
            None => self.kept(raw),
        };
        self.headers.in_force = Some(HeaderIx::new(self.session.headers.len()));
        self.headers.any = true;
        self.headers.forgotten = false;
        self.session.headers.push(HeaderFact {
            seq: event.seq,
            line: event.at.line,
            time: event.time,
            raw,
            reason,
            starts_series: header.starts_series,
            redacted,
            step: self.turns.open_step(),
            instance: self.headers.instance,
        });
        self.own_header();
    }

    fn placed_header(&mut self, event: &Event<'_>, faults: &mut Faults) {
        if !self.synced {
            return;
        }
        let why = if self.turns.open_number().is_none() {
            "stands outside a turn"
        } else if self.turns.open_step().is_none() {
            "stands outside a step"
        } else if self.attempts.has_response() {
            "stands behind the step's first response"
        } else if self.headers.in_attempt {
            "comes twice before one attempt"
        } else {
            return;
        };
        faults.note_value(
            Fault::HeaderMisplaced(why),
            Scope::Any,
            event.at,
            event.value,
            event.value,
        );
    }

    fn judge_reason(
        &mut self,
        event: &Event<'_>,
        header: &HeaderEvent<'_>,
        reason: HeaderReason,
        redacted: bool,
        faults: &mut Faults,
    ) {
        if self.headers.forgotten {
            return;
        }
        let note = |faults: &mut Faults, fault, raw: Raw<'_>| {
            faults.note_value(fault, Scope::Any, event.at, event.value, raw);
        };
        let had_header = self.headers.any;
        let wrong = match reason {
            HeaderReason::Initial => had_header,
            HeaderReason::Resume | HeaderReason::Change | HeaderReason::Series => !had_header,
            HeaderReason::Other => false,
        };
        let word = header.reason.unwrap_or(event.value);
        if wrong {
            let reason = word
                .text()
                .map(|text| text.to_lossy().into_owned())
                .unwrap_or_default();
            note(
                faults,
                Fault::HeaderReasonWrong { reason, had_header },
                word,
            );
        }
        let (Some(previous), Some(raw)) = (self.session.headers.last(), header.header) else {
            return;
        };
        if redacted || previous.redacted || reason != HeaderReason::Change {
            return;
        }
        if header_equals(previous.raw, raw) && !self.headers.migrated_prompt {
            note(faults, Fault::HeaderSame, word);
        }
        let prefix =
            |raw: Raw<'_>| part(raw, "messagePrefix").map(|prefix| prefix.printed().into_owned());
        if prefix(previous.raw) != prefix(raw) {
            note(
                faults,
                Fault::PrefixDrift,
                raw.get("messagePrefix").unwrap_or(raw),
            );
        }
    }

    /// A request is sent: its header must be known, and a load must have logged one.
    pub(super) fn dispatched(&mut self, event: &Event<'_>, faults: &mut Faults) {
        self.headers.in_attempt = false;
        if self.headers.in_force.is_none() && !self.headers.forgotten {
            faults.note_value(
                Fault::NoHeader,
                Scope::Any,
                event.at,
                event.value,
                event.value,
            );
        }
        if let Some(loaded) = self.headers.loaded.take()
            && self.headers.any
            && self.synced
        {
            let fault = Fault::NotAnchored { loaded };
            faults.note_value(fault, Scope::Any, event.at, event.value, event.value);
        }
    }

    pub(super) fn check_route(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        faults: &mut Faults,
    ) {
        let header = self
            .headers
            .in_force
            .and_then(|header| self.session.headers.get(header.get()));
        let (Some(header), Some(source)) = (header, message.source) else {
            return;
        };
        let Some(config) = header.raw.get("config") else {
            return;
        };
        for member in ["provider", "model"] {
            let (Some(said), Some(answered)) = (config.get(member), source.get(member)) else {
                continue;
            };
            if !said.same_text(answered) {
                let text = |raw: Raw<'_>| {
                    raw.text()
                        .map(|text: Text<'_>| text.to_lossy().into_owned())
                        .unwrap_or_default()
                };
                let fault = Fault::Route {
                    member,
                    header: text(said),
                    answer: text(answered),
                };
                faults.note_value(fault, Scope::Any, event.at, event.value, answered);
            }
        }
    }
}

fn reason(raw: Option<Raw<'_>>) -> HeaderReason {
    let is = |word: &str| raw.is_some_and(|raw| raw.is_str(word));
    match () {
        () if is("initial") => HeaderReason::Initial,
        () if is("resume") => HeaderReason::Resume,
        () if is("change") => HeaderReason::Change,
        () if is("series") => HeaderReason::Series,
        () => HeaderReason::Other,
    }
}

/// A part of a header in canonical form: absent where it is empty.
pub(crate) fn part<'b>(header: Raw<'b>, name: &str) -> Option<Raw<'b>> {
    let raw = header.get(name)?;
    let empty = match raw.kind() {
        JsonKind::Array => raw.elements().next().is_none(),
        _ => raw.is_str(""),
    };
    (!empty && !raw.is_null()).then_some(raw)
}

/// The flags of `adapterDefaults` in canonical form: absent where none is set.
fn adapter_defaults(header: Raw<'_>) -> Option<Raw<'_>> {
    let raw = header.get("adapterDefaults")?;
    raw.members()
        .any(|(_, flag)| flag.as_bool() == Some(true))
        .then_some(raw)
}

/// A header in canonical form: `config`, set `adapterDefaults`, and the parts that are not empty.
///
/// *Shape*: a JSON object with the members `config`, `adapterDefaults?`, `system?`, `tools?`, `messagePrefix?` in this order, each
/// printed as the harness prints it. *Source*: format reference, section D.1.
///
/// ```
/// use dsh_audit::fold::canonical_header;
/// use dsh_audit::record::Raw;
///
/// let header = Raw::parse(br#"{"tools":[],"system":"","config":{"model":"m"},"other":1}"#)?;
/// assert_eq!(canonical_header(header), br#"{"config":{"model":"m"}}"#);
/// # Ok::<(), dsh_audit::record::JsonError>(())
/// ```
pub fn canonical_header(header: Raw<'_>) -> Vec<u8> {
    let parts = [
        ("config", header.get("config")),
        ("adapterDefaults", adapter_defaults(header)),
        ("system", part(header, "system")),
        ("tools", part(header, "tools")),
        ("messagePrefix", part(header, "messagePrefix")),
    ];
    let mut out = vec![b'{'];
    for (name, value) in parts {
        let Some(value) = value else { continue };
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(format!("\"{name}\":").as_bytes());
        out.extend_from_slice(&value.printed());
    }
    out.push(b'}');
    out
}

/// Whether two headers are equal as the harness compares them: the known members of the config by value, the flags of
/// `adapterDefaults`, and the other parts by their printed text, so that order counts.
///
/// *Source*: format reference, sections D.1 and H.7.
///
/// ```
/// use dsh_audit::fold::header_equals;
/// use dsh_audit::record::Raw;
///
/// let a = Raw::parse(br#"{"config":{"provider":"p","model":"m"},"tools":[]}"#)?;
/// let b = Raw::parse(br#"{"config":{"model":"m","provider":"p"}}"#)?;
/// assert!(header_equals(a, b));
/// # Ok::<(), dsh_audit::record::JsonError>(())
/// ```
pub fn header_equals(a: Raw<'_>, b: Raw<'_>) -> bool {
    if a.bytes() == b.bytes() {
        return true;
    }
    let config = |header: Raw<'_>, name: &str| -> Option<Vec<u8>> {
        header
            .get("config")?
            .get(name)
            .map(|value| value.printed().into_owned())
    };
    let flag = |header: Raw<'_>, name: &str| {
        adapter_defaults(header)
            .and_then(|flags| flags.get(name))
            .and_then(Raw::as_bool)
            == Some(true)
    };
    let text = |header, name| part(header, name).map_or(Cow::Borrowed(&b""[..]), Raw::printed);
    CONFIG.iter().all(|name| config(a, name) == config(b, name))
        && ["reasoningEffort", "maxTokens"]
            .iter()
            .all(|name| flag(a, name) == flag(b, name))
        && ["system", "tools", "messagePrefix"]
            .iter()
            .all(|name| text(a, name) == text(b, name))
}
