//! Where output goes: readers that leave, devices that are full, runners that listen, people who must not see what a log says.
//!
//! Each test goes through every command in every format.
#![allow(dead_code, reason = "not every test uses all that tests share")]

#[path = "../common/mod.rs"]
mod common;
mod heard;
mod limits;
mod private;
#[path = "../common/session.rs"]
mod session;
mod shown;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use common::{files_below, root, run};

/// A command line.
pub(crate) type Line = Vec<String>;

fn lines(command: &str, flag: &str, values: &[&str], rest: &[&str]) -> Vec<Line> {
    let with = |value: &&str| {
        let start = [command, flag, *value];
        let start = start.iter().filter(|part| !part.is_empty());
        start.chain(rest).map(|part| (*part).to_string()).collect()
    };
    values.iter().map(with).collect()
}

/// Every command that reads logs, in every format, on `paths`; `flags` are those that all of them know. The merged report is
/// written into `folder`.
pub(crate) fn on_logs(paths: &[&str], flags: &[&str], folder: &Path) -> Vec<Line> {
    let rest = [&["--no-limit"], flags, &["--"], paths].concat();
    let mut all = Vec::new();
    for (command, formats) in [
        (
            "verify",
            &["human", "json", "jsonl", "sarif", "github", "markdown"][..],
        ),
        ("diff-headers", &["human", "json", "markdown"]),
        (
            "cache-report",
            &["human", "json", "jsonl", "html", "markdown"],
        ),
        ("reconstruct", &["human"]),
    ] {
        all.extend(lines(command, "--format", formats, &rest));
    }
    all.extend(lines("verify", "", &["--tree", "-v"], &rest));
    all.extend(lines(
        "verify",
        "",
        &["--all-generations", "--quiet"],
        &rest,
    ));
    all.extend(lines("diff-headers", "", &["--stat"], &rest));
    all.extend(lines(
        "diff-headers",
        "--only",
        &["tools,config,system,prefix"],
        &rest,
    ));
    all.extend(lines(
        "cache-report",
        "--by",
        &["session", "model", "cause", "day"],
        &rest,
    ));
    all.extend(lines("cache-report", "", &["--explain-window"], &rest));
    all.extend(lines("reconstruct", "", &["--digest"], &rest));
    let report = folder.join("report.json").to_string_lossy().into_owned();
    let args = [&["cache-report", "--format=json", "-o", &report], &rest[..]].concat();
    run(&args);
    let rest = [&["--no-limit"], flags, &[&*report]].concat();
    let formats = ["human", "json", "jsonl", "html", "markdown"];
    all.extend(lines("merge", "--format", &formats, &rest));
    all
}

/// The commands that write content of a log byte for byte: that is what they are for.
pub(crate) fn exact(path: &str) -> Vec<Line> {
    let mut all = lines(
        "reconstruct",
        "",
        &["--calls", "--wire=deepseek", "--step=1.1"],
        &[path],
    );
    all.extend(lines("reconstruct", "--raw", &["--step=1.1"], &[path]));
    all
}

/// The commands that read no log.
pub(crate) fn on_nothing() -> Vec<Line> {
    let line = |line: &str| line.split(' ').map(String::from).collect();
    [
        "explain 302",
        "rules",
        "rules --format=json",
        "schema",
        "schema verify",
        "formats",
        "formats --format=json",
        "completions bash",
        "man",
        "man explain",
        "--help",
        "verify --help",
        "--version",
    ]
    .map(line)
    .into()
}

/// Every command in every format on the sample logs.
pub(crate) fn on_samples(folder: &Path) -> Vec<Line> {
    let clock = "testdata/logs/clock/session.jsonl";
    let torn = "testdata/logs/torn/session.jsonl";
    let mut all = on_logs(&["testdata/logs"], &[], folder);
    all.extend(exact(clock));
    all.extend(on_nothing());
    all.push(
        ["diff-headers", "--between", clock, torn]
            .map(String::from)
            .into(),
    );
    all
}

pub(crate) fn strs(line: &Line) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}

/// Writes a log as `name` into a folder of its own below `folder`.
pub(crate) fn place(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).expect("created");
    fs::write(folder.join(name), text).expect("written");
}

/// One log for each rule, and the sample logs, twice each: with `words` in all free text, and in names and keys.
pub(crate) fn hostile_logs(folder: &Path, words: &str) {
    let words = serde_json::to_string(words).expect("text");
    let words = words.trim_matches('"');
    let free = [
        "id",
        "text",
        "name",
        "description",
        "provider",
        "model",
        "cwd",
        "arguments",
        "callId",
        "message",
        "content",
        "retryId",
        "policyKey",
        "source",
    ];
    let names = ["kind", "reason", "role", "op", "surfaceOp"];
    let mut logs = files_below(&root().join("testdata/logs"));
    for rule in fs::read_dir(root().join("testdata/rules")).expect("readable") {
        let of_rule = files_below(&rule.expect("readable").path());
        let fails = |path: &&PathBuf| {
            path.to_string_lossy().contains("/fail-")
                && path.extension().is_some_and(|end| end == "jsonl")
        };
        logs.extend(of_rule.iter().find(fails).cloned());
    }
    logs.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    assert!(logs.len() > 80, "{}", logs.len());
    for (number, path) in logs.iter().enumerate() {
        let text = String::from_utf8_lossy(&fs::read(path).expect("readable")).into_owned();
        let with = |members: &[&str]| {
            members.iter().fold(text.clone(), |text, member| {
                let key = format!("\"{member}\":\"");
                text.replace(&key, &format!("{key}{words}"))
            })
        };
        place(
            &folder.join(format!("{number}/free")),
            "session.jsonl",
            &with(&free),
        );
        let hostile = with(&names)
            .replace("\"data\":{", &format!("\"data\":{{\"{words}\":1,"))
            .replace("\"time\":", &format!("\"{words}\":1,\"time\":"))
            .replacen("\"type\":\"user", &format!("\"type\":\"{words}"), 1);
        place(
            &folder.join(format!("{number}/names")),
            "session.jsonl",
            &hostile,
        );
    }
}
