//! JSON text exactly as the harness's engine prints it.
//!
//! **Takes** literals, strings and integers. **Gives** canonical JSON bytes. **Never** checks nesting: the caller writes the
//! punctuation, so that member order is visible where an event is written.

/// A growing JSON text.
#[derive(Debug, Default)]
pub struct Json(Vec<u8>);

impl Json {
    /// Appends text as it stands: punctuation, keys, literals.
    pub fn raw(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// Appends finished JSON.
    pub fn raw_bytes(&mut self, text: &[u8]) -> &mut Self {
        self.0.extend_from_slice(text);
        self
    }

    /// Appends an integer.
    pub fn int(&mut self, value: u64) -> &mut Self {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = value;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.0.extend_from_slice(&digits[at..]);
        self
    }

    /// Appends a quoted string; only `"`, `\` and bytes below 0x20 are escaped (format.md H.2).
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.0.push(b'"');
        let bytes = text.as_bytes();
        let mut clean = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.0.extend_from_slice(&bytes[clean..at]);
            self.escape(byte);
            clean = at + 1;
        }
        self.0.extend_from_slice(&bytes[clean..]);
        self.0.push(b'"');
        self
    }

    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x09 => b't',
            0x0a => b'n',
            0x0c => b'f',
            0x0d => b'r',
            _ => {
                self.0
                    .extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                return;
            }
        };
        self.0.extend_from_slice(&[b'\\', short]);
    }

    /// Appends `items` with commas between them.
    pub fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut item: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        for (at, value) in items.into_iter().enumerate() {
            if at > 0 {
                self.raw(",");
            }
            item(self, value);
        }
        self
    }

    /// Appends `key` and a string member, or nothing.
    pub fn maybe(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.raw(key).text(value);
        }
        self
    }

    /// The text so far.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Empties the text and keeps its room.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The finished text; everything appended was valid UTF-8.
    pub fn into_string(self) -> String {
        String::from_utf8(self.0).expect("only whole strings are appended")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_as_the_engine_does() {
        let mut json = Json::default();
        json.text("a\"\\/\u{7f}\n\t\u{1b}\u{2028}é😀");
        assert_eq!(
            json.bytes(),
            "\"a\\\"\\\\/\u{7f}\\n\\t\\u001b\u{2028}é😀\"".as_bytes()
        );
    }

    #[test]
    fn prints_integers() {
        let mut json = Json::default();
        json.int(0).raw(",").int(10).raw(",").int(u64::MAX);
        assert_eq!(json.bytes(), b"0,10,18446744073709551615");
    }
}
