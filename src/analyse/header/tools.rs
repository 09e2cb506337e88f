//! What differs between two lists of tools.
//!
//! **Takes** two lists. **Gives** tools by name: added, removed, moved, changed. **Never** parses a tool whose text is the same.

use std::collections::HashMap;

use super::limits::Limits;
use super::order;
use super::shown::shown;
use super::{text, value};
use crate::analyse::answer::{ToolChange, ToolMove, ToolPlace, ToolsChange};
use crate::record::{Kind, Raw, TextBuf};

/// A tool of a list.
struct Tool<'b> {
    raw: Raw<'b>,
    name: Vec<u8>,
    /// How many of the same name stand before it.
    nth: usize,
}

/// The decoded name of a tool; of a redacted one that is all there is.
pub(super) fn name(tool: Raw<'_>) -> Vec<u8> {
    let name = tool.get("name").unwrap_or(tool);
    name.text()
        .map(|text| text.bytes().to_vec())
        .unwrap_or_default()
}

fn list(tools: Option<Raw<'_>>) -> Vec<Tool<'_>> {
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut out = Vec::new();
    for raw in tools.into_iter().flat_map(Raw::elements) {
        let name = name(raw);
        let count = seen.entry(name.clone()).or_default();
        out.push(Tool {
            raw,
            name,
            nth: *count,
        });
        *count += 1;
    }
    out
}

/// Compares two lists. Absent and empty are the same.
pub(super) fn compare(
    old: Option<Raw<'_>>,
    new: Option<Raw<'_>>,
    limits: &Limits,
) -> Option<ToolsChange> {
    let (olds, news) = (list(old), list(new));
    let places = olds.iter().enumerate();
    let mut places: HashMap<(&[u8], usize), usize> = places
        .map(|(at, tool)| ((tool.name.as_slice(), tool.nth), at))
        .collect();
    let same = olds.iter().zip(&news).take_while(|(a, b)| is_same(a, b));
    let mut change = ToolsChange {
        old: olds.len() as u64,
        new: news.len() as u64,
        same_start: same.count() as u64,
        ..ToolsChange::default()
    };
    let mut kept = Vec::new();
    for (at, tool) in news.iter().enumerate() {
        let Some(before) = places.remove(&(tool.name.as_slice(), tool.nth)) else {
            change.added.push(place(tool, at));
            continue;
        };
        kept.push((before, at));
        if let Some(before) = olds.get(before).filter(|before| !is_same(before, tool)) {
            change.changed.push(changed(before, tool, at, limits));
        }
    }
    let mut gone: Vec<usize> = places.into_values().collect();
    gone.sort_unstable();
    let gone = gone
        .iter()
        .filter_map(|at| Some(place(olds.get(*at)?, *at)));
    change.removed = gone.collect();
    let positions: Vec<usize> = kept.iter().map(|(before, _)| *before).collect();
    for ((from, to), _) in kept
        .iter()
        .zip(order::moved(&positions))
        .filter(|(_, moved)| *moved)
    {
        change.moved.push(ToolMove {
            name: news
                .get(*to)
                .map(|tool| shown(&tool.name))
                .unwrap_or_default(),
            from: *from as u64,
            to: *to as u64,
        });
    }
    let same_set =
        change.added.is_empty() && change.removed.is_empty() && change.changed.is_empty();
    change.order_only = same_set && !change.moved.is_empty();
    (!same_set || change.order_only).then_some(change)
}

/// Whether two tools of one name are the same. Of a redacted one nothing but the name is known.
fn is_same(old: &Tool<'_>, new: &Tool<'_>) -> bool {
    let is_name = |tool: &Tool<'_>| tool.raw.kind() == Kind::String;
    if is_name(old) || is_name(new) {
        return old.name == new.name;
    }
    old.raw.same_text(new.raw)
}

fn place(tool: &Tool<'_>, index: usize) -> ToolPlace {
    ToolPlace {
        name: shown(&tool.name),
        index: index as u64,
        bytes: tool.raw.printed().len() as u64,
    }
}

fn changed(old: &Tool<'_>, new: &Tool<'_>, index: usize, limits: &Limits) -> ToolChange {
    let description = |tool: &Tool<'_>| {
        let raw = tool.raw.get("description");
        raw.filter(|raw| raw.kind() == Kind::String).map(decoded)
    };
    // A description that comes, goes, or is no string is a value like any other.
    let both = description(old).zip(description(new));
    let skip: &[&str] = if both.is_some() {
        &["description"]
    } else {
        &[]
    };
    let description = both.and_then(|(old, new)| text::compare(&old, &new, limits));
    let differences = value::compare(old.raw, new.raw, skip, limits);
    ToolChange {
        name: shown(&new.name),
        index: index as u64,
        description: description.map(|compared| compared.change),
        values: differences.found,
        left_out: differences.left_out,
    }
}

fn decoded(raw: Raw<'_>) -> Vec<u8> {
    let mut text = TextBuf::new();
    raw.append_to(&mut text);
    text.bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(old: &str, new: &str) -> Option<ToolsChange> {
        let raw = |text: &'static str| Raw::parse(text.as_bytes()).expect("valid");
        let (old, new) = (old.to_string().leak(), new.to_string().leak());
        compare(Some(raw(old)), Some(raw(new)), &Limits::default())
    }

    #[test]
    fn tools_are_told_by_name() {
        let change = compared(
            r#"[{"name":"a"},{"name":"b","description":"old text","parameters":{"x":1}},{"name":"c"}]"#,
            r#"[{"name":"a"},{"name":"b","description":"new text","parameters":{"x":2}},{"name":"d"}]"#,
        )
        .expect("they differ");
        assert_eq!(
            (change.added[0].name.as_str(), change.added[0].index),
            ("d", 2)
        );
        assert_eq!(change.removed[0].name, "c");
        assert_eq!(change.same_start, 1);
        let tool = &change.changed[0];
        assert_eq!(tool.values[0].pointer, "/parameters/x");
        assert!(tool.description.is_some() && change.moved.is_empty());
    }

    #[test]
    fn the_same_set_in_another_order_is_a_verdict_of_its_own() {
        let change = compared(
            r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#,
            r#"[{"name":"c"},{"name":"a"},{"name":"b"}]"#,
        )
        .expect("they differ");
        assert!(change.order_only);
        assert_eq!(
            change.moved,
            [ToolMove {
                name: "c".into(),
                from: 2,
                to: 0
            }]
        );
        assert_eq!(compared(r#"[{"name":"a"}]"#, r#"[{"name":"a"}]"#), None);
    }

    #[test]
    fn names_alone_are_compared_as_names() {
        let change = compared(r#"["a","b"]"#, r#"["a","x","b"]"#).expect("they differ");
        assert_eq!(
            change.added.len() + change.removed.len() + change.changed.len(),
            1
        );
    }

    #[test]
    fn tools_of_one_name_are_counted() {
        let change = compared(r#"[{"name":"a"},{"name":"a"}]"#, r#"[{"name":"a"}]"#);
        assert_eq!(change.expect("they differ").removed[0].index, 1);
    }
}
