//! What differs between two configs.
//!
//! **Takes** two headers. **Gives** members, in the order of the later config. **Never** weighs what a member does.

use super::effective::{DEFAULTED, Effective};
use super::shown::{shortened, shown};
use crate::analyse::answer::MemberChange;
use crate::record::Raw;

/// Longest value that is printed.
const LONGEST: usize = 1_000;

/// The members that differ, and whether the common ones stand in another order.
pub(super) fn compare(old: &Effective<'_>, new: &Effective<'_>) -> (Vec<MemberChange>, bool) {
    let list = |config: Option<Raw<'_>>| -> Vec<String> {
        let members = config.into_iter().flat_map(Raw::members);
        members
            .filter_map(|(key, _)| key.text().map(|text| shown(text.bytes())))
            .collect()
    };
    let (olds, news) = (list(old.config), list(new.config));
    let gone = olds.iter().filter(|name| !news.contains(name));
    let mut changes = Vec::new();
    for name in news.iter().chain(gone) {
        changes.extend(member(name, old, new));
    }
    let kept = olds.iter().filter(|name| news.contains(name));
    let reordered = kept.ne(news.iter().filter(|name| olds.contains(name)));
    (changes, reordered)
}

fn member(name: &str, old: &Effective<'_>, new: &Effective<'_>) -> Option<MemberChange> {
    let value = |header: &Effective<'_>| {
        let value = header.config.and_then(|config| config.get(name))?;
        Some(shown(&value.printed()))
    };
    let (before, after) = (value(old), value(new));
    let is_default = |header: &Effective<'_>, value: &Option<String>| {
        value.is_some() && DEFAULTED.contains(&name) && header.is_default(name)
    };
    let flags = (is_default(old, &before), is_default(new, &after));
    (before != after || flags.0 != flags.1).then(|| MemberChange {
        name: name.to_string(),
        old: before.map(|value| shortened(&value, LONGEST)),
        new: after.map(|value| shortened(&value, LONGEST)),
        old_is_default: flags.0,
        new_is_default: flags.1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(old: &str, new: &str) -> (Vec<String>, bool) {
        let raw = |text: &'static str| Raw::parse(text.as_bytes()).expect("valid");
        let (old, new) = (old.to_string().leak(), new.to_string().leak());
        let (old, new) = (
            Effective::of_snapshot(raw(old)),
            Effective::of_snapshot(raw(new)),
        );
        let (found, reordered) = compare(&old, &new);
        let mark = |is_default| if is_default { "*" } else { "" };
        let draw = |change: &MemberChange| {
            format!(
                "{} {}{} {}{}",
                change.name,
                change.old.as_deref().unwrap_or("-"),
                mark(change.old_is_default),
                change.new.as_deref().unwrap_or("-"),
                mark(change.new_is_default)
            )
        };
        (found.iter().map(draw).collect(), reordered)
    }

    #[test]
    fn members_come_go_and_change() {
        assert_eq!(
            changes(
                r#"{"config":{"model":"a","temperature":1}}"#,
                r#"{"config":{"model":"b","maxTokens":5},"adapterDefaults":{"maxTokens":true}}"#
            ),
            (
                vec![
                    "model \"a\" \"b\"".into(),
                    "maxTokens - 5*".into(),
                    "temperature 1 -".into()
                ],
                false
            )
        );
    }

    #[test]
    fn a_default_that_becomes_a_choice_and_a_new_order_are_changes() {
        assert_eq!(
            changes(
                r#"{"config":{"model":"a","maxTokens":5},"adapterDefaults":{"maxTokens":true}}"#,
                r#"{"config":{"maxTokens":5,"model":"a"}}"#
            ),
            (vec!["maxTokens 5* 5".into()], true)
        );
    }
}
