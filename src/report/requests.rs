//! Requests, one line each.
//!
//! **Takes** a request's numbers and how to write its options. **Gives** `dsh-audit/reconstruct/v1`, or a row of a table.
//! **Never** touches the options' bytes, and never holds them.

use std::io::{self, Write};
use std::path::Path;

use super::paint::{Paint, Tone};
use super::safe::SafePath;
use super::words;
use super::{Escapes, JsonText, Unheard};

/// Something that writes itself.
pub(crate) type Render<'r> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'r;

/// What a row holds beside its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The options that the harness built.
    Options,
    /// The body that the provider received.
    Body,
}

impl What {
    fn member(self) -> &'static str {
        match self {
            What::Options => "options",
            What::Body => "body",
        }
    }
}

/// The numbers of a request, or of a call that is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRow<'r> {
    /// The log, where several are read.
    pub(crate) path: Option<&'r Path>,
    /// Its turn and step; a call may stand outside of both.
    pub(crate) step: Option<(u64, Option<u64>)>,
    /// Its attempt within the step, from 1.
    pub(crate) attempt: u64,
    /// What a call that is no request is for.
    pub(crate) purpose: Option<&'r str>,
    /// Its messages are the derivation of all events with a smaller seq.
    pub(crate) boundary: u64,
    /// The header in force, if the request is made of one.
    pub(crate) header: Option<u64>,
    /// Who sent it, and whether.
    pub(crate) sending: Sending,
    /// Number of messages on the surface it was derived from.
    pub(crate) messages: Option<u64>,
    /// SHA-256 of what was sent, in hexadecimal.
    pub(crate) sha256: &'r str,
}

/// Who sent a request, and whether it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sending {
    /// The parent session sent it.
    pub(crate) inherited: bool,
    /// The log cannot say that it was sent.
    pub(crate) unsent: bool,
}

impl RequestRow<'_> {
    /// Writes the row as JSON. `content` says what stands behind the numbers, and writes it; without it the member is left out.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write_json(
        &self,
        content: Option<(What, &Render<'_>)>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(b"{")?;
        if let Some(path) = self.path {
            out.write_all(b"\"path\":")?;
            let mut unheard = Unheard::before(&mut *out, Escapes::Json);
            JsonText::write_value(&path.to_string_lossy(), &mut unheard)?;
            out.write_all(b",")?;
        }
        if let Some((turn, step)) = self.step {
            write!(out, "\"turn\":{turn},")?;
            if let Some(step) = step {
                write!(out, "\"step\":{step},")?;
            }
        }
        write!(out, "\"attempt\":{}", self.attempt)?;
        if let Some(purpose) = self.purpose {
            write!(out, ",\"purpose\":\"{purpose}\"")?;
        }
        write!(out, ",\"boundarySeq\":{}", self.boundary)?;
        if let Some(header) = self.header {
            write!(out, ",\"headerSeq\":{header}")?;
        }
        if self.sending.inherited {
            out.write_all(b",\"inherited\":true")?;
        }
        if self.sending.unsent {
            out.write_all(b",\"unsent\":\"possible\"")?;
        }
        write!(out, ",\"sha256\":\"{}\"", self.sha256)?;
        if let Some((what, write)) = content {
            write!(out, ",\"{}\":", what.member())?;
            write(out)?;
        }
        out.write_all(b"}\n")
    }

    /// Writes the row for a person.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write_text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let number = match self.step {
            Some((turn, Some(step))) => format!("{turn}.{step}.{}", self.attempt),
            Some((turn, None)) => format!("{turn}.-"),
            None => "-".into(),
        };
        let notes = [
            self.purpose,
            self.sending.inherited.then_some("inherited"),
            self.sending.unsent.then_some("possibly unsent"),
        ];
        let notes: Vec<&str> = notes.into_iter().flatten().collect();
        let gap = if notes.is_empty() { "" } else { "  " };
        let count = |count: Option<u64>| count.map_or("-".into(), words::grouped);
        writeln!(
            out,
            "{:<10} {:>9} {:>7} {:>8}  {}{gap}{}",
            number,
            words::grouped(self.boundary),
            count(self.header),
            count(self.messages),
            paint.tone(Tone::Faint, self.sha256),
            notes.join(", ")
        )
    }

    /// Writes what stands above such rows: the log, where several are read, and the names of the columns.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write_heading(
        paint: Paint,
        path: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if let Some(path) = path {
            let path = paint.tone(Tone::Strong, SafePath(path));
            writeln!(Unheard::before(&mut *out, Escapes::Text), "{path}")?;
        }
        let heading = "request     boundary  header messages  sha256";
        writeln!(out, "{}", paint.tone(Tone::Faint, heading))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_their_order_and_options_as_they_are() {
        let row = RequestRow {
            path: None,
            step: Some((1, Some(2))),
            attempt: 1,
            purpose: None,
            boundary: 19,
            header: Some(3),
            sending: Sending {
                inherited: true,
                unsent: true,
            },
            messages: Some(4),
            sha256: "00",
        };
        let mut out = Vec::new();
        let options = |out: &mut dyn Write| out.write_all(b"{\"a\": \xff}");
        row.write_json(Some((What::Options, &options)), &mut out)
            .expect("a vector takes all");
        assert_eq!(
            out,
            b"{\"turn\":1,\"step\":2,\"attempt\":1,\"boundarySeq\":19,\"headerSeq\":3,\"inherited\":true,\
              \"unsent\":\"possible\",\"sha256\":\"00\",\"options\":{\"a\": \xff}}\n"
        );
        let mut out = Vec::new();
        let call = RequestRow {
            step: None,
            purpose: Some("session-title"),
            header: None,
            sending: Sending::default(),
            messages: None,
            ..row
        };
        let body = |out: &mut dyn Write| out.write_all(b"{}");
        call.write_json(Some((What::Body, &body)), &mut out)
            .expect("a vector takes all");
        assert_eq!(
            out,
            b"{\"attempt\":1,\"purpose\":\"session-title\",\"boundarySeq\":19,\"sha256\":\"00\",\"body\":{}}\n"
        );
        let mut out = Vec::new();
        let row = RequestRow {
            path: Some(Path::new("a\"b")),
            sending: Sending::default(),
            ..row
        };
        row.write_json(None, &mut out).expect("a vector takes all");
        assert!(
            out.starts_with(b"{\"path\":\"a\\\"b\",\"turn\":1,")
                && out.ends_with(b",\"sha256\":\"00\"}\n")
        );
    }
}
