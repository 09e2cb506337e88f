//! The short way for common lines tells what the long way tells: on sound logs, on damaged ones, and on lines damaged at random.
//!
//! `DSH_AUDIT_MUTATIONS` says how many lines are damaged; the seed is fixed.

#[path = "../../fuzz/checks/mod.rs"]
mod checks;
#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "not every test uses all that tests share")]
mod common;
#[path = "../../benches/loggen/mod.rs"]
mod loggen;
mod mutate;

use std::fs;

use dsh_audit::record::Scratch;

use checks::alike::{agree, is_fast, line_agrees, lines, with_header};
use common::{files_below, root};
use loggen::{Habits, Recipe, Shape, write_log};
use mutate::{Dice, mutate};

/// A log in which much happens in little room.
fn generated(shape: Shape, seed: u64, steps: u64) -> Vec<u8> {
    let recipe = Recipe {
        shape,
        seed,
        steps: Some(steps),
        step_size: Some(5_000),
        cadence: 3,
        habits: Habits::default(),
        ..Recipe::default()
    };
    let mut log = Vec::new();
    write_log(&recipe, &mut log).expect("memory takes every byte");
    log
}

fn mutations() -> usize {
    std::env::var("DSH_AUDIT_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(30_000)
}

#[test]
fn lines_are_read_alike() {
    for shape in [Shape::Seed, Shape::Released, Shape::Packed, Shape::Late] {
        let log = generated(shape, 3, 30);
        let mut scratch = Scratch::new();
        with_header(&log, |header| {
            let mut fast = 0;
            let mut deltas = 0;
            for line in lines(&log) {
                fast += usize::from(is_fast(header, line, &mut scratch));
                let text = String::from_utf8_lossy(line);
                let is_row =
                    text.starts_with("{\"type\":\"") && text.contains("-chunks\",\"seq0\"");
                deltas += usize::from(is_row || text.contains("-delta\",\"index\""));
            }
            assert_eq!(fast, deltas, "{shape:?}");
            assert!(deltas > 40, "{shape:?}");
        })
        .expect("a log begins with a header");
    }
}

#[test]
fn damaged_lines_are_read_alike() {
    let mut dice = Dice::new(7);
    let (mut fast, mut tried) = (0, 0);
    let shapes = [Shape::Seed, Shape::Released, Shape::Packed, Shape::Late];
    for (round, shape) in (0..).zip(shapes) {
        let log = generated(shape, 11 + round, 20);
        let mut scratch = Scratch::new();
        with_header(&log, |header| {
            let sound: Vec<&[u8]> = lines(&log)
                .filter(|line| line.len() < 2_000 && is_fast(header, line, &mut scratch))
                .collect();
            for _ in 0..mutations() / shapes.len() {
                let mut bytes = sound[dice.below(sound.len())].to_vec();
                for _ in 0..1 + dice.below(2) {
                    mutate(&mut bytes, &mut dice);
                }
                fast += usize::from(is_fast(header, &bytes, &mut scratch));
                tried += 1;
            }
        })
        .expect("a log begins with a header");
    }
    assert!(
        fast * 20 > tried,
        "{fast} of {tried} damaged lines are sound enough to say anything"
    );
}

#[test]
fn damaged_records_are_read_alike() {
    let mut dice = Dice::new(5);
    let shapes = Shape::NAMES;
    for (round, (_, shape)) in (0..).zip(shapes) {
        let log = generated(shape, 31 + round, 12);
        with_header(&log, |header| {
            let sound: Vec<&[u8]> = lines(&log).filter(|line| line.len() < 20_000).collect();
            for _ in 0..mutations() / shapes.len() / 4 {
                let mut bytes = sound[dice.below(sound.len())].to_vec();
                for _ in 0..dice.below(3) {
                    mutate(&mut bytes, &mut dice);
                }
                line_agrees(header, &bytes);
            }
        })
        .expect("a log begins with a header");
    }
}

#[test]
fn logs_are_read_alike() {
    let mut files = files_below(&root().join("testdata"));
    let corpus = root().join("../shared/corpus");
    if corpus.is_dir() {
        files.extend(files_below(&corpus));
    }
    files.retain(|path| path.to_string_lossy().contains(".jsonl"));
    assert!(files.len() > 100);
    for path in files {
        let log = fs::read(&path).expect("readable");
        agree(&log, &path.to_string_lossy());
    }
}

#[test]
fn damaged_logs_are_read_alike() {
    let mut dice = Dice::new(23);
    for (name, shape) in Shape::NAMES {
        let log = generated(shape, 5, 4);
        agree(&log, name);
        let sound: Vec<&[u8]> = lines(&log).collect();
        for round in 0..mutations() / 300 {
            let first = dice.below(sound.len());
            let hit = first..first + 1 + dice.below(3);
            let mut damaged = Vec::new();
            for (at, line) in sound.iter().enumerate() {
                let mut line = line.to_vec();
                if hit.contains(&at) {
                    mutate(&mut line, &mut dice);
                }
                damaged.extend_from_slice(&line);
                damaged.push(b'\n');
            }
            agree(&damaged, &format!("{name}, round {round}"));
        }
    }
}
