//! Number literals: their grammar, their value, and how the harness's engine prints them.
//!
//! **Takes** bytes of a literal. **Gives** doubles, as the engine holds every number, and their ECMAScript text.
//! **Never** rounds in any other way than the engine does.

use super::scan::{byte, digits, slice};

/// The largest integer that a double holds without doubt: 2^53 − 1.
pub const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// How a literal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// As the engine prints it.
    Printed,
    /// In another way.
    Other,
    /// Its value is beyond a double's range; the engine prints `null`.
    Huge,
}

/// Reads the literal that begins at `at`: the offset behind it, and how it is written.
///
/// # Errors
///
/// The offset of the byte that breaks the grammar.
#[inline(always)]
pub(super) fn read(bytes: &[u8], at: usize) -> Result<(usize, Spelling), usize> {
    let end = at + digits(bytes, at);
    // No sign, fraction, exponent or leading zero, and exact as a double.
    let plain = end - at <= 15
        && !matches!(byte(bytes, end), b'.' | b'e' | b'E')
        && (end == at + 1 || matches!(byte(bytes, at), b'1'..=b'9'));
    if plain {
        Ok((end, Spelling::Printed))
    } else {
        read_any(bytes, at)
    }
}

#[inline(never)]
fn read_any(bytes: &[u8], start: usize) -> Result<(usize, Spelling), usize> {
    let first = if byte(bytes, start) == b'-' {
        start + 1
    } else {
        start
    };
    let mut at = digits_end(bytes, first);
    if at == first {
        return Err(at);
    }
    if byte(bytes, first) == b'0' && at > first + 1 {
        return Err(first + 1);
    }
    if byte(bytes, at) == b'.' {
        let fraction = at + 1;
        at = digits_end(bytes, fraction);
        if at == fraction {
            return Err(at);
        }
    }
    if matches!(byte(bytes, at), b'e' | b'E') {
        at += 1;
        if matches!(byte(bytes, at), b'+' | b'-') {
            at += 1;
        }
        let exponent = at;
        at = digits_end(bytes, exponent);
        if at == exponent {
            return Err(at);
        }
    }
    Ok((at, spelling(slice(bytes, start, at))))
}

fn digits_end(bytes: &[u8], at: usize) -> usize {
    at + digits(bytes, at)
}

/// How a valid literal is written.
fn spelling(literal: &[u8]) -> Spelling {
    if small_integer(literal).is_some_and(|value| value < 0) && !literal.starts_with(b"-0") {
        return Spelling::Printed;
    }
    let value = value(literal);
    if value.is_infinite() {
        return Spelling::Huge;
    }
    let mut buffer = ryu_js::Buffer::new();
    if buffer.format_finite(value).as_bytes() == literal {
        Spelling::Printed
    } else {
        Spelling::Other
    }
}

/// The value of a valid literal; infinite beyond a double's range. NaN for anything else.
pub(super) fn value(literal: &[u8]) -> f64 {
    if let Some(value) = small_integer(literal) {
        // At most 15 digits: exact.
        return value as f64;
    }
    std::str::from_utf8(literal)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(f64::NAN)
}

/// The value of a valid literal as a safe integer, however it is written: `5.0` and `5e0` are 5, `-0` is 0.
pub(super) fn safe_integer(literal: &[u8]) -> Option<i64> {
    if let Some(value) = small_integer(literal) {
        return Some(value);
    }
    let value = value(literal);
    let safe = value.trunc() == value && value.abs() <= MAX_SAFE_INTEGER as f64;
    safe.then_some(value as i64)
}

/// The value of a literal of at most 15 digits and nothing else but a leading minus sign. Not for `-0`, which a double keeps apart.
fn small_integer(literal: &[u8]) -> Option<i64> {
    let (negative, digits) = match literal.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, literal),
    };
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let mut value = 0i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    if negative && value == 0 {
        return None;
    }
    Some(if negative { -value } else { value })
}

/// Calls `use_text` with the engine's text of a double: ECMAScript's shortest form, `null` when it is not finite.
pub(super) fn with_printed<T>(value: f64, use_text: impl FnOnce(&str) -> T) -> T {
    if value.is_finite() {
        use_text(ryu_js::Buffer::new().format_finite(value))
    } else {
        use_text("null")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> Result<(usize, Spelling), usize> {
        read(text.as_bytes(), 0)
    }

    #[test]
    fn knows_what_the_engine_would_print() {
        let max = "1.7976931348623157e+308";
        for text in [
            "0",
            "7",
            "-7",
            "123456789012345",
            "9007199254740991",
            "0.1",
            "1e+21",
            "1e-7",
            max,
        ] {
            assert_eq!(
                read_all(text),
                Ok((text.len(), Spelling::Printed)),
                "{text}"
            );
        }
        for text in [
            "-0",
            "1.0",
            "1e3",
            "1E+21",
            "0.10",
            "9007199254740993",
            "1e21",
            "5e-1",
            "1e-400",
        ] {
            assert_eq!(read_all(text), Ok((text.len(), Spelling::Other)), "{text}");
        }
        for text in ["1e400", "-1e309"] {
            assert_eq!(read_all(text), Ok((text.len(), Spelling::Huge)), "{text}");
        }
    }

    #[test]
    fn says_where_the_grammar_breaks() {
        for (text, at) in [
            ("01", 1),
            ("1.", 2),
            ("-", 1),
            ("1e", 2),
            ("1e+", 3),
            ("-01", 2),
            ("1.e5", 2),
        ] {
            assert_eq!(read_all(text), Err(at), "{text}");
        }
    }

    #[test]
    fn safe_integers_are_decided_by_value() {
        for (text, value) in [
            ("5.0", Some(5)),
            ("5e0", Some(5)),
            ("-0", Some(0)),
            ("-3", Some(-3)),
            ("9007199254740991", Some(MAX_SAFE_INTEGER)),
            ("9007199254740992", None),
            ("0.5", None),
            ("1e400", None),
        ] {
            assert_eq!(safe_integer(text.as_bytes()), value, "{text}");
        }
        assert!(value(b"-0").is_sign_negative());
    }

    #[test]
    fn prints_as_the_engine_does() {
        for (value, text) in [
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (-0.0, "0"),
            (1e-7, "1e-7"),
        ] {
            with_printed(value, |printed| assert_eq!(printed, text));
        }
        with_printed(f64::INFINITY, |printed| assert_eq!(printed, "null"));
    }
}
