//! Runs of deltas: what packed rows and stream records have in common (format.md B.0).
//!
//! **Takes** the object that holds a run. **Gives** its texts with their times, or why it is malformed.
//! **Never** expands a run: texts stay where they stand in the row.

use std::fmt;

use crate::line::{Millis, Span};

use super::fast::Scan;
use super::members::{Elements, Walk};
use super::number::MAX_SAFE_INTEGER;
use super::printed::Printed;
use super::raw::{Kind, Raw};

/// What the deltas of a run carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeltaKind {
    /// Text of the answer; member `texts`.
    Text,
    /// Text of the reasoning; member `texts`.
    Reasoning,
    /// Pieces of a tool call's arguments; members `args`, `id` and perhaps `name`.
    ToolCall,
}

/// Consecutive deltas of one block of a response. At least one.
#[derive(Clone, Copy)]
pub struct DeltaRun<'b> {
    /// What they carry.
    pub kind: DeltaKind,
    /// The block's index: a number.
    pub index: Raw<'b>,
    /// The call's id: a string. Only and always for tool calls.
    pub id: Option<Raw<'b>>,
    /// The tool's name: a string. Only for tool calls.
    pub name: Option<Raw<'b>>,
    /// How many deltas there are.
    pub len: u64,
    /// Time of the first one.
    pub time0: Millis,
    /// Time of the last one; not always the latest, since clocks change.
    pub last_time: Millis,
    pub(super) payload: Raw<'b>,
    /// All texts, one behind the other, if they were joined before.
    pub(super) joined: Option<&'b [u8]>,
    pub(super) dt: Raw<'b>,
}

/// One delta of a run.
#[derive(Clone, Copy, Debug)]
pub struct Delta<'b> {
    /// What it carries.
    pub kind: DeltaKind,
    /// The block's index: a number.
    pub index: Raw<'b>,
    /// What it adds: a string.
    pub text: Raw<'b>,
    /// The call's id: a string.
    pub id: Option<Raw<'b>>,
    /// The tool's name: a string.
    pub name: Option<Raw<'b>>,
}

/// How a packed row or a stream record breaks its shape, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedDefect {
    /// How.
    pub fault: PackedFault,
    /// The member at fault; where one is missing, the object that lacks it.
    pub at: Span,
}

/// How a packed row or a stream record breaks its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackedFault {
    /// The member of this name is missing.
    Missing(&'static str),
    /// There is a member that the shape does not have.
    Unexpected,
    /// The member of this name has a wrong type, or an element that has.
    WrongType(&'static str),
    /// There is no text.
    NoText,
    /// There are not one fewer time steps than texts.
    StepsDoNotMatch {
        /// How many texts there are.
        texts: u64,
        /// How many time steps there are.
        steps: u64,
    },
    /// A member's sequence number is beyond the safe integers.
    UnsafeSeq,
    /// A member's time is beyond the safe integers.
    UnsafeTime,
}

impl PackedFault {
    pub(super) fn at(self, value: Raw<'_>) -> PackedDefect {
        PackedDefect {
            fault: self,
            at: value.span(),
        }
    }
}

impl<'b> DeltaRun<'b> {
    /// Reads a record of a response event's `stream`: `type`, `time0` and the run's members, each once, in any order.
    ///
    /// # Errors
    ///
    /// The first way in which it breaks the shape.
    pub fn parse(kind: DeltaKind, record: Raw<'b>) -> Result<DeltaRun<'b>, PackedDefect> {
        if record.is_known_canonical()
            && let Some(run) = Scan::over(record).stream_run(kind)
        {
            return Ok(run);
        }
        let parts = Parts::read(kind, record, &["type", "time0"])?;
        let time0 = parts.required(parts.time0, "time0")?;
        let start = time0
            .safe_int()
            .ok_or(PackedFault::WrongType("time0").at(time0))?;
        parts.run(kind, Millis(start), time0)
    }

    /// The texts as they stand: strings.
    pub fn texts(&self) -> Elements<'b> {
        self.payload.elements()
    }

    /// The deltas with their times.
    pub fn deltas(&self) -> impl Iterator<Item = (Millis, Delta<'b>)> + use<'b> {
        let run = *self;
        let mut time = self.time0.0;
        let mut steps = self.dt.elements();
        self.texts().enumerate().map(move |(ix, text)| {
            if ix > 0 {
                time += steps.next().and_then(Raw::safe_int).unwrap_or(0);
            }
            (Millis(time), run.with(text))
        })
    }

    fn with(&self, text: Raw<'b>) -> Delta<'b> {
        Delta {
            kind: self.kind,
            index: self.index,
            text,
            id: self.id,
            name: self.name,
        }
    }

    /// Appends all texts, one behind the other; halves of surrogate pairs are joined.
    pub fn joined(&self, out: &mut Printed) {
        if let Some(text) = self.joined {
            out.push_joined(text);
        } else if self.payload.is_known_canonical() {
            out.push_all(self.payload);
        } else {
            self.texts().for_each(|text| out.push(text));
        }
    }
}

/// Alike for equal runs, whether their texts were joined before or not.
impl fmt::Debug for DeltaRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Printed::new();
        self.joined(&mut text);
        let text = String::from_utf8_lossy(text.body());
        let (kind, times, texts) = (self.kind, self.dt, self.payload);
        let block = (self.index, self.id, self.name);
        let span = (self.time0, self.last_time, self.len);
        write!(
            f,
            "{kind:?} {block:?} {span:?} {times:?} {texts:?} {text:?}"
        )
    }
}

/// The members of an object that holds a run.
pub(super) struct Parts<'b> {
    object: Raw<'b>,
    pub(super) turn: Option<Raw<'b>>,
    pub(super) step: Option<Raw<'b>>,
    time0: Option<Raw<'b>>,
    index: Option<Raw<'b>>,
    dt: Option<Raw<'b>>,
    payload: Option<Raw<'b>>,
    id: Option<Raw<'b>>,
    name: Option<Raw<'b>>,
}

impl<'b> Parts<'b> {
    /// Takes the object apart. `own` are the members it may have beside those of the run.
    pub(super) fn read(
        kind: DeltaKind,
        object: Raw<'b>,
        own: &[&str],
    ) -> Result<Parts<'b>, PackedDefect> {
        let mut parts = Parts {
            object,
            turn: None,
            step: None,
            time0: None,
            index: None,
            dt: None,
            payload: None,
            id: None,
            name: None,
        };
        for (key, value) in Walk::of(object) {
            let text = key.text();
            let key_text = text
                .as_ref()
                .and_then(|text| text.as_str())
                .unwrap_or_default();
            let place = match (key_text, kind) {
                ("index", _) => &mut parts.index,
                ("dt", _) => &mut parts.dt,
                ("texts", DeltaKind::Text | DeltaKind::Reasoning) => &mut parts.payload,
                ("args", DeltaKind::ToolCall) => &mut parts.payload,
                ("id", DeltaKind::ToolCall) => &mut parts.id,
                ("name", DeltaKind::ToolCall) => &mut parts.name,
                ("turn", _) if own.contains(&"turn") => &mut parts.turn,
                ("step", _) if own.contains(&"step") => &mut parts.step,
                ("time0", _) if own.contains(&"time0") => &mut parts.time0,
                ("type", _) if own.contains(&"type") => continue,
                _ => return Err(PackedFault::Unexpected.at(key)),
            };
            *place = Some(value);
        }
        Ok(parts)
    }

    pub(super) fn required(
        &self,
        part: Option<Raw<'b>>,
        name: &'static str,
    ) -> Result<Raw<'b>, PackedDefect> {
        part.ok_or(PackedFault::Missing(name).at(self.object))
    }

    pub(super) fn number(
        &self,
        part: Option<Raw<'b>>,
        name: &'static str,
    ) -> Result<Raw<'b>, PackedDefect> {
        typed(self.required(part, name)?, Kind::Number, name)
    }

    /// The run that begins at `time0`, which the log says at `time0_at`.
    pub(super) fn run(
        &self,
        kind: DeltaKind,
        time0: Millis,
        time0_at: Raw<'b>,
    ) -> Result<DeltaRun<'b>, PackedDefect> {
        let payload_name = if kind == DeltaKind::ToolCall {
            "args"
        } else {
            "texts"
        };
        let index = self.number(self.index, "index")?;
        let payload = self.required(self.payload, payload_name)?;
        let payload = typed(payload, Kind::Array, payload_name)?;
        let dt = typed(self.required(self.dt, "dt")?, Kind::Array, "dt")?;
        let (mut id, mut name) = (None, None);
        if kind == DeltaKind::ToolCall {
            id = Some(typed(self.required(self.id, "id")?, Kind::String, "id")?);
            name = self
                .name
                .map(|name| typed(name, Kind::String, "name"))
                .transpose()?;
        }
        let mut len = 0;
        for text in payload.elements() {
            typed(text, Kind::String, payload_name)?;
            len += 1;
        }
        if len == 0 {
            return Err(PackedFault::NoText.at(payload));
        }
        let last_time = last_time(time0, time0_at, dt, len)?;
        Ok(DeltaRun {
            kind,
            index,
            id,
            name,
            len,
            time0,
            last_time,
            payload,
            joined: None,
            dt,
        })
    }
}

fn last_time(
    time0: Millis,
    time0_at: Raw<'_>,
    dt: Raw<'_>,
    texts: u64,
) -> Result<Millis, PackedDefect> {
    let safe = |time: i64, at: Raw<'_>| {
        let safe = time.abs() <= MAX_SAFE_INTEGER;
        if safe {
            Ok(time)
        } else {
            Err(PackedFault::UnsafeTime.at(at))
        }
    };
    let mut time = safe(time0.0, time0_at)?;
    let mut steps = 0;
    for step in dt.elements() {
        let value = step
            .safe_int()
            .ok_or(PackedFault::WrongType("dt").at(step))?;
        time = safe(time + value, step)?;
        steps += 1;
    }
    if steps + 1 != texts {
        return Err(PackedFault::StepsDoNotMatch { texts, steps }.at(dt));
    }
    Ok(Millis(time))
}

pub(super) fn typed<'b>(
    value: Raw<'b>,
    kind: Kind,
    name: &'static str,
) -> Result<Raw<'b>, PackedDefect> {
    if value.kind() == kind {
        Ok(value)
    } else {
        Err(PackedFault::WrongType(name).at(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(kind: DeltaKind, text: &str) -> Result<DeltaRun<'_>, PackedDefect> {
        DeltaRun::parse(kind, Raw::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn a_stream_record_has_times_and_texts() {
        let text =
            r#"{"type":"t","time0":10,"index":0,"dt":[5,-20],"texts":["a\ud83d","\ude00","c"]}"#;
        let run = parse(DeltaKind::Reasoning, text).unwrap();
        assert_eq!(
            (run.len, run.time0, run.last_time),
            (3, Millis(10), Millis(-5))
        );
        let listed: Vec<_> = run
            .deltas()
            .map(|(time, delta)| (time.0, delta.text.bytes()))
            .collect();
        assert_eq!(
            listed,
            [
                (10, &br#""a\ud83d""#[..]),
                (15, br#""\ude00""#),
                (-5, br#""c""#)
            ]
        );
        let mut joined = Printed::new();
        run.joined(&mut joined);
        assert_eq!(joined.body(), "a😀c".as_bytes());
    }

    #[test]
    fn a_tool_call_has_an_id_and_perhaps_a_name() {
        let with_name =
            r#"{"name":"n","args":["{"],"id":"c","dt":[],"index":1,"time0":0,"type":"t"}"#;
        let run = parse(DeltaKind::ToolCall, with_name).unwrap();
        assert!(run.id.unwrap().is_str("c") && run.name.unwrap().is_str("n"));
        let fault = |text: &str| parse(DeltaKind::ToolCall, text).unwrap_err().fault;
        assert_eq!(
            fault(&with_name.replace(r#""id":"c","#, "")),
            PackedFault::Missing("id")
        );
        assert_eq!(
            fault(&with_name.replace(r#""c""#, "1")),
            PackedFault::WrongType("id")
        );
        assert_eq!(
            fault(&with_name.replace(r#""n""#, "null")),
            PackedFault::WrongType("name")
        );
        assert_eq!(
            fault(&with_name.replace("args", "texts")),
            PackedFault::Unexpected
        );
        assert_eq!(
            parse(DeltaKind::Text, with_name).unwrap_err().fault,
            PackedFault::Unexpected
        );
    }
}
