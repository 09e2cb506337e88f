//! What no format may change: the exit code, and the set of (code, place). And what machines read is what schemas say.
#![allow(dead_code, reason = "not every test uses all that tests share")]

mod common;

use std::collections::BTreeSet;

use common::{code, files_below, root, run, stdout};
use serde_json::Value;

/// A finding as every format shows it: the log, the code, and the line, 0 where there is none.
type Seen = BTreeSet<(String, String, u64)>;

const INPUTS: [&str; 2] = ["testdata/rules", "testdata/logs"];

fn verify(format: &str) -> Vec<&str> {
    let mut args = vec![
        "verify",
        "--no-config",
        "--no-limit",
        "--no-excerpt",
        "--format",
        format,
    ];
    args.extend(INPUTS);
    args
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).expect("JSON")
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_string()
}

fn seen_in_file(file: &Value) -> Seen {
    let findings = file["findings"].as_array().expect("findings");
    let seen = findings.iter().map(|finding| {
        (
            text(&file["path"]),
            text(&finding["code"]),
            finding["line"].as_u64().unwrap_or(0),
        )
    });
    seen.collect()
}

fn seen_in_json() -> Seen {
    let report = json(&verify("json"));
    report["files"]
        .as_array()
        .expect("files")
        .iter()
        .flat_map(seen_in_file)
        .collect()
}

fn seen_in_jsonl() -> Seen {
    let lines = stdout(&verify("jsonl"));
    lines
        .lines()
        .flat_map(|line| seen_in_file(&serde_json::from_str(line).expect("JSON")))
        .collect()
}

fn seen_in_sarif() -> Seen {
    let report = json(&verify("sarif"));
    let results = report["runs"][0]["results"].as_array().expect("results");
    let seen = results.iter().map(|result| {
        let place = &result["locations"][0]["physicalLocation"];
        let line = place["region"]["startLine"].as_u64().unwrap_or(0);
        (
            text(&place["artifactLocation"]["uri"]),
            text(&result["ruleId"]),
            line,
        )
    });
    seen.collect()
}

fn seen_in_github() -> Seen {
    let mut seen = Seen::new();
    for line in stdout(&verify("github"))
        .lines()
        .filter(|line| line.starts_with("::"))
    {
        let (properties, _) = line[2..].split_once("::").expect("a command ends");
        let (_, properties) = properties
            .split_once(' ')
            .expect("a command has properties");
        let of = |name: &str| {
            properties
                .split(',')
                .find_map(|property| property.strip_prefix(name))
                .map(String::from)
        };
        let title = of("title=").expect("every finding has a title");
        let line = of("line=").map_or(0, |line| line.parse().expect("a number"));
        let code = title.split(' ').next().expect("a code").to_string();
        seen.insert((of("file=").expect("every finding has a file"), code, line));
    }
    seen
}

/// Headings name the file, list items the finding.
fn seen_in_markdown() -> Seen {
    let mut seen = Seen::new();
    let mut path = String::new();
    for line in stdout(&verify("markdown")).lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            path = heading.replace('\\', "");
        } else if line.starts_with("- **") {
            let code = line.split('`').nth(1).expect("a code").to_string();
            seen.insert((path.clone(), code, line_behind(line, "(line ")));
        }
    }
    seen
}

/// A line for each file, then its findings: notes on a line of their own, others with a heading and a place.
fn seen_in_human() -> Seen {
    // Wide enough that no place is broken.
    let output = common::dsh_audit(&verify("human"))
        .env("COLUMNS", "240")
        .output();
    let text = String::from_utf8(output.expect("the program was built").stdout).expect("text");
    let mut seen = Seen::new();
    let mut path = String::new();
    let mut code = None;
    for line in text.lines() {
        if let Some(rest) = line
            .strip_prefix("✓ ")
            .or(line.strip_prefix("✗ "))
            .or(line.strip_prefix("! "))
        {
            flush(&mut seen, &path, code.take(), 0);
            path = rest.split("  ").next().expect("a path").to_string();
        } else if let Some(rest) = line.strip_prefix("  note ") {
            let code = rest.split(' ').next().expect("a code").to_string();
            seen.insert((path.clone(), code, line_behind(line, "(line ")));
        } else if line.starts_with("DSH") {
            flush(&mut seen, &path, code.take(), 0);
            code = line.split(' ').next().map(String::from);
        } else if line.starts_with("  at ") {
            flush(&mut seen, &path, code.take(), line_behind(line, "at line "));
        }
    }
    flush(&mut seen, &path, code, 0);
    seen
}

fn flush(seen: &mut Seen, path: &str, code: Option<String>, line: u64) {
    if let Some(code) = code {
        seen.insert((path.to_string(), code, line));
    }
}

fn line_behind(text: &str, words: &str) -> u64 {
    let Some((_, behind)) = text.split_once(words) else {
        return 0;
    };
    behind
        .chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .unwrap_or(0)
}

#[test]
fn all_formats_show_the_same_findings_at_the_same_places() {
    let expected = seen_in_json();
    assert!(expected.len() > 100, "{}", expected.len());
    for (format, seen) in [
        ("jsonl", seen_in_jsonl()),
        ("sarif", seen_in_sarif()),
        ("github", seen_in_github()),
        ("markdown", seen_in_markdown()),
        ("human", seen_in_human()),
    ] {
        let missing: Vec<_> = expected.difference(&seen).collect();
        let extra: Vec<_> = seen.difference(&expected).collect();
        assert!(
            missing.is_empty() && extra.is_empty(),
            "{format}: missing {missing:?}, extra {extra:?}"
        );
    }
}

#[test]
fn all_formats_give_the_same_exit_code() {
    for path in files_below(&root().join("testdata/logs")) {
        let path = path.to_string_lossy().into_owned();
        let codes: Vec<_> = ["human", "json", "jsonl", "sarif", "github", "markdown"]
            .iter()
            .map(|format| code(&["verify", "--no-config", "--format", format, &path]))
            .collect();
        assert!(
            codes.windows(2).all(|two| two[0] == two[1]),
            "{path}: {codes:?}"
        );
    }
}

/// The schema with every object closed: consumers allow new members, this test does not.
fn strict(name: &str) -> jsonschema::Validator {
    let mut schema = json(&["schema", name]);
    close(&mut schema);
    jsonschema::validator_for(&schema).expect("a valid schema")
}

fn close(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        if object.contains_key("properties") {
            object.insert("additionalProperties".into(), false.into());
        }
        object.values_mut().for_each(close);
    } else if let Some(list) = schema.as_array_mut() {
        list.iter_mut().for_each(close);
    }
}

fn assert_valid(validator: &jsonschema::Validator, document: &Value, what: &str) {
    let faults: Vec<String> = validator
        .iter_errors(document)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{what}: {}", faults.join("\n"));
}

#[test]
fn json_of_all_fixtures_is_what_the_schemas_say() {
    let mut args = verify("json");
    args.retain(|arg| *arg != "--no-excerpt");
    assert_valid(&strict("verify"), &json(&args), "verify");
    let file = strict("verify-file");
    for line in stdout(&verify("jsonl")).lines() {
        assert_valid(
            &file,
            &serde_json::from_str(line).expect("JSON"),
            "verify-file",
        );
    }
    assert_valid(
        &strict("rules"),
        &json(&["rules", "--format", "json"]),
        "rules",
    );
    assert_valid(
        &strict("formats"),
        &json(&["formats", "--format", "json"]),
        "formats",
    );
}

#[test]
fn requests_of_all_fixtures_are_what_the_schema_says() {
    let row = strict("reconstruct");
    for args in [&["reconstruct", "--digest"][..], &["reconstruct"]] {
        let rows = stdout(&[args, &["testdata/logs"]].concat());
        assert!(rows.lines().count() > 50);
        for line in rows.lines() {
            assert_valid(&row, &serde_json::from_str(line).expect("JSON"), line);
        }
    }
}

#[test]
fn sarif_of_all_fixtures_is_what_the_official_schema_says() {
    // One pattern of it, for the language of a run, has a bracket too many for this validator.
    let official = include_str!("../testdata/schemas/sarif-2.1.0.json").replace("{2}]?$", "{2}$");
    let schema: Value = serde_json::from_str(&official).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let mut args = verify("sarif");
    args.retain(|arg| *arg != "--no-excerpt");
    assert_valid(&validator, &json(&args), "sarif");
}

#[test]
fn a_summary_is_added_where_a_job_collects_them() {
    let folder = tempfile::tempdir().expect("a directory");
    let summary = folder.path().join("summary.md");
    std::fs::write(&summary, "before\n").expect("written");
    let output = common::dsh_audit(&[
        "verify",
        "--no-config",
        "--format",
        "github",
        "testdata/logs/torn",
    ])
    .env("GITHUB_STEP_SUMMARY", &summary)
    .output()
    .expect("the program was built");
    assert_eq!(output.status.code(), Some(0));
    let summary = std::fs::read_to_string(summary).expect("written");
    assert!(
        summary.starts_with("before\n## dsh-audit verify: passed\n"),
        "{summary}"
    );
    assert_eq!(
        run(&["verify", "--format", "github", "testdata/logs/torn"]).stdout,
        output.stdout
    );
}
