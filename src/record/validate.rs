//! The one pass over a JSON text: is it valid, is it as the engine prints it, and what is odd about it.
//!
//! **Takes** bytes. **Gives** [`Facts`], and events to a [`Sink`] on the way.
//! **Never** recurses, and never looks at a byte twice but for UTF-8: one bit per level of nesting, one word per key of open objects.

use std::ops::Range;

use super::escape::{hex_unit, is_high, is_low};
use super::keys::{KeyOrder, Keys};
use super::number::{self, Spelling};
use super::scan::{byte, is_blank, skip_blank, slice, string_stop};

/// Hears of the objects of a text while it is validated. Offsets count in the text.
pub(super) trait Sink {
    /// Whether [`Sink::member`] is to be called.
    const MEMBERS: bool = false;
    /// A member of the outermost object: its key with quotes, its value, and whether the value stands as the engine prints it.
    fn member(&mut self, _key: Range<usize>, _value: Range<usize>, _canonical: bool) {}
    /// An object opens.
    fn open(&mut self, _at: usize) {}
    /// The innermost open object has a key twice, or one that the engine lists elsewhere.
    fn disorder(&mut self) {}
    /// The innermost open object ends before `end`.
    fn close(&mut self, _end: usize) {}
}

impl Sink for () {}

/// What the pass found. Ranges count in the text; each is the first of its kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The value, without whitespace around it.
    pub(super) value: Range<usize>,
    /// Whether the value stands exactly as the engine prints it.
    pub(super) canonical: bool,
    /// Bytes inside a string that are no UTF-8.
    pub(super) not_utf8: Option<Range<usize>>,
    /// The second of two equal keys of an object.
    pub(super) duplicate_key: Option<Range<usize>>,
    /// A number beyond a double's range.
    pub(super) huge_number: Option<Range<usize>>,
    /// The escape of half a surrogate pair.
    pub(super) lone_surrogate: Option<Range<usize>>,
}

/// Validates a text as `JSON.parse` does.
///
/// # Errors
///
/// The offset of the first byte that breaks the grammar; the length of the text when it ends too early.
pub(super) fn validate<S: Sink>(
    bytes: &[u8],
    keys: &mut Keys,
    sink: &mut S,
) -> Result<Facts, usize> {
    keys.clear();
    let mut pass = Pass {
        bytes,
        keys,
        sink,
        nesting: Nesting::default(),
        canonical: true,
        others_canonical: true,
        member: 0..0,
        value_from: 0,
        facts: Facts {
            not_utf8: invalid_utf8(bytes),
            ..Facts::default()
        },
    };
    let start = skip_blank(bytes, 0);
    let end = pass.values(start)?;
    let rest = skip_blank(bytes, end);
    if rest < bytes.len() {
        return Err(rest);
    }
    let canonical = pass.canonical && pass.others_canonical && pass.facts.not_utf8.is_none();
    Ok(Facts {
        value: start..end,
        canonical,
        ..pass.facts
    })
}

/// The first bytes that are no UTF-8: one maximal subpart.
fn invalid_utf8(bytes: &[u8]) -> Option<Range<usize>> {
    let error = std::str::from_utf8(bytes).err()?;
    let start = error.valid_up_to();
    Some(start..error.error_len().map_or(bytes.len(), |len| start + len))
}

/// Kinds of the open containers: a set bit is an object, the lowest one the innermost.
#[derive(Default)]
struct Nesting {
    innermost: u64,
    outer: Vec<u64>,
    depth: usize,
}

impl Nesting {
    #[inline]
    fn push(&mut self, object: bool) {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.outer.push(self.innermost);
        }
        self.innermost = self.innermost << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
        self.innermost >>= 1;
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.innermost = self.outer.pop().unwrap_or(0);
        }
    }

    #[inline]
    fn in_object(&self) -> bool {
        self.innermost & 1 == 1
    }
}

struct Pass<'b, 'k, S> {
    bytes: &'b [u8],
    keys: &'k mut Keys,
    sink: &'k mut S,
    nesting: Nesting,
    /// Whether everything since the start of the outermost member's value is as the engine prints it.
    canonical: bool,
    /// The same for everything before.
    others_canonical: bool,
    member: Range<usize>,
    value_from: usize,
    facts: Facts,
}

impl<S: Sink> Pass<'_, '_, S> {
    /// Reads the value at `at` and everything in it; the offset behind it.
    fn values(&mut self, mut at: usize) -> Result<usize, usize> {
        loop {
            at = match byte(self.bytes, at) {
                b'"' => self.string(at)?,
                b'{' => match self.object(at)? {
                    Opened::Inside(at_value) => {
                        at = at_value;
                        continue;
                    }
                    Opened::Empty(end) => end,
                },
                b'[' => {
                    let inside = self.blank(at + 1);
                    if byte(self.bytes, inside) != b']' {
                        self.nesting.push(false);
                        at = inside;
                        continue;
                    }
                    inside + 1
                }
                b'-' | b'0'..=b'9' => self.number(at)?,
                b't' => self.word(at, b"true")?,
                b'f' => self.word(at, b"false")?,
                b'n' => self.word(at, b"null")?,
                _ => return Err(at),
            };
            at = match self.behind_value(at)? {
                Next::Value(at) => at,
                Next::End(at) => return Ok(at),
            };
        }
    }

    /// Goes on behind a value: closes what ends there, and finds the next value.
    #[inline]
    fn behind_value(&mut self, mut at: usize) -> Result<Next, usize> {
        loop {
            let object = self.nesting.in_object();
            if self.nesting.depth <= 1 {
                if self.nesting.depth == 0 {
                    return Ok(Next::End(at));
                }
                if S::MEMBERS && object {
                    self.outer_member(at);
                }
            }
            at = self.blank(at);
            match (byte(self.bytes, at), object) {
                (b',', true) => {
                    let key = self.blank(at + 1);
                    return self.key(key).map(Next::Value);
                }
                (b',', false) => return Ok(Next::Value(self.blank(at + 1))),
                (b'}', true) => {
                    self.nesting.pop();
                    at += 1;
                    self.close_object(at);
                }
                (b']', false) => {
                    self.nesting.pop();
                    at += 1;
                }
                _ => return Err(at),
            }
        }
    }

    #[inline]
    fn object(&mut self, at: usize) -> Result<Opened, usize> {
        let inside = self.blank(at + 1);
        if byte(self.bytes, inside) == b'}' {
            return Ok(Opened::Empty(inside + 1));
        }
        self.sink.open(at);
        self.keys.open();
        self.nesting.push(true);
        self.key(inside).map(Opened::Inside)
    }

    #[inline]
    fn close_object(&mut self, end: usize) {
        if let Some(at) = self.keys.close(self.bytes) {
            self.repeated(at);
        }
        self.sink.close(end);
    }

    /// Reads the key at `at` and its colon; the offset of its value.
    #[inline]
    fn key(&mut self, at: usize) -> Result<usize, usize> {
        if byte(self.bytes, at) != b'"' {
            return Err(at);
        }
        let stop = string_stop(self.bytes, at + 1);
        let unescaped = byte(self.bytes, stop) == b'"';
        let end = if unescaped {
            stop + 1
        } else {
            self.string(at)?
        };
        let plain =
            unescaped && (self.facts.not_utf8.is_none() || slice(self.bytes, at, end).is_ascii());
        match self.keys.add(self.bytes, at, end, plain) {
            KeyOrder::InPlace => {}
            KeyOrder::OutOfPlace => {
                self.canonical = false;
                self.sink.disorder();
            }
            KeyOrder::Repeated => self.repeated(at),
        }
        let colon = self.blank(end);
        if byte(self.bytes, colon) != b':' {
            return Err(colon);
        }
        let value = self.blank(colon + 1);
        if S::MEMBERS && self.nesting.depth == 1 {
            self.member = at..end;
            self.value_from = value;
            self.others_canonical &= self.canonical;
            self.canonical = true;
        }
        Ok(value)
    }

    #[cold]
    fn repeated(&mut self, at: usize) {
        self.canonical = false;
        self.sink.disorder();
        if self
            .facts
            .duplicate_key
            .as_ref()
            .is_none_or(|known| at < known.start)
        {
            self.facts.duplicate_key = Some(at..super::scan::string_end(self.bytes, at));
        }
    }

    #[inline]
    fn outer_member(&mut self, end: usize) {
        let value = self.value_from..end;
        let canonical = self.canonical
            && (self.facts.not_utf8.is_none()
                || std::str::from_utf8(slice(self.bytes, value.start, value.end)).is_ok());
        self.sink.member(self.member.clone(), value, canonical);
        self.others_canonical &= self.canonical;
        self.canonical = true;
    }

    /// Reads the string that opens at `open`; the offset behind it.
    #[inline]
    fn string(&mut self, open: usize) -> Result<usize, usize> {
        let mut at = open + 1;
        loop {
            at = string_stop(self.bytes, at);
            match byte(self.bytes, at) {
                b'"' => return Ok(at + 1),
                b'\\' => at = self.escape(at)?,
                _ => return Err(at),
            }
        }
    }

    #[inline]
    fn escape(&mut self, at: usize) -> Result<usize, usize> {
        match byte(self.bytes, at + 1) {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
            b'/' => {
                self.canonical = false;
                Ok(at + 2)
            }
            b'u' => self.unit(at),
            _ => Err(at + 1),
        }
    }

    #[cold]
    fn unit(&mut self, at: usize) -> Result<usize, usize> {
        let (unit, lower) = hex_unit(self.bytes, at + 2)?;
        let end = at + 6;
        if is_high(unit) && slice(self.bytes, end, end + 2) == b"\\u" {
            let (second, _) = hex_unit(self.bytes, end + 2)?;
            if is_low(second) {
                self.canonical = false;
                return Ok(end + 6);
            }
        }
        if is_high(unit) || is_low(unit) {
            self.facts.lone_surrogate.get_or_insert(at..end);
            self.canonical &= lower;
        } else {
            self.canonical &= lower && unit < 0x20 && !matches!(unit, 8 | 9 | 10 | 12 | 13);
        }
        Ok(end)
    }

    #[inline]
    fn number(&mut self, at: usize) -> Result<usize, usize> {
        let (end, spelling) = number::read(self.bytes, at)?;
        if spelling != Spelling::Printed {
            self.canonical = false;
            if spelling == Spelling::Huge {
                self.facts.huge_number.get_or_insert(at..end);
            }
        }
        Ok(end)
    }

    #[inline]
    fn word(&mut self, at: usize, word: &[u8]) -> Result<usize, usize> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.starts_with(word) {
            return Ok(at + word.len());
        }
        Err(at + rest.iter().zip(word).take_while(|(a, b)| a == b).count())
    }

    /// Skips whitespace, which the engine never prints.
    #[inline]
    fn blank(&mut self, at: usize) -> usize {
        if !is_blank(byte(self.bytes, at)) {
            return at;
        }
        self.canonical = false;
        skip_blank(self.bytes, at)
    }
}

/// Where an object's bytes go on.
enum Opened {
    /// Its first value begins there.
    Inside(usize),
    /// It has no member and ends there.
    Empty(usize),
}

/// What comes behind a value.
enum Next {
    /// Another one.
    Value(usize),
    /// The end of the text's value.
    End(usize),
}
