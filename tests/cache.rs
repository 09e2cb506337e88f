//! Cache reports from outside: all formats agree, parts add up to the whole, budgets decide the exit code.

#![allow(missing_docs, reason = "a test")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{code, files_below, root, run, stdout};
use serde_json::Value;

const FORMATS: [&str; 5] = ["human", "json", "jsonl", "html", "markdown"];

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).expect("JSON")
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A sample log with each text in the place of another, written into a folder; gives its path and its text.
fn altered(folder: &Path, sample: &str, edits: &[(&str, &str)]) -> (String, String) {
    let mut text = fs::read_to_string(root().join(sample)).expect("a sample log");
    for (from, to) in edits {
        assert!(text.contains(from), "{sample} holds {from}");
        text = text.replace(from, to);
    }
    let path = folder.join("altered.jsonl");
    fs::write(&path, &text).expect("a writable folder");
    (path.to_str().expect("text").into(), text)
}

#[test]
fn a_break_by_a_header_lies_on_the_line_of_that_header() {
    let edits = [
        (r#"["bash","read","write"]"#, r#"["bash","read"]"#),
        (r#""cacheReadTokens":128"#, r#""cacheReadTokens":0"#),
        (r#""inputTokens":40"#, r#""inputTokens":168"#),
    ];
    let sample = "testdata/headers/redacted.jsonl";
    let (path, text) = altered(&folder("same-header"), sample, &edits);
    let report = json(&["verify", "--format", "json", &path]);
    let findings = report["files"][0]["findings"].as_array().expect("findings");
    let of_headers: Vec<&Value> = findings
        .iter()
        .filter(|finding| finding["name"] == "prefix-broken")
        .collect();
    assert_eq!(of_headers.len(), 2);
    for finding in of_headers {
        let start = finding["span"]["start"].as_u64().expect("a place");
        let before = text.get(..start as usize).expect("within the log");
        assert_eq!(finding["line"], before.lines().count(), "{finding}");
    }
}

/// A version 4 log in which a further header stands behind event 53, with what stands behind the last tool of
/// each of the two.
fn with_another_tool(before: &str, now: &str) -> String {
    let sample = root().join("testdata/logs/version-4/session.v4.jsonl");
    let text = fs::read_to_string(sample).expect("a sample log");
    let end = r#""required":["file_path"]}}]}"#;
    let with = |line: &str, tool: &str| {
        assert!(line.contains(end), "{line}");
        line.replace(end, &format!("{}{tool}]}}", &end[..end.len() - 2]))
    };
    let mut lines = Vec::new();
    let mut header = String::new();
    let mut shift = 0;
    for line in text.lines() {
        if line.contains("request/header") {
            header = line.replace("\"seq\":10,", "\"seq\":54,");
            header = header.replace("\"initial\"", "\"change\"");
            lines.push(with(line, before));
            continue;
        }
        let seq = line
            .split_once("\"seq\":")
            .and_then(|(_, rest)| rest.split_once(','));
        let seq = seq.and_then(|(seq, _)| seq.parse::<u64>().ok());
        let moved = seq.map(|seq| {
            let (from, to) = (
                format!("\"seq\":{seq},"),
                format!("\"seq\":{},", seq + shift),
            );
            line.replacen(&from, &to, 1)
        });
        lines.push(moved.unwrap_or_else(|| line.into()));
        if seq == Some(53) {
            lines.push(with(&header, now));
            shift = 1;
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_tool_at_the_end_of_the_list_is_no_system_prompt() {
    // In version 4 the system prompt stands behind the tools.
    let path = folder("last-tool").join("session.v4.jsonl");
    let tool = r#",{"name":"zz","description":"Sleeps.","parameters":{"type":"object"}}"#;
    for (before, now, cause) in [("", tool, "tool-added"), (tool, "", "tool-removed")] {
        fs::write(&path, with_another_tool(before, now)).expect("a writable folder");
        let path = path.to_str().expect("text");
        let report = json(&["cache-report", "--format", "json", path]);
        let rows = report["logs"][0]["rows"].as_array().expect("rows");
        let causes: Vec<&Value> = rows
            .iter()
            .map(|row| &row["cause"])
            .filter(|cause| !cause.is_null())
            .collect();
        assert_eq!(causes, [cause], "{report}");
    }
}

#[test]
fn a_break_is_the_same_finding_whether_or_not_messages_are_compared() {
    let log = "testdata/logs/compacted/session.jsonl.zstd";
    let requests = folder("fingerprints").join("requests.jsonl");
    fs::write(&requests, stdout(&["reconstruct", log])).expect("a writable folder");
    let breaks = |more: &[&str]| {
        let report = json(&[&["verify", "--format", "json", log], more].concat());
        let findings = report["files"][0]["findings"].as_array().expect("findings");
        let broken = findings
            .iter()
            .filter(|finding| finding["code"] == "DSH0801");
        let facts = |finding: &Value| [finding["seq"].clone(), finding["fingerprint"].clone()];
        broken.map(facts).collect::<Vec<_>>()
    };
    let alone = breaks(&[]);
    assert_eq!(alone.len(), 2);
    let requests = requests.to_str().expect("text");
    assert_eq!(breaks(&["--against", requests]), alone);
}

#[test]
fn a_loss_that_no_usage_tells_is_not_0() {
    let text = |path: &str, format: &str| stdout(&["cache-report", "--format", format, path]);
    let sample = "testdata/rules/DSH0801/fail-tool-added.jsonl";
    let edits = [(r#""cacheReadTokens":"#, r#""reasoningTokens":"#)];
    let (path, _) = altered(&folder("no-usage"), sample, &edits);
    let lost = "lost      not known: usage was not reported; 1 bust, with a logged cause";
    assert!(text(&path, "human").contains(lost));
    assert!(text(&path, "markdown").contains("· loss not known in 1 bust."));
    // And one that usage tells is known, where it is none.
    let sample = "testdata/headers/redacted.jsonl";
    for format in ["human", "html", "markdown"] {
        assert!(text(sample, format).contains("no tokens lost"), "{format}");
    }
}

#[test]
fn a_missed_budget_is_no_finding_beyond_a_limit() {
    let sample = "testdata/headers/redacted.jsonl";
    let output = run(&["cache-report", "--max-header-changes", "0", sample]);
    assert_eq!(output.status.code(), Some(1));
    let limits = String::from_utf8(output.stderr).expect("text");
    assert!(limits.contains("1 note"), "{limits}");
    assert!(!limits.contains("beyond"), "{limits}");
}

#[test]
fn no_format_changes_the_exit_code() {
    let cases: [(&[&str], i32); 4] = [
        (&["testdata/logs/torn"], 0),
        (&["--max-lost-tokens", "100", "testdata/logs/clock"], 1),
        (
            &[
                "--max-lost-tokens",
                "100",
                "--exit-zero",
                "testdata/logs/clock",
            ],
            0,
        ),
        (&["testdata/logs/nothing-here", "testdata/logs/clock"], 2),
    ];
    for (rest, expected) in cases {
        for format in FORMATS {
            let mut args = vec!["cache-report", "--format", format];
            args.extend(rest);
            assert_eq!(code(&args), Some(expected), "{args:?}");
        }
    }
}

#[test]
fn rows_of_each_log_merge_into_the_report_of_all() {
    let folder = folder("merged");
    let mut parts = Vec::new();
    for (at, log) in files_below(&root().join("testdata/logs"))
        .iter()
        .enumerate()
    {
        let log = log.strip_prefix(root()).expect("below the root");
        let format = if at % 2 == 0 { "jsonl" } else { "json" };
        let log = log.to_string_lossy();
        let args = ["cache-report", "--exit-zero", "--format", format, &log];
        let part = folder.join(format!("{at}"));
        fs::write(&part, run(&args).stdout).expect("written");
        parts.push(part.to_string_lossy().into_owned());
    }
    // One machine's rows may arrive twice.
    parts.push(parts.first().cloned().expect("logs"));
    let mut args = vec!["merge", "--format", "json", "--by", "cause"];
    args.extend(parts.iter().map(String::as_str));
    let merged = json(&args);
    let whole = [
        "cache-report",
        "--format",
        "json",
        "--by",
        "cause",
        "testdata/logs",
    ];
    let whole = json(&whole);
    for member in ["totals", "oneShots", "window", "groups"] {
        assert_eq!(merged[member], whole[member], "{member}");
    }
    assert!(whole["totals"]["lost"].as_u64() > Some(0));
}

#[test]
fn the_page_of_each_log_has_the_numbers_of_its_json() {
    for log in files_below(&root().join("testdata/logs")) {
        let log = log.to_string_lossy().into_owned();
        let json = json(&["cache-report", "--format", "json", &log]);
        let page = stdout(&["cache-report", "--format", "html", &log]);
        let totals = &json["totals"];
        if totals["requests"] == 0 {
            continue;
        }
        for name in ["prompt", "hit", "output", "lost"] {
            let tag = format!("<data class=\"{name}\" value=\"{}\"", totals[name]);
            assert!(page.contains(&tag), "{log}: {tag}");
        }
        let rows = json["logs"][0]["rows"].as_array().expect("rows");
        let requests = rows.iter().filter(|row| row["kind"] == "request").count();
        // The last of what is folded away.
        let table = page.rsplit("<details>").next().expect("the table");
        assert_eq!(table.matches("<tr class").count(), requests, "{log}");
        let busts =
            totals["broken"].as_u64().unwrap_or(0) + totals["unexplained"].as_u64().unwrap_or(0);
        assert_eq!(page.matches("<li id=\"l").count() as u64, busts, "{log}");
    }
}

#[test]
fn a_currency_is_chosen_from_the_file_of_prices() {
    let folder = folder("prices");
    let path = folder.join("prices.toml");
    let table = |currency: &str, price: &str| {
        format!(
            "[[table]]\ncurrency = \"{currency}\"\nsource = \"ours\"\ncaptured = \"2026-12-01\"\n\
             [[table.price]]\nprovider = \"deepseek-official\"\nmodels = [\"deepseek-v4-flash\"]\n\
             from = 2026-01-01\nhit = 0\nmiss = {price}\noutput = 0\n"
        )
    };
    let text = table("USD", "1") + &table("CNY", "7.25");
    fs::write(&path, text).expect("written");
    let path = path.to_string_lossy();
    let log = "testdata/logs/clock";
    assert_eq!(code(&["cache-report", "--prices", &path, log]), Some(2));
    let args = [
        "cache-report",
        "--format",
        "json",
        "--prices",
        &path,
        "--currency",
        "cny",
        log,
    ];
    let report = json(&args);
    let missed = report["totals"]["prompt"].as_u64().expect("a sum");
    let cost = &report["totals"]["cost"][0];
    assert_eq!(cost["currency"], "CNY");
    assert_eq!(cost["paidPico"].as_u64(), Some(missed * 7_250_000));
    assert_eq!(report["prices"]["source"], "ours");
}

#[test]
fn budgets_of_the_configuration_hold_for_verify_too() {
    let folder = folder("budgets");
    let config = folder.join("budgets.toml");
    fs::write(&config, "[budgets]\nmin-hit-rate = 0.5\nmin-requests = 3\n").expect("written");
    let config = config.to_string_lossy();
    for command in ["verify", "cache-report"] {
        let run = |log| code(&[command, "--config", &config, log]);
        assert_eq!(run("testdata/logs/clock"), Some(1), "{command}");
        assert_eq!(run("testdata/logs/fork-parent"), Some(0), "{command}");
    }
    let report = json(&[
        "verify",
        "--config",
        &config,
        "--format",
        "json",
        "testdata/logs/clock",
    ]);
    let findings = report["files"][0]["findings"].as_array().expect("findings");
    let missed: Vec<&Value> = findings
        .iter()
        .filter(|finding| finding["code"] == "DSH0807")
        .collect();
    assert_eq!(missed.len(), 1);
    assert_eq!(missed[0]["message"], "hit rate is 0 %, the budget is 50 %");
    // The command line wins over the file.
    let args = [
        "cache-report",
        "--config",
        &config,
        "--min-hit-rate",
        "0",
        "testdata/logs/clock",
    ];
    assert_eq!(code(&args), Some(0));
}
