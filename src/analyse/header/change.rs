//! What differs between two headers.
//!
//! **Takes** two headers of any origin. **Gives** [`HeaderChange`]. **Never** parses a part whose bytes are the same, and never
//! compares a placeholder.

use super::effective::Effective;
use super::limits::Limits;
use super::text::{self, Edit};
use super::{config, prefix, tools};
use crate::analyse::answer::{Coarse, HeaderChange, Part, TextChange};

/// Compares two headers.
pub fn compare(old: &Effective<'_>, new: &Effective<'_>, limits: &Limits) -> HeaderChange {
    let (old_text, new_text) = (old.system.text(), new.system.text());
    compare_with((old, &old_text), (new, &new_text), limits).0
}

/// The same, where the prompts are decoded already. Gives also the blocks of lines in which they differ.
pub(super) fn compare_with(
    (old, old_text): (&Effective<'_>, &[u8]),
    (new, new_text): (&Effective<'_>, &[u8]),
    limits: &Limits,
) -> (HeaderChange, Vec<Edit>) {
    let mut change = HeaderChange::default();
    let mut blocks = Vec::new();
    let is_told = |part: Part| {
        let hidden = old.is_redacted(part) || new.is_redacted(part);
        // Redacted tools may still have names.
        let has_names = part == Part::Tools
            && [old, new].into_iter().all(|header| {
                header
                    .tools
                    .is_none_or(|tools| tools.elements().next().is_some())
            });
        !old.is_same_bytes(new, part) && (!hidden || has_names)
    };
    if is_told(Part::Config) {
        (change.config, change.config_reordered) = config::compare(old, new);
    }
    if is_told(Part::System)
        && let Some(compared) = text::compare(old_text, new_text, limits)
    {
        change.system = Some(compared.change);
        blocks = compared.blocks;
    }
    if is_told(Part::Tools) {
        change.tools = tools::compare(old.tools, new.tools, limits);
    }
    if is_told(Part::Prefix) {
        change.prefix = prefix::compare(old.prefix, new.prefix, limits);
    }
    (change, blocks)
}

/// About how many bytes of text a change holds.
pub(super) fn weight(change: &HeaderChange) -> usize {
    texts(change).map(text_weight).sum()
}

/// Drops the hunks of a change: what is left says where and how much.
pub(super) fn make_coarse(change: &mut HeaderChange) {
    for text in change.texts_mut() {
        text.hunks.clear();
        text.left_out = text.added + text.removed;
        text.coarse = Some(Coarse::Size);
    }
}

fn texts(change: &HeaderChange) -> impl Iterator<Item = &TextChange> {
    let tools = change.tools.iter().flat_map(|tools| &tools.changed);
    let messages = change.prefix.iter().flat_map(|prefix| &prefix.messages);
    change
        .system
        .iter()
        .chain(tools.filter_map(|tool| tool.description.as_ref()))
        .chain(messages.filter_map(|message| message.text.as_ref()))
}

fn text_weight(text: &TextChange) -> usize {
    let lines = text.hunks.iter().flat_map(|hunk| &hunk.lines);
    let sides = lines.flat_map(|line| line.old.iter().chain(&line.new));
    sides
        .flat_map(|side| &side.pieces)
        .map(|piece| piece.text.len() + 64)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Raw;

    fn header(text: &str) -> Effective<'_> {
        Effective::of_snapshot(Raw::parse(text.as_bytes()).expect("valid"))
    }

    fn parts(old: &str, new: &str) -> Vec<Part> {
        compare(&header(old), &header(new), &Limits::default())
            .parts()
            .collect()
    }

    #[test]
    fn each_part_is_told_apart() {
        let old = r#"{"config":{"model":"a"},"system":"x","tools":[{"name":"t"}],"messagePrefix":[{"role":"user","content":"p"}]}"#;
        assert!(parts(old, old).is_empty());
        assert_eq!(parts(old, &old.replace("\"a\"", "\"b\"")), [Part::Config]);
        assert_eq!(parts(old, &old.replace("\"x\"", "\"y\"")), [Part::System]);
        assert_eq!(parts(old, &old.replace("\"t\"", "\"u\"")), [Part::Tools]);
        assert_eq!(parts(old, &old.replace("\"p\"", "\"q\"")), [Part::Prefix]);
        assert_eq!(parts(old, "{}"), Part::ALL);
    }

    #[test]
    fn spelling_is_no_difference() {
        let old = r#"{"config":{"model":"a","temperature":1},"system":"é"}"#;
        let new = r#"{ "config": {"model":"\u0061","temperature":1.0}, "system":"\u00e9" }"#;
        assert!(parts(old, new).is_empty());
    }

    #[test]
    fn placeholders_are_not_compared_and_names_are() {
        let old = r#"{"system":"{{system}}","tools":["a"]}"#;
        let new = r#"{"system":"a prompt","tools":["a","b"]}"#;
        assert_eq!(parts(old, new), [Part::Tools]);
    }

    #[test]
    fn a_coarse_change_still_says_how_much() {
        let mut change = compare(
            &header(r#"{"system":"a"}"#),
            &header(r#"{"system":"b\nc"}"#),
            &Limits::default(),
        );
        assert!(weight(&change) > 0);
        make_coarse(&mut change);
        let text = change.system.expect("it differs");
        assert!(text.hunks.is_empty() && (text.added, text.removed, text.left_out) == (2, 1, 3));
    }
}
