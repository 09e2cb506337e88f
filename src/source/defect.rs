//! What can be wrong with the bytes of a log, as facts.
//!
//! **Takes** what the readers of this room notice. **Gives** [`SourceDefect`]s with offsets in the file and in the decoded log.
//! **Never** judges: levels and sentences are `rules`' own.

use crate::line::{LineEnd, LineNo, Span};

/// A frame of a compressed log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its number in the file, from 0. Frame 0 should hold the header line.
    pub index: u64,
    /// Its bytes in the file, as far as they were looked at. A torn frame ends with the file.
    pub file: Span,
    /// The bytes of the decoded log that came from it.
    pub decoded: Span,
}

/// Why a frame is no sound frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFault {
    /// Four or more bytes stand where a frame should begin, and do not begin one.
    Magic([u8; 4]),
    /// A skippable frame: legal in the compression format, never in a session log.
    Skippable,
    /// A bit of the frame header that must be 0 is set; the byte is the header's descriptor.
    ReservedBits(u8),
    /// A block of the reserved type 3.
    ReservedBlock,
    /// The frame asks for a larger window than any reader must grant; in bytes.
    Window(u64),
    /// Its blocks cannot be decoded, or their size is not the one declared.
    Payload,
    /// Its blocks decode, but not to the bytes the checksum was made of.
    Checksum,
}

impl FrameFault {
    /// Whether the end of such a frame is known nevertheless, so that reading goes on behind it.
    pub fn has_known_end(self) -> bool {
        !matches!(
            self,
            FrameFault::Magic(_) | FrameFault::ReservedBits(_) | FrameFault::ReservedBlock
        )
    }
}

/// One fault of the bytes of a log. *Source*: format.md B.0, E.1, K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceDefect {
    /// The file ends inside a frame. Complete lines decoded from it are used.
    TornFrame {
        /// The frame.
        frame: Frame,
        /// Decoded bytes of it behind its last line feed, which are left out. Empty when there are none.
        dropped: Span,
    },
    /// A complete frame is damaged, or bytes are no frame.
    CorruptFrame {
        /// The frame. Lines it yielded before the damage was noticed were given out: they start in `frame.decoded`.
        frame: Frame,
        /// What is wrong. When its end is not known nothing behind `frame.file.start` was read any further.
        fault: FrameFault,
        /// Decoded bytes of an unfinished line before the damage, which are left out. They take no line number.
        dropped: Span,
    },
    /// Frame 0 is complete and sound, but is not exactly one line with its line feed.
    HeaderFrameNotAlone {
        /// The frame.
        frame: Frame,
    },
    /// The complete frames do not end with a line feed. The fragment is given out as a line that ends with
    /// [`LineEnd::Eof`], unless a torn frame behind it ends the line.
    LastFrameCutsLine {
        /// The last complete frame.
        frame: Frame,
        /// The fragment, up to the end of the last complete frame.
        fragment: Span,
    },
    /// A line is longer than [`max_line`](super::SourceOptions::max_line). It has its number, and was left out.
    LineLimit {
        /// The line.
        line: LineNo,
        /// Its bytes, without the line feed.
        span: Span,
        /// How it ended.
        end: LineEnd,
    },
    /// The decoded log is longer than [`max_decompressed`](super::SourceOptions::max_decompressed). Nothing behind was read.
    DecodedLimit {
        /// The frame that was being decoded, up to the block that passed the limit.
        frame: Frame,
        /// The bytes of a line cut by the limit, which are left out.
        dropped: Span,
    },
}

impl SourceDefect {
    /// Where in the decoded log it stands, or would stand.
    pub fn decoded_start(&self) -> u64 {
        match self {
            SourceDefect::TornFrame { frame, .. }
            | SourceDefect::CorruptFrame { frame, .. }
            | SourceDefect::HeaderFrameNotAlone { frame } => frame.decoded.start,
            SourceDefect::LastFrameCutsLine { fragment, .. } => fragment.start,
            SourceDefect::LineLimit { span, .. } => span.start,
            SourceDefect::DecodedLimit { frame, .. } => frame.decoded.end,
        }
    }

    /// Order among those that stand at the same place.
    fn rank(&self) -> u8 {
        match self {
            SourceDefect::LineLimit { .. } => 0,
            SourceDefect::HeaderFrameNotAlone { .. } => 1,
            SourceDefect::CorruptFrame { .. } => 2,
            SourceDefect::LastFrameCutsLine { .. } => 3,
            SourceDefect::TornFrame { .. } => 4,
            SourceDefect::DecodedLimit { .. } => 5,
        }
    }

    /// Whether a log can have any number of them.
    fn repeats(&self) -> bool {
        matches!(
            self,
            SourceDefect::CorruptFrame { .. } | SourceDefect::LineLimit { .. }
        )
    }
}

/// The defects of one walk: the first [`Defects::LIMIT`] of those that can repeat, and how many more there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defects {
    kept: Vec<SourceDefect>,
    left_out: u64,
}

impl Defects {
    /// How many repeating defects are kept.
    pub const LIMIT: usize = 10_000;

    /// In the order of the decoded log after the last line; until then as they were noticed.
    pub fn as_slice(&self) -> &[SourceDefect] {
        &self.kept
    }

    /// How many were only counted.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Frames are ahead of lines by what is buffered: brings both into the order of the log, whatever the buffer held.
    pub(super) fn sort(&mut self) {
        self.kept
            .sort_by_key(|defect| (defect.decoded_start(), defect.rank()));
    }

    pub(super) fn push(&mut self, defect: SourceDefect) {
        if defect.repeats() && self.kept.len() >= Self::LIMIT {
            self.left_out += 1;
        } else {
            self.kept.push(defect);
        }
    }
}
