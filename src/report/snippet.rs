//! A finding as miette sees it: a bounded piece of one line, already harmless.
//!
//! **Takes** a finding and the columns there are. **Gives** a [`Snippet`] that miette can draw.
//! **Never** opens the log: what is shown is the excerpt captured when the finding was made.

use std::fmt;

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, Severity, SourceCode, SourceSpan,
    SpanContents,
};

use crate::finding::{Excerpt, Finding, Level};

use super::columns::{first_columns, last_columns, split, width};
use super::safe::Safe;

/// A finding, ready to be drawn.
#[derive(Debug)]
pub(super) struct Snippet {
    code: String,
    level: Level,
    message: String,
    help: Option<String>,
    label: String,
    source: Option<Window>,
}

impl Snippet {
    /// The finding without its excerpt.
    pub(super) fn bare(finding: &Finding, code: String) -> Snippet {
        Snippet {
            code,
            level: finding.level,
            message: Safe(&finding.message).to_string(),
            help: finding.help.as_deref().map(|help| Safe(help).to_string()),
            label: String::new(),
            source: None,
        }
    }

    /// The same with a window on its line, and its label under the marked bytes.
    pub(super) fn with_window(mut self, window: Window, label: String) -> Snippet {
        self.source = Some(window);
        self.label = label;
        self
    }
}

/// What miette draws between the middle of a mark and its label, in columns.
const HOOK: usize = 4;

/// The part of a line that fits into a terminal.
#[derive(Debug)]
pub(super) struct Window {
    name: String,
    line: usize,
    text: String,
    mark: SourceSpan,
}

impl Window {
    /// Cuts an excerpt to `columns`, keeping the mark's beginning in view, and room for `label` behind its middle. `line` counts
    /// from 1, and `name` stands in the frame.
    pub(super) fn new(
        name: String,
        line: u64,
        excerpt: &Excerpt,
        columns: usize,
        label: &str,
    ) -> Window {
        let (before, rest) = split(&excerpt.text, excerpt.mark.start);
        let (marked, after) = split(rest, excerpt.mark.len());
        let before = Safe(before).to_string();
        // The middle of the mark, of what is seen of it, may stand as far to the right as this.
        let middle = columns.saturating_sub(width(label) + HOOK);
        let marked = Safe(marked).to_string();
        let of_a_short_mark = middle.saturating_sub(width(&marked) / 2);
        let of_a_cut_mark = (2 * middle).saturating_sub(columns);
        let room = (columns / 3).min(of_a_short_mark.max(of_a_cut_mark));
        let (before, cut) = last_columns(&before, room);
        let mut text = String::new();
        if cut || excerpt.cut_before {
            text.push('…');
        }
        text.push_str(before);
        let left = columns.saturating_sub(width(&text) + 1);
        let (marked, mark_cut) = first_columns(&marked, left);
        let mark = SourceSpan::new(text.len().into(), marked.len());
        text.push_str(marked);
        let left = left.saturating_sub(width(marked));
        let after = Safe(after).to_string();
        let (after, after_cut) = first_columns(&after, if mark_cut { 0 } else { left });
        text.push_str(after);
        if mark_cut || after_cut || excerpt.cut_after {
            text.push('…');
        }
        let line = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        Window {
            name,
            line,
            text,
            mark,
        }
    }
}

impl SourceCode for Window {
    fn read_span<'w>(
        &'w self,
        span: &SourceSpan,
        _before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'w> + 'w>, MietteError> {
        if span.offset() + span.len() > self.text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let whole = SourceSpan::new(0.into(), self.text.len());
        let bytes = self.text.as_bytes();
        let name = self.name.clone();
        Ok(Box::new(MietteSpanContents::new_named(
            name, bytes, whole, self.line, 0, 1,
        )))
    }
}

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Snippet {}

impl Diagnostic for Snippet {
    fn code<'s>(&'s self) -> Option<Box<dyn fmt::Display + 's>> {
        Some(Box::new(&self.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Advice,
        })
    }

    fn help<'s>(&'s self) -> Option<Box<dyn fmt::Display + 's>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|window| window as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let window = self.source.as_ref()?;
        let label = (!self.label.is_empty()).then(|| self.label.clone());
        Some(Box::new(std::iter::once(
            LabeledSpan::new_primary_with_span(label, window.mark),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: &str = "turn 1 / step 3 / seq 207";

    fn window(line: &[u8], mark: std::ops::Range<usize>, columns: usize) -> Window {
        let excerpt = Excerpt::around(line, mark);
        Window::new("log".into(), 7, &excerpt, columns, LABEL)
    }

    #[test]
    fn the_mark_stays_in_view_and_the_window_in_its_columns() {
        let line = "x".repeat(500);
        let window = window(line.as_bytes(), 300..310, 60);
        assert!(width(&window.text) <= 60, "{}", width(&window.text));
        assert_eq!(window.mark.len(), 10);
        assert!(window.text.starts_with('…') && window.text.ends_with('…'));
    }

    #[test]
    fn the_label_has_room_behind_the_middle_of_the_mark() {
        let line = "x".repeat(500);
        for (start, end) in [(100, 400), (100, 160), (100, 110), (0, 500), (490, 500)] {
            let window = window(line.as_bytes(), start..end, 60);
            let middle = window.mark.offset() + window.mark.len() / 2;
            assert!(
                middle + 4 + width(LABEL) <= 62,
                "{start} to {end}: {middle}"
            );
        }
    }

    #[test]
    fn a_mark_that_does_not_fit_is_cut() {
        let line = "漢".repeat(50);
        let window = window(line.as_bytes(), 0..150, 40);
        assert!(width(&window.text) <= 40, "{}", width(&window.text));
        assert!(window.text.is_char_boundary(window.mark.len()));
    }

    #[test]
    fn hostile_bytes_are_escaped_and_still_marked() {
        let window = window(b"ab\x1b[31m\0cd", 2..8, 60);
        let end = window.mark.offset() + window.mark.len();
        assert_eq!(&window.text[window.mark.offset()..end], "\\x1b[31m\\x00");
    }
}
