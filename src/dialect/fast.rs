//! The short way for the lines that make most of a log: deltas in exactly the bytes the harness writes for them.
//!
//! **Takes** a line. **Gives** the event that the long way would give, for a part of the lines that have nothing to note.
//! **Never** notes anything: what it does not expect is left to the long way.

use std::ops::Range;

use super::decode::row_step;
use crate::event::{At, Body, Chunk, Event, StepName};
use crate::line::{Line, Millis, Seq};
use crate::record::{DeltaKind, Scan};

/// Hands on the event of a line that holds one delta, or a packed run of them (version 0 and 1). An event is large: it is not moved.
#[inline]
pub(super) fn read<'line, T>(
    line: &Line<'line>,
    repeat: &mut Repeat,
    then: impl FnOnce(&Event<'line>) -> T,
) -> Option<T> {
    let mut scan = Scan::of(line);
    scan.literal(b"{\"type\":")?;
    let name_at = scan.at();
    if scan.literal(b"\"assistant/chunk\"").is_none() {
        return row(line, scan, then);
    }
    let name = scan.part(name_at, scan.at());
    scan.literal(b",\"seq\":")?;
    let seq = Seq(scan.natural()?);
    scan.literal(b",\"time\":")?;
    let time = Millis(scan.natural()?.cast_signed());
    let chunk = chunk(&mut scan, repeat)?;
    scan.literal(b"}}}")?;
    Some(then(&Event {
        at: place(line, seq),
        value: scan.whole()?,
        seq,
        count: 1,
        time,
        ignorable: false,
        surface: None,
        sources: None,
        name,
        body: Body::Chunk(repeat.step, chunk),
    }))
}

fn place(line: &Line<'_>, seq: Seq) -> At {
    At {
        line: line.no,
        span: line.span(),
        seq: Some(seq),
    }
}

/// Hands on the event of a packed row, whose storage tag is next.
#[inline(never)]
fn row<'line, T>(
    line: &Line<'line>,
    mut scan: Scan<'line>,
    then: impl FnOnce(&Event<'line>) -> T,
) -> Option<T> {
    let name_at = scan.at();
    let kind = tag(&mut scan)?;
    let name = scan.part(name_at, scan.at());
    let row = scan.row(kind)?;
    scan.literal(b"}")?;
    Some(then(&Event {
        at: place(line, row.seq0),
        value: scan.whole()?,
        seq: row.seq0,
        count: row.run.len,
        time: row.run.time0,
        ignorable: false,
        surface: None,
        sources: None,
        name,
        body: Body::Deltas(row_step(&row), row.run),
    }))
}

/// The delta behind an event's time.
#[inline(always)]
fn chunk<'line>(scan: &mut Scan<'line>, repeat: &mut Repeat) -> Option<Chunk<'line>> {
    let base = repeat.take(scan)?;
    let text = scan.string()?;
    let index = Some(repeat.index);
    let part = |range: &Range<usize>| scan.part(base + range.start, base + range.end);
    Some(match repeat.kind {
        DeltaKind::Text => Chunk::Text { index, text },
        DeltaKind::Reasoning => Chunk::Reasoning { index, text },
        DeltaKind::ToolCall => Chunk::ToolCall {
            index,
            id: part(&repeat.id),
            name: repeat.name.as_ref().map(part),
            arguments: text,
        },
    })
}

/// What the lines of a block's deltas have in common: everything between their time and their text.
#[derive(Debug)]
pub(super) struct Repeat {
    /// The bytes; empty before the first delta.
    bytes: Vec<u8>,
    step: StepName,
    kind: DeltaKind,
    index: u64,
    /// The id of a tool call, in the bytes.
    id: Range<usize>,
    /// The tool's name, in the bytes.
    name: Option<Range<usize>>,
}

impl Repeat {
    pub(super) fn new() -> Repeat {
        Repeat {
            bytes: Vec::new(),
            step: StepName { turn: 0, step: 0 },
            kind: DeltaKind::Text,
            index: 0,
            id: 0..0,
            name: None,
        }
    }

    /// Takes what stands before a delta's text, mostly the same as before; the offset where it begins.
    #[inline(always)]
    fn take(&mut self, scan: &mut Scan<'_>) -> Option<usize> {
        let base = scan.at();
        if self.bytes.is_empty() || scan.bytes_like(&self.bytes).is_none() {
            self.learn(scan)?;
        }
        Some(base)
    }

    #[inline(never)]
    fn learn(&mut self, scan: &mut Scan<'_>) -> Option<()> {
        let base = scan.at();
        self.bytes.clear();
        scan.literal(b",\"data\":{\"turn\":")?;
        self.step.turn = scan.natural()?;
        scan.literal(b",\"step\":")?;
        self.step.step = scan.natural()?;
        scan.literal(b",\"chunk\":{\"type\":")?;
        self.kind = delta_kind(scan)?;
        scan.literal(b",\"index\":")?;
        self.index = scan.natural()?;
        if self.kind == DeltaKind::ToolCall {
            let string = |scan: &mut Scan<'_>| {
                let from = scan.at() - base;
                scan.string()?;
                Some(from..scan.at() - base)
            };
            scan.literal(b",\"id\":")?;
            self.id = string(scan)?;
            self.name = None;
            if scan.literal(b",\"name\":").is_some() {
                self.name = Some(string(scan)?);
            }
            scan.literal(b",\"argumentsDelta\":")?;
        } else {
            scan.literal(b",\"text\":")?;
        }
        self.bytes.extend_from_slice(scan.since(base));
        Some(())
    }
}

/// A delta's type.
fn delta_kind(scan: &mut Scan<'_>) -> Option<DeltaKind> {
    if scan.literal(b"\"text-delta\"").is_some() {
        return Some(DeltaKind::Text);
    }
    if scan.literal(b"\"reasoning-delta\"").is_some() {
        return Some(DeltaKind::Reasoning);
    }
    scan.literal(b"\"tool-call-delta\"")?;
    Some(DeltaKind::ToolCall)
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
