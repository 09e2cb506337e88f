//! What differs between two configs.
//!
//! **Takes** two headers. **Gives** members, in the order of the later config. **Never** weighs what a member does.

use std::collections::BTreeMap;

use super::effective::{DEFAULTED, Effective};
use super::shown::{shortened, shown};
use crate::analyse::answer::MemberChange;
use crate::record::Raw;

/// Longest value that is printed.
const LONGEST: usize = 1_000;

/// The members that differ, and whether the common ones stand in another order.
pub(super) fn compare(old: &Effective<'_>, new: &Effective<'_>) -> (Vec<MemberChange>, bool) {
    let (olds, news) = (Members::of(old), Members::of(new));
    let gone = olds.names.iter().filter(|name| !news.has(name));
    let mut changes = Vec::new();
    for name in news.names.iter().chain(gone) {
        changes.extend(member(name, &olds, &news));
    }
    let kept = olds.names.iter().filter(|name| news.has(name));
    let reordered = kept.ne(news.names.iter().filter(|name| olds.has(name)));
    (changes, reordered)
}

/// The members of a header's config.
struct Members<'h, 'b> {
    header: &'h Effective<'b>,
    /// In their order.
    names: Vec<String>,
    /// Of those with one name the last.
    values: BTreeMap<String, Raw<'b>>,
}

impl<'h, 'b> Members<'h, 'b> {
    fn of(header: &'h Effective<'b>) -> Self {
        let members = header.config.into_iter().flat_map(Raw::members);
        let named = |(key, value): (Raw<'b>, _)| Some((shown(key.text()?.bytes()), value));
        let members: Vec<(String, Raw<'b>)> = members.filter_map(named).collect();
        Members {
            header,
            names: members.iter().map(|(name, _)| name.clone()).collect(),
            values: members.into_iter().collect(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    fn value(&self, name: &str) -> Option<String> {
        let value = self.values.get(name)?;
        Some(shown(&value.printed()))
    }

    fn is_default(&self, name: &str) -> bool {
        self.has(name) && DEFAULTED.contains(&name) && self.header.is_default(name)
    }
}

fn member(name: &str, old: &Members<'_, '_>, new: &Members<'_, '_>) -> Option<MemberChange> {
    let (before, after) = (old.value(name), new.value(name));
    let flags = (old.is_default(name), new.is_default(name));
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
