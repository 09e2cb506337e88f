//! Family 01: bytes and lines.
//!
//! **Takes** what the source noticed, and how the file begins and ends. **Gives** findings 0101 to 0111. **Never** looks at a record.

use super::catalogue::*;
use crate::event::{Fault, Noted};
use crate::finding::{Bytes, Finding, Level, Place};
use crate::line::Span;
use crate::log::{Log, Standing, Tail};
use crate::record::RecordDefect;
use crate::source::{Frame, FrameFault, SourceDefect};

pub(super) fn judge(log: &Log<'_>, findings: &mut Vec<Finding>) {
    if log.standing == Standing::Empty {
        findings.push(empty(log));
    }
    if log.has_bom {
        let message = "byte-order mark before the header: header line is not valid JSON";
        let mark = Span { start: 0, end: 3 };
        let place = Place {
            bytes: Some(Bytes::Decoded(mark)),
            ..first_line(log)
        };
        let help = "remove the three bytes EF BB BF at the start of the file";
        findings.push(Finding::new(&BYTE_ORDER_MARK, message, place, b"bom").help(help));
    }
    for defect in log.source.defects.as_slice() {
        findings.push(source(log, defect));
    }
    // Without a header line nothing is a tail: 0101 says all there is.
    if let Some(tail) = log
        .tail
        .as_ref()
        .filter(|_| log.standing != Standing::Empty)
    {
        tails(log, tail, findings);
    }
    let unlisted = log.source.defects.left_out();
    if unlisted > 0 {
        let message = format!(
            "{unlisted} more corrupt frames or lines above the limit were counted, not kept"
        );
        findings.push(Finding::new(
            &LIMIT_REACHED,
            message,
            last_line(log),
            b"defects",
        ));
    }
}

fn empty(log: &Log<'_>) -> Finding {
    let message = "empty or header-less session log: no newline-terminated first line";
    let place = Place {
        line: Some(crate::line::LineNo(1)),
        ..Place::default()
    };
    let _ = log;
    Finding::new(&EMPTY_LOG, message, place, b"empty")
        .help("the file holds no log: check that it is the right one and was written to its end")
}

pub(super) fn first_line(log: &Log<'_>) -> Place {
    match &log.first_line {
        Some((at, excerpt)) => Place {
            line: Some(at.line),
            bytes: Some(Bytes::Decoded(at.span)),
            excerpt: Some(excerpt.clone()),
            ..Place::default()
        },
        None => Place {
            line: Some(crate::line::LineNo(1)),
            ..Place::default()
        },
    }
}

fn last_line(log: &Log<'_>) -> Place {
    Place {
        line: Some(log.last.line),
        bytes: Some(Bytes::Decoded(log.last.span)),
        seq: log.last.seq,
        ..Place::default()
    }
}

fn tails(log: &Log<'_>, tail: &Tail, findings: &mut Vec<Finding>) {
    let place = |span| Place {
        line: Some(tail.line),
        bytes: Some(Bytes::Decoded(span)),
        excerpt: Some(tail.excerpt.clone()),
        ..Place::default()
    };
    if !tail.zeros.is_empty() {
        let Span { start, .. } = tail.zeros;
        let message = format!(
            "{} NUL bytes at the end, from offset {start}",
            tail.zeros.len()
        );
        let zeros = Place {
            excerpt: None,
            ..place(tail.zeros)
        };
        let help = "a power loss leaves such bytes; the harness cuts them when it opens the log";
        findings.push(Finding::new(&ZERO_FILLED_TAIL, message, zeros, b"zeros").help(help));
    }
    // In a compressed log the cut frame is what there is to say.
    let cut = |defect: &SourceDefect| matches!(defect, SourceDefect::LastFrameCutsLine { .. });
    if tail.span.is_empty() || log.source.defects.as_slice().iter().any(cut) {
        return;
    }
    let open = log
        .session
        .open_turn
        .map(|turn| format!("; turn {turn} is open"))
        .unwrap_or_default();
    let (length, start) = (tail.span.len(), tail.span.start);
    let message =
        format!("{length} bytes behind the last newline at offset {start} are no event{open}");
    let help = match tail.parses {
        true => "the record is complete but for its newline; the harness drops it all the same",
        false => "a crash leaves such a tail; the harness cuts it when it opens the log",
    };
    findings.push(Finding::new(&TORN_TAIL, message, place(tail.span), b"tail").help(help));
}

fn source(log: &Log<'_>, defect: &SourceDefect) -> Finding {
    let frame_place = |frame: &Frame| Place {
        bytes: Some(Bytes::File(frame.file)),
        ..Place::default()
    };
    match *defect {
        SourceDefect::TornFrame { frame, dropped } => {
            let start = frame.file.start;
            // The line that is left out may begin in a frame before.
            let recovered = dropped.start.saturating_sub(frame.decoded.start);
            let message = format!(
                "last zstd frame at file offset {start} is torn; {recovered} bytes of it are used"
            );
            Finding::new(&TORN_FRAME, message, frame_place(&frame), b"torn frame")
                .help("a crash leaves such a frame; its complete lines are part of the log")
        }
        SourceDefect::CorruptFrame { frame, fault, .. } => {
            let message = format!(
                "corrupt frame at byte {}: {}",
                frame.file.start,
                frame_fault(fault)
            );
            let evidence = format!("{fault:?}");
            Finding::new(
                &CORRUPT_FRAME,
                message,
                frame_place(&frame),
                evidence.as_bytes(),
            )
            .help("restore the file from a copy: what the frame held is lost")
        }
        SourceDefect::HeaderFrameNotAlone { frame } => {
            let message = "first frame is not exactly one header line";
            Finding::new(
                &HEADER_FRAME_NOT_ALONE,
                message,
                frame_place(&frame),
                b"header frame",
            )
        }
        SourceDefect::LastFrameCutsLine { frame, .. } => {
            let valid = match log.tail.as_ref().is_some_and(|tail| tail.parses) {
                true => "is valid JSON",
                false => "is not valid JSON",
            };
            let message =
                format!("complete frame contains a torn JSONL record; the record {valid}");
            Finding::new(
                &LAST_FRAME_CUTS_LINE,
                message,
                frame_place(&frame),
                b"cut line",
            )
        }
        SourceDefect::LineLimit { line, span, .. } => {
            let message = format!(
                "line {line} has {} bytes, more than the limit: it was not checked",
                span.len()
            );
            let place = Place {
                line: Some(line),
                bytes: Some(Bytes::Decoded(span)),
                ..Place::default()
            };
            Finding::new(&LIMIT_REACHED, message, place, b"line")
                .help("raise --max-line to read it")
        }
        SourceDefect::DecodedLimit { frame, .. } => {
            let end = frame.decoded.end;
            let message =
                format!("decoded size reaches the limit: nothing behind offset {end} was checked");
            Finding::new(&LIMIT_REACHED, message, frame_place(&frame), b"decoded")
                .help("raise --max-decompressed to read on")
        }
    }
}

fn frame_fault(fault: FrameFault) -> &'static str {
    match fault {
        FrameFault::Magic(_) => "invalid frame magic",
        FrameFault::Skippable => "invalid frame magic (a skippable frame)",
        FrameFault::ReservedBits(_) => "a reserved bit of its header is set",
        FrameFault::ReservedBlock => "a block of the reserved type",
        FrameFault::Window(_) => "its window is larger than any reader grants",
        FrameFault::Payload => "it failed validation: its blocks cannot be decoded",
        FrameFault::Checksum => "it failed validation: its checksum differs",
    }
}

/// A line that is no record: 0110 here, the rest with the records.
pub(super) fn blank(log: &Log<'_>, noted: &Noted) -> Option<(String, Level)> {
    if noted.fault != Fault::Line(RecordDefect::Blank) {
        return None;
    }
    let line = noted.at.line;
    Some(
        match log.session.last_turn_end.is_some_and(|end| end > line) {
            true => (
                format!("blank line {line} stands before a turn/end: unparsable committed event"),
                Level::Error,
            ),
            false => (
                format!("blank line {line}: the harness cuts the log here"),
                Level::Warning,
            ),
        },
    )
}
