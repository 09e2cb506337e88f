//! What differs between two JSON values.
//!
//! **Takes** two values. **Gives** the places that differ, by pointer, in the order of the text. **Never** recurses.
//!
//! Key order counts: the harness compares text (format reference, H.7).

use super::limits::Limits;
use super::shown::{shortened, shown};
use super::words;
use crate::analyse::answer::{Piece, ValueChange, ValueFate};
use crate::record::{Kind, Raw};

/// Deepest level that is entered; a value below is compared whole.
const DEEPEST: usize = 64;
/// Longest value that is printed where it came or went.
const LONGEST: usize = 2_000;

/// What differs, and how many differences were left out.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) found: Vec<ValueChange>,
    pub(super) left_out: u64,
}

/// Something still to be compared.
enum Task<'b> {
    Both(String, usize, Raw<'b>, Raw<'b>),
    Came(String, Raw<'b>),
    Went(String, Raw<'b>),
    Order(String, Raw<'b>, Raw<'b>),
}

/// Compares two values, apart from the members at the top that `skip` names.
pub(super) fn compare(old: Raw<'_>, new: Raw<'_>, skip: &[&str], limits: &Limits) -> Differences {
    let mut differences = Differences::default();
    let mut stack = Vec::new();
    push_children(String::new(), 0, old, new, skip, &mut stack);
    while let Some(task) = stack.pop() {
        if differences.found.len() >= limits.values {
            if !matches!(&task, Task::Both(_, _, old, new) if old.same_text(*new)) {
                differences.left_out += 1;
            }
            continue;
        }
        match task {
            Task::Both(_, _, old, new) if old.same_text(new) => {}
            Task::Both(at, depth, old, new) if is_entered(old, new) && depth < DEEPEST => {
                push_children(at, depth, old, new, &[], &mut stack);
            }
            Task::Both(at, _, old, new) => {
                differences.found.push(changed(at, old, new, limits));
            }
            Task::Came(at, new) => differences.found.push(come(at, new)),
            Task::Went(at, old) => differences.found.push(gone(at, old)),
            Task::Order(at, old, new) => differences.found.push(ValueChange {
                pointer: at,
                fate: ValueFate::Reordered,
                old: Some(keys(old)),
                new: Some(keys(new)),
            }),
        }
    }
    differences
}

/// A value that went, or came, as a whole.
pub(super) fn whole(value: Raw<'_>, went: bool) -> Vec<ValueChange> {
    vec![match went {
        true => gone(String::new(), value),
        false => come(String::new(), value),
    }]
}

fn come(pointer: String, new: Raw<'_>) -> ValueChange {
    ValueChange {
        pointer,
        fate: ValueFate::Added,
        old: None,
        new: Some(short(new)),
    }
}

fn gone(pointer: String, old: Raw<'_>) -> ValueChange {
    ValueChange {
        pointer,
        fate: ValueFate::Removed,
        old: Some(short(old)),
        new: None,
    }
}

fn is_entered(old: Raw<'_>, new: Raw<'_>) -> bool {
    matches!(
        (old.kind(), new.kind()),
        (Kind::Object, Kind::Object) | (Kind::Array, Kind::Array)
    )
}

/// Puts what two values hold on the stack, so that it comes off in the order of the text. At the top, values of any kind.
fn push_children<'b>(
    at: String,
    depth: usize,
    old: Raw<'b>,
    new: Raw<'b>,
    skip: &[&str],
    stack: &mut Vec<Task<'b>>,
) {
    let first = stack.len();
    match (old.kind(), new.kind()) {
        (Kind::Object, Kind::Object) => members(&at, depth, old, new, skip, stack),
        (Kind::Array, Kind::Array) => elements(&at, depth, old, new, stack),
        _ => stack.push(Task::Both(at, DEEPEST, old, new)),
    }
    if let Some(pushed) = stack.get_mut(first..) {
        pushed.reverse();
    }
}

fn members<'b>(
    at: &str,
    depth: usize,
    old: Raw<'b>,
    new: Raw<'b>,
    skip: &[&str],
    stack: &mut Vec<Task<'b>>,
) {
    let list = |raw: Raw<'b>| -> Vec<(Vec<u8>, Raw<'b>)> {
        raw.members()
            .filter(|(key, _)| !skip.iter().any(|name| key.is_str(name)))
            .map(|(key, value)| (key_text(key), value))
            .collect()
    };
    let (olds, news) = (list(old), list(new));
    let find = |list: &[(Vec<u8>, Raw<'b>)]| -> std::collections::HashMap<Vec<u8>, usize> {
        let places = list.iter().enumerate();
        places.map(|(at, (key, _))| (key.clone(), at)).collect()
    };
    let (old_places, new_places) = (find(&olds), find(&news));
    let both = olds.iter().filter(|(key, _)| new_places.contains_key(key));
    let in_new = news.iter().filter(|(key, _)| old_places.contains_key(key));
    if both
        .clone()
        .map(|(key, _)| key)
        .ne(in_new.map(|(key, _)| key))
    {
        stack.push(Task::Order(at.to_string(), old, new));
    }
    for (key, value) in &news {
        let pointer = || format!("{at}/{}", escaped(key));
        match old_places.get(key).and_then(|place| olds.get(*place)) {
            Some((_, before)) => stack.push(Task::Both(pointer(), depth + 1, *before, *value)),
            None => stack.push(Task::Came(pointer(), *value)),
        }
    }
    for (key, value) in olds.iter().filter(|(key, _)| !new_places.contains_key(key)) {
        stack.push(Task::Went(format!("{at}/{}", escaped(key)), *value));
    }
}

fn elements<'b>(at: &str, depth: usize, old: Raw<'b>, new: Raw<'b>, stack: &mut Vec<Task<'b>>) {
    let (olds, news): (Vec<_>, Vec<_>) = (old.elements().collect(), new.elements().collect());
    let start = olds
        .iter()
        .zip(&news)
        .take_while(|(a, b)| a.same_text(**b))
        .count();
    let tails = olds
        .iter()
        .skip(start)
        .rev()
        .zip(news.iter().skip(start).rev());
    let end = tails.take_while(|(a, b)| a.same_text(**b)).count();
    let old_mid = olds.get(start..olds.len() - end).unwrap_or_default();
    let new_mid = news.get(start..news.len() - end).unwrap_or_default();
    if old_mid.len() == new_mid.len() {
        for (index, (a, b)) in old_mid.iter().zip(new_mid).enumerate() {
            stack.push(Task::Both(
                format!("{at}/{}", start + index),
                depth + 1,
                *a,
                *b,
            ));
        }
        return;
    }
    for (index, value) in old_mid.iter().enumerate() {
        stack.push(Task::Went(format!("{at}/{}", start + index), *value));
    }
    for (index, value) in new_mid.iter().enumerate() {
        stack.push(Task::Came(format!("{at}/{}", start + index), *value));
    }
}

fn changed(pointer: String, old: Raw<'_>, new: Raw<'_>, limits: &Limits) -> ValueChange {
    let (old, new, _) = words::pieces(&old.printed(), &new.printed(), limits);
    ValueChange {
        pointer,
        fate: ValueFate::Changed,
        old: Some(old),
        new: Some(new),
    }
}

fn short(raw: Raw<'_>) -> Vec<Piece> {
    let text = shortened(&shown(&raw.printed()), LONGEST);
    vec![Piece {
        changed: true,
        text,
    }]
}

fn keys(object: Raw<'_>) -> Vec<Piece> {
    let names: Vec<String> = object
        .members()
        .map(|(key, _)| shown(&key_text(key)))
        .collect();
    vec![Piece {
        changed: true,
        text: shortened(&names.join(", "), LONGEST),
    }]
}

fn key_text(key: Raw<'_>) -> Vec<u8> {
    key.text()
        .map(|text| text.bytes().to_vec())
        .unwrap_or_default()
}

/// A key as a segment of a JSON pointer.
fn escaped(key: &[u8]) -> String {
    shown(key).replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(old: &str, new: &str) -> Vec<String> {
        let (old, new) = (Raw::parse(old.as_bytes()), Raw::parse(new.as_bytes()));
        let (old, new) = (old.expect("valid"), new.expect("valid"));
        let text = |pieces: &Option<Vec<Piece>>| -> String {
            let pieces = pieces.iter().flatten();
            pieces.map(|piece| piece.text.as_str()).collect()
        };
        compare(old, new, &["name"], &Limits::default())
            .found
            .iter()
            .map(|change| {
                let fate = change.fate.as_str();
                format!(
                    "{} {fate} {} {}",
                    change.pointer,
                    text(&change.old),
                    text(&change.new)
                )
            })
            .collect()
    }

    #[test]
    fn places_come_in_the_order_of_the_text() {
        assert_eq!(
            drawn(
                r#"{"name":"a","p":{"x":1,"y":{"z":"q"}},"old":1}"#,
                r#"{"name":"b","p":{"x":2,"y":{"z":"r"}},"new/~":[]}"#
            ),
            [
                "/p/x changed 1 2",
                "/p/y/z changed \"q\" \"r\"",
                "/new~1~0 added  []",
                "/old removed 1 ",
            ]
        );
    }

    #[test]
    fn key_order_counts() {
        assert_eq!(
            drawn(r#"{"p":{"a":1,"b":2}}"#, r#"{"p":{"b":2,"a":1}}"#),
            ["/p reordered a, b b, a"]
        );
    }

    #[test]
    fn elements_come_and_go_by_place() {
        assert_eq!(
            drawn(r#"["a","b","c"]"#, r#"["a","x","b","c"]"#),
            ["/1 added  \"x\""]
        );
        assert_eq!(
            drawn(r#"["a","b"]"#, r#"["a","c"]"#),
            ["/1 changed \"b\" \"c\""]
        );
        assert_eq!(drawn("1", "2"), [" changed 1 2"]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(10_000), "]".repeat(10_000));
        let found = drawn(&deep("1"), &deep("2"));
        assert_eq!(found.len(), 1);
    }
}
