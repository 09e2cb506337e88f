//! Storage records: a row of the file as the logical events it stands for.
//!
//! **Takes** the text of one row. **Gives** the text of its events. **Never** needs the rows around it, unless a fixture's row lacks
//! its number.
//!
//! Source: format reference, section B.0 (packed chunk rows) and A.4.

use super::decode::packed_kind;
use super::vocabulary::{Kind, word};
use crate::line::{Line, LineEnd, LineNo, Seq};
use crate::record::{DeltaKind, PackedDefect, PackedRow, Raw, Record, RecordDefect, Scratch};

/// Why a row stands for no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageError {
    /// It is no record.
    Record(RecordDefect),
    /// It is a packed row that breaks its shape: the whole row counts as one bad line.
    Packed(PackedDefect),
    /// It is a legacy representation of a header, or of a mode: a log that holds one is rejected whole.
    Legacy {
        /// Its number, where it has one.
        seq: Option<Seq>,
    },
}

impl std::fmt::Display for StorageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StorageError::Record(_) => f.write_str("the row is no JSON object"),
            StorageError::Packed(_) => f.write_str("the packed row breaks its shape"),
            StorageError::Legacy { seq: Some(seq) } => {
                write!(
                    f,
                    "a legacy representation stands at seq {seq}: its log is rejected whole"
                )
            }
            StorageError::Legacy { seq: None } => {
                f.write_str("a legacy representation: its log is rejected whole")
            }
        }
    }
}

impl std::error::Error for StorageError {}

/// The events that a row stands for, each as the harness prints it.
///
/// *Shape*: one JSON text per event, without a line feed, in the order of their seqs. A packed row gives one `assistant/chunk` event
/// for each of its deltas; every other row gives itself. *Cost*: O(bytes of the row) per event's fixed part; a packed row is
/// expanded in memory. *Source*: format reference, section B.0.
///
/// # Errors
///
/// [`StorageError`]: no record, a malformed packed row, or a legacy event.
///
/// ```
/// use dsh_audit::dialect::decode_storage_record;
///
/// let row = br#"{"type":"text-chunks","seq0":7,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}}"#;
/// let events = decode_storage_record(row)?;
/// assert_eq!(events.len(), 2);
/// assert_eq!(
///     events[1],
///     br#"{"type":"assistant/chunk","seq":8,"time":6,"data":{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"b"}}}"#
/// );
///
/// let delta = br#"{"type":"request/header-delta","seq":3,"time":5,"data":{"tools":{}}}"#;
/// assert!(decode_storage_record(delta).is_err());
/// # Ok::<(), dsh_audit::dialect::StorageError>(())
/// ```
pub fn decode_storage_record(row: &[u8]) -> Result<Vec<Vec<u8>>, StorageError> {
    let line = Line {
        no: LineNo(1),
        start: 0,
        bytes: row,
        end: LineEnd::Newline,
    };
    let record = Record::parse(&line, &mut Scratch::new()).map_err(StorageError::Record)?;
    let Some(tag) = record.kind else {
        return Ok(vec![record.value.printed().into_owned()]);
    };
    if let Some(kind) = packed_kind(tag) {
        let row = PackedRow::parse(kind, &record, None).map_err(StorageError::Packed)?;
        return Ok(expand(&row));
    }
    if is_legacy(tag, &record) {
        let seq = record
            .seq
            .and_then(Raw::safe_int)
            .and_then(|seq| u64::try_from(seq).ok())
            .map(Seq);
        return Err(StorageError::Legacy { seq });
    }
    Ok(vec![record.value.printed().into_owned()])
}

fn is_legacy(tag: Raw<'_>, record: &Record<'_>) -> bool {
    let kind = tag
        .text()
        .and_then(|text| word(text.bytes()))
        .map(|word| word.kind);
    let reason = || record.data.and_then(|data| data.get("reason"));
    match kind {
        Some(Kind::HeaderDelta | Kind::ModeSet) => true,
        Some(Kind::Header) => reason().is_some_and(|reason| reason.is_str("fallback")),
        _ => false,
    }
}

fn expand(row: &PackedRow<'_>) -> Vec<Vec<u8>> {
    let printed = |raw: Raw<'_>| String::from_utf8_lossy(&raw.printed()).into_owned();
    let (turn, step, index) = (printed(row.turn), printed(row.step), printed(row.run.index));
    let member = |name: &str, raw: Option<Raw<'_>>| {
        raw.map(|raw| format!(",\"{name}\":{}", printed(raw)))
            .unwrap_or_default()
    };
    let (id, name) = (member("id", row.run.id), member("name", row.run.name));
    let (kind, text) = match row.run.kind {
        DeltaKind::Text => ("text-delta", "text"),
        DeltaKind::Reasoning => ("reasoning-delta", "text"),
        DeltaKind::ToolCall => ("tool-call-delta", "argumentsDelta"),
    };
    let event = |(seq, time, delta): (Seq, crate::line::Millis, crate::record::Delta<'_>)| {
        let time = time.0;
        let mut event = format!(
            "{{\"type\":\"assistant/chunk\",\"seq\":{seq},\"time\":{time},\"data\":{{\"turn\":{turn},\"step\":{step},\
             \"chunk\":{{\"type\":\"{kind}\",\"index\":{index}{id}{name},\"{text}\":"
        )
        .into_bytes();
        event.extend_from_slice(&delta.text.printed());
        event.extend_from_slice(b"}}}");
        event
    };
    row.deltas().map(event).collect()
}
