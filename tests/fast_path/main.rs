//! The short way for common lines tells what the long way tells: on sound logs, on damaged ones, and on lines damaged at random.
//!
//! `DSH_MUTATIONS` says how many lines are damaged; the seed is fixed.

#[path = "../../benches/loggen/mod.rs"]
mod loggen;
mod mutate;

use std::fs;
use std::path::{Path, PathBuf};

use dsh_audit::dialect::{Decoder, Detected, SessionHeader, detect};
use dsh_audit::event::{At, Faults, Outcome, Stream};
use dsh_audit::line::{Line, LineEnd, LineNo};
use dsh_audit::log::{Log, Parser, ReadOptions, Retain};
use dsh_audit::record::{Record, Scratch};
use dsh_audit::rules;
use dsh_audit::source::Source;

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
    std::env::var("DSH_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(30_000)
}

fn lines(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    log.split(|&b| b == b'\n').filter(|line| !line.is_empty())
}

fn line(bytes: &[u8]) -> Line<'_> {
    Line {
        no: LineNo(2),
        start: 1000,
        bytes,
        end: LineEnd::Newline,
    }
}

fn with_header<T>(log: &[u8], then: impl FnOnce(&SessionHeader<'_>) -> T) -> T {
    let mut scratch = Scratch::new();
    let header = line(lines(log).next().expect("a log has lines"));
    let record = Record::parse(&header, &mut scratch).expect("a header is a record");
    let at = At {
        line: header.no,
        span: header.span(),
        seq: None,
    };
    match detect(&record, at, &mut Faults::new(10)) {
        Detected::Session(header) => then(&header),
        _ => panic!("no session log"),
    }
}

/// Whether a line is read the short way; that it is then read as the long way reads it.
fn is_fast(header: &SessionHeader<'_>, bytes: &[u8], scratch: &mut Scratch) -> bool {
    let line = line(bytes);
    let Some(fast) = Decoder::new(header).decode_fast(&line, |event| format!("{event:?}")) else {
        return false;
    };
    let text = String::from_utf8_lossy(bytes);
    let record =
        Record::parse(&line, scratch).unwrap_or_else(|defect| panic!("{defect:?}: {text}"));
    assert!(
        record.traits.canonical && record.traits.lone_surrogate.is_none(),
        "{text}"
    );
    let at = At {
        line: line.no,
        span: line.span(),
        seq: None,
    };
    let mut faults = Faults::new(10);
    match Decoder::new(header).decode(&record, at, &mut faults) {
        Outcome::Event(slow) => assert_eq!(fast, format!("{slow:?}"), "{text}"),
        other => panic!("{other:?}: {text}"),
    }
    assert_eq!(faults.total(), 0, "{text}");
    true
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
        });
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
        });
    }
    assert!(
        fast * 20 > tried,
        "{fast} of {tried} damaged lines are sound enough to say anything"
    );
}

/// What a line says, and what is wrong with it, as text; the stream of a response record by record.
fn said(header: &SessionHeader<'_>, line: &Line<'_>, parser: Parser) -> String {
    let mut scratch = Scratch::new();
    let record = match parser {
        Parser::Fast => Record::parse_noting(line, &mut scratch),
        Parser::General => Record::parse(line, &mut scratch),
    };
    let record = match record {
        Ok(record) => record,
        Err(defect) => return format!("{defect:?}"),
    };
    let at = At {
        line: line.no,
        span: line.span(),
        seq: None,
    };
    let mut faults = Faults::new(10);
    let outcome = Decoder::new(header).decode(&record, at, &mut faults);
    let stream = record.data.and_then(|data| data.get("stream"));
    let pieces: Vec<_> = stream
        .into_iter()
        .flat_map(|raw| Stream { raw }.pieces())
        .collect();
    format!("{record:?}\n{outcome:?}\n{faults:?}\n{pieces:?}")
}

#[test]
fn damaged_records_are_read_alike() {
    let mut dice = Dice::new(5);
    let shapes = Shape::NAMES;
    for (round, (name, shape)) in (0..).zip(shapes) {
        let log = generated(shape, 31 + round, 12);
        with_header(&log, |header| {
            let sound: Vec<&[u8]> = lines(&log).filter(|line| line.len() < 20_000).collect();
            for _ in 0..mutations() / shapes.len() / 4 {
                let mut bytes = sound[dice.below(sound.len())].to_vec();
                for _ in 0..dice.below(3) {
                    mutate(&mut bytes, &mut dice);
                }
                let line = line(&bytes);
                let [fast, general] =
                    [Parser::Fast, Parser::General].map(|parser| said(header, &line, parser));
                assert!(fast == general, "{name}: {fast}\n{general}");
            }
        });
    }
}

/// Everything that is known of a log, as text.
fn told(log: &[u8], parser: Parser) -> String {
    let source = Source::from_bytes(log.to_vec());
    let options = ReadOptions {
        parser,
        retain: Retain::Messages,
        ..ReadOptions::default()
    };
    let log = Log::read(&source, &options).expect("memory is readable");
    let mut requests = Vec::new();
    if let Some(mut walk) = log.requests() {
        while let Some(request) = walk.next_request() {
            request
                .write_options(&mut requests)
                .expect("memory takes every byte");
            requests.push(b'\n');
        }
    }
    let (standing, tail, last) = (&log.standing, &log.tail, &log.last);
    format!(
        "{standing:?}\n{:?}\n{:?}\n{:?}\n{tail:?}\n{last:?}\n{:?}\n{}",
        log.session,
        log.settlement,
        log.faults,
        rules::judge(&log),
        String::from_utf8_lossy(&requests),
    )
}

fn agree(log: &[u8], name: &str) {
    let (fast, general) = (told(log, Parser::Fast), told(log, Parser::General));
    if fast != general {
        let (fast, general) = (fast.lines(), general.lines());
        let differing = fast.zip(general).find(|(fast, general)| fast != general);
        panic!("{name}: {differing:#?}\n{}", String::from_utf8_lossy(log));
    }
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        for child in fs::read_dir(&directory).into_iter().flatten() {
            let path = child.expect("a readable directory").path();
            if path.is_dir() {
                left.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn logs_are_read_alike() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = files_below(&root.join("testdata"));
    files.extend(files_below(&root.join("../shared/corpus")));
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
