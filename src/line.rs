//! Numbered lines of a log and the unit types every other room speaks in.
//!
//! **Takes** bytes of the decoded log. **Gives** [`Line`]s and how each one ended.
//! **Never** looks into a line.

use std::fmt;

/// The number of a line in the decoded log, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNo(pub u64);

/// The sequence number of an event, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

/// A wall-clock time of the log: milliseconds since the Unix epoch. May run backwards between events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub i64);

/// A range of bytes of the decoded log, end exclusive. In an uncompressed log these are file offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
}

impl Span {
    /// The span of `len` bytes from `start` on.
    pub fn at(start: u64, len: usize) -> Span {
        Span {
            start,
            end: start + len as u64,
        }
    }

    /// Number of bytes.
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether the span covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl Millis {
    /// Year, month (1 to 12), day (1 to 31) in UTC, and milliseconds since midnight. Proleptic Gregorian calendar.
    pub fn civil(self) -> (i64, u32, u32, u32) {
        const DAY: i64 = 86_400_000;
        let (days, rest) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        // Counted from 0000-03-01, so that a leap day ends its year; eras of 400 years are alike.
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (year, month as u32, day as u32, rest as u32)
    }
}

/// UTC, to the second: `2026-08-21 09:34:35Z`.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day, millis) = self.civil();
        let seconds = millis / 1000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z"
        )
    }
}

impl fmt::Display for LineNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// With a line feed, which is not part of the line's bytes. A carriage return before it is.
    Newline,
    /// With the end of the bytes. The harness never counts such a line as an event.
    Eof,
}

/// One line of the decoded log, borrowed until the next one is read.
#[derive(Clone, Copy, Debug)]
pub struct Line<'line> {
    /// Its number, from 1.
    pub no: LineNo,
    /// Offset of its first byte in the decoded log.
    pub start: u64,
    /// Its bytes, without the line feed.
    pub bytes: &'line [u8],
    /// How it ended.
    pub end: LineEnd,
}

impl Line<'_> {
    /// The span of the line's bytes, without the line feed.
    pub fn span(&self) -> Span {
        Span::at(self.start, self.bytes.len())
    }
}

/// A bounded piece of the log, captured before its line is gone: at most [`Excerpt::LIMIT`] bytes of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, invalid bytes as U+FFFD. Hostile until it passed the report's sanitiser.
    pub text: String,
    /// Whether the line has more before it.
    pub cut_before: bool,
    /// Whether the line has more behind it.
    pub cut_after: bool,
    /// The range of `text` that is meant, in bytes of `text`.
    pub mark: std::ops::Range<usize>,
}

impl Excerpt {
    /// Most bytes of a line that an excerpt keeps.
    pub const LIMIT: usize = 160;

    /// Takes the bytes around `mark` (a range of `line`) out of a line. Characters are never split.
    pub fn around(line: &[u8], mark: std::ops::Range<usize>) -> Excerpt {
        let start = mark.start.min(line.len());
        let end = mark.end.clamp(start, line.len());
        let boundary = |mut at: usize| {
            while at > 0 && line.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                at -= 1;
            }
            at
        };
        let from = boundary(start.saturating_sub(40));
        let to = boundary((from + Self::LIMIT).min(line.len())).max(from);
        let end = end.min(to);
        let start = start.min(end);
        let piece = |from, to| String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
        let (before, marked, after) = (piece(from, start), piece(start, end), piece(end, to));
        Excerpt {
            mark: before.len()..before.len() + marked.len(),
            text: [before, marked, after].concat(),
            cut_before: from > 0,
            cut_after: to < line.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_as_utc() {
        let shown = |millis| Millis(millis).to_string();
        assert_eq!(shown(0), "1970-01-01 00:00:00Z");
        assert_eq!(shown(1_784_538_307_000), "2026-07-20 09:05:07Z");
        assert_eq!(shown(951_782_400_000), "2000-02-29 00:00:00Z");
        assert_eq!(shown(-1), "1969-12-31 23:59:59Z");
    }
}
