//! Where two JSON values part first.
//!
//! **Takes** two values. **Gives** a [`Difference`]: the place as a JSON pointer, and what stands there on either side, bounded.
//! **Never** recurses on nesting, and never copies a value.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use crate::line::Excerpt;
use crate::record::{Kind, MOST_LEVELS, Raw};

/// The first place where two values are not printed alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place, as a JSON pointer below both values. Places deeper than [`MOST_LEVELS`] are given by what holds them there.
    pub pointer: String,
    /// How they part there.
    pub parting: Parting,
    /// What stands there on the left, around the first byte that differs; absent where nothing does.
    pub left: Option<Excerpt>,
    /// What stands there on the right.
    pub right: Option<Excerpt>,
}

/// How two values part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// Only the left one has this member or element.
    OnlyLeft,
    /// Only the right one has it.
    OnlyRight,
    /// Values of different kinds.
    Kind,
    /// Other text, another number, another word.
    Value,
    /// The same members in another order.
    Order,
}

/// What to look at next.
enum Next<'l, 'r> {
    Into(Raw<'l>, Raw<'r>),
    Left(Raw<'l>),
    Right(Raw<'r>),
    Order,
}

/// The first difference of two values in the order of the left one's members and elements; `None` if both are printed alike.
pub fn first_difference(left: Raw<'_>, right: Raw<'_>) -> Option<Difference> {
    if left.same_text(right) {
        return None;
    }
    let (mut left, mut right) = (left, right);
    let mut pointer = String::new();
    for _ in 0..MOST_LEVELS {
        let next = match (left.kind(), right.kind()) {
            (Kind::Object, Kind::Object) => into_object(left, right, &mut pointer),
            (Kind::Array, Kind::Array) => into_array(left, right, &mut pointer),
            _ => None,
        };
        match next {
            Some(Next::Into(l, r)) => (left, right) = (l, r),
            Some(Next::Left(l)) => return Some(at(pointer, Parting::OnlyLeft, Some(l), None)),
            Some(Next::Right(r)) => return Some(at(pointer, Parting::OnlyRight, None, Some(r))),
            Some(Next::Order) => {
                return Some(at(pointer, Parting::Order, Some(left), Some(right)));
            }
            None => break,
        }
    }
    let parting = if left.kind() == right.kind() {
        Parting::Value
    } else {
        Parting::Kind
    };
    Some(at(pointer, parting, Some(left), Some(right)))
}

fn at(
    pointer: String,
    parting: Parting,
    left: Option<Raw<'_>>,
    right: Option<Raw<'_>>,
) -> Difference {
    let (left, right) = (left.map(Raw::printed), right.map(Raw::printed));
    let shared = match (&left, &right) {
        (Some(left), Some(right)) => shared_bytes(left, right),
        _ => 0,
    };
    let excerpt = |text: Option<Cow<'_, [u8]>>| {
        text.map(|text| {
            let end = if shared == 0 { 0 } else { shared + 1 };
            Excerpt::around(&text, shared..end)
        })
    };
    Difference {
        pointer,
        parting,
        left: excerpt(left),
        right: excerpt(right),
    }
}

fn shared_bytes(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(l, r)| l == r).count()
}

fn into_array<'l, 'r>(left: Raw<'l>, right: Raw<'r>, pointer: &mut String) -> Option<Next<'l, 'r>> {
    let (mut lefts, mut rights) = (left.elements(), right.elements());
    let mut index = 0_usize;
    loop {
        let next = match (lefts.next(), rights.next()) {
            (Some(l), Some(r)) if l.same_text(r) => None,
            (Some(l), Some(r)) => Some(Next::Into(l, r)),
            (Some(l), None) => Some(Next::Left(l)),
            (None, Some(r)) => Some(Next::Right(r)),
            (None, None) => return None,
        };
        if next.is_some() {
            // Writing to a string does not fail.
            let _ = write!(pointer, "/{index}");
            return next;
        }
        index += 1;
    }
}

fn into_object<'l, 'r>(
    left: Raw<'l>,
    right: Raw<'r>,
    pointer: &mut String,
) -> Option<Next<'l, 'r>> {
    let (mut lefts, mut rights) = (left.members(), right.members());
    loop {
        let (l, r) = (lefts.next(), rights.next());
        match (l, r) {
            (Some((key, l)), Some((other, r))) if key.same_text(other) => {
                if !l.same_text(r) {
                    push_key(key, pointer);
                    return Some(Next::Into(l, r));
                }
            }
            (None, None) => return None,
            _ => return out_of_step(left, right, pointer),
        }
    }
}

/// The first difference of two objects whose members do not stand in the same order.
fn out_of_step<'l, 'r>(
    left: Raw<'l>,
    right: Raw<'r>,
    pointer: &mut String,
) -> Option<Next<'l, 'r>> {
    let keyed = |raw: Raw<'_>| -> HashMap<Vec<u8>, usize> {
        let keys = raw.members().enumerate();
        keys.map(|(at, (key, _))| (key.printed().into_owned(), at))
            .collect()
    };
    let (on_left, on_right) = (keyed(left), keyed(right));
    let rights: Vec<Raw<'r>> = right.members().map(|(_, value)| value).collect();
    let of_left = left.members().enumerate().find_map(|(at, (key, l))| {
        let r = on_right.get(&*key.printed()).and_then(|at| rights.get(*at));
        match r {
            None => Some((at, key, Next::Left(l))),
            Some(r) if !l.same_text(*r) => Some((at, key, Next::Into(l, *r))),
            Some(_) => None,
        }
    });
    let missing =
        |(_, (key, _)): &(usize, (Raw<'_>, Raw<'_>))| !on_left.contains_key(&*key.printed());
    let of_right = right.members().enumerate().find(missing);
    match (of_left, of_right) {
        (Some((at, key, next)), right) if right.is_none_or(|(behind, _)| at <= behind) => {
            push_key(key, pointer);
            Some(next)
        }
        (_, Some((_, (key, value)))) => {
            push_key(key, pointer);
            Some(Next::Right(value))
        }
        _ => Some(Next::Order),
    }
}

fn push_key(key: Raw<'_>, pointer: &mut String) {
    let text = key.text().map(|text| text.to_lossy().into_owned());
    pointer.push('/');
    pointer.push_str(
        &text
            .unwrap_or_default()
            .replace('~', "~0")
            .replace('/', "~1"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(left: &str, right: &str) -> Option<(String, Parting)> {
        let left = Raw::parse(left.as_bytes()).expect("valid");
        let right = Raw::parse(right.as_bytes()).expect("valid");
        first_difference(left, right).map(|found| (found.pointer, found.parting))
    }

    #[test]
    fn the_same_printed_text_is_no_difference() {
        assert_eq!(
            difference(r#"{"a": 1.0, "b":"\u0061"}"#, r#"{"a":1,"b":"a"}"#),
            None
        );
    }

    #[test]
    fn the_first_place_is_named() {
        let cases = [
            (
                r#"{"a":1,"b":[1,{"c":"x"}]}"#,
                r#"{"a":1,"b":[1,{"c":"y"}]}"#,
                "/b/1/c",
                Parting::Value,
            ),
            (r#"{"a":1,"t":2}"#, r#"{"a":1}"#, "/t", Parting::OnlyLeft),
            (r#"{"a":1}"#, r#"{"a":1,"t":2}"#, "/t", Parting::OnlyRight),
            (r#"{"a":1}"#, r#"{"a":"1"}"#, "/a", Parting::Kind),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, "", Parting::Order),
            (r#"{"a":1,"b":2}"#, r#"{"b":3,"a":1}"#, "/b", Parting::Value),
            (
                r#"{"a":1,"c":3}"#,
                r#"{"b":2,"a":1,"c":4}"#,
                "/b",
                Parting::OnlyRight,
            ),
            (r#"[1,2,3]"#, r#"[1,2]"#, "/2", Parting::OnlyLeft),
            (r#"[1]"#, r#"[1,2]"#, "/1", Parting::OnlyRight),
            (
                r#"{"a/b":{"~":1}}"#,
                r#"{"a/b":{"~":2}}"#,
                "/a~1b/~0",
                Parting::Value,
            ),
        ];
        for (left, right, pointer, parting) in cases {
            assert_eq!(
                difference(left, right),
                Some((pointer.to_owned(), parting)),
                "{left} {right}"
            );
        }
    }

    #[test]
    fn values_are_cut_around_the_first_byte_that_differs() {
        let long = "x".repeat(1000);
        let left = format!("[\"{long}left\"]");
        let right = format!("[\"{long}right\"]");
        let (left, right) = (Raw::parse(left.as_bytes()), Raw::parse(right.as_bytes()));
        let found = first_difference(left.expect("valid"), right.expect("valid")).expect("differs");
        let left = found.left.expect("stands there");
        assert!(left.text.ends_with("left\"") && left.text.len() <= Excerpt::LIMIT);
        assert_eq!(left.text.get(left.mark.clone()), Some("l"));
    }

    #[test]
    fn nesting_has_an_end() {
        let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(50_000), "]".repeat(50_000));
        let (pointer, parting) = difference(&nested("1"), &nested("2")).expect("differs");
        assert_eq!((pointer.len(), parting), (2 * MOST_LEVELS, Parting::Value));
    }
}
