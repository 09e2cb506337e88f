//! `diff-headers`: what machines read is what its schema says, what people read is harmless, and the exit code is the same in all.
#![allow(dead_code, reason = "not every test uses all that tests share")]

mod common;

use std::fs;
use std::path::Path;

use common::{code, files_below, root, run, stdout};
use serde_json::Value;

const HEADERS: &str = "testdata/headers";

fn json(args: &[&str]) -> Value {
    let args = [&["diff-headers", "--no-config", "--format", "json"], args].concat();
    serde_json::from_str(&stdout(&args)).expect("JSON")
}

fn text_of(format: &str, path: &str) -> String {
    stdout(&["diff-headers", "--no-config", "--format", format, path])
}

fn verdicts(name: &str) -> Vec<String> {
    let report = json(&[&format!("{HEADERS}/{name}.jsonl")]);
    let rows = report["files"][0]["timeline"]["headers"]
        .as_array()
        .expect("rows")
        .clone();
    rows.iter()
        .map(|row| row["verdict"].as_str().expect("a word").to_string())
        .collect()
}

#[test]
fn each_log_has_the_verdicts_it_was_made_for() {
    assert_eq!(verdicts("drift"), ["initial", "same", "drift", "change"]);
    assert_eq!(
        verdicts("options"),
        ["initial", "change", "change without change"]
    );
    assert_eq!(verdicts("redacted"), ["initial", "change", "redacted"]);
    assert_eq!(verdicts("prefix"), ["initial", "drift"]);
    assert_eq!(verdicts("head-and-update"), ["initial", "change", "change"]);
}

#[test]
fn json_is_what_the_schema_says() {
    let schema = serde_json::from_str(&stdout(&["schema", "diff-headers"])).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let check = |report: &Value, what: &str| {
        let faults: Vec<String> = schema
            .iter_errors(report)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{what}: {}", faults.join("\n"));
    };
    for args in [
        &[HEADERS][..],
        &["testdata/logs"],
        &["testdata/rules"],
        &["--only", "system,prefix", HEADERS],
        &["--no-excerpt", HEADERS],
        &["--deadline", "0", HEADERS],
        &[
            "--between",
            "testdata/headers/drift.jsonl",
            "testdata/headers/prefix.jsonl",
        ],
    ] {
        check(&json(args), &args.join(" "));
    }
}

/// A schema that forbids what it does not know would be the same as ours for what is printed today.
#[test]
fn the_schema_names_every_member_that_is_printed() {
    fn close(schema: &mut Value) {
        if let Some(object) = schema.as_object_mut() {
            if object.contains_key("properties") {
                object.insert("additionalProperties".into(), Value::Bool(false));
            }
            object.values_mut().for_each(close);
        }
        if let Some(array) = schema.as_array_mut() {
            array.iter_mut().for_each(close);
        }
    }
    let mut schema: Value =
        serde_json::from_str(&stdout(&["schema", "diff-headers"])).expect("JSON");
    close(&mut schema);
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    for path in [HEADERS, "testdata/logs", "testdata/rules"] {
        let report = json(&[path]);
        let faults: Vec<String> = schema
            .iter_errors(&report)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{path}: {}", faults.join("\n"));
    }
}

fn is_hostile(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn no_text_of_a_log_reaches_a_terminal_or_a_page_raw() {
    let log = format!("{HEADERS}/hostile.jsonl");
    for format in ["human", "json", "markdown"] {
        let shown = text_of(format, &log);
        let found: Vec<char> = shown.chars().filter(|c| is_hostile(*c)).collect();
        assert!(found.is_empty(), "{format}: {found:?}");
    }
    let page = text_of("markdown", &log);
    // Inside the fence a tag is text; the fence is longer than the backticks of the log.
    let (before, fenced) = page.split_once("````diff").expect("a fence");
    let (_, after) = fenced.split_once("````").expect("its end");
    for text in [before, after] {
        let text = text.replace("\\|", "");
        assert!(
            !text.contains("<img") && !text.contains("@team") && !text.contains("|n"),
            "{text}"
        );
    }
}

#[test]
fn nothing_of_a_log_is_printed_where_that_is_not_wanted() {
    for format in ["human", "json", "markdown"] {
        let shown = stdout(&[
            "diff-headers",
            "--no-config",
            "--no-excerpt",
            "--format",
            format,
            HEADERS,
        ]);
        for text in [
            "bakery",
            "09:10:03",
            "Skills",
            "integer",
            "acme-2",
            "Environment",
        ] {
            assert!(!shown.contains(text), "{format} shows {text}");
        }
    }
}

#[test]
fn no_format_changes_the_exit_code() {
    for path in files_below(&root().join("testdata/rules")) {
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        let path = path.to_string_lossy().into_owned();
        let of = |format| code(&["diff-headers", "--no-config", "--format", format, &path]);
        assert_eq!(of("human"), of("json"), "{path}");
        assert_eq!(of("human"), of("markdown"), "{path}");
    }
}

#[test]
fn a_rejected_log_yields_nothing_but_its_finding() {
    let log = "testdata/logs/legacy-delta/session.jsonl";
    let output = run(&["diff-headers", "--no-config", log]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(errors.contains("DSH0302"), "{errors}");
    assert!(json(&[log])["files"][0]["timeline"].is_null());
}

fn lock(folder: &Path, args: &[&str]) -> String {
    let lock = folder.join("headers.lock").to_string_lossy().into_owned();
    let args = [
        &["diff-headers", "--no-config", "--write-lock", &lock],
        args,
    ]
    .concat();
    let output = run(&args);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stdout.is_empty());
    lock
}

#[test]
fn a_lock_passes_what_it_was_made_of_and_fails_what_differs() {
    let folder = tempfile::tempdir().expect("a directory");
    let lock = lock(folder.path(), &[HEADERS]);
    let against = |path: &str| code(&["diff-headers", "--no-config", "--lock", &lock, path]);
    assert_eq!(against(HEADERS), Some(0));
    // A log that is not locked, and locked ones that are not there.
    assert_eq!(against("testdata/logs/clock"), Some(1));
    let text = fs::read_to_string(&lock).expect("readable");
    for needle in [
        "\"Prices are in cents and round half up.\"",
        "\"name\":\"bash\"",
        "\"log\": \"testdata/headers/clock.jsonl\"",
    ] {
        assert!(text.contains(needle), "{needle}");
    }
    fs::write(&lock, text.replace("Prices", "Costs")).expect("written");
    assert_eq!(against(HEADERS), Some(2), "an edited lock is none");
    assert_eq!(
        code(&[
            "diff-headers",
            "--no-config",
            "--lock",
            "testdata/gone",
            HEADERS
        ]),
        Some(2)
    );
}

#[test]
fn a_lock_shows_what_differs_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = folder.path().join("session.jsonl");
    fs::copy(root().join(HEADERS).join("tool-server.jsonl"), &log).expect("copied");
    let log = log.to_string_lossy().into_owned();
    let lock = lock(folder.path(), &["--only", "tools", &log]);
    let text = fs::read_to_string(&log).expect("readable");
    // The prompt is not locked.
    fs::write(&log, text.replace("You are a helper.", "You are a baker.")).expect("written");
    assert_eq!(
        code(&["diff-headers", "--no-config", "--lock", &lock, &log]),
        Some(0)
    );
    fs::write(&log, text.replace("Reads a file.", "Reads a text file.")).expect("written");
    let output = run(&["diff-headers", "--no-config", "--lock", &lock, &log]);
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8(output.stdout).expect("text");
    assert!(
        shown.contains("Reads a text file.") && !shown.contains("helper"),
        "{shown}"
    );
    let forgiven = [
        "diff-headers",
        "--no-config",
        "--exit-zero",
        "--lock",
        &lock,
        &log,
    ];
    assert_eq!(code(&forgiven), Some(0));
    let json = json(&["--lock", &lock, &log]);
    assert_eq!(
        (&json["exitCode"], &json["comparisons"][0]["differs"]),
        (&Value::from(1), &Value::from(true))
    );
    // A lock knows which of its headers it is, and no place.
    assert!(shown.contains("header 1 ↔ seq 3 (1.1)"), "{shown}");
    assert!(shown.contains("header 3 ↔ seq 29 (3.1)"), "{shown}");
    let old = &json["comparisons"][0]["pairs"][2]["old"];
    assert_eq!(*old, serde_json::json!({ "locked": 3 }));
}

#[test]
fn a_lock_is_not_written_over_a_log_or_without_one() {
    let log = "testdata/headers/drift.jsonl";
    assert_eq!(
        code(&["diff-headers", "--no-config", "--write-lock", log, log]),
        Some(2)
    );
    let folder = tempfile::tempdir().expect("a directory");
    let lock = folder.path().join("lock").to_string_lossy().into_owned();
    let rejected = "testdata/logs/legacy-delta/session.jsonl";
    assert_eq!(
        code(&[
            "diff-headers",
            "--no-config",
            "--write-lock",
            &lock,
            rejected
        ]),
        Some(2)
    );
    assert!(!Path::new(&lock).exists());
}

#[test]
fn two_logs_and_only_two_are_compared() {
    let between = |a: &str, b: &str| json(&["--between", a, b]);
    let drift = "testdata/headers/drift.jsonl";
    let same = between(drift, "./testdata/headers/drift.jsonl");
    assert_eq!(same["comparisons"][0]["differs"], Value::from(false));
    let other = between(drift, "testdata/headers/options.jsonl");
    assert_eq!(other["comparisons"][0]["kind"], Value::from("between"));
    assert_eq!(other["comparisons"][0]["differs"], Value::from(true));
    assert_eq!(
        code(&["diff-headers", "--no-config", "--between", drift, HEADERS]),
        Some(2)
    );
}

#[test]
fn a_fork_is_compared_with_its_parent() {
    let report = json(&["testdata/logs/fork-parent", "testdata/logs/fork-child"]);
    let fork = &report["comparisons"][0];
    assert_eq!(
        (&fork["kind"], &fork["old"]),
        (
            &Value::from("fork"),
            &Value::from("testdata/logs/fork-parent/session.jsonl")
        )
    );
    assert_eq!(fork["pairs"][0]["differs"], Value::from(false));
    assert!(json(&["testdata/logs/fork-child"])["comparisons"].is_null());
}
