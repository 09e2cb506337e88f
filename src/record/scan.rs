//! Finds the ends of strings and values in JSON text, eight bytes at a time.
//!
//! **Takes** bytes and an offset into them. **Gives** offsets.
//! **Never** fails: behind the end of the bytes every search answers with their length.

/// A byte with value 1 in every lane of a word.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of every lane.
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The bytes of `from..to`; empty when the range does not lie inside.
#[inline]
pub(super) fn slice(bytes: &[u8], from: usize, to: usize) -> &[u8] {
    bytes.get(from..to).unwrap_or_default()
}

/// The byte at `at`, or NUL, which no JSON text holds outside of an error.
#[inline]
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Marks every lane whose byte ends the plain part of a string. Lanes above the lowest mark may be marked falsely.
#[inline]
fn stops(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    (quote.wrapping_sub(ONES) | backslash.wrapping_sub(ONES) | word.wrapping_sub(ONES * 0x20))
        & !word
        & HIGHS
}

/// Offset of the first quote, backslash or control character (below 0x20) at or behind `from`.
#[inline]
pub(super) fn string_stop(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let (words, tail) = rest.as_chunks::<8>();
    let mut at = from;
    for word in words {
        let marks = stops(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at + tail
        .iter()
        .take_while(|&&b| b >= 0x20 && b != b'"' && b != b'\\')
        .count()
}

/// Offset behind the closing quote of the valid string that opens at `open`.
#[inline]
pub(super) fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    loop {
        at = string_stop(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// Whether the byte is whitespace of JSON.
#[inline]
pub(super) fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r')
}

/// Offset of the first byte at or behind `at` that is no whitespace of JSON.
#[inline]
pub(super) fn skip_blank(bytes: &[u8], at: usize) -> usize {
    if byte(bytes, at) > b' ' {
        return at;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|&&b| is_blank(b)).count()
}

/// Offset behind the scalar (no string) of valid text that begins at `at`.
#[inline]
pub(super) fn bare_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .take_while(|&&b| !matches!(b, b',' | b']' | b'}' | b':') && b > b' ')
        .count()
}

/// Offset behind the value of valid text that begins at `at`.
pub(super) fn value_end(bytes: &[u8], at: usize) -> usize {
    match byte(bytes, at) {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => container_end(bytes, at),
        _ => bare_end(bytes, at),
    }
}

fn container_end(bytes: &[u8], open: usize) -> usize {
    let mut depth = 0usize;
    let mut at = open;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
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
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_stop_in_words_and_tails() {
        for stop in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for len in 0..40 {
                let mut text = vec![b'a'; len];
                text.push(stop);
                text.extend_from_slice("é\"\u{7f}\u{0} more".as_bytes());
                assert_eq!(string_stop(&text, 0), len);
            }
        }
        assert_eq!(string_stop("日本語日本語\u{7f} !#[]".as_bytes(), 0), 24);
        assert_eq!(string_stop(b"abc", 9), 9);
    }

    #[test]
    fn skips_values_without_looking_at_their_grammar() {
        let text = br#"{"a":"}\"]","b":[1,{"c":[]}]},2"#;
        assert_eq!(value_end(text, 0), text.len() - 2);
        assert_eq!(value_end(text, 5), 11);
        assert_eq!(value_end(text, 16), 28);
        assert_eq!(value_end(text, text.len() - 1), text.len());
    }
}
