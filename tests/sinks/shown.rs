//! What is printed is looked at: nothing in it acts on a terminal, hides from an eye, or becomes markup.

use std::fs;

use serde_json::Value;

use super::common::{dsh_audit, run};
use super::{Line, hostile_logs, on_logs, place, strs};

/// What a terminal, a browser, a viewer of SARIF or GitHub would act on, and what nobody sees.
const ACTS: &str = "\u{1b}]8;;http://x\u{7}\u{9b}2J\u{202e}\u{2066}\u{3164}\u{e0141}\u{e0101}\u{1d173}\
    </style></title><img src=x onerror=alert(1)><!-- [more](http://x) @team GH-12 #1 www.x.y `x` | $x$\r\n# x\u{2028}";

/// Whether a character acts on a terminal or hides; line feeds are ours.
fn acts(c: char) -> bool {
    let hides = [
        '\u{3164}',
        '\u{e0101}',
        '\u{1d173}',
        '\u{feff}',
        '\u{200b}',
        '\u{115f}',
    ];
    c.is_control() && c != '\n'
        || hides.contains(&c)
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// Markdown without its code.
fn outside_code(text: &str) -> String {
    let mut shown = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let ticks = line.split(|c| c != '`').next().unwrap_or_default();
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if ticks.len() > 2 => fence = Some(ticks),
            None => {
                shown.push_str(&outside_spans(line));
                shown.push('\n');
            }
        }
    }
    shown
}

fn outside_spans(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let ticks = from.split(|c| c != '`').next().unwrap_or_default();
        let behind = &from[ticks.len()..];
        // A backslash makes it text.
        let closes = behind
            .find(&format!(" {ticks}"))
            .filter(|_| !before.ends_with('\\'));
        rest = closes.map_or(behind, |end| &behind[end + 1 + ticks.len()..]);
    }
    shown + rest
}

fn assert_inert(line: &Line, text: &str) {
    let acting = text.chars().find(|c| acts(*c));
    assert_eq!(acting, None, "{line:?}");
    let format = line.iter().map(|arg| arg.trim_start_matches("--format="));
    match format.filter(|arg| !arg.starts_with('-')).nth(1) {
        Some("html") => {
            for tag in ["<img", "<!--"] {
                assert!(!text.contains(tag), "{line:?} {tag}");
            }
        }
        Some("markdown") => {
            // What stands behind a backslash is text.
            let shown = outside_code(text).replace("\\]", "");
            for markup in [
                "<img", "<!--", "](http", "@team", "GH-12", " #1", "www.x", "\n# x",
            ] {
                assert!(!shown.contains(markup), "{line:?} {markup}");
            }
        }
        Some("sarif") if !text.is_empty() => {
            let report: Value = serde_json::from_str(text).expect("JSON");
            for result in report["runs"][0]["results"].as_array().expect("results") {
                let message = result["message"]["text"].as_str().expect("text");
                assert!(!message.contains("]("), "{message}");
            }
        }
        _ => {}
    }
}

fn assert_all_inert(lines: &[Line]) {
    for line in lines {
        let output = run(&strs(line));
        let stdout = String::from_utf8(output.stdout).expect("text, whatever a log holds");
        let stderr = String::from_utf8(output.stderr).expect("text, whatever a log holds");
        assert_inert(line, &stdout);
        assert_inert(&Vec::new(), &stderr);
    }
}

#[test]
fn text_of_a_log_is_inert() {
    let folder = tempfile::tempdir().expect("a directory");
    let logs = folder.path().join("logs");
    hostile_logs(&logs, ACTS);
    let logs = logs.to_string_lossy().into_owned();
    assert_all_inert(&on_logs(&[&logs], &[], folder.path()));
    // Colours are ours, and nothing else is.
    for command in ["verify", "diff-headers", "cache-report"] {
        let output = dsh_audit(&[command, "--color=always", "--no-limit", &logs]).output();
        let text = String::from_utf8(output.expect("built").stdout).expect("text");
        let plain = text.split("\u{1b}[").map(|piece| {
            let end = piece.find(|c: char| !c.is_ascii_digit() && c != ';');
            end.map_or(piece, |end| piece[end..].strip_prefix('m').unwrap_or(piece))
        });
        let acting = plain.skip(1).flat_map(str::chars).find(|c| acts(*c));
        assert_eq!(acting, None, "{command}");
    }
}

#[test]
#[cfg(unix)]
fn names_of_files_are_inert() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a directory");
    let log = include_str!("../../testdata/logs/torn/session.jsonl");
    let long = "n".repeat(240);
    let acts = ACTS.replace('/', "\\");
    let names: [&[u8]; 12] = [
        acts.as_bytes(),
        b"bad\xff\xfe\xed\xa0\x80",
        b"-rf",
        b"--output=x",
        b"*?[a]{b}",
        b" lead",
        b"%0A::error::x,y:z",
        b"\"'`$(x)",
        long.as_bytes(),
        b"\xc2\x9b31m",
        b"|x|",
        b"\\",
    ];
    for (number, name) in names.iter().enumerate() {
        let below = folder.path().join(number.to_string());
        fs::create_dir(&below).expect("created");
        let name = [*name, b".jsonl"].concat();
        fs::write(below.join(OsStr::from_bytes(&name)), log).expect("written");
    }
    let path = folder.path().to_string_lossy().into_owned();
    let report = tempfile::tempdir().expect("a directory");
    assert_all_inert(&on_logs(&[&path], &[], report.path()));
    let found = run(&["verify", "--no-config", "--format=json", &path]);
    let found: Value = serde_json::from_slice(&found.stdout).expect("JSON");
    assert_eq!(found["files"].as_array().map(Vec::len), Some(names.len()));
    // Given by name, each is a file and nothing else.
    for name in [
        "-rf.jsonl",
        "--output=x.jsonl",
        "*?[a]{b}.jsonl",
        " lead.jsonl",
    ] {
        let mut folders = (0..names.len()).map(|at| folder.path().join(at.to_string()));
        let below = folders.find(|below| below.join(name).exists());
        let below = below.expect("it is there");
        let audit = dsh_audit(&["verify", "--no-config", "--", name])
            .current_dir(below)
            .output();
        assert_eq!(audit.expect("built").status.code(), Some(0), "{name}");
    }
}

/// Puts text behind every string of a kind.
fn spoil(value: &mut Value, at: &str, wanted: &str) -> bool {
    match value {
        Value::String(text) if at == wanted => {
            text.push_str(ACTS);
            true
        }
        Value::Array(values) => {
            let spoilt = values.iter_mut().map(|value| spoil(value, at, wanted));
            spoilt.fold(false, |any, one| any | one)
        }
        Value::Object(members) => {
            let spoilt = members
                .iter_mut()
                .map(|(name, value)| spoil(value, name, wanted));
            spoilt.fold(false, |any, one| any | one)
        }
        _ => false,
    }
}

#[test]
fn reports_that_are_merged_are_inert() {
    let folder = tempfile::tempdir().expect("a directory");
    let report = run(&[
        "cache-report",
        "--no-config",
        "--format=json",
        "testdata/logs",
    ]);
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let members = [
        "path",
        "sessionId",
        "dialect",
        "outcome",
        "kind",
        "day",
        "provider",
        "model",
        "verdict",
        "segment",
        "cause",
        "causeFrom",
        "causeTo",
        "causeName",
        "certainty",
        "currency",
        "unitSource",
        "error",
        "before",
        "after",
        "schema",
        "tool",
        "inputSha256",
    ];
    let mut lines: Vec<Line> = Vec::new();
    for member in members {
        let mut spoilt = report.clone();
        if !spoil(&mut spoilt, "", member) {
            continue;
        }
        place(
            folder.path(),
            &format!("{member}.json"),
            &spoilt.to_string(),
        );
        let path = folder.path().join(format!("{member}.json"));
        for format in ["human", "json", "jsonl", "html", "markdown"] {
            let format = format!("--format={format}");
            let path = path.to_string_lossy().into_owned();
            lines.push(
                ["merge", &format, "--no-limit", "--by=model", &path]
                    .map(String::from)
                    .into(),
            );
        }
    }
    assert!(lines.len() > 60, "{}", lines.len());
    assert_all_inert(&lines);
}

#[test]
fn files_that_a_run_is_given_are_inert() {
    let folder = tempfile::tempdir().expect("a directory");
    let quoted = toml_text(ACTS);
    let prices = |currency: &str, source: &str| {
        let row = "[[table.price]]\nmodel = \"deepseek-v4-flash\"\nfrom = 2026-01-01\nhit = 1.0\nmiss = 2.0\noutput = 3.0\n";
        format!("[[table]]\ncurrency = {currency}\nsource = {source}\ncaptured = {source}\n{row}")
    };
    let baseline = format!(
        "schema = \"dsh-audit/baseline/v1\"\n[[accept]]\nfingerprint = \"{}\"\ncode = {quoted}\nplace = {quoted}\nreason = {quoted}\n",
        "0".repeat(32)
    );
    for (flag, text) in [
        ("--baseline", baseline),
        ("--baseline", format!("{quoted} = 1")),
        ("--baseline", ACTS.to_string()),
        ("--config", format!("{quoted} = 1")),
        ("--config", format!("[levels]\n{quoted} = \"note\"")),
        ("--config", format!("fail-on = {quoted}")),
        ("--config", format!("baseline = {quoted}")),
        ("--config", ACTS.to_string()),
        ("--prices", prices("\"USD\"", &quoted)),
        ("--prices", prices(&quoted, "\"x\"")),
        ("--prices", ACTS.to_string()),
    ] {
        place(folder.path(), "given", &text);
        let given = folder.path().join("given").to_string_lossy().into_owned();
        let (command, formats) = match flag {
            "--prices" => ("cache-report", ["human", "json", "html", "markdown"]),
            _ => ("verify", ["human", "json", "sarif", "markdown"]),
        };
        for format in formats {
            let line = [
                command,
                format!("--format={format}").as_str(),
                flag,
                &given,
                "testdata/logs/clock",
            ]
            .map(String::from);
            assert_all_inert(&[line.into()]);
        }
    }
}

/// Text as TOML quotes it.
fn toml_text(text: &str) -> String {
    let escaped = text.chars().map(|c| format!("\\U{:08x}", c as u32));
    format!("\"{}\"", escaped.collect::<String>())
}
