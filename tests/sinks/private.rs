//! With `--no-excerpt` nothing is shown of what people, tools and the model said: secrets are planted wherever a log holds content,
//! and looked for in all that is printed.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::common::{dsh_audit, files_below, root, run};
use super::{Line, on_logs, place, strs};

const SECRET: &str = "hunter2";

/// Members whose text is a name or a word of the format: those may be printed.
const NAMES: [&str; 27] = [
    "blockType",
    "callId",
    "compactionId",
    "createdAt",
    "finishReason",
    "id",
    "kind",
    "model",
    "name",
    "op",
    "parentSession",
    "policyKey",
    "provider",
    "reason",
    "retryId",
    "role",
    "sessionId",
    "source",
    "surfaceOp",
    "toolCallId",
    "toolName",
    "trigger",
    "type",
    "version",
    "origin",
    "tools",
    "mode",
];

/// Puts secrets into everything that is content: text, and keys of objects that the format leaves open.
fn plant(value: &mut Value, name: &str, depth: usize) {
    match value {
        Value::String(text) if !NAMES.contains(&name) => {
            *text = format!("{SECRET} {text} {SECRET}");
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| plant(value, name, depth)),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                plant(value, name, depth + 1);
            }
            let is_open = ["properties", "arguments", "args", "details", "input"].contains(&name);
            if is_open || depth > 4 {
                let secret = Value::from(format!("{SECRET}\u{d7}"));
                members.insert(format!("{SECRET} key"), secret);
            }
        }
        _ => {}
    }
}

/// Lines that are none, each with a secret.
fn faults(seq: usize) -> String {
    [
        format!(r#"{{"type":"user/message","seq":{seq},"time":1,"data":{{"{SECRET}"#),
        SECRET.to_string(),
        format!("\"{SECRET}\""),
        format!("[\"{SECRET}\"]"),
        format!(
            r#"{{"type":"feedback/record","seq":{seq},"time":1,"data":{{"text":"\ud800 {SECRET}","{SECRET}":{{"{SECRET}":"\ud800"}}}}}}"#
        ),
        format!(r#"{{"type":"session/title","seq":{seq},"time":1,"data":{{"{SECRET}":1e999}}}}"#),
        format!(r#"{{"type":"x/y","seq":{seq},"time":1,"data": {{"{SECRET}":"{SECRET}"}}}}"#),
        format!(r#"{{"type":"tool/call","seq":{seq},"time":1,"data":{{"{SECRET}":"{SECRET}"}}}}"#),
        format!(r#"{{"type":"text-chunks","seq0":{seq},"texts":["{SECRET}"]}}"#),
        format!("{SECRET}{{"),
    ]
    .join("\n")
}

/// The sample logs and those of all rules, with secrets in them, each in a folder of its own.
fn secret_logs(folder: &Path) {
    let testdata = root().join("testdata");
    for (number, path) in files_below(&testdata).iter().enumerate() {
        let is_log = path.extension().is_some_and(|end| end == "jsonl");
        if !is_log || path.ends_with("captured.jsonl") {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(path).expect("readable")).into_owned();
        let mut planted = String::new();
        for line in text.split_inclusive('\n') {
            match serde_json::from_str::<Map<String, Value>>(line) {
                Ok(members) => {
                    let mut value = Value::Object(members);
                    plant(&mut value, "", 0);
                    planted.push_str(&value.to_string());
                    planted.push('\n');
                }
                Err(_) => planted.push_str(line),
            }
        }
        let name = path.file_name().expect("a file").to_string_lossy();
        let below = folder.join(number.to_string());
        place(&below, &name, &planted);
        if path.starts_with(testdata.join("logs")) {
            planted.push_str(&faults(text.lines().count()));
            place(&below.join("faults"), "session.jsonl", &planted);
        }
    }
}

fn assert_silent(line: &Line) {
    let output = run(&strs(line));
    for printed in [output.stdout, output.stderr] {
        let text = String::from_utf8_lossy(&printed);
        let found = text.split_once(SECRET).map(|(before, _)| {
            let near = before.chars().rev().take(300).collect::<Vec<char>>();
            near.into_iter().rev().collect::<String>()
        });
        assert_eq!(found, None, "{line:?}");
    }
}

#[test]
fn nothing_that_was_said_is_printed() {
    let folder = tempfile::tempdir().expect("a directory");
    let logs = folder.path().join("logs");
    secret_logs(&logs);
    let logs = logs.to_string_lossy().into_owned();
    for line in on_logs(&[&logs], &["--no-excerpt"], folder.path()) {
        assert_silent(&line);
    }
}

/// A log in which an object stands wherever a member had a word.
fn with_objects(text: &str, member: &str, object: &str) -> String {
    let key = format!("\"{member}\":\"");
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut pieces = line.split(key.as_str());
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (word, rest) = piece.split_once('"').unwrap_or((piece, ""));
            // The types of events and the session's header stay, so that it is a log.
            let stays = word.contains('/') || word == "session";
            match stays {
                true => out.push_str(&format!("{key}{word}\"{rest}")),
                false => out.push_str(&format!("\"{member}\":{object}{rest}")),
            }
        }
        lines.push(out);
    }
    lines.join("\n") + "\n"
}

#[test]
fn an_object_in_the_place_of_a_word_is_not_printed() {
    let folder = tempfile::tempdir().expect("a directory");
    let logs = folder.path().join("logs");
    for (sample, text) in [
        (
            "clock",
            include_str!("../../testdata/logs/clock/session.jsonl"),
        ),
        (
            "v4",
            include_str!("../../testdata/logs/version-4/session.v4.jsonl"),
        ),
    ] {
        for member in NAMES.iter().chain(&["cwd", "text"]) {
            let spoilt = with_objects(text, member, "{\"a\":\"hunter2\"}");
            place(&logs.join(sample).join(member), "session.jsonl", &spoilt);
        }
    }
    let logs = logs.to_string_lossy().into_owned();
    for line in on_logs(&[&logs], &["--no-excerpt"], folder.path()) {
        assert_silent(&line);
    }
}

#[test]
fn comparisons_print_nothing_that_was_said() {
    let folder = tempfile::tempdir().expect("a directory");
    let logs = folder.path().join("logs");
    secret_logs(&logs);
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    // The clock's log against itself before it held secrets, both ways.
    let plain = "testdata/logs/clock/session.jsonl";
    let is_clock = |path: &&std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.contains("f6784178-61d6-4c29-a12c-124b7269be84")
            && !path.to_string_lossy().contains("faults")
    };
    let planted = files_below(&logs);
    let planted = planted.iter().find(is_clock).expect("it is among them");
    let planted = planted.to_string_lossy().into_owned();
    for (name, log) in [("plain", plain), ("planted", planted.as_str())] {
        run(&["reconstruct", "-o", &at(name), log]);
        run(&[
            "diff-headers",
            "--write-lock",
            &at(&format!("{name}.lock")),
            log,
        ]);
    }
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut add = |args: &[&str]| {
        let all = args.iter().chain(&["--no-excerpt", "--no-limit"]);
        lines.push(all.map(|arg| (*arg).to_string()).collect());
    };
    for format in ["human", "json", "jsonl", "sarif", "github", "markdown"] {
        add(&[
            "verify",
            "--format",
            format,
            "--against",
            &at("planted"),
            plain,
        ]);
        add(&[
            "verify",
            "--format",
            format,
            "--against",
            &at("plain"),
            &planted,
        ]);
    }
    for format in ["human", "json", "markdown"] {
        let format = format!("--format={format}");
        add(&["diff-headers", &format, "--between", plain, &planted]);
        add(&[
            "diff-headers",
            &format,
            "--between",
            &planted,
            plain,
            "--stat",
        ]);
        add(&[
            "diff-headers",
            &format,
            "--lock",
            &at("plain.lock"),
            &planted,
        ]);
        add(&[
            "diff-headers",
            &format,
            "--lock",
            &at("planted.lock"),
            plain,
        ]);
    }
    // What is no capture, no lock, no report, no configuration, no baseline, no prices: its text is not repeated.
    for flag in ["--against", "--config", "--baseline"] {
        add(&["verify", flag, &planted, plain]);
    }
    add(&["diff-headers", "--lock", &planted, plain]);
    add(&["cache-report", "--prices", &planted, plain]);
    add(&["merge", &planted]);
    lines.iter().for_each(assert_silent);
    for (planted, plain) in [
        (&planted, &at("plain")),
        (&plain.to_string(), &at("planted")),
    ] {
        let args = ["verify", "--against", plain, planted];
        assert_eq!(
            run(&args).status.code(),
            Some(1),
            "there is something to be silent about"
        );
    }
}

#[test]
fn an_excerpt_is_short() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = include_str!("../../testdata/logs/torn/session.jsonl");
    // More of one letter than any excerpt, name or message may show.
    let long = "\u{18b}".repeat(3_000);
    let hostile = log
        .replace("\"text\":\"", &format!("\"text\":\"{long}"))
        .replace("\"description\":\"", &format!("\"description\":\"{long}"));
    let torn = format!("{hostile}{{\"type\":\"{long}\n{long}");
    place(folder.path(), "session.jsonl", &torn);
    let path = folder.path().to_string_lossy().into_owned();
    for format in ["human", "json", "jsonl", "sarif", "github", "markdown"] {
        let args = ["verify", "--no-limit", "--format", format, &path];
        let output = dsh_audit(&args).env("COLUMNS", "240").output();
        let text = String::from_utf8(output.expect("built").stdout).expect("text");
        let runs = text
            .split(|c| c != '\u{18b}')
            .map(|run| run.chars().count());
        let longest = runs.max().unwrap_or(0);
        assert!(longest <= 80, "{format}: {longest} characters in a row");
        assert!(longest > 40 || format == "github", "{format}: {longest}");
    }
}
