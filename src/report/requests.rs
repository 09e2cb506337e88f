//! Requests, one line each.
//!
//! **Takes** a request's numbers and how to write its options. **Gives** `dsh-audit/reconstruct/v1`, or a row of a table.
//! **Never** touches the options' bytes, and never holds them.

use std::io::{self, Write};
use std::path::Path;

use super::JsonText;
use super::paint::{Paint, Tone};
use super::safe::SafePath;
use super::words;

/// Something that writes itself.
pub(crate) type Render<'r> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'r;

/// The numbers of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRow<'r> {
    /// The log, where several are read.
    pub(crate) path: Option<&'r Path>,
    /// Its turn.
    pub(crate) turn: u64,
    /// Its step.
    pub(crate) step: u64,
    /// Its attempt within the step, from 1.
    pub(crate) attempt: u64,
    /// Its messages are the derivation of all events with a smaller seq.
    pub(crate) boundary: u64,
    /// The header in force.
    pub(crate) header: u64,
    /// Who sent it, and whether.
    pub(crate) sending: Sending,
    /// Number of messages on the surface it was derived from.
    pub(crate) messages: u64,
    /// SHA-256 of its options, in hexadecimal.
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
    /// Writes the row as JSON. `options` writes what stands behind `"options":`; without it the member is left out.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write_json(
        &self,
        options: Option<&Render<'_>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(b"{")?;
        if let Some(path) = self.path {
            out.write_all(b"\"path\":")?;
            JsonText::write_value(&path.to_string_lossy(), out)?;
            out.write_all(b",")?;
        }
        write!(
            out,
            "\"turn\":{},\"step\":{},\"attempt\":{},\"boundarySeq\":{},\"headerSeq\":{}",
            self.turn, self.step, self.attempt, self.boundary, self.header
        )?;
        if self.sending.inherited {
            out.write_all(b",\"inherited\":true")?;
        }
        if self.sending.unsent {
            out.write_all(b",\"unsent\":\"possible\"")?;
        }
        write!(out, ",\"sha256\":\"{}\"", self.sha256)?;
        if let Some(options) = options {
            out.write_all(b",\"options\":")?;
            options(out)?;
        }
        out.write_all(b"}\n")
    }

    /// Writes the row for a person.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub(crate) fn write_text(&self, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
        let number = format!("{}.{}.{}", self.turn, self.step, self.attempt);
        let notes = match self.sending {
            Sending {
                inherited: true,
                unsent: true,
            } => "  inherited, possibly unsent",
            Sending {
                inherited: true,
                unsent: false,
            } => "  inherited",
            Sending {
                inherited: false,
                unsent: true,
            } => "  possibly unsent",
            Sending {
                inherited: false,
                unsent: false,
            } => "",
        };
        writeln!(
            out,
            "{:<10} {:>9} {:>7} {:>8}  {}{notes}",
            number,
            words::grouped(self.boundary),
            words::grouped(self.header),
            words::grouped(self.messages),
            paint.tone(Tone::Faint, self.sha256)
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
            writeln!(out, "{}", paint.tone(Tone::Strong, SafePath(path)))?;
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
            turn: 1,
            step: 2,
            attempt: 1,
            boundary: 19,
            header: 3,
            sending: Sending {
                inherited: true,
                unsent: true,
            },
            messages: 4,
            sha256: "00",
        };
        let mut out = Vec::new();
        let options = |out: &mut dyn Write| out.write_all(b"{\"a\": \xff}");
        row.write_json(Some(&options), &mut out)
            .expect("a vector takes all");
        assert_eq!(
            out,
            b"{\"turn\":1,\"step\":2,\"attempt\":1,\"boundarySeq\":19,\"headerSeq\":3,\"inherited\":true,\
              \"unsent\":\"possible\",\"sha256\":\"00\",\"options\":{\"a\": \xff}}\n"
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
