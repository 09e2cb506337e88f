//! One JSON value as it stands in the log, and what it means to the harness's engine.
//!
//! **Takes** bytes that the pass over their line found valid. **Gives** kinds, members, elements, texts and numbers.
//! **Never** validates again, allocates for canonical values, or copies but for escaped strings.

use std::borrow::Cow;
use std::fmt;

use crate::line::Span;

use super::jumps::Jumps;
use super::keys::{self, Keys};
use super::members::{Canonical, Elements, Members, Place, Walk, has_key};
use super::scan::{bare_end, byte, near_stop, slice, value_end};
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
#[derive(Clone, Copy)]
pub struct Raw<'b> {
    bytes: &'b [u8],
    start: u64,
    form: Form,
    jumps: Option<&'b Jumps>,
}

impl<'b> Raw<'b> {
    /// The value `null`, standing nowhere.
    pub const NULL: Raw<'static> = Raw {
        bytes: b"null",
        start: 0,
        form: Form::Canonical,
        jumps: None,
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
            jumps: None,
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
            jumps: self.jumps,
        }
    }

    /// The same value over other bytes, which must hold the same: those that were kept.
    pub fn rebased(self, bytes: &[u8]) -> Raw<'_> {
        debug_assert_eq!(self.bytes, bytes);
        Raw {
            bytes,
            start: self.start,
            form: self.form,
            jumps: None,
        }
    }

    /// The same value, and where the long ones inside end. They must be of the line that it stands on.
    pub(super) fn with_jumps(self, jumps: &'b Jumps) -> Raw<'b> {
        Raw {
            jumps: Some(jumps),
            ..self
        }
    }

    /// Where the long values of its line end, if that was noted.
    #[inline(always)]
    pub(super) fn jumps(self) -> Option<&'b Jumps> {
        self.jumps
    }

    /// Offset behind the value that begins at `at`.
    #[inline(always)]
    pub(super) fn value_end(self, at: usize) -> usize {
        match byte(self.bytes, at) {
            b'"' => match near_stop(self.bytes, at + 1) {
                Some(stop) if byte(self.bytes, stop) == b'"' => stop + 1,
                _ => self.far_end(at),
            },
            b'{' | b'[' => self.far_end(at),
            _ => bare_end(self.bytes, at),
        }
    }

    #[inline(never)]
    fn far_end(self, at: usize) -> usize {
        self.noted_end(at)
            .unwrap_or_else(|| value_end(self.bytes, at))
    }

    /// The same, if it was noted.
    #[inline]
    pub(super) fn noted_end(self, at: usize) -> Option<usize> {
        let end = self.jumps?.end_of(self.start + at as u64)?;
        Some((end - self.start) as usize)
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
    // Inlined, so that a name that is written in the source is looked at by the compiler.
    #[inline(always)]
    pub fn get(self, name: &str) -> Option<Raw<'b>> {
        if is_plain(name) {
            self.get_plain(name)
        } else {
            self.get_any(name)
        }
    }

    /// The same for a name that the engine prints as it is.
    #[inline(never)]
    fn get_plain(self, name: &str) -> Option<Raw<'b>> {
        if !self.is_known_canonical() {
            return self.get_any(name);
        }
        let (from, to) = Canonical::of(self).find(name)?;
        Some(self.part(from, to))
    }

    #[inline(never)]
    fn get_any(self, name: &str) -> Option<Raw<'b>> {
        Walk::of(self)
            .filter(|(key, _)| key.is_str(name))
            .last()
            .map(|(_, value)| value)
    }

    /// The members with these (decoded) keys, in the order of the names, in one walk: what [`Raw::get`] gives for each.
    pub fn fields<const N: usize>(self, names: [&str; N]) -> [Option<Raw<'b>>; N] {
        let mut found = [None; N];
        if self.is_known_canonical() && names.iter().all(|name| is_plain(name)) {
            let mut left = N;
            let mut places = Canonical::of(self);
            while left > 0 {
                let Some(Place { key, value }) = places.next() else {
                    break;
                };
                let known = |name: &&str| has_key(self.bytes, key.0, name);
                if let Some(place) = names
                    .iter()
                    .position(known)
                    .and_then(|ix| found.get_mut(ix))
                {
                    *place = Some(self.part(value.0, value.1));
                    left -= 1;
                }
            }
            return found;
        }
        for (key, value) in Walk::of(self) {
            for (name, place) in names.iter().zip(&mut found) {
                if key.is_str(name) {
                    *place = Some(value);
                }
            }
        }
        found
    }

    /// The elements of an array. Nothing for another kind.
    pub fn elements(self) -> Elements<'b> {
        Elements::of(self)
    }

    /// The elements behind the comma or bracket at an offset.
    pub(super) fn elements_from(self, at: usize) -> Elements<'b> {
        Elements::from(self, at)
    }

    /// A string's bytes between its quotes.
    pub(super) fn body(self) -> Option<&'b [u8]> {
        self.bytes.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// A string's text. Allocates only when it has escapes or invalid UTF-8.
    pub fn text(self) -> Option<Text<'b>> {
        let body = self.body()?;
        Some(Text::new(match memchr::memchr(b'\\', body) {
            _ if !self.is_known_canonical() => keys::text_of(body),
            None => Cow::Borrowed(body),
            Some(_) => {
                let mut text = Vec::new();
                escape::decode_utf8(body, &mut text);
                Cow::Owned(text)
            }
        }))
    }

    /// Appends a string's text; `false` when it is no string.
    pub fn append_to(self, out: &mut TextBuf) -> bool {
        let Some(body) = self.body() else {
            return false;
        };
        let plain = self.is_known_canonical() && memchr::memchr(b'\\', body).is_none();
        match plain {
            // Text of its own never begins with half of a pair.
            true => out.push_valid(body),
            false => out.append(|bytes| escape::decode(body, bytes)),
        }
        true
    }

    /// Whether it is a string with exactly this text.
    #[inline]
    pub fn is_str(self, text: &str) -> bool {
        let Some(body) = self.body() else {
            return false;
        };
        // An escape is longer than what it stands for, so bodies of this length or less have none, or another text.
        if self.is_known_canonical() && body.len() <= text.len() {
            return body == text.as_bytes() && !text.contains('\\');
        }
        self.is_spelled(body, text)
    }

    #[inline(never)]
    fn is_spelled(self, body: &[u8], text: &str) -> bool {
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

/// Whether the engine prints the key as it is.
#[inline(always)]
fn is_plain(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric())
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}..{} {}",
            self.start,
            self.span().end,
            String::from_utf8_lossy(self.bytes)
        )
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
        let found = value
            .fields(["a", "c", "b"])
            .map(|part| part.and_then(Raw::safe_int));
        assert_eq!(found, [Some(3), None, Some(5)]);
    }

    #[test]
    fn members_of_canonical_objects_are_found_without_a_walk() {
        let value = raw(r#"{"2":0,"a":{"b":1},"ab":"b","a\"":2,"b":[{"b":2}],"":3,"ü":4}"#);
        assert!(value.is_canonical());
        for (name, expected) in [
            ("a", "{\"b\":1}"),
            ("ab", "\"b\""),
            ("b", "[{\"b\":2}]"),
            ("a\"", "2"),
            ("", "3"),
            ("ü", "4"),
        ] {
            assert_eq!(value.get(name).unwrap().bytes(), expected.as_bytes());
            assert_eq!(
                value.fields(["x", name])[1].unwrap().bytes(),
                expected.as_bytes()
            );
        }
        assert!(
            value.get("c").is_none() && value.fields(["c", "a\\\""]).iter().all(Option::is_none)
        );
        assert!(raw("{}").get("a").is_none() && raw("[\"a\"]").get("a").is_none());
        assert!(raw("\"{\\\"a\\\":1}\"").fields(["a"])[0].is_none());
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
        // Three bytes of body, and three of text: an escape may be as long as what it stands for only when it is no canonical one.
        assert!(raw(r#""\/a""#).is_str("/a") && !raw(r#""\\a""#).is_str("\\\\a"));
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
