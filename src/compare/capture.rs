//! Requests as they were captured where they left the loop, one JSON value a line.
//!
//! **Takes** a [`Source`]. **Gives** a [`Capture`]: what each row names, and its request. **Never** knows a log.
//!
//! A row is an object with the request under `options` (the harness's object) or `body` (the provider's, as an object or as its
//! text), and beside it, where the recorder knew them, `turn`, `step`, `attempt`, `sessionId`, `path`, `loop`, `purpose` and
//! `compact`; or it is such a request itself; or, as `reconstruct --digest` prints it, a `sha256` alone.

use super::bodies;
use crate::line::LineNo;
use crate::record::{Kind, Raw};
use crate::request::{digest_of, hex_digest_of};
use crate::source::{Source, SourceError};

/// The captured requests of one file.
#[derive(Debug)]
pub struct Capture<'c> {
    /// Its rows, in order.
    pub rows: Vec<CapturedRow<'c>>,
}

/// One captured request.
#[derive(Debug)]
pub struct CapturedRow<'c> {
    /// Its line in the capture.
    pub line: LineNo,
    /// Turn and step that sent it, as the recorder says.
    pub step: Option<(u64, u64)>,
    /// The attempt within the step; counted from 0 or 1, as the recorder likes.
    pub attempt: Option<u64>,
    /// The session that sent it, as the recorder says.
    pub session: Option<String>,
    /// The log it was rebuilt from, where it comes from `reconstruct` over several.
    pub path: Option<String>,
    /// Whether the recorder says that a step of the loop did not send it: a compaction, a title.
    pub is_other_call: bool,
    /// What was captured.
    pub content: Content<'c>,
    /// SHA-256 of its printed form, in hex; of a body without what the deployment may decide.
    pub sha256: String,
}

/// What was captured of a request.
#[derive(Clone, Copy, Debug)]
pub enum Content<'c> {
    /// The harness's options object.
    Options(Raw<'c>),
    /// The provider's body; perhaps as a string that holds its text.
    Body(Raw<'c>),
    /// Its digest only.
    Digest,
}

/// Why a file is no capture.
#[derive(Debug)]
pub enum CaptureError {
    /// It cannot be read.
    Read(SourceError),
    /// A line is no JSON object.
    NotAnObject(LineNo),
    /// A line holds neither options nor a body nor a digest.
    NoRequest(LineNo),
}

impl std::fmt::Display for CaptureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CaptureError::Read(error) => write!(f, "cannot read: {error}"),
            CaptureError::NotAnObject(line) => write!(f, "line {line} is no JSON object"),
            CaptureError::NoRequest(line) => {
                write!(
                    f,
                    "line {line} holds no request: neither options, nor a body, nor a sha256"
                )
            }
        }
    }
}

impl std::error::Error for CaptureError {}

impl<'c> Capture<'c> {
    /// Reads a capture. Blank lines are passed over; a last line without a line feed counts.
    ///
    /// # Errors
    ///
    /// When the bytes cannot be read, and at the first line that is no captured request.
    pub fn read(source: &'c Source) -> Result<Capture<'c>, CaptureError> {
        let mut lines = source.lines();
        let mut rows = Vec::new();
        while let Some(line) = lines.next_line().map_err(CaptureError::Read)? {
            let text = line.bytes.trim_ascii();
            if text.is_empty() {
                continue;
            }
            let value = Raw::parse(line.bytes).ok();
            let value = value.filter(|value| value.kind() == Kind::Object);
            let value = value.ok_or(CaptureError::NotAnObject(line.no))?;
            let row = read_row(source, value, line.no, line.start);
            rows.push(row.ok_or(CaptureError::NoRequest(line.no))?);
        }
        lines.finish().map_err(CaptureError::Read)?;
        source.check().map_err(CaptureError::Read)?;
        Ok(Capture { rows })
    }
}

fn read_row<'c>(
    source: &'c Source,
    row: Raw<'_>,
    line: LineNo,
    start: u64,
) -> Option<CapturedRow<'c>> {
    let number = |name: &str| {
        let value = row.get(name).and_then(Raw::safe_int);
        value.and_then(|value| u64::try_from(value).ok())
    };
    let word = |name: &str| {
        let text = row.get(name).and_then(Raw::text);
        text.map(|text| text.to_lossy().into_owned())
    };
    let says = |name: &str, value: bool| row.get(name).and_then(Raw::as_bool) == Some(value);
    let (content, sha256) = content(source, row, start)?;
    let purpose = match content {
        Content::Options(options) => options.get("purpose"),
        Content::Body(_) | Content::Digest => None,
    };
    let has_purpose = [row.get("purpose"), purpose]
        .iter()
        .flatten()
        .any(|raw| !raw.is_null());
    Some(CapturedRow {
        line,
        step: number("turn").zip(number("step")),
        attempt: number("attempt"),
        session: word("sessionId").filter(|_| !is_bare(row)),
        path: word("path"),
        is_other_call: says("loop", false) || says("compact", true) || has_purpose,
        content,
        sha256,
    })
}

/// Whether the row is a request itself, and no wrapping of one.
fn is_bare(row: Raw<'_>) -> bool {
    row.get("options").or(row.get("body")).is_none() && row.get("messages").is_some()
}

fn content<'c>(source: &'c Source, row: Raw<'_>, start: u64) -> Option<(Content<'c>, String)> {
    let is_object = |raw: &Raw<'_>| raw.kind() == Kind::Object;
    let kept = |raw: Raw<'_>| {
        let mut span = raw.span();
        span.start += start;
        span.end += start;
        raw.rebased(source.keep().keep(raw.bytes(), span))
    };
    if let Some(options) = row.get("options").filter(is_object) {
        return Some((Content::Options(kept(options)), digest_of(options)));
    }
    if let Some(body) = row.get("body") {
        let text = bodies::text_of(body);
        Raw::parse(&text).ok().filter(is_object)?;
        return Some((Content::Body(kept(body)), bodies::digest(&text)));
    }
    if is_bare(row) && row.get("stream").is_some() {
        return Some((Content::Body(kept(row)), bodies::digest(row.bytes())));
    }
    if is_bare(row) {
        return Some((Content::Options(kept(row)), digest_of(row)));
    }
    let digest = row.get("sha256").and_then(Raw::text)?;
    let digest = hex_digest_of(digest.as_str()?)?;
    Some((Content::Digest, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &'static str) -> Result<Vec<String>, String> {
        let source = Source::from_bytes(text.as_bytes());
        let capture = Capture::read(&source).map_err(|error| error.to_string())?;
        let shown = capture.rows.iter().map(|row| {
            let content = match row.content {
                Content::Options(raw) => {
                    format!("options {}", String::from_utf8_lossy(raw.bytes()))
                }
                Content::Body(raw) => format!("body {}", String::from_utf8_lossy(raw.bytes())),
                Content::Digest => "digest".to_owned(),
            };
            let other = if row.is_other_call { " other" } else { "" };
            format!(
                "{:?} {:?} {:?}{other} {content}",
                row.step,
                row.attempt,
                row.session.as_deref()
            )
        });
        Ok(shown.collect())
    }

    #[test]
    fn rows_are_known_by_what_they_hold() {
        let text = concat!(
            r#"{"i":2,"sessionId":"s","turn":3,"step":1,"options":{"messages":[]}}"#,
            "\n\n",
            r#"{"loop":false,"purpose":"compaction","turn":1,"step":2,"attempt":0,"options":{}}"#,
            "\r\n",
            r#"{"model":"m","messages":[],"sessionId":"s"}"#,
            "\n",
            r#"{"model":"m","messages":[],"stream":true}"#,
            "\n",
            r#"{"url":"/x","body":"{\"model\":1}"}"#,
            "\n",
            r#"{"turn":1,"step":1,"sha256":"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"}"#,
        );
        assert_eq!(
            rows(text).expect("a capture"),
            [
                r#"Some((3, 1)) None Some("s") options {"messages":[]}"#,
                r#"Some((1, 2)) Some(0) None other options {}"#,
                r#"None None None options {"model":"m","messages":[],"sessionId":"s"}"#,
                r#"None None None body {"model":"m","messages":[],"stream":true}"#,
                r#"None None None body "{\"model\":1}""#,
                "Some((1, 1)) None None digest",
            ]
        );
    }

    #[test]
    fn what_is_no_request_is_said_with_its_line() {
        assert_eq!(rows("\n[1]\n"), Err("line 2 is no JSON object".to_owned()));
        assert!(
            rows("{\"turn\":1}\n").is_err_and(|why| why.starts_with("line 1 holds no request"))
        );
        assert!(rows("{\"sha256\":\"12\"}\n").is_err());
        assert!(rows("{\"body\":\"oops\"}\n").is_err());
    }
}
