//! What the fuzzer holds of any bytes holds of the logs of `testdata`, and of all bytes that it once found.

#[path = "../fuzz/checks/mod.rs"]
mod checks;
#[allow(dead_code, reason = "not every test uses all that tests share")]
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use checks::{CHECKS, Check, Takes};
use common::{files_below, root};

fn testdata() -> PathBuf {
    root().join("testdata")
}

/// What was found for a target, if anything ever was.
fn found(name: &str) -> Vec<PathBuf> {
    let directory = testdata().join("bytes").join(name);
    match directory.is_dir() {
        true => files_below(&directory),
        false => Vec::new(),
    }
}

fn holds(name: &str) {
    let Check { takes, run, .. } = CHECKS.iter().find(|check| check.name == name).expect(name);
    holds_on_logs(|_, log| match takes {
        Takes::Line => log.split(|&byte| byte == b'\n').for_each(run),
        Takes::Log => run(log),
    });
    holds_on_what_was_found(name, *run);
}

fn holds_on_logs(holds: impl Fn(&Path, &[u8])) {
    let logs = files_below(&testdata());
    let logs = logs
        .iter()
        .filter(|path| path.to_string_lossy().contains(".jsonl"));
    let mut tried = 0;
    for path in logs {
        holds(path, &fs::read(path).expect("readable"));
        tried += 1;
    }
    assert!(tried > 20, "{tried} logs are too few");
}

fn holds_on_what_was_found(name: &str, run: fn(&[u8])) {
    for path in found(name) {
        let bytes = fs::read(&path).expect("readable");
        let result = std::panic::catch_unwind(|| run(&bytes));
        assert!(result.is_ok(), "{} breaks {name}", path.display());
    }
}

#[test]
fn lines_tile_their_log() {
    holds("line");
}

#[test]
fn texts_are_json_to_us_where_they_are_to_another_reader() {
    holds("json");
}

#[test]
fn lines_are_read_alike_both_ways() {
    holds("record");
}

#[test]
fn rows_unpack_to_events() {
    holds("row");
}

#[test]
fn frames_decode_as_another_decoder_does() {
    holds("zstd");
}

#[test]
fn every_reader_tells_the_same_of_a_log() {
    holds("log");
}

#[cfg(feature = "cli")]
#[test]
fn every_command_keeps_to_its_format() {
    use checks::commands;
    // All commands on sound logs, and one on each of the others.
    let sound = testdata().join("logs");
    holds_on_logs(|path, log| match path.starts_with(&sound) {
        true => commands::check(log),
        false => commands::check_one(log),
    });
    holds_on_what_was_found("commands", commands::check);
}

#[test]
fn what_was_found_belongs_to_a_target() {
    for path in files_below(&testdata().join("bytes")) {
        let target = path.parent().and_then(Path::file_name);
        let is_known = CHECKS
            .iter()
            .any(|check| target.is_some_and(|name| name == check.name));
        assert!(is_known, "{} belongs to no target", path.display());
    }
}
