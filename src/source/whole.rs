//! Lines of a log that lies in memory as a whole.
//!
//! **Takes** the bytes, and the mapping they come from. **Gives** lines as slices of them. **Never** copies, and gives the pages
//! behind the cursor back as it goes.

use std::io::{self, BufRead, Read};

use memchr::memchr;

use super::defect::{Defects, SourceDefect};
use super::map::Map;
use crate::line::{Line, LineEnd, LineNo};

/// Gives the pages of a mapping back behind a cursor that only moves forward.
pub(super) struct Behind<'log> {
    map: Option<&'log Map>,
    given_back: usize,
    next: usize,
}

impl<'log> Behind<'log> {
    /// Pages are given back so many bytes at a time.
    const WINDOW: usize = 4 << 20;

    /// Nothing is given back where there is no mapping.
    pub(super) fn of(map: Option<&'log Map>) -> Behind<'log> {
        let next = if map.is_some() {
            Self::WINDOW
        } else {
            usize::MAX
        };
        Behind {
            map,
            given_back: 0,
            next,
        }
    }

    /// The cursor stands at `at`: what lies before it is not needed for now.
    #[inline]
    pub(super) fn moved_to(&mut self, at: usize) {
        if at >= self.next {
            self.give_back(at);
        }
    }

    #[cold]
    fn give_back(&mut self, at: usize) {
        let to = at - at % Self::WINDOW;
        if let Some(map) = self.map {
            map.give_back(self.given_back, to);
        }
        self.given_back = to;
        self.next = to.saturating_add(Self::WINDOW);
    }
}

/// Bytes in memory as a reader that hands them out in windows, so that pages behind it can be given back.
pub(super) struct Windows<'log> {
    rest: &'log [u8],
    at: usize,
    behind: Behind<'log>,
}

impl<'log> Windows<'log> {
    pub(super) fn over(bytes: &'log [u8], behind: Behind<'log>) -> Windows<'log> {
        Windows {
            rest: bytes,
            at: 0,
            behind,
        }
    }
}

impl Read for Windows<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Windows<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.rest.get(..Behind::WINDOW).unwrap_or(self.rest))
    }

    fn consume(&mut self, amount: usize) {
        let amount = amount.min(self.rest.len());
        self.rest = self.rest.get(amount..).unwrap_or_default();
        self.at += amount;
        self.behind.moved_to(self.at);
    }
}

/// A forward walk over the lines of bytes in memory.
pub(super) struct WholeWalk<'log> {
    /// What is not walked yet.
    rest: &'log [u8],
    len: usize,
    lines: u64,
    max_line: u64,
    behind: Behind<'log>,
}

impl<'log> WholeWalk<'log> {
    pub(super) fn over(bytes: &'log [u8], behind: Behind<'log>, max_line: u64) -> Self {
        WholeWalk {
            rest: bytes,
            len: bytes.len(),
            lines: 0,
            max_line,
            behind,
        }
    }

    /// Number of lines walked, those left out included.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Number of bytes walked.
    pub(super) fn walked(&self) -> u64 {
        (self.len - self.rest.len()) as u64
    }

    /// The next line that is not longer than the limit.
    #[inline]
    pub(super) fn next_line(&mut self, defects: &mut Defects) -> Option<Line<'log>> {
        loop {
            let at = self.len - self.rest.len();
            self.behind.moved_to(at);
            let (bytes, end) = self.split_line()?;
            self.lines += 1;
            let line = Line {
                no: LineNo(self.lines),
                start: at as u64,
                bytes,
                end,
            };
            if bytes.len() as u64 <= self.max_line {
                return Some(line);
            }
            defects.push(SourceDefect::LineLimit {
                line: line.no,
                span: line.span(),
                end,
            });
        }
    }

    /// Takes the next line off the rest.
    #[inline]
    fn split_line(&mut self) -> Option<(&'log [u8], LineEnd)> {
        let near = self.rest.get(..Behind::WINDOW).unwrap_or(self.rest);
        let Some(at) = memchr(b'\n', near) else {
            return self.split_far_line();
        };
        let (line, rest) = self.rest.split_at_checked(at)?;
        self.rest = rest.get(1..)?;
        Some((line, LineEnd::Newline))
    }

    /// The same for a line that ends farther away or with the bytes. Pages of a line above the limit are given back.
    #[cold]
    fn split_far_line(&mut self) -> Option<(&'log [u8], LineEnd)> {
        let start = self.len - self.rest.len();
        let mut searched = 0;
        for window in self.rest.chunks(Behind::WINDOW) {
            if let Some(at) = memchr(b'\n', window) {
                let (line, rest) = self.rest.split_at_checked(searched + at)?;
                self.rest = rest.get(1..)?;
                return Some((line, LineEnd::Newline));
            }
            searched += window.len();
            if searched as u64 > self.max_line {
                self.behind.moved_to(start + searched);
            }
        }
        let line = std::mem::take(&mut self.rest);
        (!line.is_empty()).then_some((line, LineEnd::Eof))
    }
}
