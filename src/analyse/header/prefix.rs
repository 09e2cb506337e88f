//! What differs between two session prefixes.
//!
//! **Takes** two lists of messages. **Gives** the messages that differ. **Never** parses one that is the same.

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::effective::content_text;
use super::limits::Limits;
use super::shown::shown;
use super::{text, value};
use crate::analyse::answer::{MessageChange, PrefixChange};
use crate::record::{Raw, TextBuf};

/// Compares two prefixes. Absent and empty are the same.
pub(super) fn compare(
    old: Option<Raw<'_>>,
    new: Option<Raw<'_>>,
    limits: &Limits,
) -> Option<PrefixChange> {
    let list = |raw: Option<Raw<'_>>| -> Vec<Vec<u8>> {
        let messages = raw.into_iter().flat_map(Raw::elements);
        messages
            .map(|message| message.printed().into_owned())
            .collect()
    };
    let (olds, news) = (list(old), list(new));
    if olds == news {
        return None;
    }
    let same = olds.iter().zip(&news).take_while(|(a, b)| a == b);
    let mut messages = Vec::new();
    for op in capture_diff_slices_deadline(Algorithm::Myers, &olds, &news, limits.until()) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old_range, new_range) = (op.old_range(), op.new_range());
        for at in 0..old_range.len().max(new_range.len()) {
            let of = |range: &std::ops::Range<usize>| {
                Some(range.start + at).filter(|at| range.contains(at))
            };
            let (old_at, new_at) = (of(&old_range), of(&new_range));
            messages.push(message(
                old_at.and_then(|at| Some((at, Raw::parse(olds.get(at)?).ok()?))),
                new_at.and_then(|at| Some((at, Raw::parse(news.get(at)?).ok()?))),
                limits,
            ));
        }
    }
    Some(PrefixChange {
        old: olds.len() as u64,
        new: news.len() as u64,
        same_start: same.count() as u64,
        messages,
    })
}

fn message(
    old: Option<(usize, Raw<'_>)>,
    new: Option<(usize, Raw<'_>)>,
    limits: &Limits,
) -> MessageChange {
    let decoded = |message: Option<(usize, Raw<'_>)>| {
        let mut text = TextBuf::new();
        if let Some(content) = message.and_then(|(_, raw)| raw.get("content")) {
            content_text(content, &mut text);
        }
        text.bytes().to_vec()
    };
    let text = text::compare(&decoded(old), &decoded(new), limits);
    let values = match (old, new) {
        // What the text tells is not told twice.
        (Some((_, old)), Some((_, new))) => {
            let skip: &[&str] = if text.is_some() { &["content"] } else { &[] };
            value::compare(old, new, skip, limits).found
        }
        (Some((_, only)), None) | (None, Some((_, only))) if text.is_none() => {
            value::whole(only, old.is_some())
        }
        _ => Vec::new(),
    };
    let role = new.or(old).and_then(|(_, raw)| raw.get("role"));
    let role = role.and_then(|role| role.text().map(|text| shown(text.bytes())));
    MessageChange {
        old: old.map(|(at, _)| at as u64),
        new: new.map(|(at, _)| at as u64),
        role: role.unwrap_or_default(),
        text: text.map(|compared| compared.change),
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_compared_one_by_one() {
        let old = r#"[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"now 1"}]}]"#;
        let new = r#"[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"now 2"}]},{"role":"assistant","content":"z"}]"#;
        let raw = |text: &'static str| Some(Raw::parse(text.as_bytes()).expect("valid"));
        let change = compare(raw(old), raw(new), &Limits::default()).expect("they differ");
        assert_eq!((change.same_start, change.messages.len()), (1, 2));
        assert_eq!(
            change.messages[0].text.as_ref().map(|text| text.added),
            Some(1)
        );
        assert_eq!(
            (change.messages[1].old, change.messages[1].new),
            (None, Some(2))
        );
        assert_eq!(change.messages[1].role, "assistant");
        assert!(compare(raw(old), raw(old), &Limits::default()).is_none());
    }
}
