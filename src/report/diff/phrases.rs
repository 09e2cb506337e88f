//! What a change is, in one phrase for each part.
//!
//! **Takes** answers. **Gives** short English, not yet harmless where it quotes a log. **Never** colours it.

use crate::analyse::answer::{HeaderChange, MemberChange, Piece, TextChange, ToolsChange};
use crate::report::words::{count, grouped};

/// How many names of a list are spelled out.
const NAMED: usize = 3;
/// Longest difference, in characters, that is told in a phrase.
const SHORT: usize = 32;

/// What a row changes, part by part: one phrase each. With `values`, also the values of the config's members.
pub(super) fn phrases(change: &HeaderChange, values: Values) -> Vec<String> {
    let mut phrases = Vec::new();
    let members = &change.config;
    if values == Values::Told || members.len() == 1 {
        phrases.extend(members.iter().take(NAMED).map(member_phrase));
        if members.len() > NAMED {
            let left = (members.len() - NAMED) as u64;
            phrases.push(format!("{} more", count(left, "option")));
        }
    } else if !members.is_empty() {
        let names: Vec<String> = members.iter().map(|member| member.name.clone()).collect();
        phrases.push(format!("config {}", some(&names)));
    }
    if change.config_reordered && members.is_empty() {
        phrases.push("config reordered".to_string());
    }
    if let Some(text) = &change.system {
        phrases.push(text_phrase(text));
    }
    if let Some(tools) = &change.tools {
        phrases.push(tool_phrase(tools));
    }
    if let Some(prefix) = &change.prefix {
        phrases.push(format!(
            "prefix {}",
            count(prefix.messages.len() as u64, "message")
        ));
    }
    phrases
}

/// Whether a phrase tells values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// It does.
    Told,
    /// They stand below.
    Below,
}

fn member_phrase(member: &MemberChange) -> String {
    // Values may be hidden.
    if member.old.is_none() && member.new.is_none() {
        return member.name.clone();
    }
    let value = |value: &Option<String>, is_default: bool| match (value, is_default) {
        (None, _) => "–".to_string(),
        (Some(value), true) => format!("{} (default)", bare(value)),
        (Some(value), false) => bare(value).to_string(),
    };
    format!(
        "{} {} → {}",
        member.name,
        value(&member.old, member.old_is_default),
        value(&member.new, member.new_is_default)
    )
}

/// `system line 5: t0 → t1` where that is all, else how many lines.
fn text_phrase(text: &TextChange) -> String {
    let mut lines = text
        .hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .filter(|line| !line.same);
    let only = lines
        .next()
        .filter(|_| text.added == 1 && text.removed == 1);
    let told = only.and_then(|line| {
        let (old, new) = (line.old.as_ref()?, line.new.as_ref()?);
        let (before, after) = (differing(&old.pieces)?, differing(&new.pieces)?);
        Some(format!("system line {}: {before} → {after}", new.number))
    });
    told.unwrap_or_else(|| format!("system {}", plus_minus(text.added, text.removed)))
}

/// The part of a line that differs, with the rest of its words, if that is short.
fn differing(pieces: &[Piece]) -> Option<String> {
    let first = pieces.iter().position(|piece| piece.changed)?;
    let last = pieces.iter().rposition(|piece| piece.changed)?;
    let text =
        |range: &[Piece]| -> String { range.iter().map(|piece| piece.text.as_str()).collect() };
    let (head, rest) = pieces.split_at(first);
    let (inner, tail) = rest.split_at(last + 1 - first);
    let (head, tail) = (text(head), text(tail));
    let word = head.rsplit(char::is_whitespace).next().unwrap_or_default();
    let end = tail.split(char::is_whitespace).next().unwrap_or_default();
    let end = end.trim_end_matches(['.', ',', ':', ';', '!', '?', ')', '"', '`']);
    let found = format!("{word}{}{end}", text(inner));
    (found.chars().count() <= SHORT).then_some(found)
}

/// A JSON string without its quotes, where that is clear.
fn bare(json: &str) -> &str {
    let inner = json
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner
        .filter(|text| !text.is_empty() && !text.contains(['"', ' ', '\\']))
        .unwrap_or(json)
}

/// `+1 −1`.
pub(super) fn plus_minus(added: u64, removed: u64) -> String {
    match (added, removed) {
        (0, removed) => format!("−{}", grouped(removed)),
        (added, 0) => format!("+{}", grouped(added)),
        (added, removed) => format!("+{} −{}", grouped(added), grouped(removed)),
    }
}

/// `tools +a −b ~c`, or that nothing but the order differs.
fn tool_phrase(tools: &ToolsChange) -> String {
    if tools.order_only {
        return format!("tools: same {}, another order", grouped(tools.new));
    }
    let mut words = vec!["tools".to_string()];
    let mut list = |sign: &str, names: Vec<&str>| {
        let left = names.len().saturating_sub(NAMED);
        words.extend(names.iter().take(NAMED).map(|name| format!("{sign}{name}")));
        if left > 0 {
            words.push(format!("{sign}{left} more"));
        }
    };
    list(
        "+",
        tools.added.iter().map(|tool| tool.name.as_str()).collect(),
    );
    list(
        "−",
        tools
            .removed
            .iter()
            .map(|tool| tool.name.as_str())
            .collect(),
    );
    list(
        "~",
        tools
            .changed
            .iter()
            .map(|tool| tool.name.as_str())
            .collect(),
    );
    if !tools.moved.is_empty() {
        words.push(format!("{} moved", tools.moved.len()));
    }
    words.join(" ")
}

/// Names of a list, the first of them spelled out.
pub(super) fn some(names: &[String]) -> String {
    let mut words: Vec<String> = names.iter().take(2 * NAMED).cloned().collect();
    if names.len() > 2 * NAMED {
        words.push(format!("and {} more", names.len() - 2 * NAMED));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lose_their_quotes_where_that_is_clear() {
        assert_eq!(bare("\"mock\""), "mock");
        assert_eq!(bare("\"a b\""), "\"a b\"");
        assert_eq!(bare("1e+21"), "1e+21");
    }
}
