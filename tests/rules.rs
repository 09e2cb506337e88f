//! Every rule, both ways: `dsh-audit verify` on each fixture of `testdata/rules` says what is expected there, and no more.
//!
//! A fixture `testdata/rules/<CODE>/{pass,fail}-<what>` is a log (`.jsonl`, `.jsonl.zstd`, or a folder with a `session.jsonl` and
//! its neighbours), its findings but those of the cache, family 08 (`.expected`: one `CODE level seq` line each, in the order of the
//! report, `-` for no seq), and where a flag is needed its arguments (`.args`, split at spaces). The command runs in the log's own
//! folder.
#![cfg(feature = "cli")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use dsh_audit::finding::Rule;
use dsh_audit::rules::{CATALOGUE, find};

/// Budgets are judged where they are set: by `cache-report`.
const BUDGET: u16 = 807;

/// The files of one fixture, by what they are for.
#[derive(Default)]
struct Fixture {
    log: Option<PathBuf>,
    /// The log's own folder, where it has one.
    folder: Option<PathBuf>,
    expected: Option<PathBuf>,
    args: Option<PathBuf>,
}

/// What one run said.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    exit: Option<i32>,
    findings: Vec<String>,
}

#[test]
fn verify_says_what_each_fixture_expects() {
    let mut faults = Vec::new();
    for (rule, name, fixture) in fixtures() {
        let expected = expected(&fixture);
        let got = verify(&fixture, rule.code / 100 == 8);
        if got.as_ref() != Ok(&expected) {
            faults.push(format!(
                "{}/{name}\n  expected {expected:?}\n  got      {got:?}",
                rule.id()
            ));
        }
    }
    assert!(
        faults.is_empty(),
        "{} fixtures differ:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn expectations_keep_the_promise_of_their_names() {
    for (rule, name, fixture) in fixtures() {
        let own = expected(&fixture)
            .findings
            .iter()
            .any(|line| line.starts_with(&rule.id()));
        assert_eq!(own, name.starts_with("fail-"), "{}/{name}", rule.id());
    }
}

#[test]
fn every_rule_but_the_budgets_has_both_kinds() {
    let kinds: BTreeSet<_> = fixtures()
        .map(|(rule, name, _)| (rule.code, kind(&name)))
        .collect();
    for rule in CATALOGUE.iter().filter(|rule| rule.code != BUDGET) {
        for kind in ["pass", "fail"] {
            assert!(
                kinds.contains(&(rule.code, kind)),
                "{} has no {kind} fixture",
                rule.id()
            );
        }
    }
}

/// Pages promise that their example shows what the tool prints, numbers and quoted text aside.
#[test]
fn pages_quote_what_the_tool_prints() {
    let mut said: BTreeMap<u16, BTreeSet<String>> = BTreeMap::new();
    for (rule, name, fixture) in fixtures() {
        for finding in report(&fixture).unwrap_or_else(|why| panic!("{name}: {why}")) {
            let message = finding["message"].as_str().unwrap_or_default();
            assert!(
                (1..=90).contains(&message.chars().count()),
                "{name}: {message}"
            );
            if finding["code"] == rule.id() {
                said.entry(rule.code)
                    .or_default()
                    .insert(without_values(message));
            }
        }
    }
    for rule in CATALOGUE.iter().filter(|rule| rule.code != BUDGET) {
        let lead = format!("[{}]: ", rule.id());
        let quoted = rule
            .page
            .lines()
            .find_map(|line| line.split_once(lead.as_str()));
        let (_, message) = quoted.expect("every page shows a finding");
        let said = said.get(&rule.code).cloned().unwrap_or_default();
        assert!(
            said.contains(&without_values(message)),
            "{}: {message}\nnot in {said:#?}",
            rule.id()
        );
    }
}

/// A message with `#` for each number and nothing between quotation marks.
fn without_values(message: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in message.chars() {
        match c {
            '"' => inside = !inside,
            _ if inside => {}
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// Every fixture with its rule and name. A file that belongs to none fails the test that asks.
fn fixtures() -> impl Iterator<Item = (&'static Rule, String, Fixture)> {
    entries(&root()).into_iter().flat_map(|folder| {
        let code = file_name(&folder);
        let rule = find(&code).filter(|rule| rule.id() == code);
        let rule = rule.unwrap_or_else(|| panic!("testdata/rules/{code} is named after no rule"));
        collect(&folder)
            .into_iter()
            .map(move |(name, fixture)| (rule, name, fixture))
    })
}

/// The fixtures of one folder, each of them complete.
fn collect(folder: &Path) -> BTreeMap<String, Fixture> {
    let mut found: BTreeMap<String, Fixture> = BTreeMap::new();
    for path in entries(folder) {
        let file = file_name(&path);
        let (name, suffix) = file.split_once('.').unwrap_or((&file, ""));
        assert!(!kind(name).is_empty(), "{} is no fixture", path.display());
        let fixture = found.entry(name.to_owned()).or_default();
        let (slot, path) = match suffix {
            "jsonl" | "jsonl.zstd" => (&mut fixture.log, path),
            "" if path.is_dir() => {
                let log = log_in(&path);
                fixture.folder = Some(path);
                (&mut fixture.log, log)
            }
            "expected" => (&mut fixture.expected, path),
            "args" => (&mut fixture.args, path),
            _ => panic!("{} belongs to no fixture", path.display()),
        };
        assert!(
            path.is_file() && slot.replace(path).is_none(),
            "{file} is missing or there twice"
        );
    }
    for (name, fixture) in &found {
        let complete = fixture.log.is_some() && fixture.expected.is_some();
        assert!(complete, "{}/{name} is incomplete", folder.display());
    }
    found
}

/// The log of a folder: its `session.jsonl`, or the only file below it.
fn log_in(folder: &Path) -> PathBuf {
    let log = folder.join("session.jsonl");
    if log.is_file() {
        return log;
    }
    let mut path = folder.to_path_buf();
    while path.is_dir() {
        let [only] = &entries(&path)[..] else {
            panic!(
                "{} has more than one entry and no session.jsonl",
                path.display()
            );
        };
        path = only.clone();
    }
    path
}

/// `pass` or `fail`, and nothing for any other name.
fn kind(name: &str) -> &'static str {
    match name.split_once('-') {
        Some(("pass", _)) => "pass",
        Some(("fail", _)) => "fail",
        _ => "",
    }
}

/// The findings of the `.expected` file, and the exit status that follows from them.
fn expected(fixture: &Fixture) -> Outcome {
    let path = fixture.expected.as_ref().expect("fixtures are complete");
    let findings: Vec<String> = read(path).lines().map(str::to_owned).collect();
    let foreign = |line: &String| line.starts_with("DSH0102 ") || line.starts_with("DSH0301 ");
    let exit = match &findings {
        lines if lines.iter().any(foreign) => 3,
        lines if lines.iter().any(|line| line.contains(" error ")) => 1,
        _ => 0,
    };
    Outcome {
        exit: Some(exit),
        findings,
    }
}

/// Runs the audit; an unreadable report is an error with its streams.
fn run(fixture: &Fixture) -> Result<(Option<i32>, Vec<serde_json::Value>), String> {
    let log = fixture.log.as_ref().expect("fixtures are complete");
    let args = fixture
        .args
        .as_ref()
        .map(|path| read(path))
        .unwrap_or_default();
    let folder = fixture.folder.as_deref().or(log.parent());
    let folder = folder.expect("logs lie in a folder");
    let name = log.strip_prefix(folder).expect("below its folder");
    let output = Command::new(env!("CARGO_BIN_EXE_dsh-audit"))
        .args(["verify", "--format", "json", "--no-config"])
        .args(args.split_whitespace())
        .arg("--")
        .arg(name)
        .current_dir(folder)
        .env_clear()
        .output()
        .map_err(|error| error.to_string())?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!(
            "{error}; {:?}; {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    let files = report["files"]
        .as_array()
        .ok_or("the report has no files")?;
    let is_log = |file: &&serde_json::Value| file["path"].as_str() == name.to_str();
    let file = files.iter().find(is_log);
    let findings = file
        .and_then(|file| file["findings"].as_array())
        .ok_or("the report has no findings")?;
    Ok((output.status.code(), findings.clone()))
}

/// What the audit says, as an `.expected` file would have it: the cache is judged in its own fixtures only.
fn verify(fixture: &Fixture, is_cache: bool) -> Result<Outcome, String> {
    let (exit, findings) = run(fixture)?;
    let lines = findings.iter().map(as_line);
    let of_cache = |line: &String| line.starts_with("DSH08");
    let findings = lines.filter(|line| is_cache || !of_cache(line)).collect();
    Ok(Outcome { exit, findings })
}

/// The findings as they stand in the report.
fn report(fixture: &Fixture) -> Result<Vec<serde_json::Value>, String> {
    run(fixture).map(|(_, findings)| findings)
}

/// A finding of the report as a line of an `.expected` file.
fn as_line(finding: &serde_json::Value) -> String {
    let member = |name: &str| finding[name].as_str().unwrap_or("?").to_owned();
    let seq = finding["seq"]
        .as_u64()
        .map_or("-".to_owned(), |seq| seq.to_string());
    format!("{} {} {seq}", member("code"), member("level"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/rules")
}

/// The paths in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let read =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = read
        .map(|entry| entry.expect("folders can be listed").path())
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .expect("entries have names")
        .to_string_lossy()
        .into_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
