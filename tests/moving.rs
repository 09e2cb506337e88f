//! Logs that change while they are read: the verdict is that of one moment, or says that the file moved.
//!
//! Each test runs a writer beside the program, for `DSH_AUDIT_MOVING` audits (few by default; thousands make a minute).
#![allow(dead_code, reason = "not every test uses all that tests share")]
#![allow(
    clippy::print_stdout,
    reason = "what a run saw is printed with --nocapture"
)]

mod common;
#[path = "../benches/loggen/mod.rs"]
mod loggen;

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

use common::run;
use loggen::{Encoding, Recipe, Shape, write_log};
use serde_json::Value;

/// How a compressed frame begins.
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// A healthy log.
fn healthy(shape: Shape, encoding: Encoding, seed: u64) -> Vec<u8> {
    let recipe = Recipe {
        shape,
        encoding,
        seed,
        bytes: Some(600_000),
        ..Recipe::default()
    };
    let mut log = Vec::new();
    write_log(&recipe, &mut log).expect("memory takes every byte");
    log
}

/// The logs a writer is tried with, each with a name.
fn logs() -> [(&'static str, Vec<u8>); 3] {
    [
        ("raw.jsonl", healthy(Shape::Released, Encoding::Raw, 1)),
        ("v4.jsonl", healthy(Shape::V4, Encoding::Raw, 2)),
        ("packed.zstd", healthy(Shape::Packed, Encoding::Zstd, 3)),
    ]
}

/// What became of the audits beside one writer.
#[derive(Debug, Default)]
struct Seen {
    sound: u64,
    torn: u64,
    moved: u64,
}

fn audits() -> u64 {
    let wanted = std::env::var("DSH_AUDIT_MOVING").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(6)
}

/// Audits `path` again and again beside `writer`, which hears of each audit before it begins, and hears no more when all are done.
fn beside(path: &Path, mmap: &str, writer: impl FnOnce(Receiver<()>) + Send) -> Seen {
    let (say, hear) = mpsc::channel();
    let mut seen = Seen::default();
    thread::scope(|scope| {
        scope.spawn(|| writer(hear));
        for _ in 0..audits() {
            // A writer that is done hears nothing.
            let _ = say.send(());
            audit(path, mmap, &mut seen);
        }
        drop(say);
    });
    println!("{} {mmap}: {seen:?}", path.display());
    seen
}

/// Whether the audits go on.
fn goes_on(hear: &Receiver<()>) -> bool {
    !matches!(hear.try_recv(), Err(TryRecvError::Disconnected))
}

/// One audit: nothing worse than a torn end, or the word that the file moved.
fn audit(path: &Path, mmap: &str, seen: &mut Seen) {
    let path = path.to_string_lossy();
    let output = run(&["verify", "--no-config", mmap, "--format=json", &path]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{output:?}"));
    let file = &told["files"][0];
    let grave = |finding: &&Value| finding["level"] == "error";
    let findings = file["findings"].as_array().cloned().unwrap_or_default();
    match output.status.code() {
        Some(0) if findings.iter().any(|finding| finding["level"] == "warning") => seen.torn += 1,
        Some(0) => seen.sound += 1,
        Some(2) => {
            let error = file["error"].as_str().unwrap_or_default();
            assert!(error.contains("moved while read"), "{error}");
            seen.moved += 1;
        }
        code => panic!(
            "{mmap} {path}: {code:?} {:#?}",
            findings.iter().find(grave).unwrap_or(file)
        ),
    }
}

/// Where the first line or frame ends: what a writer makes in one go.
fn header_len(log: &[u8]) -> usize {
    let text_end = log
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    if log.starts_with(&MAGIC) {
        // Of a frame the second one's magic tells.
        let next = log.windows(4).skip(4).position(|four| four == MAGIC);
        next.map_or(0, |at| at + 4)
    } else {
        text_end
    }
}

#[test]
fn a_log_that_grows_is_sound_or_torn() {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, log) in logs() {
        let path = folder.path().join(name);
        let (header, body) = log.split_at(header_len(&log));
        for mmap in ["--mmap=never", "--mmap=auto", "--mmap=always"] {
            fs::write(&path, header).expect("written");
            let seen = beside(&path, mmap, |hear| {
                let mut file = OpenOptions::new().append(true).open(&path).expect("opened");
                // As much at each audit as makes the log whole at the last, a little at a time.
                let share = body.len() / audits() as usize + 1;
                for (piece, ()) in body.chunks(share).zip(hear) {
                    for piece in piece.chunks(97) {
                        file.write_all(piece).expect("written");
                    }
                }
            });
            assert_eq!(
                seen.moved, 0,
                "growing is no moving: {name} {mmap} {seen:?}"
            );
        }
    }
}

#[test]
fn a_log_that_is_rolled_back_is_never_called_corrupt() {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, log) in logs() {
        let path = folder.path().join(name);
        let header = header_len(&log);
        for mmap in ["--mmap=never", "--mmap=auto"] {
            fs::write(&path, &log[..header]).expect("written");
            beside(&path, mmap, |hear| {
                let mut file = OpenOptions::new().write(true).open(&path).expect("opened");
                let mut at = header as u64;
                while goes_on(&hear) {
                    at = append_or_roll_back(&mut file, &log, at, header);
                }
            });
        }
    }
}

/// Appends a batch that fails half-way, cuts it off, and appends another one, as the harness does; from the start when done.
fn append_or_roll_back(file: &mut File, log: &[u8], at: u64, header: usize) -> u64 {
    let rest = log.get(at as usize..).unwrap_or_default();
    if rest.is_empty() {
        file.set_len(header as u64).expect("cut");
        return header as u64;
    }
    let good = next_batch(log, at as usize);
    let failing = failing_batch(&rest[..good]);
    file.seek(SeekFrom::Start(at)).expect("sought");
    file.write_all(&failing).expect("written");
    file.set_len(at).expect("cut");
    file.seek(SeekFrom::Start(at)).expect("sought");
    file.write_all(&rest[..good]).expect("written");
    at + good as u64
}

/// A batch that stands in the place of another one and is cut short: other events from the same number on, of other lengths.
fn failing_batch(good: &[u8]) -> Vec<u8> {
    let is_compressed = good.starts_with(&MAGIC);
    let text = if is_compressed {
        zstd::decode_all(good).expect("a frame")
    } else {
        good.to_vec()
    };
    let line = text.split(|byte| *byte == b'\n').next().expect("a line");
    let line: Value = serde_json::from_slice(line).expect("JSON");
    let first = line.get("seq").or(line.get("seq0")).and_then(Value::as_u64);
    let first = first.expect("a number");
    let other = |seq: u64| {
        let data = "x".repeat((seq % 17) as usize * 30);
        let data = format!(r#"{{"text":"{data}"}}"#);
        format!(r#"{{"type":"x/y","seq":{seq},"time":1,"data":{data},"ignorable":true}}"#) + "\n"
    };
    let batch: String = (first..first + 200).map(other).collect();
    let mut batch = if is_compressed {
        zstd::encode_all(batch.as_bytes(), 3).expect("memory")
    } else {
        batch.into_bytes()
    };
    batch.truncate(batch.len() - 1 - good.len() % (batch.len() / 2));
    batch
}

/// How long the next whole lines are, a few kilobytes of them; of a compressed log, all that is left.
fn next_batch(log: &[u8], at: usize) -> usize {
    let rest = &log[at..];
    if log.starts_with(&MAGIC) {
        let next = rest.windows(4).skip(4).position(|four| four == MAGIC);
        return next.map_or(rest.len(), |at| at + 4);
    }
    let near = &rest[..rest.len().min(8_000)];
    match near.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => end + 1,
        None => rest
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(rest.len(), |end| end + 1),
    }
}

#[test]
fn a_log_that_is_replaced_is_one_or_the_other() {
    let folder = tempfile::tempdir().expect("a directory");
    let logs = logs();
    let path = folder.path().join("session.jsonl");
    for mmap in ["--mmap=never", "--mmap=auto", "--mmap=always"] {
        fs::write(&path, &logs[0].1).expect("written");
        beside(&path, mmap, |hear| {
            // Once at each audit: more would leave it no moment.
            for ((_, log), ()) in logs.iter().cycle().zip(hear) {
                let other = folder.path().join("other");
                fs::write(&other, log).expect("written");
                fs::rename(&other, &path).expect("replaced");
            }
        });
    }
}

#[test]
fn a_log_that_is_written_over_crashes_nothing() {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, log) in logs() {
        let path = folder.path().join(name);
        fs::write(&path, &log).expect("written");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut file = OpenOptions::new().write(true).open(&path).expect("opened");
                let mut at = 1_u64;
                while !is_over.load(Ordering::Relaxed) {
                    at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let place = (at >> 20) % log.len() as u64;
                    let byte = [(at >> 50) as u8];
                    file.seek(SeekFrom::Start(place)).expect("sought");
                    file.write_all(&byte).expect("written");
                }
            });
            for _ in 0..audits() {
                for mmap in ["--mmap=never", "--mmap=always"] {
                    for command in ["verify", "reconstruct"] {
                        let output = run(&[command, mmap, &path.to_string_lossy()]);
                        let code = output.status.code();
                        let said = String::from_utf8_lossy(&output.stderr);
                        assert!(matches!(code, Some(0..=3)), "{code:?} {said}");
                    }
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }
}
