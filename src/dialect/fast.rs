//! The short way for the lines that make most of a log: deltas in exactly the bytes the harness writes for them.
//!
//! **Takes** a line. **Gives** the event that the long way would give, for a part of the lines that have nothing to note.
//! **Never** notes anything: what it does not expect is left to the long way.

use super::decode::row_step;
use crate::event::{At, Body, Chunk, Event, StepName};
use crate::line::{Line, Millis, Seq};
use crate::record::{DeltaKind, Scan};

/// Hands on the event of a line that holds one delta, or a packed run of them (version 0 and 1). An event is large: it is not moved.
#[inline]
pub(super) fn read<'line, T>(
    line: &Line<'line>,
    then: impl FnOnce(&Event<'line>) -> T,
) -> Option<T> {
    let mut scan = Scan::of(line);
    scan.literal(b"{\"type\":")?;
    let name_at = scan.at();
    let delta = scan.literal(b"\"assistant/chunk\"").is_some();
    let packed = if delta { None } else { Some(tag(&mut scan)?) };
    let name = scan.part(name_at, scan.at());
    let found = match packed {
        None => delta_line(&mut scan)?,
        Some(kind) => row(&mut scan, kind)?,
    };
    scan.literal(b"}")?;
    Some(then(&Event {
        at: At {
            line: line.no,
            span: line.span(),
            seq: Some(found.seq),
        },
        value: scan.whole()?,
        seq: found.seq,
        count: found.count,
        time: found.time,
        ignorable: false,
        surface: None,
        sources: None,
        name,
        body: found.body,
    }))
}

/// What differs from one line to the next.
struct Found<'line> {
    seq: Seq,
    count: u64,
    time: Millis,
    body: Body<'line>,
}

#[inline(always)]
fn delta_line<'line>(scan: &mut Scan<'line>) -> Option<Found<'line>> {
    scan.literal(b",\"seq\":")?;
    let seq = Seq(scan.natural()?);
    scan.literal(b",\"time\":")?;
    let time = Millis(scan.natural()?.cast_signed());
    scan.literal(b",\"data\":{\"turn\":")?;
    let turn = scan.natural()?;
    scan.literal(b",\"step\":")?;
    let step = scan.natural()?;
    scan.literal(b",\"chunk\":{\"type\":\"")?;
    let chunk = chunk(scan)?;
    scan.literal(b"}}")?;
    Some(Found {
        seq,
        count: 1,
        time,
        body: Body::Chunk(StepName { turn, step }, chunk),
    })
}

/// A storage tag.
#[inline(always)]
fn tag(scan: &mut Scan<'_>) -> Option<DeltaKind> {
    if scan.literal(b"\"text-chunks\"").is_some() {
        return Some(DeltaKind::Text);
    }
    if scan.literal(b"\"reasoning-chunks\"").is_some() {
        return Some(DeltaKind::Reasoning);
    }
    scan.literal(b"\"tool-call-chunks\"")?;
    Some(DeltaKind::ToolCall)
}

#[inline(never)]
fn row<'line>(scan: &mut Scan<'line>, kind: DeltaKind) -> Option<Found<'line>> {
    let row = scan.row(kind)?;
    Some(Found {
        seq: row.seq0,
        count: row.run.len,
        time: row.run.time0,
        body: Body::Deltas(row_step(&row), row.run),
    })
}

/// The delta behind `{"type":"`.
#[inline(always)]
fn chunk<'line>(scan: &mut Scan<'line>) -> Option<Chunk<'line>> {
    if scan.literal(b"text-delta\",\"index\":").is_some() {
        let index = Some(scan.natural()?);
        scan.literal(b",\"text\":")?;
        let text = scan.string()?;
        return Some(Chunk::Text { index, text });
    }
    if scan.literal(b"reasoning-delta\",\"index\":").is_some() {
        let index = Some(scan.natural()?);
        scan.literal(b",\"text\":")?;
        let text = scan.string()?;
        return Some(Chunk::Reasoning { index, text });
    }
    scan.literal(b"tool-call-delta\",\"index\":")?;
    let index = Some(scan.natural()?);
    scan.literal(b",\"id\":")?;
    let id = scan.string()?;
    let name = match scan.literal(b",\"name\":") {
        Some(()) => Some(scan.string()?),
        None => None,
    };
    scan.literal(b",\"argumentsDelta\":")?;
    Some(Chunk::ToolCall {
        index,
        id,
        name,
        arguments: scan.string()?,
    })
}
