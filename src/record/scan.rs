//! Finds the ends of strings and values in JSON text, eight bytes at a time.
//!
//! **Takes** bytes and an offset into them. **Gives** offsets.
//! **Never** fails: behind the end of the bytes every search answers with their length.

/// Bytes that are looked at together in long strings.
const BLOCK: usize = 16;
/// Blocks that are looked at before larger steps pay.
const NEAR: usize = 2;

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

/// The eight bytes at `at`, the first one lowest; `None` when there are fewer.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|word| u64::from_le_bytes(*word))
}

/// Eight times the same byte.
#[inline(always)]
pub(super) const fn each(b: u8) -> u64 {
    u64::from_le_bytes([b; 8])
}

/// The lane of the lowest mark.
#[inline(always)]
pub(super) fn lowest(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

// Marks are the highest bits of lanes. Lanes above the lowest mark may be marked falsely: a borrow runs upwards.

/// Marks the lanes of quotes, backslashes and control characters: what ends the plain part of a string.
#[inline(always)]
pub(super) fn stops(word: u64) -> u64 {
    let quote = (word ^ each(b'"')).wrapping_sub(each(1));
    let backslash = (word ^ each(b'\\')).wrapping_sub(each(1));
    (quote | backslash | word.wrapping_sub(each(0x20))) & !word & each(0x80)
}

/// Marks the lanes of backslashes.
#[inline(always)]
pub(super) fn backslashes(word: u64) -> u64 {
    (word ^ each(b'\\')).wrapping_sub(each(1)) & !word & each(0x80)
}

/// Marks the lanes of quotes, brackets and braces. A bracket differs from the brace of its side in one bit.
#[inline(always)]
fn structures(word: u64) -> u64 {
    let quote = (word ^ each(b'"')).wrapping_sub(each(1));
    let braces = word | each(0x20);
    let opening = (braces ^ each(b'{')).wrapping_sub(each(1));
    let closing = (braces ^ each(b'}')).wrapping_sub(each(1));
    (quote | opening | closing) & !word & each(0x80)
}

/// Marks the lanes that hold no decimal digit.
#[inline(always)]
pub(super) fn no_digits(word: u64) -> u64 {
    let values = word ^ each(b'0');
    (values.wrapping_add(each(0x80 - 10)) | values) & each(0x80)
}

/// Offset of the first quote, backslash or control character (below 0x20) at or behind `from`, if it is less than a block away.
#[inline(always)]
pub(super) fn near_stop(bytes: &[u8], from: usize) -> Option<usize> {
    for at in [from, from + 8] {
        let marks = stops(word(bytes, at)?);
        if marks != 0 {
            return Some(at + lowest(marks));
        }
    }
    None
}

/// The same, behind what [`near_stop`] saw. With `no_controls` there is no control character.
#[inline(never)]
fn far_stop(bytes: &[u8], from: usize, no_controls: bool) -> usize {
    let seen = bytes.len().saturating_sub(from) >= BLOCK;
    let from = if seen { from + BLOCK } else { from };
    let rest = bytes.get(from..).unwrap_or_default();
    let (blocks, _) = rest.as_chunks::<BLOCK>();
    let mut at = from;
    for (ix, block) in blocks.iter().enumerate() {
        if ix == NEAR && no_controls {
            let rest = bytes.get(at..).unwrap_or_default();
            return at + memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        }
        let marks = stop_marks(block);
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .take_while(|&&b| b >= 0x20 && b != b'"' && b != b'\\')
        .count()
}

/// The bytes of a block that end the plain part of a string, as bytes of ones.
// By itself, so that the compiler sees sixteen comparisons at once and nothing else.
#[inline(never)]
#[expect(
    clippy::indexing_slicing,
    reason = "inside a block; iterators are not compared at once"
)]
fn stop_marks(block: &[u8; BLOCK]) -> u128 {
    let is_stop = |b: u8| (b == b'"') | (b == b'\\') | (b < 0x20);
    u128::from_le_bytes(std::array::from_fn(|ix| {
        if is_stop(block[ix]) { 0xFF } else { 0 }
    }))
}

/// Offset of the first quote, backslash or control character at or behind `from`.
#[inline]
pub(super) fn string_stop(bytes: &[u8], from: usize) -> usize {
    near_stop(bytes, from).unwrap_or_else(|| far_stop(bytes, from, false))
}

/// Offset behind the quote that closes a string of which `from` is inside. `escape` says where a backslash's escape ends.
/// With `no_controls` the bytes hold no control character.
///
/// # Errors
///
/// Those of `escape`; the offset of a control character, or the length of the bytes when they end first.
#[inline(always)]
pub(super) fn read_string(
    bytes: &[u8],
    from: usize,
    no_controls: bool,
    mut escape: impl FnMut(usize) -> Result<usize, usize>,
) -> Result<usize, usize> {
    let mut at = from;
    loop {
        let stop = near_stop(bytes, at).unwrap_or_else(|| far_stop(bytes, at, no_controls));
        match byte(bytes, stop) {
            b'"' => return Ok(stop + 1),
            b'\\' => at = escape(stop)?,
            _ => return Err(stop),
        }
    }
}

/// Number of decimal digits at `at`.
#[inline(always)]
pub(super) fn digits(bytes: &[u8], at: usize) -> usize {
    match word(bytes, at).map(no_digits) {
        None | Some(0) => far_digits(bytes, at),
        Some(marks) => lowest(marks),
    }
}

#[inline(never)]
fn far_digits(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let (words, _) = rest.as_chunks::<8>();
    let mut count = 0;
    for word in words {
        match no_digits(u64::from_le_bytes(*word)) {
            0 => count += 8,
            marks => return count + lowest(marks),
        }
    }
    let tail = rest.get(count..).unwrap_or_default();
    count + tail.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Offset behind the closing quote of the valid string that opens at `open`.
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], open: usize) -> usize {
    match near_stop(bytes, open + 1) {
        Some(stop) if byte(bytes, stop) == b'"' => stop + 1,
        _ => far_string_end(bytes, open + 1),
    }
}

#[inline(never)]
fn far_string_end(bytes: &[u8], from: usize) -> usize {
    read_string(bytes, from, true, |backslash| Ok(backslash + 2)).unwrap_or(bytes.len())
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
    let end = at + digits(bytes, at);
    let rest = bytes.get(end..).unwrap_or_default();
    end + rest
        .iter()
        .take_while(|&&b| !matches!(b, b',' | b']' | b'}' | b':') && b > b' ')
        .count()
}

/// Offset behind the value of valid text that begins at `at`.
#[inline]
pub(super) fn value_end(bytes: &[u8], at: usize) -> usize {
    match byte(bytes, at) {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => container_end(bytes, at),
        _ => bare_end(bytes, at),
    }
}

#[inline(never)]
fn container_end(bytes: &[u8], open: usize) -> usize {
    let mut depth = 0usize;
    let mut at = open;
    while let Some(found) = structure(bytes, at) {
        at = match byte(bytes, found) {
            b'"' => string_end(bytes, found),
            b'{' | b'[' => {
                depth += 1;
                found + 1
            }
            _ => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return found + 1;
                }
                found + 1
            }
        };
    }
    bytes.len()
}

/// Offset of the first quote, bracket or brace at or behind `from`.
#[inline(always)]
fn structure(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(word) = word(bytes, at) {
        match structures(word) {
            0 => at += 8,
            marks => return Some(at + lowest(marks)),
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let is_structure = |b: &u8| matches!(b, b'"' | b'[' | b']' | b'{' | b'}');
    rest.iter().position(is_structure).map(|ix| at + ix)
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
    fn counts_digits_in_words_and_tails() {
        for len in 0..30 {
            for (stop, behind) in [
                ("", ""),
                ("/", "5678"),
                (":", "00000000000"),
                ("\u{e9}", "1234567"),
            ] {
                let text = ["7".repeat(len).as_str(), stop, behind].concat();
                assert_eq!(digits(text.as_bytes(), 0), len, "{text}");
            }
        }
        assert_eq!(digits(b"123", 9), 0);
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
