//! The header lock: the headers of logs, in a file that a repository keeps.
//!
//! **Takes** the headers of logs, or such a file. **Gives** the file's text, or the headers. **Never** reads a lock that is not whole:
//! one that was edited by hand is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::analyse::answer::{HeaderSpot, Part};
use crate::analyse::header::HeaderState;
use crate::record::{Raw, Text, TextBuf, print_str};

/// What the first member says.
const SCHEMA: &str = "dsh-audit/header-lock/v1";

/// Headers of logs.
#[derive(Debug, Default)]
pub(super) struct HeaderLock {
    /// The parts that are locked.
    pub(super) parts: Vec<Part>,
    /// Each log by its path, with its headers in order.
    pub(super) logs: Vec<(String, Vec<HeaderState>)>,
}

/// Texts by digest, in the order of their first use.
#[derive(Default)]
struct Texts {
    seen: BTreeSet<String>,
    written: Vec<(String, Vec<u8>)>,
}

impl Texts {
    /// The digest of a text; `print` writes it where it is new.
    fn add(
        &mut self,
        text: &[u8],
        print: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<String> {
        let digest = digest(text);
        if self.seen.insert(digest.clone()) {
            let mut printed = Vec::new();
            print(&mut printed)?;
            self.written.push((digest.clone(), printed));
        }
        Ok(digest)
    }

    fn write(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        write!(out, ",\n  \"{name}\": {{")?;
        for (at, (digest, text)) in self.written.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}\n    \"{digest}\": ")?;
            out.write_all(text)?;
        }
        out.write_all(if self.written.is_empty() {
            b"}"
        } else {
            b"\n  }"
        })
    }
}

fn digest(text: &[u8]) -> String {
    Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl HeaderLock {
    /// Writes the file: what a reviewer reads stands line by line.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut shelves = Shelves::default();
        let mut logs = Vec::new();
        for (at, (path, headers)) in self.logs.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(logs, "{comma}\n    {{\n      \"log\": ")?;
            print_str(path, &mut logs)?;
            logs.write_all(b",\n      \"headers\": [")?;
            for (at, header) in headers.iter().enumerate() {
                logs.write_all(if at > 0 {
                    b",\n        {"
                } else {
                    b"\n        {"
                })?;
                self.header(header, &mut shelves, &mut logs)?;
                logs.write_all(b"}")?;
            }
            logs.write_all(if headers.is_empty() {
                b"]\n    }"
            } else {
                b"\n      ]\n    }"
            })?;
        }
        let parts: Vec<String> = self
            .parts
            .iter()
            .map(|part| format!("\"{}\"", part.as_str()))
            .collect();
        write!(
            out,
            "{{\n  \"schema\": \"{SCHEMA}\",\n  \"parts\": [{}],\n  \"logs\": [",
            parts.join(", ")
        )?;
        out.write_all(&logs)?;
        out.write_all(if self.logs.is_empty() { b"]" } else { b"\n  ]" })?;
        shelves.configs.write("configs", out)?;
        shelves.systems.write("systems", out)?;
        shelves.lists.write("lists", out)?;
        shelves.tools.write("tools", out)?;
        shelves.messages.write("messages", out)?;
        out.write_all(b"\n}\n")
    }

    fn header(
        &self,
        header: &HeaderState,
        shelves: &mut Shelves,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let mut members = Vec::new();
        for part in &self.parts {
            let digest = match part {
                Part::Config => {
                    let config = config_text(header);
                    shelves.configs.add(&config, |out| out.write_all(&config))?
                }
                Part::System if header.system.is_empty() => continue,
                Part::System => {
                    let system = &header.system;
                    shelves
                        .systems
                        .add(system, |out| print_lines(system, out))?
                }
                Part::Tools if header.tools.is_empty() => continue,
                Part::Tools => shelves.list(&header.tools, |shelves| &mut shelves.tools)?,
                Part::Prefix if header.prefix.is_empty() => continue,
                Part::Prefix => shelves.list(&header.prefix, |shelves| &mut shelves.messages)?,
            };
            members.push(format!("\"{}\": \"{digest}\"", part.as_str()));
        }
        out.write_all(members.join(", ").as_bytes())
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// It cannot be read, is no lock, or holds a text that is not the one that was locked.
    pub(super) fn load(path: &Path) -> Result<HeaderLock, String> {
        let shown = path.to_string_lossy().into_owned();
        let bytes = fs::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        HeaderLock::parse(&bytes).map_err(|why| format!("{shown} {why}"))
    }

    fn parse(bytes: &[u8]) -> Result<HeaderLock, String> {
        let lock = Raw::parse(bytes).map_err(|_| "is no JSON".to_string())?;
        if !lock
            .get("schema")
            .is_some_and(|schema| schema.is_str(SCHEMA))
        {
            return Err(format!("is no header lock ({SCHEMA})"));
        }
        let named = |name: &Raw<'_>| {
            Part::ALL
                .into_iter()
                .find(|part| name.is_str(part.as_str()))
        };
        let parts: Option<Vec<Part>> = elements(lock, "parts").map(|name| named(&name)).collect();
        // Without any nothing would be compared.
        let parts = parts.filter(|parts| !parts.is_empty()).ok_or_else(|| {
            let known = Part::ALL.map(Part::as_str).join(", ");
            format!("has wrong parts: expected a list of {known}")
        })?;
        let shelf = |name: &str| lock.get(name).unwrap_or(Raw::NULL);
        let reader = Reader {
            configs: json_texts(shelf("configs"))?,
            systems: line_texts(shelf("systems"))?,
            lists: json_texts(shelf("lists"))?,
            tools: json_texts(shelf("tools"))?,
            messages: json_texts(shelf("messages"))?,
        };
        let mut logs = Vec::new();
        for log in elements(lock, "logs") {
            let path = log.get("log").and_then(Raw::text);
            let path = path
                .ok_or("names a log without a path")?
                .to_lossy()
                .into_owned();
            let headers = elements(log, "headers").zip(1..);
            let headers = headers.map(|(header, number)| reader.header(header, number));
            logs.push((path, headers.collect::<Result<_, String>>()?));
        }
        Ok(HeaderLock { parts, logs })
    }
}

#[derive(Default)]
struct Shelves {
    configs: Texts,
    systems: Texts,
    lists: Texts,
    tools: Texts,
    messages: Texts,
}

/// A config with its defaults, as one text.
fn config_text(header: &HeaderState) -> Vec<u8> {
    let part = |bytes: &[u8]| {
        if bytes.is_empty() {
            b"null".to_vec()
        } else {
            bytes.to_vec()
        }
    };
    let mut text = b"{\"config\":".to_vec();
    text.extend(part(&header.config));
    if !header.defaults.is_empty() {
        text.extend(b",\"adapterDefaults\":");
        text.extend_from_slice(&header.defaults);
    }
    text.extend(b"}");
    text
}

/// A text as a list of its lines.
fn print_lines(text: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    if text.is_empty() {
        return out.write_all(b"[]");
    }
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        out.write_all(if at > 0 { b",\n      " } else { b"[\n      " })?;
        Text::from_wtf8(line).print(out)?;
    }
    out.write_all(b"\n    ]")
}

impl Shelves {
    /// The digest of a list of values: it holds their names and digests, one on a line.
    fn list(
        &mut self,
        array: &[u8],
        of: impl Fn(&mut Shelves) -> &mut Texts,
    ) -> io::Result<String> {
        let values = Raw::parse(array).unwrap_or(Raw::NULL);
        let (mut canonical, mut text) = (b"[".to_vec(), b"[".to_vec());
        for (at, value) in values.elements().enumerate() {
            let printed = value.printed();
            let digest = of(self).add(&printed, |out| out.write_all(&printed))?;
            let comma = if at > 0 { "," } else { "" };
            let name = match value.get("name") {
                Some(name) => format!("\"name\":{},", String::from_utf8_lossy(&name.printed())),
                None => String::new(),
            };
            let entry = format!("{{{name}\"sha256\":\"{digest}\"}}");
            write!(canonical, "{comma}{entry}")?;
            write!(text, "{comma}\n      {entry}")?;
        }
        canonical.push(b']');
        text.extend_from_slice(if text.len() > 1 { b"\n    ]" } else { b"]" });
        self.lists.add(&canonical, |out| out.write_all(&text))
    }
}

fn elements<'b>(object: Raw<'b>, name: &str) -> impl Iterator<Item = Raw<'b>> {
    object.get(name).into_iter().flat_map(Raw::elements)
}

/// Texts by digest.
type Shelf = BTreeMap<String, Vec<u8>>;

struct Reader {
    configs: Shelf,
    systems: Shelf,
    lists: Shelf,
    tools: Shelf,
    messages: Shelf,
}

const EDITED: &str = "holds a text that is not the one that was locked: write it anew";

fn json_texts(object: Raw<'_>) -> Result<Shelf, String> {
    let texts = object
        .members()
        .map(|(key, value)| (key, value.printed().into_owned()));
    checked(texts)
}

fn line_texts(object: Raw<'_>) -> Result<Shelf, String> {
    let texts = object.members().map(|(key, lines)| {
        let mut text = TextBuf::new();
        for (at, line) in lines.elements().enumerate() {
            if at > 0 {
                text.push_str("\n");
            }
            line.append_to(&mut text);
        }
        (key, text.bytes().to_vec())
    });
    checked(texts)
}

fn checked<'b>(texts: impl Iterator<Item = (Raw<'b>, Vec<u8>)>) -> Result<Shelf, String> {
    texts
        .map(|(key, text)| match digest(&text) {
            digest if key.is_str(&digest) => Ok((digest, text)),
            _ => Err(EDITED.to_string()),
        })
        .collect()
}

impl Reader {
    fn header(&self, header: Raw<'_>, number: u64) -> Result<HeaderState, String> {
        let text = |shelf: &Shelf, digest: Option<Raw<'_>>| -> Result<Vec<u8>, String> {
            let Some(digest) = digest.and_then(Raw::text) else {
                return Ok(Vec::new());
            };
            let found = shelf.get(digest.to_lossy().as_ref()).cloned();
            found.ok_or_else(|| "names a text that it does not hold".to_string())
        };
        let config = text(&self.configs, header.get("config"))?;
        let config = Raw::parse(&config).unwrap_or(Raw::NULL);
        let member = |name: &str| {
            let value = config.get(name).filter(|value| !value.is_null());
            value
                .map(|value| value.printed().into_owned())
                .unwrap_or_default()
        };
        let list = |shelf: &Shelf, name: &str| -> Result<Vec<u8>, String> {
            let entries = text(&self.lists, header.get(name))?;
            let entries = Raw::parse(&entries).unwrap_or(Raw::NULL);
            let mut array = b"[".to_vec();
            for entry in entries.elements() {
                if array.len() > 1 {
                    array.push(b',');
                }
                array.extend(text(shelf, entry.get("sha256"))?);
            }
            array.push(b']');
            Ok(if array.len() > 2 { array } else { Vec::new() })
        };
        Ok(HeaderState {
            spot: HeaderSpot {
                locked: Some(number),
                ..HeaderSpot::default()
            },
            config: member("config").into(),
            defaults: member("adapterDefaults").into(),
            system: text(&self.systems, header.get("system"))?.into(),
            tools: list(&self.tools, "tools")?.into(),
            prefix: list(&self.messages, "prefix")?.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(system: &[u8]) -> HeaderState {
        HeaderState {
            config: br#"{"model":"m"}"#[..].into(),
            defaults: br#"{"maxTokens":true}"#[..].into(),
            system: system.into(),
            tools: br#"[{"name":"a","description":"x"},{"name":"b"}]"#[..].into(),
            prefix: br#"[{"role":"user","content":"p"}]"#[..].into(),
            ..HeaderState::default()
        }
    }

    fn text(lock: &HeaderLock) -> String {
        let mut out = Vec::new();
        lock.write(&mut out).expect("a vector takes all");
        String::from_utf8(out).expect("text")
    }

    fn lock(headers: Vec<HeaderState>) -> HeaderLock {
        HeaderLock {
            parts: Part::ALL.to_vec(),
            logs: vec![("a/session.jsonl".into(), headers)],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let headers = vec![
            state(b"one\n\ttwo \xED\xA0\xBD\r\n"),
            state(b""),
            HeaderState::default(),
        ];
        let written = text(&lock(headers.clone()));
        let read = HeaderLock::parse(written.as_bytes()).expect("a lock");
        assert_eq!(read.parts, Part::ALL);
        // What is read knows which header of the lock it is.
        let mut expected = headers;
        for (header, number) in expected.iter_mut().zip(1..) {
            header.spot.locked = Some(number);
        }
        assert_eq!(read.logs, [("a/session.jsonl".to_string(), expected)]);
        assert!(written.contains("\n      \"one\",\n"), "{written}");
    }

    #[test]
    fn an_edited_lock_is_refused() {
        let written = text(&lock(vec![state(b"one")]));
        let edited = written.replace("\"one\"", "\"two\"");
        assert!(HeaderLock::parse(edited.as_bytes()).is_err());
        assert!(HeaderLock::parse(b"{}").is_err() && HeaderLock::parse(b"{").is_err());
    }

    #[test]
    fn a_lock_of_no_known_part_is_refused() {
        let written = text(&lock(vec![state(b"one")]));
        for wrong in [r#"["tool"]"#, "[]", r#""system""#, r#"["system", "tool"]"#] {
            let all = r#"["config", "system", "tools", "prefix"]"#;
            assert!(written.contains(all), "{written}");
            let edited = written.replace(all, wrong);
            let refused = HeaderLock::parse(edited.as_bytes()).err();
            assert!(
                refused.is_some_and(|why| why.starts_with("has wrong parts")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn only_the_locked_parts_are_written() {
        let lock = HeaderLock {
            parts: vec![Part::Tools],
            ..lock(vec![state(b"one")])
        };
        let written = text(&lock);
        assert!(
            !written.contains("one") && written.contains("\"name\":\"a\""),
            "{written}"
        );
    }
}
