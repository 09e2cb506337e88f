//! One JSON value as it stands in the log, and what it means to the harness's engine.
//!
//! **Takes** bytes that the pass over their line found valid. **Gives** kinds, members, elements, texts and numbers.
//! **Never** validates again, allocates for canonical values, or copies but for escaped strings.

use std::borrow::Cow;

use crate::line::Span;

use super::keys::{self, Keys};
use super::members::{Elements, Members, Walk};
use super::scan::{byte, slice};
use super::text::{Text, TextBuf};
use super::validate::validate;
use super::{escape, number};

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number; the engine holds it as a double.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A text that `JSON.parse` refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Offset of the first byte that breaks the grammar; the length of the text when it ends too early.
    pub at: u64,
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no JSON at byte {}", self.at)
    }
}

impl std::error::Error for JsonError {}

/// Whether a value stands as the engine would print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Canonical,
    Other,
    /// A part of a value in another form: not looked at yet.
    Unknown,
}

/// One valid JSON value as it stands. A borrow of its bytes; cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'b> {
    bytes: &'b [u8],
    start: u64,
    form: Form,
}

impl<'b> Raw<'b> {
    /// The value `null`, standing nowhere.
    pub const NULL: Raw<'static> = Raw {
        bytes: b"null",
        start: 0,
        form: Form::Canonical,
    };

    /// Validates a text by the grammar of `JSON.parse`; the value without whitespace around it. Spans count in `bytes`.
    ///
    /// Invalid UTF-8 inside strings is legal, as in the harness, which replaces it before it parses.
    ///
    /// # Errors
    ///
    /// Where the grammar breaks.
    pub fn parse(bytes: &'b [u8]) -> Result<Raw<'b>, JsonError> {
        let facts = validate(bytes, &mut Keys::default(), &mut ())
            .map_err(|at| JsonError { at: at as u64 })?;
        let start = facts.value.start;
        Ok(Raw::new(
            slice(bytes, start, facts.value.end),
            start as u64,
            facts.canonical,
        ))
    }

    /// The value that `bytes` are, known to be valid.
    pub(super) fn new(bytes: &'b [u8], start: u64, canonical: bool) -> Raw<'b> {
        Raw {
            bytes,
            start,
            form: if canonical {
                Form::Canonical
            } else {
                Form::Other
            },
        }
    }

    /// The value at a range of this one's bytes.
    pub(super) fn part(self, from: usize, to: usize) -> Raw<'b> {
        let form = match self.form {
            Form::Canonical => Form::Canonical,
            Form::Other | Form::Unknown => Form::Unknown,
        };
        Raw {
            bytes: slice(self.bytes, from, to),
            start: self.start + from as u64,
            form,
        }
    }

    /// The same value over other bytes, which must hold the same: those that were kept.
    pub fn rebased(self, bytes: &[u8]) -> Raw<'_> {
        debug_assert_eq!(self.bytes, bytes);
        Raw {
            bytes,
            start: self.start,
            form: self.form,
        }
    }

    /// Its bytes, without whitespace around them. Not necessarily UTF-8.
    pub fn bytes(self) -> &'b [u8] {
        self.bytes
    }

    /// Where it stands in the decoded log.
    pub fn span(self) -> Span {
        Span::at(self.start, self.bytes.len())
    }

    /// Whether its bytes are exactly what `JSON.stringify(JSON.parse(x))` prints. O(1), but O(length) for a part of a value that is not.
    pub fn is_canonical(self) -> bool {
        match self.form {
            Form::Canonical => true,
            Form::Other => false,
            Form::Unknown => validate(self.bytes, &mut Keys::default(), &mut ())
                .is_ok_and(|facts| facts.canonical),
        }
    }

    /// Whether it is known without looking that the value stands as the engine prints it.
    pub(super) fn is_known_canonical(self) -> bool {
        self.form == Form::Canonical
    }

    /// What it is.
    #[inline]
    pub fn kind(self) -> Kind {
        match byte(self.bytes, 0) {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The members of an object as the engine lists them: `(key, value)`, integer-like keys first and ascending, of equal keys the
    /// first one's place and the last one's value. Nothing for another kind. Allocates only for a value not known to be canonical.
    pub fn members(self) -> Members<'b> {
        Members::of(self)
    }

    /// The member with this (decoded) key; of several the last. O(length) of the members before it.
    pub fn get(self, name: &str) -> Option<Raw<'b>> {
        let mut found = None;
        for (key, value) in Walk::of(self) {
            if key.is_str(name) {
                if self.is_known_canonical() {
                    return Some(value);
                }
                found = Some(value);
            }
        }
        found
    }

    /// The elements of an array. Nothing for another kind.
    pub fn elements(self) -> Elements<'b> {
        Elements::of(self)
    }

    /// A string's bytes between its quotes.
    pub(super) fn body(self) -> Option<&'b [u8]> {
        self.bytes.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// A string's text. Allocates only when it has escapes or invalid UTF-8.
    pub fn text(self) -> Option<Text<'b>> {
        let body = self.body()?;
        if self.is_known_canonical() && memchr::memchr(b'\\', body).is_none() {
            return Some(Text::new(Cow::Borrowed(body)));
        }
        Some(Text::new(keys::text_of(body)))
    }

    /// Appends a string's text; `false` when it is no string.
    pub fn append_to(self, out: &mut TextBuf) -> bool {
        let Some(body) = self.body() else {
            return false;
        };
        out.append(|bytes| escape::decode(body, bytes));
        true
    }

    /// Whether it is a string with exactly this text.
    #[inline]
    pub fn is_str(self, text: &str) -> bool {
        let Some(body) = self.body() else {
            return false;
        };
        let escaped = memchr::memchr(b'\\', body).is_some();
        if !escaped && (self.is_known_canonical() || body.is_ascii()) {
            return body == text.as_bytes();
        }
        *keys::text_of(body) == *text.as_bytes()
    }

    /// A number's value; infinite when the literal is beyond a double's range.
    pub fn number(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| number::value(self.bytes))
    }

    /// A number's value where it is a safe integer, however it is spelled: `5.0` is 5, `-0` is 0.
    pub fn safe_int(self) -> Option<i64> {
        if self.kind() != Kind::Number {
            return None;
        }
        number::safe_integer(self.bytes)
    }

    /// The value of `true` or `false`.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.bytes == b"true")
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn spans_count_in_the_text() {
        let value = raw(" {\"a\": [1, \"x\"]} ");
        assert_eq!(value.span(), Span { start: 1, end: 16 });
        let second = value.get("a").unwrap().elements().nth(1).unwrap();
        assert_eq!(
            (second.span(), second.bytes()),
            (Span { start: 11, end: 14 }, &b"\"x\""[..])
        );
    }

    #[test]
    fn members_are_listed_as_the_engine_does() {
        let value = raw(r#"{"b":1,"2":2,"a":3,"\u0031":4,"b":5}"#);
        let listed: Vec<_> = value
            .members()
            .map(|(key, value)| {
                (
                    key.text().unwrap().to_lossy().into_owned(),
                    value.safe_int().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            listed,
            [("1", 4), ("2", 2), ("b", 5), ("a", 3)].map(|(k, v)| (k.to_owned(), v))
        );
        assert_eq!(value.get("b").unwrap().safe_int(), Some(5));
        assert_eq!(value.get("1").unwrap().safe_int(), Some(4));
        assert!(value.get("c").is_none());
    }

    #[test]
    fn parts_of_odd_values_are_looked_at() {
        let value = raw(r#"{"a": [1], "b": [ 1]}"#);
        assert!(!value.is_canonical());
        assert!(value.get("a").unwrap().is_canonical());
        assert!(!value.get("b").unwrap().is_canonical());
    }

    #[test]
    fn strings_are_compared_by_text() {
        assert!(raw(r#""\u0061b""#).is_str("ab"));
        assert!(!raw(r#""a\n""#).is_str("a\\n"));
        assert!(raw(r#""a\\n""#).is_str("a\\n"));
        assert!(Raw::parse(b"\"\xFF\"").unwrap().is_str("\u{FFFD}"));
        assert!(!raw("1").is_str("1"));
    }

    #[test]
    fn scalars_have_values() {
        assert_eq!(raw("1e400").number(), Some(f64::INFINITY));
        assert_eq!(raw("-2.50").number(), Some(-2.5));
        assert_eq!(raw("true").as_bool(), Some(true));
        assert_eq!(raw("\"true\"").as_bool(), None);
        assert!(raw("null").is_null());
        assert_eq!(raw("[]").safe_int(), None);
    }
}
