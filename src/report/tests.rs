//! What holds for all formats.
//!
//! **Takes** the sample. **Gives** failures. **Never** looks at one format's wording.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::safe::is_hostile;
use super::{Excerpts, Format, Look, Paint, sample, schema, write, write_rules_json};

const FORMATS: [Format; 6] = [
    Format::Human,
    Format::Json,
    Format::Jsonl,
    Format::Sarif,
    Format::Github,
    Format::Markdown,
];

fn printed(format: Format, look: Look) -> String {
    let files = sample::files();
    let passed_over = [PathBuf::from("logs/other.jsonl")];
    let unused = sample::unused();
    let report = sample::report(&files, &passed_over, &unused);
    let mut out = Vec::new();
    write(&report, format, look, &mut out).expect("a vector takes all");
    String::from_utf8(out).expect("every format is text")
}

#[test]
fn no_format_prints_a_hostile_character() {
    for format in FORMATS {
        let text = printed(format, sample::look());
        let hostile: BTreeSet<char> = text
            .chars()
            .filter(|c| is_hostile(*c) && *c != '\n')
            .collect();
        assert!(hostile.is_empty(), "{format:?}: {hostile:?}");
    }
}

#[test]
fn colours_are_the_only_escapes_of_painted_text() {
    let look = Look {
        paint: Paint::Colour,
        ..sample::look()
    };
    let text = printed(Format::Human, look);
    assert!(text.contains("\x1b["));
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("\x1b[") {
        let (codes, behind) = behind.split_once('m').expect("a colour ends");
        assert!(
            codes.chars().all(|c| c.is_ascii_digit() || c == ';'),
            "{codes}"
        );
        plain.push_str(before);
        rest = behind;
    }
    plain.push_str(rest);
    assert!(!plain.chars().any(|c| is_hostile(c) && c != '\n'));
}

#[test]
fn every_format_names_every_code_and_line() {
    for format in FORMATS {
        let look = Look {
            of_a_code: usize::MAX,
            ..sample::look()
        };
        let text = printed(format, look);
        for code in ["DSH0310", "DSH0402", "DSH0208", "DSH0302"] {
            assert!(text.contains(code), "{format:?}: {code}");
        }
        let finding_lines = text.matches("unsupported legacy").count();
        assert!(finding_lines >= 12, "{format:?}: {finding_lines}");
    }
}

#[test]
fn human_text_shows_ten_of_a_code_and_a_count() {
    let text = printed(Format::Human, sample::look());
    assert_eq!(text.matches("unsupported legacy").count(), 10);
    assert!(
        text.contains("and 2 more of DSH0302 (--no-limit shows them)"),
        "{text}"
    );
}

#[test]
fn hidden_excerpts_are_hidden_everywhere() {
    let shown = Look {
        width: 240,
        ..sample::look()
    };
    let look = Look {
        excerpt: Excerpts::Hidden,
        ..shown
    };
    for format in FORMATS {
        assert!(
            !printed(format, look).contains("1783000000000"),
            "{format:?}"
        );
        assert!(
            format == Format::Github || printed(format, shown).contains("1783000000000"),
            "{format:?} shows none"
        );
    }
}

#[test]
fn a_workflow_command_stands_only_at_the_beginning_of_a_line_of_its_own() {
    let text = printed(Format::Github, sample::look());
    for line in text.lines().filter(|line| line.starts_with("::")) {
        let head = line
            .trim_start_matches(':')
            .split("::")
            .next()
            .unwrap_or_default();
        assert!(
            ["error ", "warning ", "notice "]
                .iter()
                .any(|kind| head.starts_with(kind)),
            "{line}"
        );
    }
    assert!(
        text.contains("file=logs/two%2Cwriters%3A 50%25.jsonl,line=12,"),
        "{text}"
    );
}

/// The schema with every object closed: consumers allow new members, this test does not.
pub(super) fn strict(text: &str) -> jsonschema::Validator {
    let mut schema: serde_json::Value = serde_json::from_str(text).expect("a schema is JSON");
    close(&mut schema);
    jsonschema::validator_for(&schema).expect("a valid schema")
}

fn close(schema: &mut serde_json::Value) {
    if let Some(object) = schema.as_object_mut() {
        if object.contains_key("properties") {
            object.insert("additionalProperties".into(), false.into());
        }
        object.values_mut().for_each(close);
    } else if let Some(list) = schema.as_array_mut() {
        list.iter_mut().for_each(close);
    }
}

pub(super) fn faults(validator: &jsonschema::Validator, document: &str) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_str(document).expect("JSON");
    let faults = validator.iter_errors(&document);
    faults
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect()
}

#[test]
fn json_is_what_its_schemas_say() {
    let verify = strict(schema::find("verify").expect("known"));
    let json = printed(Format::Json, sample::look());
    assert_eq!(faults(&verify, &json), Vec::<String>::new());
    let file = strict(schema::find("verify-file").expect("known"));
    let jsonl = printed(Format::Jsonl, sample::look());
    assert_eq!(jsonl.lines().count(), 6);
    for line in jsonl.lines() {
        assert_eq!(faults(&file, line), Vec::<String>::new());
    }
    let rules = strict(schema::find("rules").expect("known"));
    let mut out = Vec::new();
    write_rules_json(crate::rules::CATALOGUE, &mut out).expect("a vector takes all");
    let text = String::from_utf8(out).expect("JSON is text");
    assert_eq!(faults(&rules, &text), Vec::<String>::new());
}

#[test]
fn sarif_is_what_the_official_schema_says() {
    // One pattern of it, for the language of a run, has a bracket too many for this validator.
    let official = include_str!("../../testdata/schemas/sarif-2.1.0.json");
    let official = official.replace("{2}]?$", "{2}$");
    let schema: serde_json::Value = serde_json::from_str(&official).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let sarif = printed(Format::Sarif, sample::look());
    assert_eq!(faults(&validator, &sarif), Vec::<String>::new());
    assert!(sarif.contains(r#""fullyQualifiedName":"turn 2 / step 3 / seq 16""#));
}

#[test]
fn every_schema_is_a_schema_and_named_by_what_it_describes() {
    for (name, text) in schema::SCHEMAS {
        let parsed: serde_json::Value = serde_json::from_str(text).expect("a schema is JSON");
        assert!(jsonschema::meta::is_valid(&parsed), "{name}");
        assert_eq!(parsed["title"], format!("dsh-audit/{name}/v1"));
    }
}

/// Prints the sample as a person would see it: `cargo test --lib look_at_it -- --ignored --nocapture`.
#[test]
#[ignore = "for the eye"]
fn look_at_it() {
    let paint = if std::env::var_os("PLAIN").is_some() {
        Paint::Plain
    } else {
        Paint::Colour
    };
    println!(
        "{}",
        printed(
            Format::Human,
            Look {
                paint,
                ..sample::look()
            }
        )
    );
    println!("{}", printed(Format::Github, sample::look()));
    println!("{}", printed(Format::Markdown, sample::look()));
}
