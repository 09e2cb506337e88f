//! Escapes of JSON strings, read and written as the harness's engine does.
//!
//! **Takes** the body of a string (without its quotes), or decoded text. **Gives** decoded text in WTF-8, or JSON.
//! **Never** loses half of a surrogate pair: a lone half is three bytes of WTF-8 when decoded, `\udxxx` when printed.

use std::io::{self, Write};

use super::fast::WORD;
use super::scan::{backslashes, byte, lowest, slice, string_stop};
use super::survey::is_utf8;

/// Four hexadecimal digits at `at`: the UTF-16 unit, and whether no digit is upper-case.
///
/// # Errors
///
/// The offset of the first byte that is no such digit.
pub(super) fn hex_unit(bytes: &[u8], at: usize) -> Result<(u16, bool), usize> {
    let mut unit = 0u16;
    let mut lower = true;
    for at in at..at + 4 {
        let b = byte(bytes, at);
        let digit = char::from(b).to_digit(16).ok_or(at)?;
        unit = unit << 4 | digit as u16;
        lower &= !b.is_ascii_uppercase();
    }
    Ok((unit, lower))
}

/// Whether a UTF-16 unit is the first half of a surrogate pair.
pub(super) fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

/// Whether a UTF-16 unit is the second half of a surrogate pair.
pub(super) fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

/// The character that two halves make.
pub(super) fn join(high: u16, low: u16) -> char {
    let code = 0x10000 + (u32::from(high & 0x3FF) << 10) + u32::from(low & 0x3FF);
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Appends the decoded body of a valid string. Invalid UTF-8 becomes U+FFFD, one per maximal subpart.
pub(super) fn decode(body: &[u8], out: &mut Vec<u8>) {
    if is_utf8(body) {
        return decode_utf8(body, out);
    }
    let mut rest = body;
    while let Some(plain) = memchr::memchr(b'\\', rest) {
        push_plain(slice(rest, 0, plain), out);
        let taken = decode_escape(rest.get(plain..).unwrap_or_default(), out);
        rest = rest.get(plain + taken..).unwrap_or_default();
    }
    push_plain(rest, out);
}

/// The same for a body that is UTF-8.
pub(super) fn decode_utf8(body: &[u8], out: &mut Vec<u8>) {
    out.reserve(body.len() + WORD);
    let mut rest = body;
    while let Some((word, behind)) = rest.split_first_chunk::<WORD>() {
        let plain = lowest(backslashes(u64::from_le_bytes(*word)));
        // A copy of a fixed length needs no call.
        let end = out.len() + plain;
        out.extend_from_slice(word);
        out.truncate(end);
        rest = match rest.get(plain..) {
            Some(escape) if plain < WORD => {
                let taken = decode_escape(escape, out);
                escape.get(taken..).unwrap_or_default()
            }
            _ => behind,
        };
    }
    while let Some((&first, behind)) = rest.split_first() {
        if first == b'\\' {
            let taken = decode_escape(rest, out);
            rest = rest.get(taken..).unwrap_or_default();
        } else {
            out.push(first);
            rest = behind;
        }
    }
}

/// Appends what the escape at the start of `rest` stands for; the number of bytes it takes.
fn decode_escape(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let letter = byte(rest, 1);
    let decoded = match letter {
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => return decode_unit(rest, out),
        other => other,
    };
    out.push(decoded);
    2
}

fn decode_unit(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let Ok((unit, _)) = hex_unit(rest, 2) else {
        return 2;
    };
    if is_high(unit)
        && byte(rest, 6) == b'\\'
        && byte(rest, 7) == b'u'
        && let Ok((low, _)) = hex_unit(rest, 8)
        && is_low(low)
    {
        push_char(join(unit, low), out);
        return 12;
    }
    push_unit(unit, out);
    6
}

/// Appends one character.
pub(super) fn push_char(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Appends one UTF-16 unit; half of a pair as three bytes.
fn push_unit(unit: u16, out: &mut Vec<u8>) {
    match char::from_u32(u32::from(unit)) {
        Some(c) => push_char(c, out),
        None => out.extend_from_slice(&[
            0xED,
            0x80 | (unit >> 6 & 0x3F) as u8,
            0x80 | (unit & 0x3F) as u8,
        ]),
    }
}

/// Appends bytes without escapes, as the engine reads them.
fn push_plain(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            push_char(char::REPLACEMENT_CHARACTER, out);
        }
    }
}

/// The half that three bytes of WTF-8 stand for.
pub(super) fn surrogate(bytes: &[u8]) -> Option<u16> {
    match bytes {
        [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF] => {
            Some(0xD000 | u16::from(second & 0x3F) << 6 | u16::from(third & 0x3F))
        }
        _ => None,
    }
}

/// Writes decoded text as a JSON string, with quotes.
pub(super) fn print(text: &[u8], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    out.write_all(b"\"")?;
    print_body(text, out)?;
    out.write_all(b"\"")
}

/// The same without the quotes.
pub(super) fn print_body(text: &[u8], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(0xED, text.get(at..).unwrap_or_default()) {
        let half = at + found;
        let Some(unit) = surrogate(slice(text, half, half + 3)) else {
            at = half + 1;
            continue;
        };
        print_whole(slice(text, done, half), out)?;
        write!(out, "\\u{unit:04x}")?;
        at = half + 3;
        done = at;
    }
    print_whole(text.get(done..).unwrap_or_default(), out)
}

/// Writes text without halves of pairs.
fn print_whole(text: &[u8], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut done = 0;
    loop {
        let stop = string_stop(text, done);
        out.write_all(slice(text, done, stop))?;
        let Some(&b) = text.get(stop) else {
            return Ok(());
        };
        match b {
            b'"' => out.write_all(b"\\\"")?,
            b'\\' => out.write_all(b"\\\\")?,
            8 => out.write_all(b"\\b")?,
            12 => out.write_all(b"\\f")?,
            b'\n' => out.write_all(b"\\n")?,
            b'\r' => out.write_all(b"\\r")?,
            b'\t' => out.write_all(b"\\t")?,
            other => write!(out, "\\u{other:04x}")?,
        }
        done = stop + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        decode(body, &mut out);
        out
    }

    fn printed(text: &[u8]) -> String {
        let mut out = Vec::new();
        print(text, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn decodes_every_escape() {
        assert_eq!(
            decoded(br#"a\"\\\/\b\f\n\r\t\u0041\u00e9"#),
            "a\"\\/\u{8}\u{c}\n\r\tAé".as_bytes()
        );
        assert_eq!(decoded(br"\ud83d\ude00"), "😀".as_bytes());
        assert_eq!(decoded(br"\uD83Dx"), b"\xED\xA0\xBDx");
        assert_eq!(decoded(br"\ude00\ud83d"), b"\xED\xB8\x80\xED\xA0\xBD");
        assert_eq!(
            decoded(br"\ud83d\ud83d\ude00"),
            b"\xED\xA0\xBD\xF0\x9F\x98\x80"
        );
    }

    #[test]
    fn finds_escapes_at_every_offset() {
        for (escape, text) in [
            (r"\n", "\n"),
            (r"\\", "\\"),
            (r"\u00e9", "é"),
            (r"\ud83d\ude00", "😀"),
        ] {
            for before in 0..20 {
                for behind in 0..20 {
                    let around = |inner: &str| {
                        ["a".repeat(before), inner.repeat(2), "é".repeat(behind)].concat()
                    };
                    assert_eq!(decoded(around(escape).as_bytes()), around(text).as_bytes());
                }
            }
        }
    }

    #[test]
    fn replaces_maximal_subparts() {
        assert_eq!(decoded(b"a\xE2\x82b\xFF"), "a\u{FFFD}b\u{FFFD}".as_bytes());
        assert_eq!(
            decoded(b"\xED\xA0\x80"),
            "\u{FFFD}\u{FFFD}\u{FFFD}".as_bytes()
        );
        assert_eq!(decoded(b"\xE2\x82\\n"), "\u{FFFD}\n".as_bytes());
    }

    #[test]
    fn prints_minimal_escapes() {
        assert_eq!(
            printed("/\u{7f}\u{2028}é".as_bytes()),
            "\"/\u{7f}\u{2028}é\""
        );
        assert_eq!(
            printed(b"\"\\\x08\x0c\n\r\t\x00\x1f"),
            r#""\"\\\b\f\n\r\t\u0000\u001f""#
        );
        assert_eq!(
            printed(b"\xED\xA0\xBDx\xED\x9F\xBF\xED\xB8\x80"),
            "\"\\ud83dx\u{D7FF}\\ude00\""
        );
    }
}
