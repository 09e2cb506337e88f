//! Decoded text as an answer holds it.
//!
//! **Takes** WTF-8. **Gives** UTF-8 with the escape of each lone half. **Never** loses a character.

/// Bytes of a lone half of a surrogate pair in WTF-8: `ED A0..BF 80..BF`.
const HALF: usize = 3;

/// The text, each lone half of a surrogate pair as its escape.
pub(super) fn shown(wtf8: &[u8]) -> String {
    let mut out = String::with_capacity(wtf8.len());
    let mut rest = wtf8;
    loop {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                out.push_str(text);
                return out;
            }
            Err(error) => {
                let (valid, bad) = rest.split_at(error.valid_up_to());
                out.push_str(&String::from_utf8_lossy(valid));
                let taken = match *bad {
                    [0xED, high, low, ..] if high >= 0xA0 => {
                        let unit = 0xD000 | (u32::from(high & 0x3F) << 6) | u32::from(low & 0x3F);
                        out.push_str(&format!("\\u{unit:04x}"));
                        HALF
                    }
                    _ => {
                        out.push('\u{fffd}');
                        1
                    }
                };
                rest = bad.get(taken..).unwrap_or_default();
            }
        }
    }
}

/// Shortens a text to about `limit` bytes, in the middle.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_string();
    }
    let half = limit / 2;
    let near = |at: usize| (0..4).map(move |less| at - less.min(at));
    let start = near(half)
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    let mut behind = text.len() - half..=text.len();
    let end = behind
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    let (head, _) = text.split_at(start);
    let (_, tail) = text.split_at(end);
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_halves_become_escapes_and_the_rest_stays() {
        assert_eq!(shown("aé漢🦀".as_bytes()), "aé漢🦀");
        assert_eq!(shown(b"a\xED\xA0\xBDb\xED\xBF\xBF"), "a\\ud83db\\udfff");
        assert_eq!(shown(b"\xFFx"), "\u{fffd}x");
        assert_eq!(shown(b"\xED\xA0"), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn long_text_loses_its_middle() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefgh", 4), "ab…gh");
        assert_eq!(shortened("ééééé", 5), "é…é");
    }
}
