//! A text is JSON to us where it is to another reader, means the same, and is printed in one way only.

use dsh_audit::record::{Kind, Raw};
use serde::de::IgnoredAny;
use serde_json::Value;

pub fn check(text: &[u8]) {
    let ours = Raw::parse(text);
    // The engine reads invalid bytes as U+FFFD; the other reader refuses them.
    if let Ok(text) = std::str::from_utf8(text) {
        let other = serde_json::from_str::<IgnoredAny>(text);
        assert_eq!(
            ours.is_ok(),
            other.is_ok(),
            "{ours:?}, but {other:?}: {text}"
        );
    }
    let value = match ours {
        Ok(value) => value,
        Err(error) => return assert!(error.at <= text.len() as u64, "{error:?}"),
    };
    let printed = value.printed();
    is_fixed_point(&printed);
    assert!(value.deep_eq(value) && value.same_text(value));
    assert_eq!(value.is_canonical(), *printed == *value.bytes());
    if is_finite(value, 50) {
        let again = Raw::parse(&printed).expect("what is printed can be read");
        assert!(value.deep_eq(again), "{value:?} is printed as {again:?}");
        assert_eq!(value.deep_digest(), again.deep_digest(), "{value:?}");
    }
    parts_lie_inside(value, 50);
    means_the_same(text, &printed);
}

/// Whether no number is beyond a double's range, as far as is looked: the engine prints such a one as `null`.
fn is_finite(value: Raw<'_>, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };
    match value.kind() {
        Kind::Object => value.members().all(|(_, member)| is_finite(member, below)),
        Kind::Array => value.elements().all(|element| is_finite(element, below)),
        Kind::Number => value.number().is_some_and(f64::is_finite),
        Kind::Null | Kind::Bool | Kind::String => true,
    }
}

/// What is printed is printed as it is.
fn is_fixed_point(printed: &[u8]) {
    let again = Raw::parse(printed).expect("what is printed can be read");
    let text = String::from_utf8_lossy(printed);
    assert!(again.is_canonical(), "{text}");
    assert_eq!(*again.printed(), *printed, "{text}");
}

/// Members and elements lie in their value, in no other one, and print into their value's print.
fn parts_lie_inside(value: Raw<'_>, levels: usize) {
    let Some(below) = levels.checked_sub(1) else {
        return;
    };
    let span = value.span();
    let inside = |part: Raw<'_>| {
        let part = part.span();
        assert!(
            span.start < part.start && part.end < span.end,
            "{part:?} in {span:?}"
        );
    };
    match value.kind() {
        Kind::Object => {
            for (key, member) in value.members() {
                inside(key);
                inside(member);
                let name = key.text().expect("a key is a string");
                if let Some(name) = name.as_str() {
                    let found = value.get(name).expect("a member that is listed is found");
                    assert_eq!(found.span(), member.span(), "{name:?} of {value:?}");
                }
                parts_lie_inside(member, below);
            }
        }
        Kind::Array => value.elements().for_each(|element| {
            inside(element);
            parts_lie_inside(element, below);
        }),
        Kind::String => {
            let text = value.text().expect("a string has a text");
            let mut printed = Vec::new();
            text.print(&mut printed).expect("memory");
            assert_eq!(*value.printed(), *printed, "{value:?}");
        }
        Kind::Null | Kind::Bool | Kind::Number => {}
    }
}

/// Another reader finds the same values in the text and in what is printed of it. It reads neither lone surrogates, nor depths, nor
/// numbers beyond a double.
fn means_the_same(text: &[u8], printed: &[u8]) {
    let (Ok(one), Ok(other)) = (
        serde_json::from_slice::<Value>(text),
        serde_json::from_slice::<Value>(printed),
    ) else {
        return;
    };
    assert!(same(&one, &other), "{one} is printed as {other}");
}

fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let (Some(one), Some(other)) = (one.as_f64(), other.as_f64()) else {
                return false;
            };
            (one - other).abs() <= one.abs() * 1e-15
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let in_other = |(name, one): (&String, &Value)| {
                other.get(name).is_some_and(|other| same(one, other))
            };
            one.len() == other.len() && one.iter().all(in_other)
        }
        _ => one == other,
    }
}
