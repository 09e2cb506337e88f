//! Many files at once, hostile folders, and what must never happen to either.
#![allow(dead_code, reason = "not every test uses all that tests share")]

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{code, dsh_audit, files_below, root, run, stdout};

fn log(name: &str) -> PathBuf {
    root().join("testdata/logs").join(name)
}

fn copy(name: &str, to: &Path) {
    fs::create_dir_all(to.parent().expect("has one")).expect("created");
    fs::copy(log(name), to).expect("copied");
}

fn string(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[test]
fn any_number_of_jobs_gives_the_same_bytes() {
    let with = |jobs| {
        stdout(&[
            "verify",
            "--no-config",
            "--format",
            "json",
            "--jobs",
            jobs,
            "testdata",
        ])
    };
    let one = with("1");
    assert!(one.len() > 10_000);
    for jobs in ["2", "7", "64"] {
        assert!(with(jobs) == one, "--jobs {jobs}");
    }
}

#[test]
fn the_fast_path_gives_the_same_bytes() {
    let with = |flags: &[&str]| {
        let verify = ["verify", "--no-config", "--format", "json", "testdata"];
        stdout(&[&verify, flags].concat())
    };
    assert!(with(&[]) == with(&["--no-fast-path"]));
    let verbose = run(&["verify", "-v", "--no-config", "testdata/logs/fork-parent"]);
    let told = String::from_utf8(verbose.stderr).expect("text");
    assert!(told.contains(" lines took the fast path"), "{told}");
}

#[test]
fn a_mapped_file_a_streamed_one_and_standard_input_give_the_same() {
    for path in files_below(&root().join("testdata/logs")) {
        let bytes = fs::read(&path).expect("readable");
        let path = string(&path);
        let of = |mmap| run(&["reconstruct", mmap, &path]).stdout;
        let mapped = of("--mmap=always");
        assert!(mapped == of("--mmap=never"), "{path}");
        let mut child = dsh_audit(&["reconstruct", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let mut input = child.stdin.take().expect("piped");
        let writer = std::thread::spawn(move || {
            let _ = input.write_all(&bytes);
        });
        let output = child.wait_with_output().expect("ended");
        writer.join().expect("ended");
        assert!(mapped == output.stdout, "{path} from standard input");
    }
}

#[test]
fn nothing_is_written_next_to_an_input() {
    let folder = tempfile::tempdir().expect("a directory");
    copy(
        "compacted/session.jsonl.zstd",
        &folder.path().join("session.jsonl.zstd"),
    );
    copy(
        "two-writers/session.jsonl",
        &folder.path().join("two/session.jsonl"),
    );
    let before: Vec<_> = files_below(folder.path())
        .iter()
        .map(|path| (path.clone(), fs::read(path).expect("readable")))
        .collect();
    let path = string(folder.path());
    for args in [
        &["verify", "--no-config"][..],
        &["reconstruct", "--no-config"],
        &["verify", "--no-config", "--no-mmap"],
    ] {
        dsh_audit(&[args, &[&path]].concat())
            .current_dir(folder.path())
            .output()
            .expect("built");
    }
    let after: Vec<_> = files_below(folder.path())
        .iter()
        .map(|path| (path.clone(), fs::read(path).expect("readable")))
        .collect();
    assert!(before == after);
}

#[test]
#[cfg(unix)]
fn an_input_under_another_name_is_not_written_over() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = folder.path().join("session.v4.jsonl");
    let older = folder.path().join("session.jsonl");
    copy("version-4/session.v4.jsonl", &log);
    copy("clock/session.jsonl", &older);
    let hard = folder.path().join("out");
    fs::hard_link(&log, &hard).expect("linked");
    let soft = folder.path().join("soft");
    std::os::unix::fs::symlink(&log, &soft).expect("linked");
    let capture = folder.path().join("capture");
    fs::write(&capture, "{}\n").expect("written");
    let all = || [&log, &older, &capture].map(|path| fs::read(path).expect("readable"));
    let before = all();
    let (folder, capture) = (string(folder.path()), string(&capture));
    for target in [&log, &older, &hard, &soft].map(|path| string(path)) {
        for flag in ["--output", "--write-baseline"] {
            let output = run(&["verify", "--no-config", flag, &target, &folder]);
            assert_eq!(output.status.code(), Some(2), "{flag} {target}");
        }
        let summary = dsh_audit(&["verify", "--no-config", "--format=github", &folder])
            .env("GITHUB_STEP_SUMMARY", &target)
            .output()
            .expect("built");
        assert_eq!(summary.status.code(), Some(2), "{target}");
    }
    let both = [
        "verify",
        "--against",
        &capture,
        "--output",
        &capture,
        &folder,
    ];
    assert_eq!(code(&both), Some(2));
    assert!(all() == before);
}

#[test]
fn one_bad_file_hides_no_other() {
    let folder = tempfile::tempdir().expect("a directory");
    for at in 0..20 {
        copy(
            "torn/session.jsonl",
            &folder.path().join(format!("{at:02}/session.jsonl")),
        );
    }
    fs::write(
        folder.path().join("07/session.jsonl"),
        b"\x28\xb5\x2f\xfd\xff\xff\xff\xff",
    )
    .expect("written");
    fs::create_dir(folder.path().join("08/broken.jsonl")).expect("created");
    let lines = stdout(&[
        "verify",
        "--no-config",
        "--format",
        "jsonl",
        &string(folder.path()),
    ]);
    assert_eq!(lines.lines().count(), 20);
}

#[cfg(unix)]
#[test]
fn fifos_broken_links_and_odd_names_do_no_harm() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a directory");
    copy("torn/session.jsonl", &folder.path().join("session.jsonl"));
    std::os::unix::fs::symlink("gone", folder.path().join("broken.jsonl")).expect("linked");
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).expect("linked");
    let _socket =
        std::os::unix::net::UnixListener::bind(folder.path().join("socket.jsonl")).expect("bound");
    let hostile = std::ffi::OsStr::from_bytes(b"\x1b[31m\n\"'\xff\xe2\x80\xae.jsonl");
    copy("torn/session.jsonl", &folder.path().join(hostile));
    fs::write(
        folder.path().join("other.jsonl"),
        "{\"type\":\"message\"}\n",
    )
    .expect("written");
    let output = run(&["verify", "--no-config", &string(folder.path())]);
    assert_eq!(
        output.status.code(),
        Some(2),
        "the broken link is no complete audit"
    );
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).expect("whatever a file is called, text comes out");
    assert!(
        !said
            .chars()
            .any(|c| c.is_control() && c != '\n' || c == '\u{202e}'),
        "{said:?}"
    );
    assert!(
        said.contains("\\x1b[31m\\n\"'\\xff\\u{202e}.jsonl"),
        "{said}"
    );
    assert!(said.contains("left aside, no regular file"), "{said}");
    assert!(
        said.contains("1 file found on the way, no session logs"),
        "{said}"
    );
    fs::remove_file(folder.path().join("broken.jsonl")).expect("removed");
    assert_eq!(
        code(&["verify", "--no-config", &string(folder.path())]),
        Some(0)
    );
    assert_eq!(
        code(&[
            "verify",
            "--no-config",
            &string(&folder.path().join("other.jsonl"))
        ]),
        Some(3)
    );
}

#[test]
fn a_folder_without_session_logs_is_no_audit() {
    let folder = tempfile::tempdir().expect("a directory");
    assert_eq!(
        code(&["verify", "--no-config", &string(folder.path())]),
        Some(2)
    );
    fs::write(folder.path().join("other.jsonl"), "{\"a\":1}\n").expect("written");
    assert_eq!(
        code(&["verify", "--no-config", &string(folder.path())]),
        Some(2)
    );
}

#[test]
fn a_reader_that_goes_away_changes_nothing() {
    for (args, expected) in [
        (&["verify", "--format", "json", "testdata/logs"][..], 1),
        (&["reconstruct", "testdata/logs/compacted"], 0),
        (&["rules", "--format", "json"], 0),
    ] {
        let mut child = dsh_audit(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(expected), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            !stderr.contains("panicked") && !stderr.contains("pipe"),
            "{args:?}: {stderr}"
        );
    }
}

#[test]
fn a_baseline_accepts_what_is_known_and_reports_what_is_gone() {
    let folder = tempfile::tempdir().expect("a directory");
    let baseline = string(&folder.path().join("baseline.toml"));
    let broken = "testdata/logs/legacy-delta";
    assert_eq!(
        code(&[
            "verify",
            "--no-config",
            "--write-baseline",
            &baseline,
            broken
        ]),
        Some(1)
    );
    let text = fs::read_to_string(&baseline).expect("written");
    fs::write(
        &baseline,
        text.replacen("place =", "reason = \"old\"\nplace =", 1),
    )
    .expect("written");
    assert_eq!(
        code(&["verify", "--no-config", "--baseline", &baseline, broken]),
        Some(0)
    );
    let both = [
        "verify",
        "--no-config",
        "--baseline",
        &baseline,
        "--write-baseline",
        &baseline,
        broken,
    ];
    assert_eq!(code(&both), Some(0));
    assert!(
        fs::read_to_string(&baseline)
            .expect("written")
            .contains("reason = \"old\"")
    );
    let unused = stdout(&[
        "verify",
        "--no-config",
        "--baseline",
        &baseline,
        "testdata/logs/clock",
    ]);
    assert!(
        unused.contains("unused in the baseline: DSH0302"),
        "{unused}"
    );
}

#[test]
fn the_configurations_of_the_readme_are_valid() {
    let readme = fs::read_to_string(root().join("README.md")).expect("readable");
    let folder = tempfile::tempdir().expect("a directory");
    let mut number = 0;
    for block in readme.split("```toml\n").skip(1) {
        let (text, _) = block.split_once("```").expect("a block ends");
        if text.contains("[[table") {
            continue; // prices, not a configuration
        }
        let config = folder.path().join("dsh-audit.toml");
        fs::write(&config, text).expect("written");
        let output = run(&[
            "verify",
            "--config",
            &string(&config),
            "testdata/logs/version-4",
        ]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        number += 1;
    }
    assert_eq!(number, 2);
}

#[test]
fn a_configuration_is_found_upward_and_the_command_line_wins() {
    let folder = tempfile::tempdir().expect("a directory");
    copy(
        "legacy-delta/session.jsonl",
        &folder.path().join("old/session.jsonl"),
    );
    let text = "[[paths]]\nmatch = [\"old/**\"]\nlevels = { legacy-header-delta = \"note\" }\n";
    fs::write(folder.path().join("dsh-audit.toml"), text).expect("written");
    let run = |args: &[&str]| {
        let output = dsh_audit(args)
            .current_dir(folder.path().join("old"))
            .output()
            .expect("built");
        output.status.code()
    };
    assert_eq!(run(&["verify", "session.jsonl"]), Some(0));
    assert_eq!(
        run(&["verify", "--fail-on", "note", "session.jsonl"]),
        Some(1)
    );
    assert_eq!(run(&["verify", "--no-config", "session.jsonl"]), Some(1));
    assert_eq!(
        run(&["verify", "--no-config", "--exit-zero", "session.jsonl"]),
        Some(0)
    );
    assert_eq!(
        run(&[
            "verify",
            "--no-config",
            "--fail-on",
            "never",
            "session.jsonl"
        ]),
        Some(0)
    );
}
