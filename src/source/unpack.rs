//! Compressed logs: frames decoded as they pass.
//!
//! **Takes** the file's bytes. **Gives** decoded bytes as a [`Feed`], and the defects of frames. The structure is walked by
//! [`FrameWalk`]; the decoder is fed one whole header, block or checksum at a time, so that what it yields before a fault depends on
//! the file alone and not on the pieces it is read in. **Never** holds more than a window and a block, and never decodes beyond the
//! limit.

use std::io::{BufRead, ErrorKind};

use memchr::memrchr;
use zstd::stream::raw::{Decoder, Operation};

use super::defect::{Defects, Frame, FrameFault, SourceDefect};
use super::error::SourceError;
use super::frames::{FrameWalk, Step};
use super::stream::{Feed, Fill};
use crate::line::Span;

/// Decodes frame after frame.
pub(super) struct Unpack<R> {
    input: R,
    walk: FrameWalk,
    /// Made when the first bytes are needed.
    decoder: Option<Decoder<'static>>,
    owed: Owed,
    /// The pieces of a block's body that did not come at once.
    body: Vec<u8>,
    /// Offset in the file of the next byte of the input.
    at: u64,
    /// The same behind the last unit, where `at` may stand anywhere in a block.
    behind_unit: u64,
    decoded: Decoded,
    max_decoded: u64,
    frame: Open,
    complete: Complete,
    /// Bytes are missing at this place, and the reader of the feed does not know it yet.
    cut: bool,
    /// Set at the end: up to where an unfinished line counts.
    keep_to: Option<u64>,
}

/// What the decoder is still to be given, or asked for, before the walk goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owed {
    Nothing,
    /// The walk's unit from this byte on.
    Unit(usize),
    /// So many bytes of the input.
    Input(usize),
    /// The collected body of a block from this byte on.
    Body(usize),
    /// No bytes: it has more output than there was room for.
    Flush,
}

/// How far the decoded log goes.
#[derive(Clone, Copy, Default)]
struct Decoded {
    len: u64,
    /// Offset behind the last line feed, or behind a cut.
    line_start: u64,
    /// Number of line feeds; only 0, 1 and more are told apart.
    newlines: u8,
}

/// The frame that is being walked.
#[derive(Default)]
struct Open {
    index: u64,
    file_start: u64,
    decoded_start: u64,
    /// How many bytes it says it decodes to.
    content_size: Option<u64>,
    /// The decoder said that it is done with the frame.
    decoded_whole: bool,
    /// Nothing of the frame is decoded any more.
    fault: Option<FrameFault>,
    /// What was left out at the fault.
    dropped: Option<Span>,
}

/// What is known about the frames that are over.
#[derive(Default)]
struct Complete {
    last: Option<Frame>,
    /// Offset behind their last line feed.
    line_start: u64,
    /// Offset behind their last byte.
    end: u64,
}

impl<R: BufRead> Feed for Unpack<R> {
    fn fill(&mut self, into: &mut [u8], defects: &mut Defects) -> Result<Fill, SourceError> {
        loop {
            if std::mem::take(&mut self.cut) {
                return Ok(Fill::Cut);
            }
            if let Some(keep_to) = self.keep_to {
                return Ok(Fill::End { keep_to });
            }
            if self.owed == Owed::Nothing {
                self.advance(defects)?;
                continue;
            }
            let produced = self.decode(into, defects)?;
            if produced > 0 {
                return Ok(Fill::Bytes(produced));
            }
        }
    }

    fn drain(&mut self) -> Result<(), SourceError> {
        loop {
            let len = fill_buf(&mut self.input)?.len();
            if len == 0 {
                return Ok(());
            }
            self.consume(len);
        }
    }
}

impl<R: BufRead> Unpack<R> {
    pub(super) fn over(input: R, max_decoded: u64) -> Unpack<R> {
        Unpack {
            input,
            walk: FrameWalk::default(),
            decoder: None,
            owed: Owed::Nothing,
            body: Vec::new(),
            at: 0,
            behind_unit: 0,
            decoded: Decoded::default(),
            max_decoded,
            frame: Open::default(),
            complete: Complete::default(),
            cut: false,
            keep_to: None,
        }
    }

    /// Number of frames that are over, sound or not.
    pub(super) fn complete_frames(&self) -> u64 {
        self.frame.index
    }

    /// Walks on by one step.
    fn advance(&mut self, defects: &mut Defects) -> Result<(), SourceError> {
        let input = fill_buf(&mut self.input)?;
        let at_end = input.is_empty();
        let (taken, step) = self.walk.step(input);
        self.consume(taken);
        match step {
            // As much of a block as the file holds.
            Step::Hungry if at_end && !self.body.is_empty() => self.owed = Owed::Body(0),
            Step::Hungry if at_end => self.end(defects),
            Step::Hungry => {}
            Step::Unit => {
                self.frame.content_size = self.walk.content_size();
                self.owed = Owed::Unit(0);
                self.behind_unit = self.at;
            }
            Step::Body(len) => self.take_body(len)?,
            Step::FrameEnd => self.end_frame(defects)?,
            Step::Fault(fault) if fault.has_known_end() => self.give_up_frame(fault),
            Step::Fault(fault) => {
                self.end_at_last_frame(defects);
                self.report_corrupt(fault, defects);
            }
        }
        Ok(())
    }

    /// Owes the next `len` bytes of a block to the decoder, once the rest of it is there.
    fn take_body(&mut self, len: usize) -> Result<(), SourceError> {
        let is_last = !self.walk.is_in_body();
        if self.frame.fault.is_some() || (is_last && self.body.is_empty()) {
            self.owed = Owed::Input(len);
            return Ok(());
        }
        let piece = fill_buf(&mut self.input)?.get(..len).unwrap_or_default();
        self.body.extend_from_slice(piece);
        self.consume(len);
        if is_last {
            self.owed = Owed::Body(0);
        }
        Ok(())
    }

    fn consume(&mut self, taken: usize) {
        self.input.consume(taken);
        self.at += taken as u64;
    }

    /// Gives the decoder what it is owed, as far as `into` has room for what comes of it. How many bytes came.
    fn decode(&mut self, into: &mut [u8], defects: &mut Defects) -> Result<usize, SourceError> {
        if self.frame.fault.is_some() {
            if let Owed::Input(len) = self.owed {
                self.consume(len);
            }
            self.owed = Owed::Nothing;
            return Ok(0);
        }
        // One byte more than allowed tells a log at the limit from one above it.
        let room = self
            .max_decoded
            .saturating_sub(self.decoded.len)
            .saturating_add(1);
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(into.len());
        let into = into.get_mut(..room).unwrap_or_default();
        let given = match self.owed {
            Owed::Unit(from) => self.walk.unit().get(from..).unwrap_or_default(),
            Owed::Input(len) => fill_buf(&mut self.input)?.get(..len).unwrap_or_default(),
            Owed::Body(from) => self.body.get(from..).unwrap_or_default(),
            Owed::Nothing | Owed::Flush => &[],
        };
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            none => none.insert(Decoder::new().map_err(SourceError::Read)?),
        };
        let given_len = given.len();
        let Ok(status) = decoder.run_on_buffers(given, into) else {
            let fault = if self.walk.gave_checksum() {
                FrameFault::Checksum
            } else {
                FrameFault::Payload
            };
            self.give_up_frame(fault);
            return Ok(0);
        };
        self.frame.decoded_whole |= status.remaining == 0;
        self.settle(status.bytes_read, given_len, status.bytes_written == room);
        Ok(self.count(
            into.get(..status.bytes_written).unwrap_or_default(),
            defects,
        ))
    }

    /// Notes that the decoder took `read` of the `given` bytes owed, and whether it may have more to give.
    fn settle(&mut self, read: usize, given: usize, is_full: bool) {
        match self.owed {
            Owed::Input(_) => self.consume(read),
            Owed::Body(_) if read == given => self.body.clear(),
            _ => {}
        }
        self.owed = match self.owed {
            Owed::Unit(from) if read < given => Owed::Unit(from + read),
            Owed::Input(len) if read < given => Owed::Input(len - read),
            Owed::Body(from) if read < given => Owed::Body(from + read),
            _ if is_full && !self.frame.decoded_whole => Owed::Flush,
            _ => Owed::Nothing,
        };
    }

    /// Counts decoded bytes, and ends the log where the limit is passed. How many of them count.
    fn count(&mut self, bytes: &[u8], defects: &mut Defects) -> usize {
        let left = self.max_decoded.saturating_sub(self.decoded.len);
        let within = bytes
            .get(..usize::try_from(left).unwrap_or(usize::MAX))
            .unwrap_or(bytes);
        self.decoded.count(within);
        if within.len() < bytes.len() {
            let dropped = Span {
                start: self.decoded.line_start,
                end: self.decoded.len,
            };
            let mut frame = self.frame_so_far();
            frame.file.end = self.behind_unit;
            defects.push(SourceDefect::DecodedLimit { frame, dropped });
            self.keep_to = Some(self.decoded.line_start);
        }
        within.len()
    }

    /// Decodes nothing more of this frame. Unless all its content was decoded the unfinished line is left out.
    fn give_up_frame(&mut self, fault: FrameFault) {
        self.frame.fault = Some(fault);
        self.body.clear();
        self.owed = match self.owed {
            Owed::Input(len) => Owed::Input(len),
            _ => Owed::Nothing,
        };
        if matches!(fault, FrameFault::Payload | FrameFault::Window(_)) {
            self.frame.dropped = Some(Span {
                start: self.decoded.line_start,
                end: self.decoded.len,
            });
            self.decoded.line_start = self.decoded.len;
            self.cut = true;
        }
    }

    fn end_frame(&mut self, defects: &mut Defects) -> Result<(), SourceError> {
        // The decoder does not compare the sizes of a frame whose last block is empty.
        let has_its_size = self
            .frame
            .content_size
            .is_none_or(|size| size == self.decoded.len - self.frame.decoded_start);
        if self.frame.fault.is_none() && !(self.frame.decoded_whole && has_its_size) {
            self.give_up_frame(FrameFault::Payload);
        }
        let frame = self.frame_so_far();
        if let Some(fault) = self.frame.fault {
            self.report_corrupt(fault, defects);
        } else if frame.index == 0 && !self.decoded.is_one_line() {
            defects.push(SourceDefect::HeaderFrameNotAlone { frame });
        }
        let Decoded {
            len: end,
            line_start,
            ..
        } = self.decoded;
        self.complete = Complete {
            last: Some(frame),
            line_start,
            end,
        };
        self.frame = Open {
            index: frame.index + 1,
            file_start: frame.file.end,
            decoded_start: frame.decoded.end,
            ..Open::default()
        };
        self.decoder
            .as_mut()
            .map_or(Ok(()), Decoder::reinit)
            .map_err(SourceError::Read)
    }

    /// The file is over.
    fn end(&mut self, defects: &mut Defects) {
        self.end_at_last_frame(defects);
        if let Some(fault @ FrameFault::Skippable) = self.frame.fault {
            self.report_corrupt(fault, defects);
        } else if !self.walk.is_between_frames() {
            let (frame, dropped) = (self.frame_so_far(), self.dropped());
            defects.push(SourceDefect::TornFrame { frame, dropped });
        }
    }

    /// Ends the log. A line that the complete frames leave unfinished counts up to their end.
    fn end_at_last_frame(&mut self, defects: &mut Defects) {
        let Complete {
            last,
            line_start,
            end,
        } = self.complete;
        if let Some(frame) = last.filter(|_| line_start < end) {
            let fragment = Span {
                start: line_start,
                end,
            };
            defects.push(SourceDefect::LastFrameCutsLine { frame, fragment });
        }
        self.keep_to = Some(end);
    }

    fn report_corrupt(&self, fault: FrameFault, defects: &mut Defects) {
        let (frame, dropped) = (self.frame_so_far(), self.dropped());
        let dropped = match fault {
            FrameFault::Checksum => Span {
                start: frame.decoded.end,
                ..frame.decoded
            },
            _ => dropped,
        };
        defects.push(SourceDefect::CorruptFrame {
            frame,
            fault,
            dropped,
        });
    }

    /// What is left out of the frame when it ends here.
    fn dropped(&self) -> Span {
        self.frame.dropped.unwrap_or(Span {
            start: self.decoded.line_start.max(self.complete.end),
            end: self.decoded.len,
        })
    }

    fn frame_so_far(&self) -> Frame {
        Frame {
            index: self.frame.index,
            file: Span {
                start: self.frame.file_start,
                end: self.at,
            },
            decoded: Span {
                start: self.frame.decoded_start,
                end: self.decoded.len,
            },
        }
    }
}

impl Decoded {
    fn count(&mut self, bytes: &[u8]) {
        if let Some(at) = memrchr(b'\n', bytes) {
            self.line_start = self.len + at as u64 + 1;
            if self.newlines < 2 {
                let newlines = memchr::memchr_iter(b'\n', bytes).take(2).count() as u8;
                self.newlines = (self.newlines + newlines).min(2);
            }
        }
        self.len += bytes.len() as u64;
    }

    fn is_one_line(&self) -> bool {
        self.newlines == 1 && self.line_start == self.len
    }
}

/// The next bytes of the input; none at its end.
fn fill_buf(input: &mut impl BufRead) -> Result<&[u8], SourceError> {
    // A slice cannot be returned out of the loop that tries again: it would be borrowed in the next turn.
    let is_empty = loop {
        match input.fill_buf() {
            Ok(bytes) => break bytes.is_empty(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(SourceError::Read(error)),
        }
    };
    if is_empty {
        Ok(&[])
    } else {
        input.fill_buf().map_err(SourceError::Read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::super::lines::tests::{Told, streamed, tell};
    use super::super::{Encoding, Source, SourceOptions};
    use super::*;
    use crate::line::LineEnd;

    const HEADER: &[u8] = b"{\"type\":\"session\"}\n";

    fn frame(content: &[u8], checksum: bool) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("encoder");
        encoder.include_checksum(checksum).expect("checksum");
        encoder.write_all(content).expect("memory");
        encoder.finish().expect("memory")
    }

    fn log(frames: &[&[u8]]) -> Vec<u8> {
        frames
            .iter()
            .flat_map(|content| frame(content, true))
            .collect()
    }

    /// What every reader tells of the same bytes.
    fn read_with(bytes: &[u8], options: &SourceOptions) -> Told {
        let told = tell(&Source::from_bytes_with(bytes.to_vec(), options));
        assert!(
            tell(&streamed(bytes, options)) == told,
            "a stream tells something else"
        );
        let file = tempfile::NamedTempFile::new().expect("file");
        std::fs::write(file.path(), bytes).expect("write");
        let mapped = Source::open(&super::super::Input::Path(file.path().into()), options);
        assert!(
            tell(&mapped.expect("open")) == told,
            "a mapping tells something else"
        );
        told
    }

    fn read(bytes: &[u8]) -> Told {
        read_with(bytes, &SourceOptions::default())
    }

    fn text(told: &Told) -> String {
        let line = |(_, _, bytes, end): &(u64, u64, Vec<u8>, LineEnd)| {
            let newline = if *end == LineEnd::Newline { "\n" } else { "" };
            String::from_utf8_lossy(bytes).into_owned() + newline
        };
        told.0.iter().map(line).collect()
    }

    fn defects(told: &Told) -> &[SourceDefect] {
        told.1.defects.as_slice()
    }

    /// A log of three frames, and where the last one begins.
    fn sound() -> (Vec<u8>, usize) {
        let last = log(&[b"two\nthree\n"]);
        let bytes = [log(&[HEADER, b"one\n"]), last.clone()].concat();
        let start = bytes.len() - last.len();
        (bytes, start)
    }

    #[test]
    fn frames_are_one_log() {
        let (bytes, _) = sound();
        let told = read(&bytes);
        assert_eq!(text(&told), "{\"type\":\"session\"}\none\ntwo\nthree\n");
        assert_eq!(defects(&told), []);
        assert_eq!(
            (told.1.encoding, told.1.frames, told.1.decoded_len),
            (Encoding::Zstd, 3, 33)
        );
        assert_eq!(told.0.last().map(|line| (line.0, line.1)), Some((4, 27)));
    }

    #[test]
    fn frames_may_be_empty_lack_a_checksum_and_split_lines() {
        let bytes = [
            frame(HEADER, false),
            frame(b"o", true),
            frame(b"", true),
            frame(b"ne\ntwo\n", false),
            frame(b"", false),
        ];
        let told = read(&bytes.concat());
        assert_eq!(text(&told), "{\"type\":\"session\"}\none\ntwo\n");
        assert_eq!((defects(&told), told.1.frames), (&[][..], 5));
    }

    #[test]
    fn a_frame_that_does_not_hold_what_it_promises_is_corrupt() {
        // A single segment of five bytes, and one last block: empty, and of five bytes.
        let promise = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 5];
        let empty = [&promise[..], &[1, 0, 0]].concat();
        let kept = [&promise[..], &[5 << 3 | 1, 0, 0], b"four\n"].concat();
        let before = frame(HEADER, true);
        let told = read(&[&before[..], &empty, &kept].concat());
        assert_eq!(text(&told), "{\"type\":\"session\"}\nfour\n");
        let [SourceDefect::CorruptFrame { frame, fault, .. }] = defects(&told) else {
            panic!("{:?}", defects(&told));
        };
        assert_eq!((frame.index, *fault), (1, FrameFault::Payload));
    }

    #[test]
    fn a_file_that_ends_inside_a_frame_keeps_its_whole_lines() {
        let (bytes, last) = sound();
        for end in last..bytes.len() {
            let told = read(&bytes[..end]);
            assert!(text(&told).starts_with("{\"type\":\"session\"}\none\n"));
            assert!(told.0.iter().all(|line| line.3 == LineEnd::Newline));
            let expected_file = Span {
                start: last as u64,
                end: end as u64,
            };
            match defects(&told) {
                [] => assert_eq!(end, last),
                [SourceDefect::TornFrame { frame, dropped }] => {
                    assert_eq!((frame.index, frame.file), (2, expected_file));
                    assert_eq!(frame.decoded.start, 23);
                    assert_eq!(frame.decoded.end, dropped.end);
                    assert_eq!(told.1.decoded_len, dropped.start);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_torn_frame_of_several_blocks_gives_what_it_holds() {
        // Random text, so that blocks are many and large.
        let mut state = 1_u32;
        let lines: Vec<u8> = (0..400_000)
            .map(|n| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if n % 100 == 99 {
                    b'\n'
                } else {
                    b'a' + (state >> 24) as u8 % 26
                }
            })
            .collect();
        let head = log(&[HEADER]);
        let bytes = [head.clone(), frame(&lines, true)].concat();
        for end in [head.len() + 100_000, bytes.len() - 5, bytes.len() - 1] {
            let told = read(&bytes[..end]);
            assert!(
                told.0.len() > 500 && told.0.len() <= 4001,
                "{}",
                told.0.len()
            );
            assert!(lines.starts_with(&text(&told).as_bytes()[HEADER.len()..]));
            assert!(matches!(defects(&told), [SourceDefect::TornFrame { .. }]));
        }
    }

    #[test]
    fn one_to_three_bytes_or_a_bare_magic_are_a_torn_frame() {
        let (bytes, _) = sound();
        for tail in [&b"x"[..], b"xy", b"xyz", &super::super::frames::MAGIC] {
            let told = read(&[&bytes, tail].concat());
            assert!(
                matches!(defects(&told), [SourceDefect::TornFrame { .. }]),
                "{tail:?}"
            );
            assert_eq!(told.0.len(), 4);
        }
    }

    #[test]
    fn bytes_that_are_no_frame_end_the_log() {
        let (bytes, _) = sound();
        let told = read(&[&bytes, &b"four bytes and more\n"[..]].concat());
        assert_eq!(told.0.len(), 4);
        let [SourceDefect::CorruptFrame { frame, fault, .. }] = defects(&told) else {
            panic!()
        };
        assert_eq!(*fault, FrameFault::Magic(*b"four"));
        assert!(!fault.has_known_end());
        assert_eq!((frame.index, frame.file.start), (3, bytes.len() as u64));
    }

    #[test]
    fn a_skippable_frame_is_a_fault_and_passed_over() {
        let skippable = b"\x50\x2A\x4D\x18\x03\0\0\0abc";
        for at in 0..2 {
            let mut parts = vec![frame(HEADER, true), frame(b"one\n", true)];
            parts.insert(at, skippable.to_vec());
            let told = read(&parts.concat());
            assert_eq!(text(&told), "{\"type\":\"session\"}\none\n");
            let [
                SourceDefect::CorruptFrame {
                    frame,
                    fault: FrameFault::Skippable,
                    ..
                },
            ] = defects(&told)
            else {
                panic!("{:?}", defects(&told))
            };
            assert_eq!((frame.index, frame.file.len()), (at as u64, 11));
        }
        let told = read(&skippable[..9]);
        let [SourceDefect::CorruptFrame { fault, .. }] = defects(&told) else {
            panic!()
        };
        assert_eq!(*fault, FrameFault::Skippable);
    }

    #[test]
    fn a_wrong_checksum_is_a_fault_of_its_frame() {
        let (mut bytes, last) = sound();
        bytes[last - 1] ^= 1;
        let told = read(&bytes);
        assert_eq!(
            told.0.len(),
            4,
            "its lines and those behind it are given out"
        );
        let [
            SourceDefect::CorruptFrame {
                frame,
                fault,
                dropped,
            },
        ] = defects(&told)
        else {
            panic!()
        };
        assert_eq!((frame.index, *fault), (1, FrameFault::Checksum));
        assert_eq!(
            (frame.decoded, dropped.len()),
            (Span { start: 19, end: 23 }, 0)
        );
    }

    #[test]
    fn a_damaged_block_costs_its_line_and_no_line_of_the_next_frame() {
        let damaged = {
            let content: String = (0..200).map(|n| format!("line number {n}\n")).collect();
            let mut bytes = frame(content.as_bytes(), true);
            bytes[12..40].fill(0xFF);
            bytes
        };
        let bytes = [
            frame(HEADER, true),
            frame(b"cut", true),
            damaged,
            frame(b"whole\n", true),
        ];
        let told = read(&bytes.concat());
        assert_eq!(text(&told), "{\"type\":\"session\"}\nwhole\n");
        let [
            SourceDefect::CorruptFrame {
                frame,
                fault,
                dropped,
            },
        ] = defects(&told)
        else {
            panic!()
        };
        assert_eq!((frame.index, *fault), (2, FrameFault::Payload));
        assert_eq!(*dropped, Span { start: 19, end: 22 });
        assert_eq!(told.0.last().map(|line| (line.0, line.1)), Some((2, 22)));
    }

    #[test]
    fn a_window_that_nobody_must_grant_is_a_fault() {
        // No single segment, window descriptor of 2^41 bytes, one empty last block.
        let bomb = [&super::super::frames::MAGIC[..], &[0, 0xF8, 1, 0, 0]].concat();
        let told = read(&[frame(HEADER, true), bomb, frame(b"one\n", true)].concat());
        assert_eq!(text(&told), "{\"type\":\"session\"}\none\n");
        let [SourceDefect::CorruptFrame { fault, .. }] = defects(&told) else {
            panic!()
        };
        assert_eq!(*fault, FrameFault::Window(1 << 41));
    }

    #[test]
    fn the_first_frame_should_be_the_header_line() {
        for first in [&b""[..], b"{\"type\":\"session\"}", b"a\nb\n", b"a\nb"] {
            let told = read(&log(&[first, b"\none\n"]));
            let [SourceDefect::HeaderFrameNotAlone { frame }] = defects(&told) else {
                panic!()
            };
            assert_eq!((frame.index, frame.decoded.end), (0, first.len() as u64));
            assert!(text(&told).ends_with("\none\n"), "the rest is read");
        }
    }

    #[test]
    fn a_last_frame_without_line_feed_gives_its_fragment() {
        let told = read(&log(&[HEADER, b"one\nfrag", b"ment", b""]));
        assert!(text(&told).ends_with("one\nfragment"));
        let [SourceDefect::LastFrameCutsLine { frame, fragment }] = defects(&told) else {
            panic!()
        };
        assert_eq!((frame.index, *fragment), (3, Span { start: 23, end: 31 }));
    }

    #[test]
    fn a_torn_frame_behind_a_fragment_adds_nothing_to_it() {
        let torn = frame(b"ment that goes on", false);
        let bytes = [
            log(&[HEADER, b"one\nfrag"]),
            torn[..torn.len() - 1].to_vec(),
        ]
        .concat();
        let told = read(&bytes);
        assert!(text(&told).ends_with("one\nfrag"), "{}", text(&told));
        let [cuts, torn] = defects(&told) else {
            panic!()
        };
        assert!(
            matches!(cuts, SourceDefect::LastFrameCutsLine { fragment, .. } if fragment.len() == 4)
        );
        assert!(matches!(torn, SourceDefect::TornFrame { .. }));
    }

    #[test]
    fn the_decoded_size_has_a_limit() {
        let bytes = log(&[HEADER, b"one\ntwo\n"]);
        for (limit, lines, dropped) in [
            (27, 3, None),
            (26, 2, Some(3)),
            (23, 2, Some(0)),
            (0, 0, Some(0)),
        ] {
            let options = SourceOptions {
                max_decompressed: limit,
                ..SourceOptions::default()
            };
            let told = read_with(&bytes, &options);
            assert_eq!(told.0.len(), lines, "{limit}");
            let found = defects(&told).iter().find_map(|defect| match defect {
                SourceDefect::DecodedLimit { dropped, .. } => Some(dropped.len()),
                _ => None,
            });
            assert_eq!(found, dropped, "{limit}");
        }
    }

    #[test]
    fn a_bomb_is_decoded_in_bounded_memory() {
        let bytes = [log(&[HEADER]), frame(&vec![b'x'; 64 << 20], true)].concat();
        assert!(bytes.len() < 20_000);
        let options = SourceOptions {
            max_line: 1000,
            ..SourceOptions::default()
        };
        let told = tell(&Source::from_bytes_with(bytes, &options));
        let [
            SourceDefect::LineLimit { span, .. },
            SourceDefect::LastFrameCutsLine { .. },
        ] = defects(&told)
        else {
            panic!()
        };
        assert_eq!(span.len(), 64 << 20);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn compression_changes_no_line(
            lines in proptest::collection::vec("[a-c\\r]{0,30}", 0..12),
            cuts in proptest::collection::vec((0..300_usize, any::<bool>()), 0..6),
            end in prop_oneof![Just(""), Just("fragment")],
            max_line in prop_oneof![Just(u64::MAX), 0..40_u64],
        ) {
            let rest = lines.iter().map(|line| line.to_owned() + "\n").collect::<String>() + end;
            let mut cuts: Vec<_> = cuts.into_iter().map(|(at, sum)| (at.min(rest.len()), sum)).collect();
            cuts.sort_unstable();
            let mut bytes = frame(HEADER, true);
            let mut from = 0;
            for (at, checksum) in cuts.into_iter().chain([(rest.len(), true)]) {
                bytes.extend(frame(&rest.as_bytes()[from..at], checksum));
                from = at;
            }
            let options = SourceOptions { max_line, ..SourceOptions::default() };
            let packed = read_with(&bytes, &options);
            let raw = tell(&Source::from_bytes_with([HEADER, rest.as_bytes()].concat(), &options));
            prop_assert_eq!(&packed.0, &raw.0);
            prop_assert_eq!((packed.1.lines, packed.1.decoded_len), (raw.1.lines, raw.1.decoded_len));
            let limits = |told: &Told| defects(told).iter().copied()
                .filter(|defect| matches!(defect, SourceDefect::LineLimit { .. })).collect::<Vec<_>>();
            prop_assert_eq!(limits(&packed), limits(&raw));
        }

        #[test]
        fn any_damage_is_told_alike_by_every_reader(
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
            end in any::<prop::sample::Index>(),
            max_decompressed in prop_oneof![Just(u64::MAX), 0..3000_u64],
        ) {
            let content: String = (0..150).map(|n| format!("{{\"seq\":{n},\"time\":{}}}\n", n * 77)).collect();
            let mut bytes = [log(&[HEADER, content.as_bytes(), b"one\n"]), frame(content.as_bytes(), false)].concat();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(end.index(bytes.len() * 3).min(bytes.len()));
            read_with(&bytes, &SourceOptions { max_decompressed, max_line: 100, ..SourceOptions::default() });
        }

        #[test]
        fn no_bytes_behind_a_magic_are_too_much(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            read(&[&super::super::frames::MAGIC[..], &tail].concat());
        }
    }
}
