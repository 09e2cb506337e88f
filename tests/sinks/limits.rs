//! What a run may take is limited: files, address space, room for temporary files. What was not read is said.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::common::root;
use super::{place, session};

/// Runs the program under a limit of the shell.
fn under(limit: &str, args: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_dsh-audit"))
        .args(args)
        .current_dir(root())
        .output()
        .expect("every system has a shell")
}

#[test]
fn few_files_may_be_open() {
    let folder = tempfile::tempdir().expect("a directory");
    let log = include_str!("../../testdata/logs/torn/session.jsonl");
    for number in 0..200 {
        let below = folder.path().join(number.to_string());
        place(&below, "session.jsonl", log);
    }
    let path = folder.path().to_string_lossy().into_owned();
    for (jobs, all) in [("1", true), ("2", true), ("10000", false)] {
        let args = [
            "verify",
            "--no-config",
            "--format=json",
            "--jobs",
            jobs,
            &path,
        ];
        let output = under("ulimit -n 16", &args);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let files = report["files"].as_array().expect("files");
        assert_eq!(files.len(), 200, "each has a result");
        let read = files
            .iter()
            .filter(|file| file["verdict"] == "findings")
            .count();
        let why = |file: &&Value| {
            file["error"]
                .as_str()
                .is_some_and(|why| why.contains("open files"))
        };
        let refused = files.iter().filter(why).count();
        assert_eq!(read + refused, 200, "--jobs {jobs}");
        assert!(read == 200 || !all, "--jobs {jobs}");
        let expected = if read == 200 { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(expected), "--jobs {jobs}");
    }
}

/// A file of 1 GiB that takes no room: a log with one line that does not end. It was written long ago.
fn endless_line(path: &Path) {
    let mut file = File::create(path).expect("created");
    let log = include_str!("../../testdata/logs/fork-parent/session.jsonl");
    file.write_all(log.as_bytes()).expect("written");
    file.set_len(1 << 30).expect("sparse");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    file.set_modified(long_ago).expect("set");
}

#[test]
#[cfg(target_os = "linux")]
fn address_space_may_be_small() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("session.jsonl");
    endless_line(&path);
    let path = path.to_string_lossy().into_owned();
    for (flags, code, said) in [
        (&["--mmap=always"][..], 2, "cannot map the file into memory"),
        (&[], 2, "no memory for a line of "),
        (
            &["--max-line=1MiB"],
            1,
            "more than the limit: it was not checked",
        ),
    ] {
        let args = [&["verify", "--no-config", "--jobs=1"], flags, &[&path]].concat();
        let output = under("ulimit -v 300000", &args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{flags:?} {text} {stderr}"
        );
        assert!(text.contains(said), "{flags:?} {text}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn temporary_files_may_have_no_room() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("session.jsonl");
    let mut log = session::Log::new(0);
    log.begin();
    // More than is kept in memory.
    let text = "abcdefgh".repeat(125_000);
    for _ in 0..80 {
        let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
        log.user(&block, r#""surfaceOp":"append""#);
    }
    fs::write(&path, log.text()).expect("written");
    let path = path.to_string_lossy().into_owned();
    for args in [
        &["reconstruct", "--digest"][..],
        &["cache-report"],
        &["diff-headers"],
    ] {
        let args = [args, &["--no-config", "--no-mmap", &path]].concat();
        let output = under("trap '' XFSZ; ulimit -f 8", &args);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?} {said}");
        assert!(said.contains("no room for what must be kept"), "{said}");
    }
}
