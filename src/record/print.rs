//! Prints a value as the harness's engine does, and compares values by what they mean.
//!
//! **Takes** valid values. **Gives** the bytes of `JSON.stringify(JSON.parse(x))`.
//! **Never** recurses: a value that only spells things differently is rewritten token by token; objects whose members
//! must change places are listed first, and their parts put on a stack.

use std::borrow::Cow;
use std::io::{self, Write};

use super::keys::{Keys, Order, engine_order, key_text, sorted_order, text_of};
use super::number::{self, Spelling};
use super::raw::Raw;
use super::scan::{byte, is_blank, skip_blank, slice, string_end, string_stop};
use super::validate::{Sink, validate};
use super::{escape, scan};

impl<'b> Raw<'b> {
    /// Writes what `JSON.stringify(JSON.parse(x))` prints. A canonical value is copied as it stands.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn print(self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if self.is_known_canonical() {
            return out.write_all(self.bytes());
        }
        let mut moved = Moved {
            every: false,
            ..Moved::default()
        };
        match validate(self.bytes(), &mut Keys::default(), &mut moved) {
            Ok(facts) if facts.canonical => out.write_all(self.bytes()),
            _ => Printer::new(self.bytes(), moved, Meaning::Engine).print(out),
        }
    }

    /// What [`Raw::print`] writes. Borrows when the value stands like that already.
    pub fn printed(self) -> Cow<'b, [u8]> {
        if self.is_canonical() {
            return Cow::Borrowed(self.bytes());
        }
        let mut out = Vec::with_capacity(self.bytes().len());
        // Writing to memory does not fail.
        let _ = self.print(&mut out);
        Cow::Owned(out)
    }

    /// Whether two values are printed alike.
    pub fn same_text(self, other: Raw<'_>) -> bool {
        if self.bytes() == other.bytes() {
            return true;
        }
        let both_stand = self.is_known_canonical() && other.is_known_canonical();
        !both_stand && self.printed() == other.printed()
    }

    /// Whether two values are equal as JSON: strings by text, numbers by value (`-0` is 0), objects in any order of members.
    pub fn deep_eq(self, other: Raw<'_>) -> bool {
        let sorted = |raw: Raw<'_>| {
            let mut out = Vec::with_capacity(raw.bytes().len());
            let _ = raw.print_sorted(&mut out);
            out
        };
        self.bytes() == other.bytes() || sorted(self) == sorted(other)
    }

    /// Writes one text for all values that are [`Raw::deep_eq`]: members sorted by key.
    pub(super) fn print_sorted(self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let mut moved = Moved {
            every: true,
            ..Moved::default()
        };
        let _ = validate(self.bytes(), &mut Keys::default(), &mut moved);
        Printer::new(self.bytes(), moved, Meaning::Equality).print(out)
    }
}

/// What the printed text is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The engine's own text.
    Engine,
    /// Equal texts for equal values.
    Equality,
}

/// The objects of a text whose members change places, as `(start, end)`.
#[derive(Default)]
struct Moved {
    every: bool,
    open: Vec<(usize, bool)>,
    objects: Vec<(usize, usize)>,
}

impl Sink for Moved {
    fn open(&mut self, at: usize) {
        self.open.push((at, self.every));
    }

    fn disorder(&mut self) {
        if let Some((_, moved)) = self.open.last_mut() {
            *moved = true;
        }
    }

    fn close(&mut self, end: usize) {
        if let Some((at, true)) = self.open.pop() {
            self.objects.push((at, end));
        }
    }
}

struct Printer<'b> {
    bytes: &'b [u8],
    meaning: Meaning,
    /// By start.
    moved: Vec<(usize, usize)>,
    /// What is still to be printed, the next piece last.
    rest: Vec<Piece>,
}

/// Something still to be printed.
enum Piece {
    /// The bytes of a range, rewritten.
    Range(usize, usize),
    /// One byte.
    Byte(u8),
}

impl<'b> Printer<'b> {
    fn new(bytes: &'b [u8], moved: Moved, meaning: Meaning) -> Printer<'b> {
        let mut moved = moved.objects;
        moved.sort_unstable();
        Printer {
            bytes,
            meaning,
            moved,
            rest: vec![Piece::Range(0, bytes.len())],
        }
    }

    fn print(mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        while let Some(piece) = self.rest.pop() {
            match piece {
                Piece::Byte(b) => out.write_all(&[b])?,
                Piece::Range(from, to) => {
                    let Some((start, end)) = self.next_moved(from).filter(|&(at, _)| at < to)
                    else {
                        self.rewrite(from, to, out)?;
                        continue;
                    };
                    self.rewrite(from, start, out)?;
                    out.write_all(b"{")?;
                    self.rest.push(Piece::Range(end, to));
                    self.rest.push(Piece::Byte(b'}'));
                    self.push_members(start, end);
                }
            }
        }
        Ok(())
    }

    /// The first moved object at or behind `at`.
    fn next_moved(&self, at: usize) -> Option<(usize, usize)> {
        let ix = self.moved.partition_point(|&(start, _)| start < at);
        self.moved.get(ix).copied()
    }

    /// Puts the members of the object at `start..end` on the stack, in their order.
    fn push_members(&mut self, start: usize, end: usize) {
        let mut keys = Vec::new();
        let mut values = Vec::new();
        let mut at = start;
        loop {
            let key = skip_blank(self.bytes, at + 1);
            if key >= end || byte(self.bytes, key) != b'"' {
                break;
            }
            let key_end = string_end(self.bytes, key);
            let value = skip_blank(self.bytes, skip_blank(self.bytes, key_end) + 1);
            at = self.value_end(value);
            keys.push((key, key_end));
            values.push((value, at));
            at = skip_blank(self.bytes, at);
        }
        let texts: Vec<_> = keys
            .iter()
            .map(|&(at, _)| key_text(self.bytes, at))
            .collect();
        let order: Order = match self.meaning {
            Meaning::Engine => engine_order(&texts),
            Meaning::Equality => sorted_order(&texts),
        };
        for (ix, &(key, value)) in order.iter().enumerate().rev() {
            if let (Some(&key), Some(&value)) = (keys.get(key), values.get(value)) {
                self.rest.push(Piece::Range(value.0, value.1));
                self.rest.push(Piece::Byte(b':'));
                self.rest.push(Piece::Range(key.0, key.1));
            }
            if ix > 0 {
                self.rest.push(Piece::Byte(b','));
            }
        }
    }

    /// Offset behind the value at `at`. Moved objects in it are leapt over: each byte is skipped for one object only.
    fn value_end(&self, at: usize) -> usize {
        if !matches!(byte(self.bytes, at), b'{' | b'[') {
            return scan::value_end(self.bytes, at);
        }
        let mut leaps = self
            .moved
            .get(self.moved.partition_point(|&(start, _)| start < at)..);
        let mut depth = 0usize;
        let mut at = at;
        while at < self.bytes.len() {
            match byte(self.bytes, at) {
                b'"' => {
                    at = string_end(self.bytes, at);
                    continue;
                }
                b'{' => {
                    let left = leaps.unwrap_or_default();
                    if let Some((&(start, end), _)) = left.split_first()
                        && start == at
                    {
                        leaps = left.get(left.partition_point(|&(start, _)| start < end)..);
                        at = end;
                        if depth == 0 {
                            return at;
                        }
                        continue;
                    }
                    depth += 1;
                }
                b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Writes the tokens of a range: no whitespace, strings and numbers as the engine prints them.
    fn rewrite(&self, from: usize, to: usize, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let mut done = from;
        let mut at = from;
        while at < to {
            let b = byte(self.bytes, at);
            let end = match b {
                b'"' => string_end(self.bytes, at),
                b'-' | b'0'..=b'9' => scan::bare_end(self.bytes, at),
                _ if is_blank(b) => skip_blank(self.bytes, at),
                _ => at + 1,
            };
            if self.is_printed(b, at, end) {
                at = end;
                continue;
            }
            out.write_all(slice(self.bytes, done, at))?;
            self.token(b, at, end, out)?;
            at = end;
            done = end;
        }
        out.write_all(slice(self.bytes, done, to))
    }

    /// Whether the token needs no other spelling.
    fn is_printed(&self, first: u8, at: usize, end: usize) -> bool {
        match first {
            b'"' => {
                string_stop(self.bytes, at + 1) + 1 == end
                    && std::str::from_utf8(slice(self.bytes, at, end)).is_ok()
            }
            b'-' | b'0'..=b'9' => number::read(self.bytes, at) == Ok((end, Spelling::Printed)),
            b => !is_blank(b),
        }
    }

    fn token(
        &self,
        first: u8,
        at: usize,
        end: usize,
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        match first {
            b'"' => escape::print(&text_of(slice(self.bytes, at + 1, end - 1)), out),
            b'-' | b'0'..=b'9' => {
                let value = number::value(slice(self.bytes, at, end));
                if self.meaning == Meaning::Equality && value.is_infinite() {
                    // Not null: its value is another one.
                    return write!(out, "{value}");
                }
                number::with_printed(value, |text| out.write_all(text.as_bytes()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        String::from_utf8(Raw::parse(text.as_bytes()).unwrap().printed().into_owned()).unwrap()
    }

    #[test]
    fn spells_tokens_as_the_engine_does() {
        for (text, expected) in [
            (" [ 1.0 , -0 , 1e400 , 1E21 ] ", "[1,0,null,1e+21]"),
            (
                r#"{ "\u00e9\/" : "\uD83D\ude00\ud83d" }"#,
                r#"{"é/":"😀\ud83d"}"#,
            ),
            (r#"["\u001F\u0008\u007f\n"]"#, "[\"\\u001f\\b\u{7f}\\n\"]"),
            (
                "[9007199254740993,0.10,true, null]",
                "[9007199254740992,0.1,true,null]",
            ),
        ] {
            assert_eq!(printed(text), expected);
            assert_eq!(printed(expected), expected);
        }
        assert_eq!(
            *Raw::parse(b"\"a\xE2\x82\"").unwrap().printed(),
            *"\"a\u{FFFD}\"".as_bytes()
        );
    }

    #[test]
    fn moves_members_of_nested_objects() {
        let text = r#"{"b":{"1":1,"x":[{"z":1,"0":2},{}],"0":0},"a":1,"3":[{"y":1}],"b":{"c":[{"k":{},"7":"}"}]} , "__proto__":{}}"#;
        let expected = r#"{"3":[{"y":1}],"b":{"c":[{"7":"}","k":{}}]},"a":1,"__proto__":{}}"#;
        assert_eq!(printed(text), expected);
        assert!(Raw::parse(expected.as_bytes()).unwrap().is_canonical());
    }

    #[test]
    fn equality_is_by_meaning() {
        let equal = |a: &str, b: &str| {
            let (a, b) = (
                Raw::parse(a.as_bytes()).unwrap(),
                Raw::parse(b.as_bytes()).unwrap(),
            );
            assert_eq!(a.deep_eq(b), a.deep_digest() == b.deep_digest());
            a.deep_eq(b)
        };
        assert!(equal(
            r#"{"a":1,"b":[{"x":0,"y":"\u0061"}]}"#,
            r#"{"b":[{"y":"a","x":-0.0}],"a":1e0}"#
        ));
        assert!(equal(r#"{"a":1,"a":2}"#, r#"{"a":2}"#));
        assert!(!equal("[1,2]", "[2,1]"));
        assert!(!equal("1e400", "null"));
        assert!(!equal("1e400", "-1e400"));
        assert!(!equal("{}", "[]"));
    }

    #[test]
    fn texts_are_compared_as_printed() {
        let same = |a: &str, b: &str| {
            Raw::parse(a.as_bytes())
                .unwrap()
                .same_text(Raw::parse(b.as_bytes()).unwrap())
        };
        assert!(same("[1, 2]", "[1,2.0]"));
        assert!(!same(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#));
    }
}
