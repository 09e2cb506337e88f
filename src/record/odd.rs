//! What keeps a text from being canonical, and what is odd about it.
//!
//! **Takes** keys, numbers and escapes that the pass over the text meets. **Gives** the first place of each oddity.
//! **Never** decides whether a text is valid, but for the grammar of escapes.

use std::ops::Range;

use super::escape::{hex_unit, is_high, is_low};
use super::keys::KeyOrder;
use super::number::Spelling;
use super::scan::{byte, slice, string_end};

/// What keeps a text from being canonical.
#[derive(Default)]
pub(super) struct Odd {
    /// Whether nothing did since it was last set.
    pub(super) canonical: bool,
    pub(super) duplicate_key: Option<Range<usize>>,
    pub(super) huge_number: Option<Range<usize>>,
    pub(super) lone_surrogate: Option<Range<usize>>,
}

impl Odd {
    #[inline(never)]
    pub(super) fn displace(&mut self, bytes: &[u8], key: usize, order: KeyOrder) {
        self.canonical = false;
        if order == KeyOrder::Repeated {
            self.repeat(bytes, key);
        }
    }

    #[inline(never)]
    pub(super) fn repeat(&mut self, bytes: &[u8], key: usize) {
        self.canonical = false;
        if self
            .duplicate_key
            .as_ref()
            .is_none_or(|known| key < known.start)
        {
            self.duplicate_key = Some(key..string_end(bytes, key));
        }
    }

    #[inline(never)]
    pub(super) fn respell(&mut self, number: Range<usize>, spelling: Spelling) {
        self.canonical = false;
        if spelling == Spelling::Huge {
            self.huge_number.get_or_insert(number);
        }
    }

    /// Reads the escape that the backslash at `at` begins; the offset behind it.
    #[inline(always)]
    pub(super) fn escape(&mut self, bytes: &[u8], at: usize) -> Result<usize, usize> {
        match byte(bytes, at + 1) {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
            b'/' => {
                self.canonical = false;
                Ok(at + 2)
            }
            b'u' => self.unit(bytes, at),
            _ => Err(at + 1),
        }
    }

    #[inline(never)]
    fn unit(&mut self, bytes: &[u8], at: usize) -> Result<usize, usize> {
        let (unit, lower) = hex_unit(bytes, at + 2)?;
        let end = at + 6;
        if is_high(unit) && slice(bytes, end, end + 2) == b"\\u" {
            let (second, _) = hex_unit(bytes, end + 2)?;
            if is_low(second) {
                self.canonical = false;
                return Ok(end + 6);
            }
        }
        if is_high(unit) || is_low(unit) {
            self.lone_surrogate.get_or_insert(at..end);
            self.canonical &= lower;
        } else {
            self.canonical &= lower && unit < 0x20 && !matches!(unit, 8 | 9 | 10 | 12 | 13);
        }
        Ok(end)
    }
}
