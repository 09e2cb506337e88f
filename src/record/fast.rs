//! A cursor over a line that is written in exactly the bytes the harness prints, and in an order known beforehand.
//!
//! **Takes** a line and, step by step, what is expected in it. **Gives** the parts that vary, as the general pass would.
//! **Never** takes what the engine would print otherwise: at the first byte that is not expected the line is left to the general pass.

use crate::line::Line;

use super::jumps::{Jumps, List};
use super::raw::Raw;
use super::scan::{byte, each, lowest, no_digits, slice, stops, word};

/// Bytes that are looked at together.
pub(super) const WORD: usize = 8;
/// Digits that are taken: below the safe integers whatever they are.
const MOST_DIGITS: usize = 15;

/// A cursor over a line. Every step answers `None`, and leaves the cursor anywhere, where the line holds something else.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'line> {
    bytes: &'line [u8],
    start: u64,
    at: usize,
    /// Whether the bytes are known to be UTF-8.
    is_utf8: bool,
    /// What is known of the line.
    jumps: Option<&'line Jumps>,
}

impl<'line> Scan<'line> {
    /// A cursor at the start of a line.
    #[inline(always)]
    pub fn of(line: &Line<'line>) -> Scan<'line> {
        Scan {
            bytes: line.bytes,
            start: line.start,
            at: 0,
            is_utf8: false,
            jumps: None,
        }
    }

    /// A cursor inside a line that the general pass reads.
    #[inline(always)]
    pub(super) fn inside(line: &Line<'line>, at: usize, is_utf8: bool) -> Scan<'line> {
        Scan {
            at,
            is_utf8,
            ..Scan::of(line)
        }
    }

    /// A cursor at the start of a value that the engine printed.
    #[inline(always)]
    pub(super) fn over(value: Raw<'line>) -> Scan<'line> {
        Scan {
            bytes: value.bytes(),
            start: value.span().start,
            at: 0,
            is_utf8: true,
            jumps: value.jumps(),
        }
    }

    /// Takes exactly these bytes. The cursor stays where it is when others stand there.
    #[inline(always)]
    pub fn literal<const LEN: usize>(&mut self, expected: &[u8; LEN]) -> Option<()> {
        let found: &[u8; LEN] = self.bytes.get(self.at..)?.first_chunk()?;
        if found != expected {
            return None;
        }
        self.at += LEN;
        Some(())
    }

    /// Takes exactly these bytes, which stood in another line.
    #[inline(always)]
    pub fn bytes_like(&mut self, expected: &[u8]) -> Option<()> {
        let end = self.at + expected.len();
        if self.bytes.get(self.at..end)? != expected {
            return None;
        }
        self.at = end;
        Some(())
    }

    /// The bytes from an offset of the line up to the cursor.
    pub fn since(&self, from: usize) -> &'line [u8] {
        slice(self.bytes, from, self.at)
    }

    /// Takes a natural number of at most fifteen digits.
    #[inline(always)]
    pub fn natural(&mut self) -> Option<u64> {
        let (value, len) = natural(self.bytes, self.at)?;
        self.at += len;
        Some(value)
    }

    /// Takes a string that holds no escape with four digits.
    #[inline(always)]
    pub fn string(&mut self) -> Option<Raw<'line>> {
        let open = self.at;
        if byte(self.bytes, open) != b'"' {
            return None;
        }
        let mut seen = 0;
        let end = string_body(self.bytes, open + 1, &mut seen)?;
        if !self.is_utf8 && seen & each(0x80) != 0 {
            std::str::from_utf8(slice(self.bytes, open + 1, end)).ok()?;
        }
        self.at = end + 1;
        Some(self.part(open, end + 1))
    }

    /// The value that stands at a range of the line, known to be one.
    #[inline(always)]
    pub fn part(&self, from: usize, to: usize) -> Raw<'line> {
        Raw::new(slice(self.bytes, from, to), self.start + from as u64, true)
    }

    /// The value from an offset up to the cursor, known to be one; walks over it know what is known of the line.
    #[inline(always)]
    pub(super) fn value(&self, from: usize) -> Raw<'line> {
        let value = self.part(from, self.at);
        self.jumps.map_or(value, |jumps| value.with_jumps(jumps))
    }

    /// The whole line, if the cursor stands at its end.
    #[inline(always)]
    pub fn whole(&self) -> Option<Raw<'line>> {
        (self.at == self.bytes.len()).then(|| Raw::new(self.bytes, self.start, true))
    }

    /// Where the cursor stands: an offset into the line.
    #[inline(always)]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Whether these bytes stand at the cursor.
    #[inline(always)]
    pub(super) fn sees<const LEN: usize>(&self, expected: &[u8; LEN]) -> bool {
        slice(self.bytes, self.at, self.at + LEN) == expected
    }

    /// Whether the bytes are known to be UTF-8.
    #[inline(always)]
    pub(super) fn is_utf8(&self) -> bool {
        self.is_utf8
    }

    /// The list that begins at the cursor, if it was noted.
    #[inline(always)]
    pub(super) fn noted_list(&self) -> Option<&'line List> {
        self.jumps?.list_at(self.start + self.at as u64)
    }

    /// What is known of the line.
    #[inline(always)]
    pub(super) fn jumps(&self) -> Option<&'line Jumps> {
        self.jumps
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> &'line [u8] {
        self.bytes
    }

    #[inline(always)]
    pub(super) fn move_to(&mut self, at: usize) {
        self.at = at;
    }
}

/// The number at `at`, and how many digits it has. Eight bytes must stand behind its first digits.
#[inline(always)]
pub(super) fn natural(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = word(bytes, at)?;
    let marks = no_digits(first);
    if marks != 0 {
        let len = lowest(marks);
        if len == 1 {
            return Some((first & 0x0F, 1));
        }
        let sound = len > 0 && first as u8 != b'0';
        return sound.then(|| (digits_of(first, len), len));
    }
    let second = word(bytes, at + 8)?;
    let len = lowest(no_digits(second));
    if len > MOST_DIGITS - 8 || first as u8 == b'0' {
        return None;
    }
    let high = digits_of(first, 8);
    if len == 0 {
        return Some((high, 8));
    }
    let scale = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    Some((high * scale.get(len)? + digits_of(second, len), 8 + len))
}

/// The value of the first `len` digits (1 to 8) of a word.
#[inline(always)]
fn digits_of(word: u64, len: usize) -> u64 {
    // The digits move to the end; zeros stand before them.
    let digits = (word & each(0x0F)) << (64 - 8 * len);
    let pairs = (digits.wrapping_mul(10 << 8 | 1) >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

/// Offset of the quote that closes the string of which `from` is inside. All its bytes, and perhaps some behind it, are joined into
/// `seen`. `None` for what the engine prints otherwise, for escapes with four digits, and for a string that does not end.
#[inline(always)]
pub(super) fn string_body(bytes: &[u8], from: usize, seen: &mut u64) -> Option<usize> {
    let mut at = from;
    loop {
        let word = word(bytes, at).unwrap_or_else(|| last_word(bytes, at));
        *seen |= word;
        let marks = stops(word);
        if marks == 0 {
            at += 8;
            continue;
        }
        at += lowest(marks);
        match byte(bytes, at) {
            b'"' => return Some(at),
            b'\\' if is_short_escape(byte(bytes, at + 1)) => at += 2,
            _ => return None,
        }
    }
}

/// Whether a backslash and this letter are an escape as the engine prints it.
#[inline(always)]
pub(super) fn is_short_escape(letter: u8) -> bool {
    matches!(letter, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't')
}

/// The bytes at `at`, of which there are less than eight, with control characters behind them.
#[inline(always)]
fn last_word(bytes: &[u8], at: usize) -> u64 {
    let missing = (at + 8).saturating_sub(bytes.len());
    match bytes.last_chunk() {
        Some(last) if missing < 8 => u64::from_le_bytes(*last) >> (8 * missing),
        _ => 0,
    }
}
