//! The mutation sweep: a damaged log is reported, or its requests and events are what they were.
//!
//! Every line of three small healthy logs is deleted, repeated and swapped with the next one, and every byte is changed in three
//! ways. What a log holds only once it cannot prove: those places are listed in [`WITHOUT_EVIDENCE`] and in `testdata/MANIFEST.md`.
//! A full run takes `DSH_AUDIT_SWEEP=full`; otherwise every 17th byte is changed.

#![allow(
    clippy::print_stdout,
    reason = "the run's table is printed with --nocapture"
)]

#[path = "../benches/loggen/mod.rs"]
mod loggen;

use std::collections::{BTreeMap, BTreeSet};

use dsh_audit::dialect::decode_storage_record;
use dsh_audit::log::{Log, ReadOptions};
use dsh_audit::record::{Raw, pointer_at};
use dsh_audit::request::Digests;
use dsh_audit::rules::judge;
use dsh_audit::source::Source;
use loggen::{Habits, Recipe, Shape, write_log};

/// Places whose text stands in a log once: another text there is another log, not a damaged one. Type, then pointer up to array
/// indexes.
const WITHOUT_EVIDENCE: &[(&str, &str)] = &[
    // The session's identity goes into each request, and stands in the header line alone.
    ("session", "/id"),
    // What the user wrote, and what the harness put in the user's place.
    ("user/message", "/data"),
    ("system/message", "/data/message"),
    ("developer/message", "/data/message"),
    // What a tool answered.
    ("tool/result", "/data/message"),
    // A header stands for itself; what was answered proves its route only.
    ("request/header", "/data/header"),
    // The id of an answer is not in its stream.
    ("assistant/message", "/data/message/id"),
];

/// The chosen changes of a byte: its neighbour, a distant one, a digit.
const CHANGES: [fn(u8) -> u8; 3] = [|byte| byte ^ 1, |byte| byte ^ 0x10, |_| b'0'];

/// What a log says, as far as a mutation may not change it silently.
#[derive(PartialEq, Eq)]
struct Told {
    findings: BTreeSet<String>,
    requests: Vec<String>,
}

fn told(bytes: &[u8]) -> Told {
    let source = Source::from_bytes(bytes.to_vec());
    let log = Log::read(&source, &ReadOptions::default()).expect("memory can be read");
    let findings = judge(&log);
    let findings = findings
        .iter()
        .map(|finding| format!("{} {}", finding.rule.code, finding.message))
        .collect();
    let mut requests = Vec::new();
    if let Some(mut walk) = log.requests() {
        let mut digests = Digests::default();
        while let Some(request) = walk.next_request() {
            requests.push(digests.next(&request).expect("hashing does not fail"));
        }
    }
    Told { findings, requests }
}

/// The events of a log, each as the harness prints it.
fn events(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .flat_map(|line| decode_storage_record(line).unwrap_or_else(|_| vec![line.to_vec()]))
        .collect()
}

fn healthy(shape: Shape) -> Vec<u8> {
    let habits = Habits {
        unicode: false,
        ..Habits::default()
    };
    let recipe = Recipe {
        shape,
        steps: Some(4),
        step_size: Some(900),
        cadence: 2,
        habits,
        ..Recipe::default()
    };
    let mut bytes = Vec::new();
    write_log(&recipe, &mut bytes).expect("memory takes every byte");
    bytes
}

/// A place in a log: the type of its event, and the pointer with array indexes left out.
fn place(bytes: &[u8], at: usize) -> (String, String) {
    let start = bytes[..at]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let end = bytes[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |len| at + len);
    let Ok(value) = Raw::parse(&bytes[start..end]) else {
        return (String::new(), String::new());
    };
    let kind = value
        .get("type")
        .and_then(Raw::text)
        .map(|text| text.to_lossy().into_owned());
    let pointer = pointer_at(value, (at - start) as u64);
    let names = pointer
        .split('/')
        .filter(|part| part.parse::<u64>().is_err());
    (
        kind.unwrap_or_default(),
        names.collect::<Vec<_>>().join("/"),
    )
}

/// What nobody noticed, by place.
#[derive(Default)]
struct Silent {
    tried: u64,
    requests: BTreeMap<(String, String), u64>,
    events: BTreeMap<(String, String), u64>,
}

impl Silent {
    fn try_one(&mut self, healthy: (&[u8], &Told, &[Vec<u8>]), mutated: &[u8], at: usize) {
        let (bytes, before, events_before) = healthy;
        self.tried += 1;
        let after = told(mutated);
        if after.findings != before.findings {
            return;
        }
        let place = || place(bytes, at.min(bytes.len() - 1));
        if after.requests != before.requests {
            *self.requests.entry(place()).or_default() += 1;
        } else if events(mutated) != events_before {
            *self.events.entry(place()).or_default() += 1;
        }
    }
}

fn sweep(shape: Shape) -> Silent {
    let bytes = healthy(shape);
    let (before, events_before) = (told(&bytes), events(&bytes));
    let healthy = (&bytes[..], &before, &events_before[..]);
    let mut silent = Silent::default();
    let ends: Vec<usize> = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    let lines: Vec<(usize, usize)> = std::iter::once(0)
        .chain(ends.iter().copied())
        .zip(ends.iter().copied())
        .collect();
    for (at, &(start, end)) in lines.iter().enumerate() {
        silent.try_one(healthy, &[&bytes[..start], &bytes[end..]].concat(), start);
        silent.try_one(
            healthy,
            &[&bytes[..end], &bytes[start..end], &bytes[end..]].concat(),
            start,
        );
        if let Some(&(_, next)) = lines.get(at + 1) {
            silent.try_one(
                healthy,
                &[
                    &bytes[..start],
                    &bytes[end..next],
                    &bytes[start..end],
                    &bytes[next..],
                ]
                .concat(),
                start,
            );
        }
    }
    let step = if std::env::var("DSH_AUDIT_SWEEP").is_ok_and(|run| run == "full") {
        1
    } else {
        17
    };
    for at in (0..bytes.len()).step_by(step) {
        for change in CHANGES {
            let mut mutated = bytes.clone();
            mutated[at] = change(mutated[at]);
            if mutated != bytes {
                silent.try_one(healthy, &mutated, at);
            }
        }
    }
    silent
}

fn check(shape: Shape) {
    let silent = sweep(shape);
    let report = |title: &str, places: &BTreeMap<(String, String), u64>| {
        for ((kind, pointer), count) in places {
            println!("{title}: {kind} {pointer}: {count}");
        }
    };
    println!("{} mutations", silent.tried);
    report("requests changed", &silent.requests);
    report("events changed", &silent.events);
    let proven = silent.requests.keys().filter(|(kind, pointer)| {
        !WITHOUT_EVIDENCE
            .iter()
            .any(|(known, prefix)| kind == known && pointer.starts_with(prefix))
    });
    let proven: Vec<_> = proven.collect();
    assert!(proven.is_empty(), "requests change unnoticed at {proven:?}");
}

#[test]
fn a_damaged_raw_log_is_reported() {
    check(Shape::Released);
}

#[test]
fn a_damaged_packed_log_is_reported() {
    check(Shape::Packed);
}

#[test]
fn a_damaged_version_4_log_is_reported() {
    check(Shape::V4);
}
