//! Lines of a log that passes by once.
//!
//! **Takes** a [`Feed`] of decoded bytes. **Gives** lines in a buffer that is used again for the next one.
//! **Never** holds more than the longest line allowed and one read ahead.

use std::io::{self, ErrorKind, Read};

use memchr::memchr;

use super::defect::{Defects, SourceDefect};
use super::error::SourceError;
use crate::line::{Line, LineEnd, LineNo, Span};

/// Where the decoded bytes of a stream come from.
pub(super) trait Feed {
    /// Puts the next bytes at the start of `into`, which is not empty. Notes in `defects` what is wrong with them.
    ///
    /// # Errors
    ///
    /// When the stream cannot be read.
    fn fill(&mut self, into: &mut [u8], defects: &mut Defects) -> Result<Fill, SourceError>;

    /// Reads what is left, for nothing but its having been read.
    ///
    /// # Errors
    ///
    /// When the stream cannot be read.
    fn drain(&mut self) -> Result<(), SourceError>;
}

/// What a [`Feed`] gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// So many bytes; at least one.
    Bytes(usize),
    /// Bytes are missing here: what stands behind the last line feed has no end.
    Cut,
    /// No bytes, now and ever. What stands behind the last line feed counts up to this offset of the decoded log.
    End { keep_to: u64 },
}

/// Bytes that are not encoded.
pub(super) struct Plain<R>(pub(super) R);

impl<R: Read> Feed for Plain<R> {
    fn fill(&mut self, into: &mut [u8], _: &mut Defects) -> Result<Fill, SourceError> {
        loop {
            match self.0.read(into) {
                Ok(0) => return Ok(Fill::End { keep_to: u64::MAX }),
                Ok(read) => return Ok(Fill::Bytes(read)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(SourceError::Read(error)),
            }
        }
    }

    fn drain(&mut self) -> Result<(), SourceError> {
        io::copy(&mut self.0, &mut io::sink()).map_err(SourceError::Read)?;
        Ok(())
    }
}

/// A forward walk over the lines of a stream.
pub(super) struct StreamWalk<F> {
    feed: F,
    buffer: Buffer,
    /// Offset in the decoded log of the first byte that is neither given out nor left out.
    offset: u64,
    lines: u64,
    max_line: u64,
    /// Length of what was already thrown away of a line above the limit; it lies before `offset`.
    thrown_away: u64,
    ended: bool,
}

impl<F: Feed> StreamWalk<F> {
    pub(super) fn over(feed: F, max_line: u64) -> Self {
        let buffer = Buffer::default();
        StreamWalk {
            feed,
            buffer,
            offset: 0,
            lines: 0,
            max_line,
            thrown_away: 0,
            ended: false,
        }
    }

    /// Number of lines walked, those left out included.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Number of decoded bytes walked.
    pub(super) fn walked(&self) -> u64 {
        self.offset
    }

    /// Where the bytes come from.
    pub(super) fn feed(&self) -> &F {
        &self.feed
    }

    /// Reads on to the end of the stream, past all lines.
    pub(super) fn drain(&mut self) -> Result<(), SourceError> {
        self.feed.drain()
    }

    /// The next line that is not longer than the limit.
    pub(super) fn next_line(
        &mut self,
        defects: &mut Defects,
    ) -> Result<Option<Line<'_>>, SourceError> {
        loop {
            let Some((len, end)) = self.find_line(defects)? else {
                return Ok(None);
            };
            self.lines += 1;
            let no = LineNo(self.lines);
            let thrown_away = std::mem::take(&mut self.thrown_away);
            let start = self.offset - thrown_away;
            let whole_len = thrown_away + len as u64;
            self.offset += len as u64 + u64::from(end == LineEnd::Newline);
            let bytes = self.buffer.take(len, end == LineEnd::Newline);
            if thrown_away == 0 && whole_len <= self.max_line {
                let bytes = self.buffer.taken(bytes);
                return Ok(Some(Line {
                    no,
                    start,
                    bytes,
                    end,
                }));
            }
            let span = Span {
                start,
                end: start + whole_len,
            };
            defects.push(SourceDefect::LineLimit {
                line: no,
                span,
                end,
            });
        }
    }

    /// Reads on until the buffer begins with a whole line, or with the last bytes of one above the limit.
    fn find_line(
        &mut self,
        defects: &mut Defects,
    ) -> Result<Option<(usize, LineEnd)>, SourceError> {
        loop {
            if let Some(len) = self.buffer.find_newline() {
                return Ok(Some((len, LineEnd::Newline)));
            }
            if self.ended {
                let len = self.buffer.pending();
                let is_line = len > 0 || self.thrown_away > 0;
                return Ok(is_line.then_some((len, LineEnd::Eof)));
            }
            if self.buffer.pending() as u64 > self.max_line {
                self.thrown_away += self.throw_away();
            }
            match self.feed.fill(self.buffer.room(self.max_line)?, defects)? {
                Fill::Bytes(read) => self.buffer.filled(read),
                Fill::Cut => {
                    self.throw_away();
                    self.thrown_away = 0;
                }
                Fill::End { keep_to } => self.end(keep_to),
            }
        }
    }

    /// Forgets what is in the buffer; its number of bytes.
    fn throw_away(&mut self) -> u64 {
        let len = self.buffer.pending();
        self.buffer.take(len, false);
        self.offset += len as u64;
        len as u64
    }

    /// Nothing follows, and of what is left only the bytes before `keep_to` count.
    fn end(&mut self, keep_to: u64) {
        self.ended = true;
        let start = self.offset - self.thrown_away;
        self.thrown_away = self.thrown_away.min(keep_to.saturating_sub(start));
        self.offset = start + self.thrown_away;
        let keep = keep_to.saturating_sub(self.offset);
        self.buffer
            .truncate(usize::try_from(keep).unwrap_or(usize::MAX));
    }
}

/// Bytes read and not yet given out: `start..end`, of which `start..searched` holds no line feed.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    searched: usize,
    end: usize,
}

impl Buffer {
    /// Size at first, and what a line at the limit may be followed by.
    const READ_AHEAD: usize = 256 << 10;

    /// Number of bytes not given out.
    fn pending(&self) -> usize {
        self.end - self.start
    }

    /// Distance to the first line feed.
    fn find_newline(&mut self) -> Option<usize> {
        let unsearched = self.bytes.get(self.searched..self.end).unwrap_or_default();
        match memchr(b'\n', unsearched) {
            Some(at) => {
                self.searched += at;
                Some(self.searched - self.start)
            }
            None => {
                self.searched = self.end;
                None
            }
        }
    }

    /// Takes `len` bytes off the front, and the line feed behind them. They stay readable until the next [`room`](Buffer::room).
    fn take(&mut self, len: usize, newline: bool) -> std::ops::Range<usize> {
        let range = self.start..(self.start + len).min(self.end);
        self.start = (range.end + usize::from(newline)).min(self.end);
        self.searched = self.start;
        range
    }

    /// Bytes taken last.
    fn taken(&self, range: std::ops::Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Forgets all but the first `keep` bytes.
    fn truncate(&mut self, keep: usize) {
        self.end = self.end.min(self.start.saturating_add(keep));
        self.searched = self.searched.min(self.end);
    }

    /// Room behind what is there, at least one byte; grows by doubling, up to a line at the limit.
    fn room(&mut self, max_line: u64) -> Result<&mut [u8], SourceError> {
        if self.start == self.end {
            (self.start, self.searched, self.end) = (0, 0, 0);
        } else if self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            self.searched -= self.start;
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            let most = usize::try_from(max_line)
                .unwrap_or(usize::MAX)
                .saturating_add(Self::READ_AHEAD);
            let size = self
                .bytes
                .len()
                .saturating_mul(2)
                .clamp(Self::READ_AHEAD, most)
                .max(self.end + 1);
            let more = size - self.bytes.len();
            self.bytes
                .try_reserve_exact(more)
                .map_err(|_| SourceError::Memory(size))?;
            self.bytes.resize(size, 0);
        }
        Ok(self.bytes.get_mut(self.end..).unwrap_or_default())
    }

    /// The first `read` bytes of the room were filled.
    fn filled(&mut self, read: usize) {
        self.end = (self.end + read).min(self.bytes.len());
    }
}
