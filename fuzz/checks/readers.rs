//! What is told of a log does not depend on who reads it, and points into it.

use std::io::{self, Cursor, Read};

use dsh_audit::finding::{Bytes, Finding};
use dsh_audit::line::Seq;
use dsh_audit::log::{Log, ReadOptions, Retain};
use dsh_audit::rules::judge;
use dsh_audit::source::{Encoding, Source, SourceOptions};

use super::alike::agree;

pub fn check(log: &[u8]) {
    agree(log, "the log");
    let whole = Source::from_bytes(log.to_vec());
    if whole.encoding() == Encoding::Raw {
        check_places(log, &tell(log).findings);
    }
    every_reader_tells_the_same(log, 1 + log.len() / 3);
}

/// Yields a few bytes at a time.
pub struct Slowly(Cursor<Vec<u8>>, usize);

impl Slowly {
    pub fn over(bytes: &[u8]) -> Slowly {
        Slowly(Cursor::new(bytes.to_vec()), 0)
    }
}

impl Read for Slowly {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        let len = into.len().min(self.1 * 7 % 61 + 1);
        self.0.read(&mut into[..len])
    }
}

/// The log as frames: the header line alone, the rest cut anywhere. None where frames would add a fault of their own.
pub fn compressed(log: &[u8], every: usize) -> Option<Vec<u8>> {
    let frame = |bytes: &[u8]| ::zstd::encode_all(bytes, 1).expect("memory");
    let header = log.iter().position(|byte| *byte == b'\n')? + 1;
    let (header, rest) = log.split_at(header);
    let mut frames = frame(header);
    for piece in rest.chunks(every) {
        frames.extend(frame(piece));
    }
    log.ends_with(b"\n").then_some(frames)
}

/// A request: its boundary, and what was sent.
pub type Sent = (Seq, Vec<u8>);

/// What is told of a log.
#[derive(Debug, PartialEq)]
pub struct Told {
    pub findings: Vec<Finding>,
    pub requests: Vec<Sent>,
}

pub fn told(source: &Source, options: &ReadOptions) -> Told {
    let log = Log::read(source, options).expect("memory is readable");
    let mut requests = Vec::new();
    if let Some(mut walk) = log
        .requests()
        .filter(|_| options.retain == Retain::Messages)
    {
        while let Some(request) = walk.next_request() {
            let mut sent = Vec::new();
            request.write_options(&mut sent).expect("memory");
            requests.push((request.derived().boundary, sent));
        }
    }
    Told {
        findings: judge(&log),
        requests,
    }
}

pub fn tell(log: &[u8]) -> Told {
    told(&Source::from_bytes(log.to_vec()), &ReadOptions::default())
}

/// All of a finding but the page of its rule.
fn line_of(finding: &Finding) -> String {
    let Finding {
        rule,
        level,
        message,
        at,
        related,
        help,
        ..
    } = finding;
    format!(
        "{} {level:?} {message} {at:?} {related:?} {help:?} {:?}",
        rule.code, finding.certainty
    )
}

/// Fails with the first finding or request that is told of one reader and not of the other.
pub fn same(one: &Told, other: &Told, what: &str) {
    let said = |told: &Told| told.findings.iter().map(line_of).collect::<Vec<_>>();
    let (said, expected) = (said(one), said(other));
    let differing = said.iter().zip(&expected).find(|(one, other)| one != other);
    assert!(differing.is_none(), "{what}: {differing:#?}");
    let more = said.last().max(expected.last());
    assert_eq!(said.len(), expected.len(), "{what}: {more:?}");
    assert!(one.requests == other.requests, "{what}: other requests");
}

/// Without messages, as a stream, and compressed in frames of some bytes.
pub fn every_reader_tells_the_same(log: &[u8], every: usize) {
    let options = ReadOptions::default();
    let whole = Source::from_bytes(log.to_vec());
    let expected = told(&whole, &options);
    let headers = ReadOptions {
        retain: Retain::Headers,
        ..options
    };
    // How much of a message was kept is known in bytes only where there are bytes.
    let without_cache = |Told { mut findings, .. }: Told| {
        findings.retain(|finding| finding.rule.code < 800);
        Told {
            findings,
            requests: Vec::new(),
        }
    };
    let without_messages = without_cache(told(&whole, &headers));
    let with_messages = without_cache(told(&whole, &options));
    same(&without_messages, &with_messages, "without messages");
    let stream = Source::from_reader(Slowly::over(log), &SourceOptions::default());
    let stream = stream.expect("readable");
    same(&told(&stream, &options), &expected, "as a stream");
    if whole.encoding() == Encoding::Raw
        && let Some(frames) = compressed(log, every)
    {
        same(
            &told(&Source::from_bytes(frames), &options),
            &expected,
            "compressed",
        );
    }
}

/// Where each line begins and ends, without its line feed.
fn line_bounds(log: &[u8]) -> Vec<(u64, u64)> {
    let mut at = 0;
    log.split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let bounds = (at, at + text.len() as u64);
            at += line.len() as u64;
            bounds
        })
        .collect()
}

/// Every place lies in its line, every message is one line, every excerpt is short.
pub fn check_places(log: &[u8], findings: &[Finding]) {
    let bounds = line_bounds(log);
    for finding in findings {
        let related = finding.related.iter().map(|related| &related.at);
        for place in std::iter::once(&finding.at).chain(related) {
            let (from, to) = match place.line {
                Some(line) if log.is_empty() => (line.0 - 1, 0),
                Some(line) => bounds[usize::try_from(line.0).expect("small") - 1],
                None => (0, log.len() as u64),
            };
            if let Some(Bytes::Decoded(span)) = place.bytes {
                let inside = from <= span.start && span.start <= span.end && span.end <= to;
                assert!(inside, "{span:?} is not in {from}..{to}: {finding:?}");
            }
            if let Some(excerpt) = &place.excerpt {
                let fits = excerpt.text.get(excerpt.mark.clone()).is_some();
                assert!(fits && excerpt.text.chars().count() <= 160, "{finding:?}");
            }
        }
        let message = &finding.message;
        let is_line = message.chars().count() <= 160 && !message.contains(['\n', '\r']);
        assert!(is_line && !message.is_empty(), "{finding:?}");
    }
}
