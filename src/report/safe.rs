//! The sanitiser: text of a log, and names of files, on their way to something that interprets bytes.
//!
//! **Takes** hostile text. **Gives** [`Safe`] and [`SafePath`], which print it without any character that a terminal or
//! a reader's eye would act on. **Never** drops a character silently: what is not printed raw is printed as an escape.

use std::fmt::{self, Write};
use std::path::Path;

/// Text without control, escape, bidi or invisible characters: each of them is printed as an escape (`\n`, `\x1b`,
/// `\u{202e}`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Safe<'t>(pub(crate) &'t str);

impl fmt::Display for Safe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(is_hostile) {
            let (clean, tail) = rest.split_at(at);
            f.write_str(clean)?;
            let mut chars = tail.chars();
            if let Some(hostile) = chars.next() {
                write_escaped(f, hostile)?;
            }
            rest = chars.as_str();
        }
        f.write_str(rest)
    }
}

/// A path without such characters; bytes that are no UTF-8 are printed as `\xff`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SafePath<'t>(pub(crate) &'t Path);

impl fmt::Display for SafePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_encoded_bytes().utf8_chunks() {
            Safe(chunk.valid()).fmt(f)?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Whether a character may not reach a terminal or a document raw.
///
/// *Source*: ours. Controls (C0, DEL, C1), line and paragraph separators, bidi marks, embeddings, overrides and isolates, the
/// characters that a font need not show (fillers, variation selectors, tags: text is smuggled in them) apart from the joiners that
/// scripts and the two selectors that emoji need, and interlinear marks.
pub(crate) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0d}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

fn write_escaped(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        c if (c as u32) < 0x100 => write!(f, "\\x{:02x}", c as u32),
        c => write!(f, "\\u{{{:x}}}", c as u32),
    }
}

/// Makes text safe for Markdown as GitHub reads it: no markup, no mention, no reference, no link comes out of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkdownText<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for MarkdownText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            match c {
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => write!(f, "\\{c}")?,
                // Entities where a backslash does not stop mentions, references, HTML and autolinks.
                '@' | '#' | '<' | '>' | '&' => write!(f, "&#{};", c as u32)?,
                ':' if rest.starts_with("://") => f.write_str("&#58;")?,
                '.' if ends_before(&text, rest, "www") => f.write_str("&#46;")?,
                // `GH-1` is an issue.
                '-' if ends_before(&text, rest, "gh") => f.write_str("&#45;")?,
                c => f.write_char(c)?,
            }
            rest = rest.split_at(c.len_utf8()).1;
        }
        Ok(())
    }
}

/// Whether `rest`, the end of `text`, stands behind `word`, in whatever case.
fn ends_before(text: &str, rest: &str, word: &str) -> bool {
    let before = text.len() - rest.len();
    let start = before.saturating_sub(word.len());
    let found = text.get(start..before);
    found.is_some_and(|found| found.eq_ignore_ascii_case(word))
}

/// Makes text safe for the message of a GitHub workflow command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandText<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for CommandText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            Escaping {
                out: f,
                escape: escape_command
            },
            "{}",
            self.0
        )
    }
}

fn escape_command(c: char, out: &mut dyn Write) -> fmt::Result {
    match c {
        '%' => out.write_str("%25"),
        '\r' => out.write_str("%0D"),
        '\n' => out.write_str("%0A"),
        c => out.write_char(c),
    }
}

/// Makes text safe for a property of a GitHub workflow command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandProperty<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for CommandProperty<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            Escaping {
                out: f,
                escape: escape_property
            },
            "{}",
            self.0
        )
    }
}

fn escape_property(c: char, out: &mut dyn Write) -> fmt::Result {
    match c {
        ':' => out.write_str("%3A"),
        ',' => out.write_str("%2C"),
        c => escape_command(c, out),
    }
}

struct Escaping<'f, 'b> {
    out: &'f mut fmt::Formatter<'b>,
    escape: fn(char, &mut dyn Write) -> fmt::Result,
}

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| (self.escape)(c, self.out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_acts_on_is_left() {
        let hostile = "a\x1b[31m\r\n\u{202e}b\u{9b}2J\u{2066}\u{200b}\u{e0041}é漢\u{200d}";
        let safe = Safe(hostile).to_string();
        assert!(!safe.chars().any(is_hostile), "{safe}");
        assert_eq!(
            safe,
            "a\\x1b[31m\\r\\n\\u{202e}b\\x9b2J\\u{2066}\\u{200b}\\u{e0041}é漢\u{200d}"
        );
    }

    #[test]
    fn nothing_that_no_font_shows_is_left() {
        for hidden in [
            "\u{3164}",
            "\u{fe01}",
            "\u{e0141}",
            "\u{1d173}",
            "\u{34f}",
            "\u{180b}",
        ] {
            assert!(Safe(hidden).to_string().starts_with("\\u{"), "{hidden:?}");
        }
        assert_eq!(Safe("❤\u{fe0f}").to_string(), "❤\u{fe0f}");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_is_shown_whole() {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::OsStr::from_bytes(b"a\xff\n\"b'.jsonl");
        assert_eq!(SafePath(Path::new(path)).to_string(), "a\\xff\\n\"b'.jsonl");
    }

    #[test]
    fn markdown_stays_text() {
        let text = "<img src=x> @team #1 [a](http://b) |`x`| WWW.b Gh-12";
        let shown = MarkdownText(text).to_string();
        for part in ["<", ">", "@", "#1", " [a", "://", "WWW.", "Gh-"] {
            assert!(!shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.contains("\\|\\`x\\`\\|"), "{shown}");
    }

    #[test]
    fn a_workflow_command_cannot_be_left() {
        assert_eq!(
            CommandText("50%\r\n::error::x").to_string(),
            "50%25%0D%0A::error::x"
        );
        assert_eq!(CommandProperty("a:b,c%\n").to_string(), "a%3Ab%2Cc%25%0A");
    }
}
