//! The one pass over a JSON text: is it valid, is it as the engine prints it, and what is odd about it.
//!
//! **Takes** bytes. **Gives** [`Facts`], and events to a [`Sink`] on the way.
//! **Never** recurses, and never looks at a byte twice but for UTF-8: one bit per level of nesting, one word per key of open objects.

use std::ops::Range;

use super::keys::{KeyOrder, Keys};
use super::nesting::Nesting;
use super::number::{self, Spelling};
use super::odd::Odd;
use super::scan::{byte, is_blank, near_stop, read_string, skip_blank, slice, word};
use super::survey::survey;

/// Hears of the objects of a text while it is validated. Offsets count in the text.
pub(super) trait Sink {
    /// Whether [`Sink::member`] is to be called.
    const MEMBERS: bool = false;
    /// A member of the outermost object: its key, its value, and whether the value stands as the engine prints it.
    fn member(&mut self, _key: Key, _value: Range<usize>, _canonical: bool) {}
    /// An object opens.
    fn open(&mut self, _at: usize) {}
    /// The innermost open object has a key twice, or one that the engine lists elsewhere.
    fn disorder(&mut self) {}
    /// The innermost open object ends before `end`.
    fn close(&mut self, _end: usize) {}
    /// A container opens that is not empty.
    fn enter(&mut self, _at: usize) {}
    /// The innermost open container ends before `end`.
    fn leave(&mut self, _end: usize) {}
    /// The offset behind the object that opens at `at` inside of an array, if it is known that nothing in it is odd.
    fn pass_over(&mut self, _at: usize, _is_utf8: bool) -> Option<usize> {
        None
    }
    /// A string that is no key, and not short.
    fn string(&mut self, _start: usize, _end: usize) {}
}

impl Sink for () {}

/// A member's key.
pub(super) struct Key {
    /// Its place, with quotes.
    pub(super) at: Range<usize>,
    /// Its text in one word, the first byte lowest, when it has less than eight bytes and no escape; else zero.
    pub(super) short: u64,
}

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
    let survey = survey(bytes);
    let mut pass = Pass {
        bytes,
        utf8: survey.not_utf8.is_none(),
        no_controls: survey.no_controls,
        keys,
        sink,
        nesting: Nesting::new(),
        others_canonical: true,
        member: Member::default(),
        odd: Odd {
            canonical: true,
            ..Odd::default()
        },
    };
    let start = skip_blank(bytes, 0);
    let end = pass.values(start)?;
    let rest = skip_blank(bytes, end);
    if rest < bytes.len() {
        return Err(rest);
    }
    let Odd {
        canonical,
        duplicate_key,
        huge_number,
        lone_surrogate,
    } = pass.odd;
    Ok(Facts {
        value: start..end,
        canonical: canonical && pass.others_canonical && pass.utf8,
        not_utf8: survey.not_utf8,
        duplicate_key,
        huge_number,
        lone_surrogate,
    })
}

/// The member of the outermost object that is being read.
#[derive(Clone, Default)]
struct Member {
    key: Range<usize>,
    short: u64,
    value: usize,
}

struct Pass<'b, 'k, S> {
    bytes: &'b [u8],
    utf8: bool,
    no_controls: bool,
    keys: &'k mut Keys,
    sink: &'k mut S,
    nesting: Nesting,
    /// Whether everything before the outermost member's value stands as the engine prints it; [`Odd::canonical`] says it for what follows.
    others_canonical: bool,
    member: Member,
    odd: Odd,
}

/// What comes behind a value.
enum Next {
    /// Another value, perhaps behind whitespace.
    Value(usize),
    /// A key, perhaps behind whitespace.
    Key(usize),
    /// Nothing inside the text's value.
    End(usize),
}

// The pass is one function but for what is rare: its methods are inlined, so that its state stays in registers.
impl<S: Sink> Pass<'_, '_, S> {
    /// Reads the value at `at` and everything in it; the offset behind it.
    fn values(&mut self, start: usize) -> Result<usize, usize> {
        let mut next = Next::Value(start);
        loop {
            let at = match next {
                Next::Value(at) => at,
                Next::Key(at) => self.key(at)?,
                Next::End(at) => return Ok(at),
            };
            let first = byte(self.bytes, at);
            let end = match first {
                b'"' => self.string(at)?,
                b'-' | b'0'..=b'9' => self.number(at)?,
                b'{' if self.nesting.in_array()
                    && let Some(end) = self.sink.pass_over(at, self.utf8) =>
                {
                    end
                }
                b'{' | b'[' => {
                    let inside = self.blank(at + 1);
                    // The closing brackets stand two behind the opening ones.
                    if byte(self.bytes, inside) != first + 2 {
                        next = self.open(at, inside);
                        continue;
                    }
                    inside + 1
                }
                b't' => literal(self.bytes, at, b"true")?,
                b'f' => literal(self.bytes, at, b"false")?,
                b'n' => literal(self.bytes, at, b"null")?,
                _ if is_blank(first) => {
                    next = Next::Value(self.blank(at));
                    continue;
                }
                _ => return Err(at),
            };
            next = self.behind_value(end)?;
        }
    }

    /// Enters the container that opens at `at` and is not empty.
    #[inline(always)]
    fn open(&mut self, at: usize, inside: usize) -> Next {
        let object = byte(self.bytes, at) == b'{';
        self.nesting.push(object);
        self.sink.enter(at);
        if !object {
            return Next::Value(inside);
        }
        self.sink.open(at);
        self.keys.open();
        Next::Key(inside)
    }

    /// Goes on behind a value: closes what ends there, and finds what is next.
    #[inline(always)]
    fn behind_value(&mut self, end: usize) -> Result<Next, usize> {
        let mut at = end;
        loop {
            let object = self.nesting.in_object();
            if !object && byte(self.bytes, at) == b',' && !self.nesting.is_empty() {
                return Ok(Next::Value(at + 1));
            }
            if S::MEMBERS && self.nesting.in_outermost_object() {
                self.outer_member(at);
            }
            if byte(self.bytes, at) <= b' ' && !self.nesting.is_empty() {
                at = self.blank(at);
            }
            match byte(self.bytes, at) {
                b',' if object => return Ok(Next::Key(at + 1)),
                b'}' if object => self.close_object(at + 1),
                _ if self.nesting.is_empty() => return Ok(Next::End(at)),
                b']' if !object => {}
                b',' => return Ok(Next::Value(at + 1)),
                _ => return Err(at),
            }
            self.nesting.pop();
            at += 1;
            self.sink.leave(at);
        }
    }

    #[inline(always)]
    fn close_object(&mut self, end: usize) {
        if let Some(at) = self.keys.close(self.bytes) {
            self.sink.disorder();
            self.odd.repeat(self.bytes, at);
        }
        self.sink.close(end);
    }

    /// Reads the key at or behind `from`, and its colon; the offset behind that.
    #[inline(always)]
    fn key(&mut self, from: usize) -> Result<usize, usize> {
        let at = self.find(b'"', from)?;
        let near = near_stop(self.bytes, at + 1);
        let unescaped = near.filter(|&stop| byte(self.bytes, stop) == b'"');
        let end = match unescaped {
            Some(stop) => stop + 1,
            None => far_string(self.bytes, at + 1, self.no_controls, &mut self.odd)?,
        };
        let plain = unescaped.is_some() && self.utf8;
        let short = if plain {
            short_word(self.bytes, at + 1, end - 1)
        } else {
            0
        };
        let order = match short {
            0 => self.keys.add_any(self.bytes, at, end, plain),
            _ => self.keys.add_short(self.bytes, at, short),
        };
        if order != KeyOrder::InPlace {
            self.sink.disorder();
            self.odd.displace(self.bytes, at, order);
        }
        let colon = self.find(b':', end)?;
        if S::MEMBERS && self.nesting.in_outermost_object() {
            let value = self.blank(colon + 1);
            self.member = Member {
                key: at..end,
                short,
                value,
            };
            self.others_canonical &= self.odd.canonical;
            self.odd.canonical = true;
            return Ok(value);
        }
        Ok(colon + 1)
    }

    #[inline(always)]
    fn outer_member(&mut self, end: usize) {
        let value = self.member.value..end;
        let utf8 = || std::str::from_utf8(slice(self.bytes, value.start, value.end)).is_ok();
        let canonical = self.odd.canonical && (self.utf8 || utf8());
        let Member { key, short, .. } = self.member.clone();
        self.sink.member(Key { at: key, short }, value, canonical);
        self.others_canonical &= self.odd.canonical;
        self.odd.canonical = true;
    }

    /// Reads the string that opens at `open`; the offset behind it.
    #[inline(always)]
    fn string(&mut self, open: usize) -> Result<usize, usize> {
        match near_stop(self.bytes, open + 1) {
            Some(stop) if byte(self.bytes, stop) == b'"' => Ok(stop + 1),
            _ => {
                let end = far_string(self.bytes, open + 1, self.no_controls, &mut self.odd)?;
                self.sink.string(open, end);
                Ok(end)
            }
        }
    }

    #[inline(always)]
    fn number(&mut self, at: usize) -> Result<usize, usize> {
        let (end, spelling) = number::read(self.bytes, at)?;
        if spelling != Spelling::Printed {
            self.odd.respell(at..end, spelling);
        }
        Ok(end)
    }

    /// The offset of `expected`, perhaps behind whitespace.
    #[inline(always)]
    fn find(&mut self, expected: u8, from: usize) -> Result<usize, usize> {
        if byte(self.bytes, from) == expected {
            return Ok(from);
        }
        let at = self.blank(from);
        if byte(self.bytes, at) == expected {
            Ok(at)
        } else {
            Err(at)
        }
    }

    /// Skips whitespace, which the engine never prints.
    #[inline(always)]
    fn blank(&mut self, at: usize) -> usize {
        if byte(self.bytes, at) > b' ' {
            return at;
        }
        let behind = skip_blank(self.bytes, at);
        self.odd.canonical &= behind == at;
        behind
    }
}

/// The bytes of a range in one word, the first one lowest; zero when they are none or do not leave room.
#[inline(always)]
fn short_word(bytes: &[u8], from: usize, to: usize) -> u64 {
    let len = to - from;
    match word(bytes, from) {
        Some(word) if len < 8 => word & ((1 << (8 * len)) - 1),
        _ => 0,
    }
}

#[inline(never)]
fn far_string(bytes: &[u8], from: usize, no_controls: bool, odd: &mut Odd) -> Result<usize, usize> {
    read_string(bytes, from, no_controls, |backslash| {
        odd.escape(bytes, backslash)
    })
}

#[inline(always)]
fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, usize> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.starts_with(word) {
        return Ok(at + word.len());
    }
    Err(at + rest.iter().zip(word).take_while(|(a, b)| a == b).count())
}
