//! Finds the ends of strings and values in JSON text, eight bytes at a time.
//!
//! **Takes** bytes and an offset into them. **Gives** offsets.
//! **Never** fails: behind the end of the bytes every search answers with their length.

/// Bytes that are looked at together.
const BLOCK: usize = 16;
/// Blocks of a string that are looked at before larger steps pay.
const NEAR: usize = 3;

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

#[inline(always)]
fn is_stop(b: u8) -> bool {
    (b == b'"') | (b == b'\\') | (b < 0x20)
}

/// Place of the first quote, backslash or control character in a block.
#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "inside a block; iterators are not compared all at once"
)]
fn stop_in(block: &[u8; BLOCK]) -> Option<usize> {
    // Without branches, so that the compiler compares all bytes at once.
    let marks = std::array::from_fn(|ix| if is_stop(block[ix]) { 0xFF } else { 0 });
    let marks = u128::from_le_bytes(marks);
    let (low, high) = (marks as u64, (marks >> 64) as u64);
    if low != 0 {
        return Some((low.trailing_zeros() / 8) as usize);
    }
    (high != 0).then(|| (high.trailing_zeros() / 8) as usize + 8)
}

/// Offset of the first quote, backslash or control character (below 0x20) at or behind `from`, if it is near.
#[inline(always)]
pub(super) fn near_stop(bytes: &[u8], from: usize) -> Option<usize> {
    match bytes.get(from..).and_then(|rest| rest.first_chunk()) {
        Some(block) => stop_in(block).map(|ix| from + ix),
        None => Some(last_stop(bytes, from)),
    }
}

/// The same where less than a block is left.
#[inline(never)]
fn last_stop(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|&&b| !is_stop(b)).count()
}

/// Offset of the first quote, backslash or control character at or behind `from`.
#[inline(never)]
pub(super) fn string_stop(bytes: &[u8], from: usize) -> usize {
    let found = read_string(bytes, from, false, Err);
    found.map_or_else(|stop| stop, |end| end - 1)
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
    let mut quiet = 0;
    loop {
        let Some(stop) = near_stop(bytes, at) else {
            at += BLOCK;
            quiet += 1;
            if quiet == NEAR && no_controls {
                let rest = bytes.get(at..).unwrap_or_default();
                at += memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            }
            continue;
        };
        quiet = 0;
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
        Some(marks) => (marks.trailing_zeros() / 8) as usize,
    }
}

/// Marks every lane that holds no decimal digit. Lanes above the lowest mark may be marked falsely.
#[inline(always)]
fn no_digits(word: u64) -> u64 {
    let each = |b: u8| u64::from_le_bytes([b; 8]);
    let values = word ^ each(b'0');
    (values.wrapping_add(each(0x80 - 10)) | values) & each(0x80)
}

#[inline(never)]
fn far_digits(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let (words, _) = rest.as_chunks::<8>();
    let mut count = 0;
    for word in words {
        match no_digits(u64::from_le_bytes(*word)) {
            0 => count += 8,
            marks => return count + (marks.trailing_zeros() / 8) as usize,
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
