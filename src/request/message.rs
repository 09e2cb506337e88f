//! A surface event as the message that a request carries.
//!
//! **Takes** a kept message and how the request derives it. **Gives** its bytes. **Never** reorders a logged object.
//!
//! Source: format reference, section C.

use std::io::{self, Write};

use crate::dialect::Derivation;
use crate::event::{Form, Role};
use crate::fold::{MessageFact, MessageIx, Session};
use crate::record::{Raw, print_str};

/// How a request derives its messages.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'s> {
    /// The derivation.
    pub derivation: Derivation,
    /// Whether injected context stands between tags.
    pub tags: bool,
    /// Whether upgraded steering messages are written `id,role,content,source`.
    pub steering_first: bool,
    /// The session's id, as it stands in the header line: upgraded messages are named after it.
    pub session_id: Raw<'s>,
}

/// Writes the message that a surface event derives to. False if it derives to none: nothing was written then.
///
/// *Shape*: one JSON object, printed as the harness prints it. `offloaded` lists the images that are marked as left out, ascending.
/// *Source*: format reference, sections C.1 to C.5.
///
/// # Errors
///
/// What `out` reports.
///
/// ```
/// use dsh_audit::dialect::Derivation;
/// use dsh_audit::fold::MessageIx;
/// use dsh_audit::log::{Log, ReadOptions};
/// use dsh_audit::record::Raw;
/// use dsh_audit::request::{Identity, derive_event_message};
/// use dsh_audit::source::Source;
///
/// let text = concat!(
///     r#"{"type":"session","version":0,"id":"s","createdAt":1}"#, "\n",
///     r#"{"type":"user/message","seq":0,"time":1,"data":{"content":[],"source":{"kind":"user"}},"surfaceOp":"append"}"#, "\n",
/// );
/// let source = Source::from_bytes(text.as_bytes());
/// let log = Log::read(&source, &ReadOptions::default())?;
/// let session_id = Raw::parse(br#""s""#)?;
/// let plain = Identity { derivation: Derivation::Plain, tags: true, steering_first: true, session_id };
/// let identified = Identity { derivation: Derivation::Identified, ..plain };
///
/// let derive = |identity: &Identity<'_>| {
///     let mut out = Vec::new();
///     derive_event_message(&log.session, MessageIx(0), identity, &[], &mut out).map(|_| out)
/// };
/// assert_eq!(derive(&plain)?, br#"{"role":"user","content":[]}"#);
/// assert_eq!(
///     derive(&identified)?,
///     br#"{"content":[],"source":{"kind":"user"},"id":"legacy-message:s:0","role":"user"}"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn derive_event_message(
    session: &Session<'_>,
    index: MessageIx,
    identity: &Identity<'_>,
    offloaded: &[u32],
    out: &mut impl Write,
) -> io::Result<bool> {
    let Some(fact) = session.messages.get(index.get()) else {
        return Ok(false);
    };
    let Some(raw) = fact.raw else {
        return Ok(false);
    };
    if fact.is_empty && matches!(fact.role, Role::Assistant | Role::System) {
        return Ok(false);
    }
    match (identity.derivation, fact.form) {
        (Derivation::Identified, Form::Identified) if !offloaded.is_empty() => {
            with_marks(raw, offloaded, out)?
        }
        (Derivation::Identified, Form::Identified) => raw.print(out)?,
        (Derivation::Identified, Form::Parts) => {
            upgraded(session, index, fact, raw, identity, out)?
        }
        _ => parts(fact, raw, identity, out)?,
    }
    Ok(true)
}

fn get<'b>(raw: Raw<'b>, name: &str) -> Raw<'b> {
    raw.get(name).unwrap_or(NULL)
}

/// What the engine prints for a member that is missing where one is needed.
const NULL: Raw<'static> = Raw::NULL;

/// The derivations before 2026-07-28, also of events that a fork wrote in the upgraded form.
fn parts(
    fact: &MessageFact<'_>,
    raw: Raw<'_>,
    identity: &Identity<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    match fact.role {
        Role::Assistant => {
            out.write_all(b"{\"role\":\"assistant\",\"content\":")?;
            get(raw, "content").print(out)?;
            if identity.derivation == Derivation::Provenance {
                provenance(fact, raw, out)?;
            }
            out.write_all(b"}")
        }
        Role::ToolResult if fact.form == Form::Parts => {
            out.write_all(b"{\"role\":\"user\",\"content\":[")?;
            result_block(raw, out)?;
            out.write_all(b"]}")
        }
        Role::Context => tagged("context", fact, raw, identity, out),
        Role::Steering => tagged("steering", fact, raw, identity, out),
        _ => content_only(raw, out),
    }
}

fn content_only(raw: Raw<'_>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\"role\":\"user\",\"content\":")?;
    get(raw, "content").print(out)?;
    out.write_all(b"}")
}

/// `provenance`, or the source of an upgraded message without its kind.
fn provenance(fact: &MessageFact<'_>, raw: Raw<'_>, out: &mut impl Write) -> io::Result<()> {
    if fact.form == Form::Parts {
        let Some(provenance) = raw.get("provenance") else {
            return Ok(());
        };
        out.write_all(b",\"provenance\":")?;
        return provenance.print(out);
    }
    out.write_all(b",\"provenance\":{")?;
    let mut first = true;
    for (key, value) in get(raw, "source")
        .members()
        .filter(|(key, _)| !key.is_str("kind"))
    {
        write_member(key, value, &mut first, out)?;
    }
    out.write_all(b"}")
}

fn write_member(
    key: Raw<'_>,
    value: Raw<'_>,
    first: &mut bool,
    out: &mut impl Write,
) -> io::Result<()> {
    if !std::mem::replace(first, false) {
        out.write_all(b",")?;
    }
    key.print(out)?;
    out.write_all(b":")?;
    value.print(out)
}

/// The one block of a tool result that is written as parts.
fn result_block(raw: Raw<'_>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\"type\":\"tool-result\",\"toolCallId\":")?;
    get(raw, "callId").print(out)?;
    out.write_all(b",\"content\":")?;
    get(raw, "content").print(out)?;
    if let Some(is_error) = raw.get("isError") {
        out.write_all(b",\"isError\":")?;
        is_error.print(out)?;
    }
    out.write_all(b"}")
}

fn tagged(
    tag: &str,
    fact: &MessageFact<'_>,
    raw: Raw<'_>,
    identity: &Identity<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let is_raw = raw
        .get("envelope")
        .is_some_and(|envelope| envelope.is_str("raw"));
    if fact.form == Form::Identified || !identity.tags || is_raw {
        return content_only(raw, out);
    }
    let kind = raw.get("source").and_then(|source| source.get("kind"));
    let kind = kind.map_or("undefined".into(), |kind| {
        String::from_utf8_lossy(&kind.printed()).into_owned()
    });
    out.write_all(b"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":")?;
    print_str(&format!("<{tag} source={kind}>"), out)?;
    out.write_all(b"}")?;
    for block in get(raw, "content").elements() {
        out.write_all(b",")?;
        block.print(out)?;
    }
    out.write_all(b",{\"type\":\"text\",\"text\":")?;
    print_str(&format!("</{tag}>"), out)?;
    out.write_all(b"}]}")
}

/// What a loader from 2026-07-28 on makes of an event written as parts.
fn upgraded(
    session: &Session<'_>,
    index: MessageIx,
    fact: &MessageFact<'_>,
    raw: Raw<'_>,
    identity: &Identity<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let id = upgraded_id(session, index, identity);
    match fact.role {
        Role::Assistant => {
            write!(out, "{{\"id\":{id},\"role\":\"assistant\",\"content\":")?;
            get(raw, "content").print(out)?;
            out.write_all(b",\"source\":{")?;
            let mut first = true;
            for (key, value) in get(raw, "provenance")
                .members()
                .filter(|(key, _)| !key.is_str("kind"))
            {
                write_member(key, value, &mut first, out)?;
            }
            out.write_all(if first {
                b"\"kind\":\"model\"}}"
            } else {
                b",\"kind\":\"model\"}}"
            })
        }
        Role::ToolResult => {
            write!(out, "{{\"id\":{id},\"role\":\"user\",\"content\":[")?;
            result_block(raw, out)?;
            out.write_all(b"],\"source\":{\"kind\":\"tool\",\"callId\":")?;
            get(raw, "callId").print(out)?;
            out.write_all(b"}}")
        }
        Role::Steering | Role::Context => {
            let (content, source) = (get(raw, "content"), get(raw, "source"));
            if identity.steering_first {
                write!(out, "{{\"id\":{id},\"role\":\"user\",\"content\":")?;
                content.print(out)?;
                out.write_all(b",\"source\":")?;
                source.print(out)?;
                return out.write_all(b"}");
            }
            out.write_all(b"{\"content\":")?;
            content.print(out)?;
            out.write_all(b",\"source\":")?;
            source.print(out)?;
            write!(out, ",\"id\":{id},\"role\":\"user\"}}")
        }
        _ => {
            out.write_all(b"{")?;
            let mut first = true;
            for (key, value) in raw.members() {
                write_member(key, value, &mut first, out)?;
            }
            let comma = if first { "" } else { "," };
            write!(out, "{comma}\"id\":{id},\"role\":\"user\"}}")
        }
    }
}

/// The id that an upgrade gives, printed: the first message of a chain of rewrites names it.
fn upgraded_id(session: &Session<'_>, index: MessageIx, identity: &Identity<'_>) -> String {
    let mut at = index;
    while let Some(fact) = session.messages.get(at.get()) {
        match (fact.form, fact.raw, fact.rewrites) {
            (Form::Identified, Some(raw), _) => {
                return String::from_utf8_lossy(&get(raw, "id").printed()).into_owned();
            }
            (_, _, Some(earlier)) if fact.role == Role::ToolResult => at = earlier,
            _ => break,
        }
    }
    let seq = session.messages.get(at.get()).map_or(0, |fact| fact.seq.0);
    let session_id = identity.session_id.printed();
    let inner = session_id
        .get(1..session_id.len().saturating_sub(1))
        .unwrap_or_default();
    format!(
        "\"legacy-message:{}:{seq}\"",
        String::from_utf8_lossy(inner)
    )
}

/// A message with some of its images marked as left out.
fn with_marks(raw: Raw<'_>, offloaded: &[u32], out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{")?;
    let mut first = true;
    for (key, value) in raw.members() {
        if !key.is_str("content") {
            write_member(key, value, &mut first, out)?;
            continue;
        }
        if !std::mem::replace(&mut first, false) {
            out.write_all(b",")?;
        }
        out.write_all(b"\"content\":[")?;
        let mut image = 0;
        for (at, block) in value.elements().enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            let is_image = block.get("type").is_some_and(|kind| kind.is_str("image"));
            if is_image && offloaded.binary_search(&image).is_ok() {
                marked(block, out)?;
            } else {
                block.print(out)?;
            }
            image += u32::from(is_image);
        }
        out.write_all(b"]")?;
    }
    out.write_all(b"}")
}

fn marked(block: Raw<'_>, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{")?;
    let mut first = true;
    for (key, value) in block.members().filter(|(key, _)| !key.is_str("offloaded")) {
        write_member(key, value, &mut first, out)?;
    }
    out.write_all(if first {
        b"\"offloaded\":true}"
    } else {
        b",\"offloaded\":true}"
    })
}
