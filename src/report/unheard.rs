//! Keeps output from being taken for a command by the program that collects it: a runner of GitHub Actions, an agent of Azure
//! Pipelines, TeamCity.
//!
//! **Takes** a finished document, piece by piece. **Gives** the same document with the one character escaped that would have
//! completed such a command. **Never** looks ahead, and never changes what a JSON document or an HTML page says.

use std::io::{self, Write};

/// How a document writes a character by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// `\x5b`, as the sanitiser does in text for people.
    Text,
    /// The same in lines that are commands themselves.
    Commands,
    /// `\u005b`.
    Json,
    /// `&#91;`.
    Html,
}

/// A writer that lets no command through.
///
/// *Source*: the runner of GitHub Actions takes `##[name …]` wherever it stands in a line, and `::name …::` at the start of a line,
/// white space aside. Azure Pipelines takes `##vso[…]`, TeamCity `##teamcity[…]`.
pub(crate) struct Unheard<W> {
    out: W,
    escapes: Escapes,
    /// The letters behind `##`, where that is what came last.
    behind_marks: Option<Vec<u8>>,
    last: u8,
    line: Line,
}

/// How much of a line there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Nothing but white space, or what may be some.
    Blank,
    /// One colon.
    Colon,
    /// More than could begin a command.
    Begun,
}

impl<W: Write> Unheard<W> {
    /// A writer in front of `out`, at the start of a line.
    pub(crate) fn before(out: W, escapes: Escapes) -> Unheard<W> {
        Unheard {
            out,
            escapes,
            behind_marks: None,
            last: b'\n',
            line: Line::Blank,
        }
    }

    /// Whether `byte` would complete the beginning of a command.
    fn completes(&mut self, byte: u8) -> bool {
        let is_mark = self.behind_marks.as_deref().is_some_and(is_command);
        let is_line = self.line == Line::Colon && self.escapes != Escapes::Commands;
        let completes = (byte == b'[' && is_mark) || (byte == b':' && is_line);
        self.behind_marks = match (byte, self.behind_marks.take()) {
            (b'#', _) if self.last == b'#' => Some(Vec::new()),
            (letter, Some(mut letters)) if letter.is_ascii_alphabetic() && letters.len() < 8 => {
                letters.push(letter);
                Some(letters)
            }
            _ => None,
        };
        self.line = match (self.line, byte) {
            (_, b'\n' | b'\r') => Line::Blank,
            // A space of another script has several bytes; to take a letter for one does no harm.
            (Line::Blank, b' ' | b'\t' | 0x80..) => Line::Blank,
            (Line::Blank, b':') => Line::Colon,
            _ => Line::Begun,
        };
        self.last = byte;
        completes
    }

    fn write_escaped(&mut self, byte: u8) -> io::Result<()> {
        match self.escapes {
            Escapes::Text | Escapes::Commands => write!(self.out, "\\x{byte:02x}"),
            Escapes::Json => write!(self.out, "\\u{byte:04x}"),
            Escapes::Html => write!(self.out, "&#{byte};"),
        }
    }
}

/// Whether `##`, these letters and a bracket begin a command somewhere.
fn is_command(letters: &[u8]) -> bool {
    [&b""[..], b"vso", b"teamcity"]
        .iter()
        .any(|command| letters.eq_ignore_ascii_case(command))
}

impl<W: Write> Write for Unheard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if self.completes(*byte) {
                self.out
                    .write_all(bytes.get(written..at).unwrap_or_default())?;
                self.write_escaped(*byte)?;
                written = at + 1;
            }
        }
        self.out
            .write_all(bytes.get(written..).unwrap_or_default())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(escapes: Escapes, pieces: &[&str]) -> String {
        let mut out = Vec::new();
        let mut unheard = Unheard::before(&mut out, escapes);
        for piece in pieces {
            unheard
                .write_all(piece.as_bytes())
                .expect("a vector takes all");
        }
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn no_command_is_completed_however_it_is_written() {
        let text = "a ##[add-mask]x ##VSO[y ##teamcity[z\n  ::error::x\n\u{a0}::debug::y\n";
        let expected = "a ##\\x5badd-mask]x ##VSO\\x5by ##teamcity\\x5bz\n  :\\x3aerror::x\n\u{a0}:\\x3adebug::y\n";
        assert_eq!(written(Escapes::Text, &[text]), expected);
        let singly: Vec<&str> = text.split_inclusive(|_: char| true).collect();
        assert_eq!(written(Escapes::Text, &singly), expected);
    }

    #[test]
    fn what_is_no_command_stays() {
        let text = "#[derive] ## [x] ##x[y a::b c ::d [::] ##vsox[ :x::\n: :\n";
        assert_eq!(written(Escapes::Text, &[text]), text);
        assert_eq!(written(Escapes::Commands, &["::error::x"]), "::error::x");
    }

    #[test]
    fn documents_say_the_same() {
        let json = written(Escapes::Json, &["[\"###[x\"]"]);
        assert_eq!(json, "[\"###\\u005bx\"]");
        assert_eq!(written(Escapes::Html, &["<p>##[x]"]), "<p>##&#91;x]");
    }
}
