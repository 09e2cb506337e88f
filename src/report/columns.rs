//! Texts measured and cut by the columns they take.
//!
//! **Takes** text that is harmless already. **Gives** its width, or a part that fits. **Never** cuts a character in two.

use unicode_width::UnicodeWidthChar;

/// The text before and from `at` on; all of it before, where that is no boundary.
pub(super) fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The beginning of `text` that fits, and whether it was cut.
pub(super) fn first_columns(text: &str, columns: usize) -> (&str, bool) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return (split(text, at).0, true);
        }
    }
    (text, false)
}

/// The end of `text` that fits, and whether it was cut.
pub(super) fn last_columns(text: &str, columns: usize) -> (&str, bool) {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return (split(text, at + c.len_utf8()).1, true);
        }
    }
    (text, false)
}

/// The text, cut to `columns` with an ellipsis at its end.
pub(super) fn cut_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let (kept, _) = first_columns(text, columns.saturating_sub(1));
    // A text that was cut before ends in one already.
    format!("{}…", kept.trim_end_matches('…'))
}

/// The text, cut to `columns` with an ellipsis at its beginning.
pub(super) fn cut_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let (kept, _) = last_columns(text, columns.saturating_sub(1));
    format!("…{}", kept.trim_start_matches('…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut_end("漢字漢字", 8), "漢字漢字");
        assert_eq!(cut_end("漢字漢字", 6), "漢字…");
        assert_eq!(cut_start("漢字漢字", 6), "…漢字");
        assert_eq!(cut_start("a/b/session.jsonl", 9), "…on.jsonl".to_string());
    }
}
