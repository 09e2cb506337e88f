//! SARIF 2.1.0, for code scanning.
//!
//! **Takes** a [`Report`]. **Gives** one run with the rule catalogue, a result per finding, and a notification per input
//! that could not be read. **Never** puts a path into it that the user did not give.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::finding::{Bytes, Finding, Place, Related, Rule};
use crate::verdict::Fingerprint;

use super::safe::Safe;
use super::{Excerpts, FileReport, JsonText, Look, Report, page, words};

/// Writes the run.
pub(super) fn write(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let notifications: Vec<Notification> =
        report.files.iter().filter_map(Notification::of).collect();
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "dsh-audit",
                    version: env!("CARGO_PKG_VERSION"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: report
                        .catalogue
                        .iter()
                        .map(|rule| Descriptor::of(rule))
                        .collect(),
                },
            },
            invocations: [Invocation {
                execution_successful: report.exit_code < 2,
                exit_code: report.exit_code,
                notifications,
            }],
            column_kind: "unicodeCodePoints",
            results: Results { report, look },
        }],
    };
    JsonText::write(&log, out)
}

#[derive(Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Tool,
    invocations: [Invocation; 1],
    column_kind: &'static str,
    results: Results<'r>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: String,
    name: &'static str,
    short_description: Text,
    full_description: Text,
    help: Help,
    default_configuration: Configuration,
}

impl Descriptor {
    fn of(rule: &Rule) -> Descriptor {
        let page = if rule.page.is_empty() {
            rule.summary
        } else {
            rule.page
        };
        Descriptor {
            id: rule.id(),
            name: rule.name,
            short_description: Text {
                text: rule.name.replace('-', " "),
            },
            full_description: Text {
                text: rule.summary.to_string(),
            },
            help: Help {
                text: page::plain(page),
                markdown: page.to_string(),
            },
            default_configuration: Configuration {
                level: rule.level.as_str(),
            },
        }
    }
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    exit_code: u8,
    #[serde(
        rename = "toolExecutionNotifications",
        skip_serializing_if = "Vec::is_empty"
    )]
    notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Text,
    locations: [Location; 1],
}

impl Notification {
    fn of(file: &FileReport) -> Option<Notification> {
        let error = file.error.as_deref()?;
        Some(Notification {
            level: "error",
            message: Text {
                text: without_links(error),
            },
            locations: [Location::of(file, &Place::default(), None, None)],
        })
    }
}

struct Results<'r> {
    report: &'r Report<'r>,
    look: Look,
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        for file in self.report.files {
            for (finding, fingerprint) in
                file.verdict.findings.iter().zip(&file.verdict.fingerprints)
            {
                let index = self
                    .report
                    .catalogue
                    .iter()
                    .position(|rule| *rule == finding.rule);
                seq.serialize_element(&ResultView::of(
                    file,
                    finding,
                    *fingerprint,
                    index,
                    self.look,
                ))?;
            }
        }
        seq.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultView {
    rule_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    partial_fingerprints: Fingerprints,
    properties: Properties,
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "dshAudit/v1")]
    value: String,
}

#[derive(Serialize)]
struct Properties {
    certainty: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl ResultView {
    fn of(
        file: &FileReport,
        finding: &Finding,
        fingerprint: Fingerprint,
        rule_index: Option<usize>,
        look: Look,
    ) -> ResultView {
        let related = finding.related.iter().enumerate();
        ResultView {
            rule_id: finding.rule.id(),
            rule_index,
            level: finding.level.as_str(),
            message: Text {
                text: without_links(&finding.message),
            },
            locations: [Location::of(file, &finding.at, Some(look), None)],
            related_locations: related
                .map(|(at, related)| Location::of_related(file, related, at, look))
                .collect(),
            partial_fingerprints: Fingerprints {
                value: fingerprint.to_string(),
            },
            properties: Properties {
                certainty: finding.certainty.as_str(),
                pointer: finding
                    .at
                    .pointer
                    .as_deref()
                    .map(|text| Safe(text).to_string()),
                help: finding.help.as_deref().map(|text| Safe(text).to_string()),
            },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
    physical_location: Physical,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Logical>,
}

impl Location {
    fn of(file: &FileReport, at: &Place, look: Option<Look>, id: Option<usize>) -> Location {
        let words = words::logical(at);
        let logical = (!words.is_empty()).then_some(Logical {
            fully_qualified_name: words,
        });
        Location {
            id,
            message: None,
            physical_location: Physical {
                artifact_location: Artifact {
                    uri: uri_of(&file.path),
                },
                region: Region::of(at, look),
            },
            logical_locations: logical.into_iter().collect(),
        }
    }

    fn of_related(file: &FileReport, related: &Related, at: usize, look: Look) -> Location {
        let message = Text {
            text: without_links(&related.message),
        };
        Location {
            message: Some(message),
            ..Location::of(file, &related.at, Some(look), Some(at))
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Logical {
    fully_qualified_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<Text>,
}

impl Region {
    fn of(at: &Place, look: Option<Look>) -> Option<Region> {
        if at.line.is_none() && at.bytes.is_none() {
            return None;
        }
        let span = at.bytes.map(Bytes::span);
        let excerpt = match look {
            Some(Look {
                excerpt: Excerpts::Shown,
                ..
            }) => at.excerpt.as_ref(),
            _ => None,
        };
        Some(Region {
            start_line: at.line.map(|line| line.0),
            byte_offset: span.map(|span| span.start),
            byte_length: span.map(|span| span.len()),
            snippet: excerpt.map(|excerpt| Text {
                text: Safe(&excerpt.text).to_string(),
            }),
        })
    }
}

/// A message in which nothing is a link: in SARIF `[words](target)` is one, in plain text too.
fn without_links(text: &str) -> String {
    Safe(text).to_string().replace("](", "]\\x28")
}

/// The path as a URI reference: relative where the path is, bytes outside the unreserved set escaped.
fn uri_of(path: &Path) -> String {
    let mut uri = String::new();
    if path.is_absolute() {
        uri.push_str("file://");
    }
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char);
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_holds_no_link() {
        let text = "model \"[more](http://x)\u{1b}\" differs (line 3)";
        let shown = "model \"[more]\\x28http://x)\\x1b\" differs (line 3)";
        assert_eq!(without_links(text), shown);
    }

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri_of(Path::new("logs/a b.jsonl")), "logs/a%20b.jsonl");
        assert_eq!(uri_of(Path::new("/x/é")), "file:///x/%C3%A9");
        assert_eq!(uri_of(Path::new("a:b")), "a%3Ab");
        assert_eq!(uri_of(Path::new("-")), "-");
    }
}
