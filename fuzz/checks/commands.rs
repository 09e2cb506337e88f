//! Every command, in every format, comes to an end, says it in its format, and leaves its input alone.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// What a command's output must be.
#[derive(Clone, Copy)]
enum Form {
    Json,
    JsonLines,
    Text,
}

use Form::{Json, JsonLines, Text};

const REQUESTS: &str = "reconstruct";
const REPORT: &str = "cache-report --format json";

/// The commands, in this order: `merge` and `--against` take what others gave.
const RUNS: [(&str, Form); 27] = [
    ("verify", Text),
    ("verify --tree", Text),
    ("verify --no-excerpt --no-fast-path", Text),
    ("verify --format json", Json),
    ("verify --format jsonl", JsonLines),
    ("verify --format sarif", Json),
    ("verify --format github", Text),
    ("verify --format markdown", Text),
    ("verify --max-line 200 --max-findings 2 --mmap always", Text),
    ("reconstruct --format human", Text),
    (REQUESTS, JsonLines),
    ("verify --against REQUESTS --mmap never", Text),
    ("reconstruct --digest --format jsonl", JsonLines),
    ("reconstruct --calls", JsonLines),
    ("reconstruct --wire deepseek --format jsonl", JsonLines),
    ("diff-headers", Text),
    ("diff-headers --stat", Text),
    ("diff-headers --format json", Json),
    ("diff-headers --format markdown", Text),
    ("diff-headers --between IN IN", Text),
    ("cache-report", Text),
    (REPORT, Json),
    ("cache-report --format jsonl", JsonLines),
    ("cache-report --format html", Text),
    ("cache-report --format markdown", Text),
    ("merge --format json REPORT", Json),
    ("merge --format html REPORT", Text),
];

/// Runs every command on a log.
pub fn check(log: &[u8]) {
    check_runs(log, &RUNS);
}

/// Runs one command on a log, which the log's bytes choose: a fuzzer tries many more logs so, and each change of one changes
/// the command.
pub fn check_one(log: &[u8]) {
    let sum = log.iter().map(|&byte| usize::from(byte)).sum::<usize>();
    let chosen = RUNS[sum % RUNS.len()];
    let named = |word: &str| chosen.0.split(' ').any(|part| part == word);
    let before = [("REQUESTS", REQUESTS, JsonLines), ("REPORT", REPORT, Json)];
    let mut runs: Vec<_> = before
        .into_iter()
        .filter_map(|(word, command, form)| named(word).then_some((command, form)))
        .collect();
    runs.push(chosen);
    check_runs(log, &runs);
}

fn check_runs(log: &[u8], runs: &[(&str, Form)]) {
    let directory = tempfile::tempdir().expect("room for temporary files");
    let place = |name: &str| directory.path().join(name);
    let (inputs, input, output) = (place("in"), place("in/session.jsonl"), place("out"));
    fs::create_dir(&inputs).expect("room");
    fs::write(&input, log).expect("room");
    for &(command, form) in runs {
        run(command, directory.path(), &output);
        if let Ok(bytes) = fs::read(&output) {
            check_output(&bytes, form, command);
            let kept = match command {
                REQUESTS => "REQUESTS",
                REPORT => "REPORT",
                _ => "spent",
            };
            fs::rename(&output, place(kept)).expect("room");
        }
        assert!(fs::read(&input).is_ok_and(|now| now == log), "{command}");
        let beside = fs::read_dir(&inputs).expect("readable").count();
        assert_eq!(beside, 1, "{command}");
    }
}

/// Runs a command in which capitals stand for files of a directory; one that names no input gets the log.
fn run(command: &str, directory: &Path, output: &Path) {
    let place = |word: &str| match word {
        "IN" => directory.join("in/session.jsonl").into(),
        "REQUESTS" | "REPORT" => directory.join(word).into(),
        word => OsString::from(word),
    };
    let mut arguments = vec![OsString::from("dsh-audit")];
    arguments.extend(command.split(' ').map(place));
    if !command.starts_with("merge") {
        arguments.extend(["--jobs=1".into(), "--no-config".into()]);
    }
    arguments.extend(["--quiet".into(), "--output".into(), output.into()]);
    if !command.ends_with("IN") && !command.ends_with("REPORT") {
        arguments.push(place("IN"));
    }
    dsh_audit::cli::run(arguments);
}

fn check_output(bytes: &[u8], form: Form, command: &str) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{command}: {error}"));
    let is_json = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(_) => true,
        // What JSON holds and this reader does not.
        Err(error) => {
            let message = error.to_string();
            ["surrogate", "hex escape", "out of range", "recursion"]
                .iter()
                .any(|known| message.contains(known))
        }
    };
    match form {
        Json => assert!(is_json(text), "{command} gives no JSON"),
        JsonLines => {
            let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
            for line in lines.filter(|_| !text.is_empty()) {
                assert!(is_json(line), "{command} gives no JSON: {line}");
            }
        }
        Text => {
            let found = text.char_indices().find(|(_, c)| steers(*c));
            assert_eq!(found, None, "{command} steers a terminal");
        }
    }
}

/// Whether a terminal acts on a character instead of showing it.
fn steers(c: char) -> bool {
    let is_control = c.is_control() && c != '\n';
    is_control
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
