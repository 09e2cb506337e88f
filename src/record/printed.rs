//! Text that grows, held as the engine prints it: what the deltas of a response add up to.
//!
//! **Takes** strings of the log, one behind the other. **Gives** one string, printed.
//! **Never** decodes what stands as the engine prints it, but for halves of surrogate pairs that meet.

use super::escape;
use super::raw::Raw;
use super::scan::{byte, lowest, slice, stops, string_end};
use super::text::is_blank;

/// The body of a string (without its quotes) exactly as `JSON.stringify` prints it, so that equal bodies are equal texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    body: Vec<u8>,
}

/// Bytes of a text that are copied together.
const SHORT: usize = 16;
/// Bytes of the escape `\udxxx`.
const HALF: usize = 6;

impl Printed {
    /// Empty text.
    pub fn new() -> Printed {
        Printed::default()
    }

    /// Appends a string's text; nothing of another value. A first half of a pair at the end and a second half at the start of the
    /// string become one character.
    #[inline]
    pub fn push(&mut self, string: Raw<'_>) {
        let Some(body) = string.body() else {
            return;
        };
        self.push_body(body, string.is_known_canonical());
    }

    /// Appends the texts of an array of strings that the engine printed.
    pub(super) fn push_all(&mut self, strings: Raw<'_>) {
        let bytes = strings.bytes();
        let mut at = 1;
        while byte(bytes, at) == b'"' {
            at += 1;
            let block = bytes.get(at..).and_then(|rest| rest.first_chunk());
            match block.and_then(|block| Some((block, plain_len(block)?))) {
                Some((block, len)) => {
                    // A copy of a fixed length needs no call.
                    let end = self.body.len() + len;
                    self.body.extend_from_slice(block);
                    self.body.truncate(end);
                    at += len + 2;
                }
                None => {
                    let end = string_end(bytes, at - 1);
                    self.push_body(slice(bytes, at, end - 1), true);
                    at = end + 1;
                }
            }
        }
    }

    /// Appends the bodies of strings, none of which has an escape of four digits.
    pub(super) fn push_joined(&mut self, bodies: &[u8]) {
        self.body.extend_from_slice(bodies);
    }

    /// Appends the body of a string.
    #[inline]
    fn push_body(&mut self, body: &[u8], canonical: bool) {
        // Printed text begins with `\u` for a control character, or for a half that may meet another one.
        if canonical && !body.starts_with(b"\\u") {
            self.body.extend_from_slice(body);
        } else {
            self.push_other(body);
        }
    }

    #[inline(never)]
    fn push_other(&mut self, body: &[u8]) {
        let mut text = Vec::new();
        escape::decode(body, &mut text);
        let first = self
            .last_half()
            .zip(escape::surrogate(slice(&text, 0, 3)))
            .filter(|&(high, low)| escape::is_high(high) && escape::is_low(low));
        let text = match first {
            Some((high, low)) => {
                self.body.truncate(self.body.len() - HALF);
                escape::push_char(escape::join(high, low), &mut self.body);
                text.get(3..).unwrap_or_default()
            }
            None => &text,
        };
        escape::print_body(text, &mut self.body).expect("writing to a vector cannot fail");
    }

    /// The half of a surrogate pair that the text ends with.
    fn last_half(&self) -> Option<u16> {
        let start = self.body.len().checked_sub(HALF)?;
        if slice(&self.body, start, start + 2) != b"\\u" {
            return None;
        }
        // A backslash that is escaped itself begins no escape.
        let before = slice(&self.body, 0, start);
        let backslashes = before.iter().rev().take_while(|&&b| b == b'\\').count();
        let (unit, _) = escape::hex_unit(&self.body, start + 2).ok()?;
        (backslashes % 2 == 0 && unit >= 0xD800).then_some(unit)
    }

    /// Makes it empty and keeps its memory.
    pub fn clear(&mut self) {
        self.body.clear();
    }

    /// Whether it has no character.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// The printed text, without quotes.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether nothing is left after JavaScript's `trim`. O(length).
    pub fn is_blank(&self) -> bool {
        if byte(&self.body, 0) > b' ' && self.body.first().is_some_and(|&b| b != b'\\' && b < 0x80)
        {
            return false;
        }
        let mut text = Vec::new();
        escape::decode(&self.body, &mut text);
        is_blank(&text)
    }

    /// Appends it to a text, as a string with quotes.
    pub fn print(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(&self.body);
        out.push(b'"');
    }
}

/// The length of the body that the block begins with, if the string ends in it and has no escapes.
#[inline(always)]
fn plain_len(block: &[u8; SHORT]) -> Option<usize> {
    let mut len = 0;
    for word in block.as_chunks::<8>().0 {
        let marks = stops(u64::from_le_bytes(*word));
        if marks != 0 {
            len += lowest(marks);
            return (byte(block, len) == b'"').then_some(len);
        }
        len += 8;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(strings: &[&str]) -> String {
        let mut text = Printed::new();
        for string in strings {
            text.push(Raw::parse(string.as_bytes()).unwrap());
        }
        String::from_utf8(text.body().to_vec()).unwrap()
    }

    #[test]
    fn joins_halves_of_two_strings() {
        assert_eq!(
            joined(&[r#""a\ud83d""#, r#""""#, r#""\ude00b\ude00""#]),
            r"a😀b\ude00"
        );
        assert_eq!(
            joined(&[r#""\ude00""#, r#""\ud83d""#, r#""x""#]),
            r"\ude00\ud83dx"
        );
        assert_eq!(joined(&[r#""\ud83d""#, r#""\uD83D\uDE00""#]), r"\ud83d😀");
    }

    #[test]
    fn an_escaped_backslash_begins_no_half() {
        assert_eq!(joined(&[r#""\\ud83d""#, r#""\ude00""#]), r"\\ud83d\ude00");
        assert_eq!(joined(&[r#""\\\ud83d""#, r#""\ude00""#]), r"\\😀");
    }

    #[test]
    fn prints_what_is_written_otherwise() {
        assert_eq!(
            joined(&[r#""\/\u0041\u000A""#, r#""\u001b\n""#, "\"é\""]),
            r"/A\n\u001b\né"
        );
        assert_eq!(joined(&["1", "[\"a\"]"]), "");
    }

    #[test]
    fn knows_what_trims_to_nothing() {
        for (string, blank) in [
            (r#""""#, true),
            (r#"" \n\u000b""#, true),
            ("\"\u{3000}\u{feff}\"", true),
            (r#""\\""#, false),
            (r#"" x""#, false),
            (r#""\ud83d""#, false),
        ] {
            let mut text = Printed::new();
            text.push(Raw::parse(string.as_bytes()).unwrap());
            assert_eq!(text.is_blank(), blank, "{string}");
        }
    }
}
