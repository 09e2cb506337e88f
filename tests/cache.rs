//! Cache reports from outside: all formats agree, parts add up to the whole, budgets decide the exit code.

#![allow(missing_docs, reason = "a test")]

mod common;

use std::fs;
use std::path::PathBuf;

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
        let table = page.split("<details>").nth(1).expect("the table");
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
