//! What the program prints is read by other programs, too: no text of a log, and no name of a file, is a command to them.

use super::common::{dsh_audit, run};
use super::{Line, hostile_logs, on_logs, place, strs};

/// Words that a runner of GitHub Actions, an agent of Azure Pipelines or TeamCity obeys, wherever a line breaks.
const ORDERS: &str = "##[add-mask]x ##vso[task.setvariable variable=x]y ##teamcity[z] \
    ::error::a ::error::b ::error::c ::error::d ::error::e ::error::f ::error::g ::error::h";

/// The first command that a runner would take from a line.
///
/// *Source*: `ActionCommand.cs` of the runner of GitHub Actions, without its list of known names.
fn order_in(line: &str) -> Option<&str> {
    let start = line.trim_start();
    let is_order = |rest: &str| {
        rest.split_once("::")
            .is_some_and(|(name, _)| !name.is_empty())
    };
    let begins = start.strip_prefix("::").is_some_and(is_order);
    let lower = line.to_ascii_lowercase();
    let marks = ["##[", "##vso[", "##teamcity["];
    let holds = marks.iter().any(|mark| lower.contains(mark));
    (begins || holds).then_some(line)
}

fn assert_unheard(line: &Line, text: &[u8]) {
    let is_annotations = line.iter().any(|arg| arg == "github");
    let text = String::from_utf8_lossy(text);
    for row in text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        // An annotation is a command of ours, up to its end.
        let own = ["::error file=", "::warning file=", "::notice file="];
        let is_own = is_annotations && own.iter().any(|own| row.starts_with(own));
        let row = if is_own {
            row.trim_start_matches(':')
        } else {
            row
        };
        assert_eq!(order_in(row), None, "{line:?}");
    }
}

#[test]
fn no_text_of_a_log_is_an_order() {
    let folder = tempfile::tempdir().expect("a directory");
    let logs = folder.path().join("logs");
    hostile_logs(&logs, ORDERS);
    for line in on_logs(&[&logs.to_string_lossy()], &[], folder.path()) {
        // Narrow, so that many words begin a line.
        let output = dsh_audit(&strs(&line)).env("COLUMNS", "40").output();
        let output = output.expect("built");
        assert_unheard(&line, &output.stdout);
        assert_unheard(&line, &output.stderr);
    }
}

#[test]
#[cfg(unix)]
fn no_name_of_a_file_is_an_order() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = include_str!("../../testdata/logs/torn/session.jsonl");
    let logs = folder.path().join("\n::error::z ##[add-mask]x");
    place(&logs.join("a"), "\n::error::1 ##[x].jsonl", log);
    place(&logs.join("b"), "--\n::error::2.jsonl", "");
    place(&logs.join("c"), "\r::error::3.jsonl", "no JSON\n");
    std::os::unix::fs::symlink("gone", logs.join("\u{85}::error::4.jsonl")).expect("linked");
    for line in on_logs(&[&logs.to_string_lossy()], &[], folder.path()) {
        let output = run(&strs(&line));
        assert_unheard(&line, &output.stdout);
        assert_unheard(&line, &output.stderr);
    }
}

#[test]
fn no_argument_is_an_order() {
    for args in [
        &["--\n::error::x ##[add-mask]y"][..],
        &["verify", "\n::error::x ##[add-mask]y"],
        &[
            "verify",
            "--config",
            "\n::error::x ##[add-mask]y",
            "testdata/logs",
        ],
        &[
            "verify",
            "--baseline",
            "\n::error::x ##[add-mask]y",
            "testdata/logs",
        ],
        &[
            "verify",
            "--against",
            "\n::error::x ##[add-mask]y",
            "testdata/logs",
        ],
        &[
            "verify",
            "-o",
            "no/\n::error::x ##[add-mask]y",
            "testdata/logs",
        ],
        &[
            "diff-headers",
            "--lock",
            "\n::error::x ##[add-mask]y",
            "testdata/logs",
        ],
        &["merge", "\n::error::x ##[add-mask]y"],
        &["explain", "\n::error::x ##[add-mask]y"],
        &["schema", "\n::error::x ##[add-mask]y"],
        &["man", "\n::error::x ##[add-mask]y"],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let line: Line = args.iter().map(|arg| arg.to_string()).collect();
        assert_unheard(&line, &output.stdout);
        assert_unheard(&line, &output.stderr);
    }
}
