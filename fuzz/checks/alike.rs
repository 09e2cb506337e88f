//! The short way of reading and the general one tell the same.

use dsh_audit::dialect::{Decoder, Detected, SessionHeader, detect};
use dsh_audit::event::{At, Faults, Outcome, Stream};
use dsh_audit::line::{Line, LineEnd, LineNo};
use dsh_audit::log::{Log, Parser, ReadOptions, Retain};
use dsh_audit::record::{Record, Scratch};
use dsh_audit::rules;
use dsh_audit::source::Source;

/// The lines of a log that hold something, without their line feeds.
pub fn lines(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    log.split(|&b| b == b'\n').filter(|line| !line.is_empty())
}

/// A line somewhere in a log.
pub fn line(bytes: &[u8]) -> Line<'_> {
    Line {
        no: LineNo(2),
        start: 1000,
        bytes,
        end: LineEnd::Newline,
    }
}

fn at(line: &Line<'_>) -> At {
    At {
        line: line.no,
        span: line.span(),
        seq: None,
    }
}

/// Hands on what the first line of a log says; None where it begins none.
pub fn with_header<T>(log: &[u8], then: impl FnOnce(&SessionHeader<'_>) -> T) -> Option<T> {
    let mut scratch = Scratch::new();
    let header = line(lines(log).next()?);
    let record = Record::parse(&header, &mut scratch).ok()?;
    match detect(&record, at(&header), &mut Faults::new(10)) {
        Detected::Session(header) => Some(then(&header)),
        _ => None,
    }
}

/// Whether a line is read the short way. Then it must be read as the general way reads it.
pub fn is_fast(header: &SessionHeader<'_>, bytes: &[u8], scratch: &mut Scratch) -> bool {
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
    let mut faults = Faults::new(10);
    match Decoder::new(header).decode(&record, at(&line), &mut faults) {
        Outcome::Event(slow) => assert_eq!(fast, format!("{slow:?}"), "{text}"),
        other => panic!("{other:?}: {text}"),
    }
    assert_eq!(faults.total(), 0, "{text}");
    true
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
    let mut faults = Faults::new(10);
    let outcome = Decoder::new(header).decode(&record, at(line), &mut faults);
    let stream = record.data.and_then(|data| data.get("stream"));
    let pieces: Vec<_> = stream
        .into_iter()
        .flat_map(|raw| Stream { raw }.pieces())
        .collect();
    format!("{record:?}\n{outcome:?}\n{faults:?}\n{pieces:?}")
}

/// A line says the same whether notes are taken of it or not.
pub fn line_agrees(header: &SessionHeader<'_>, bytes: &[u8]) {
    let line = line(bytes);
    let [fast, general] = [Parser::Fast, Parser::General].map(|parser| said(header, &line, parser));
    assert!(fast == general, "{fast}\n{general}");
}

/// Each line of a log, by itself.
pub fn check_lines(log: &[u8]) {
    let mut scratch = Scratch::new();
    with_header(log, |header| {
        for line in lines(log) {
            is_fast(header, line, &mut scratch);
            line_agrees(header, line);
        }
    });
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

/// A log is told of alike.
pub fn agree(log: &[u8], name: &str) {
    let (fast, general) = (told(log, Parser::Fast), told(log, Parser::General));
    if fast != general {
        let (fast, general) = (fast.lines(), general.lines());
        let differing = fast.zip(general).find(|(fast, general)| fast != general);
        panic!("{name}: {differing:#?}\n{}", String::from_utf8_lossy(log));
    }
}
