//! Decoded strings of the log: text that may hold halves of surrogate pairs.
//!
//! **Takes** decoded strings and pieces of them. **Gives** joined, trimmed and printed text.
//! **Never** holds two halves side by side that make one character: they are joined.

use std::borrow::Cow;
use std::io::{self, Write};

use super::escape;
use super::scan::slice;

/// A decoded string in WTF-8: UTF-8, and three bytes for each half of a surrogate pair that stands alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'b>(Cow<'b, [u8]>);

impl<'b> Text<'b> {
    pub(super) fn new(bytes: Cow<'b, [u8]>) -> Text<'b> {
        Text(bytes)
    }

    /// The text that `bytes` are: WTF-8, as [`Text::bytes`] gives it.
    pub fn from_wtf8(bytes: &'b [u8]) -> Text<'b> {
        Text(Cow::Borrowed(bytes))
    }

    /// Its bytes in WTF-8.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it has no character.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text as UTF-8; `None` when it holds half of a pair. O(length).
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The text as UTF-8, each lone half as one U+FFFD.
    pub fn to_lossy(&self) -> Cow<'_, str> {
        lossy(&self.0)
    }

    /// The part between leading and trailing whitespace of JavaScript's `trim`.
    pub fn trim(&self) -> &[u8] {
        trim(&self.0)
    }

    /// Whether nothing is left after [`Text::trim`].
    pub fn is_blank(&self) -> bool {
        is_blank(&self.0)
    }

    /// Writes it as a JSON string, with quotes, as `JSON.stringify` does.
    pub fn print(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        escape::print(&self.0, out)
    }

    /// The text in memory of its own.
    pub fn to_owned(&self) -> TextBuf {
        TextBuf {
            bytes: self.0.to_vec(),
        }
    }
}

impl<'b> From<&'b str> for Text<'b> {
    fn from(text: &'b str) -> Text<'b> {
        Text(Cow::Borrowed(text.as_bytes()))
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

/// Text that grows: what the deltas of a response add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextBuf {
    bytes: Vec<u8>,
}

impl TextBuf {
    /// Empty text.
    pub fn new() -> TextBuf {
        TextBuf::default()
    }

    /// Appends text. A first half at the end and a second half at the start of `text` become one character.
    pub fn push(&mut self, text: &Text<'_>) {
        self.append(|bytes| bytes.extend_from_slice(text.bytes()));
    }

    /// Appends UTF-8.
    pub fn push_str(&mut self, text: &str) {
        self.push_valid(text.as_bytes());
    }

    /// Appends bytes that are UTF-8.
    pub(super) fn push_valid(&mut self, utf8: &[u8]) {
        self.bytes.extend_from_slice(utf8);
    }

    /// Lets `write` append WTF-8, and joins halves where old and new bytes meet.
    pub(super) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let seam = self.bytes.len();
        write(&mut self.bytes);
        let Some(before) = seam.checked_sub(3) else {
            return;
        };
        let high =
            escape::surrogate(slice(&self.bytes, before, seam)).filter(|&u| escape::is_high(u));
        let low =
            escape::surrogate(slice(&self.bytes, seam, seam + 3)).filter(|&u| escape::is_low(u));
        if let (Some(high), Some(low)) = (high, low) {
            let mut utf8 = [0; 4];
            let joined = escape::join(high, low).encode_utf8(&mut utf8);
            self.bytes.splice(before..seam + 3, joined.bytes());
        }
    }

    /// Makes it empty and keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Whether it has no character.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Its bytes in WTF-8.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text it holds.
    pub fn as_text(&self) -> Text<'_> {
        Text(Cow::Borrowed(&self.bytes))
    }

    /// The text it holds, with its memory.
    pub fn into_text(self) -> Text<'static> {
        Text(Cow::Owned(self.bytes))
    }

    /// Whether nothing is left after JavaScript's `trim`.
    pub fn is_blank(&self) -> bool {
        trim(&self.bytes).is_empty()
    }

    /// Writes it as a JSON string, with quotes, as `JSON.stringify` does.
    pub fn print(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        escape::print(&self.bytes, out)
    }
}

/// Writes UTF-8 as a JSON string, with quotes, as `JSON.stringify` does.
pub fn print_str(text: &str, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    escape::print(text.as_bytes(), out)
}

/// WTF-8 as UTF-8, each lone half as one U+FFFD.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        // A half is three invalid chunks, of which the first is this byte.
        if chunk.invalid() == [0xED] {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Cow::Owned(out)
}

/// Whether JavaScript's `trim` takes the character away: WhiteSpace and LineTerminator of ECMAScript.
fn is_js_space(c: char) -> bool {
    matches!(
        c,
        '\u{9}'..='\u{d}'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

/// Whether WTF-8 is nothing but whitespace of JavaScript's `trim`.
pub(super) fn is_blank(bytes: &[u8]) -> bool {
    trim(bytes).is_empty()
}

/// WTF-8 without the whitespace of JavaScript's `trim` around it.
fn trim(bytes: &[u8]) -> &[u8] {
    // All of these characters take at most three bytes.
    let first_char = |bytes: &[u8]| bytes.utf8_chunks().next()?.valid().chars().next();
    let last_char = |bytes: &[u8]| {
        let start = bytes.iter().rposition(|b| b & 0xC0 != 0x80)?;
        std::str::from_utf8(bytes.get(start..)?)
            .ok()?
            .chars()
            .next()
    };
    let mut rest = bytes;
    while let Some(c) = first_char(slice(rest, 0, rest.len().min(4))).filter(|&c| is_js_space(c)) {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    while let Some(c) = last_char(rest).filter(|&c| is_js_space(c)) {
        rest = slice(rest, 0, rest.len() - c.len_utf8());
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(body: &[u8]) -> Text<'static> {
        let mut bytes = Vec::new();
        escape::decode(body, &mut bytes);
        Text::new(Cow::Owned(bytes))
    }

    #[test]
    fn joins_halves_of_two_deltas() {
        let mut text = TextBuf::new();
        text.push(&half(br"a\ud83d"));
        text.push(&Text::from(""));
        text.push(&half(br"\ude00b\ude00"));
        assert_eq!(text.as_text().bytes(), b"a\xF0\x9F\x98\x80b\xED\xB8\x80");
        assert_eq!(text.as_text().as_str(), None);
        assert_eq!(text.as_text().to_lossy(), "a😀b\u{FFFD}");
        let mut printed = Vec::new();
        text.print(&mut printed).unwrap();
        assert_eq!(printed, "\"a😀b\\ude00\"".as_bytes());
    }

    #[test]
    fn keeps_halves_in_the_wrong_order_apart() {
        let mut text = TextBuf::new();
        text.push(&half(br"\ude00"));
        text.push(&half(br"\ud83d"));
        text.push_str("x");
        assert_eq!(text.bytes(), b"\xED\xB8\x80\xED\xA0\xBDx");
    }

    #[test]
    fn trims_as_javascript_does() {
        let text = Text::from("\u{feff}\u{a0}\n\u{2003} a\u{200b} b \u{3000}\u{2029}\u{b}");
        assert_eq!(text.trim(), "a\u{200b} b".as_bytes());
        assert!(Text::from(" \t\u{1680}\u{202f}\u{205f}").is_blank());
        assert!(!Text::from("\u{85}").is_blank());
        assert!(!half(br" \ud83d ").is_blank());
        assert_eq!(half(br" \ud83d ").trim(), b"\xED\xA0\xBD");
    }
}
