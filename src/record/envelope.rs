//! One line as a record: the members of its envelope as they stand, and what is odd about its text.
//!
//! **Takes** lines. **Gives** [`Record`]s, or why a line is none.
//! **Never** judges types or values of members; that is the dialect's.

use std::ops::Range;

use crate::line::{Line, LineNo, Span};

use super::fast::Scan;
use super::fast_chunk::Edge;
use super::jumps::{Jumps, LONG};
use super::keys::{Keys, text_of};
use super::raw::{Kind, Raw};
use super::scan::{is_blank, slice};
use super::second::second_record;
use super::validate::{Facts, Key, Sink, validate};

/// Memory that is used again from line to line.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) keys: Keys,
    pub(super) jumps: Jumps,
}

impl Scratch {
    /// Empty memory.
    pub fn new() -> Scratch {
        Scratch::default()
    }
}

/// What is odd about the text of a line. Spans count in the decoded log; each is the first of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Whether the whole line, without its line feed, is exactly what the engine prints for it. Not so with a carriage return.
    pub canonical: bool,
    /// Invalid UTF-8 inside a string: one maximal subpart.
    pub not_utf8: Option<Span>,
    /// A key, with quotes, that stands before in the same object.
    pub duplicate_key: Option<Span>,
    /// A number beyond a double's range.
    pub huge_number: Option<Span>,
    /// The escape of half a surrogate pair.
    pub lone_surrogate: Option<Span>,
}

/// Why a line is no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordDefect {
    /// It is no JSON text.
    NotJson {
        /// Offset, in the decoded log, of the first byte that breaks the grammar; of the line's end when it ends too early.
        at: u64,
        /// Offset of a second record that starts inside the line.
        second_record: Option<u64>,
    },
    /// It is another value than an object.
    NotAnObject {
        /// What it is.
        kind: Kind,
    },
    /// It is empty, or nothing but whitespace.
    Blank,
}

/// One line's envelope. Of a repeated member the last one, as in the engine.
#[derive(Clone, Copy, Debug)]
pub struct Record<'line> {
    /// The line.
    pub line: LineNo,
    /// The line's bytes, without the line feed.
    pub span: Span,
    /// The whole object.
    pub value: Raw<'line>,
    /// Member `type`.
    pub kind: Option<Raw<'line>>,
    /// Member `seq`.
    pub seq: Option<Raw<'line>>,
    /// Member `time`.
    pub time: Option<Raw<'line>>,
    /// Member `seq0`, of a packed row.
    pub seq0: Option<Raw<'line>>,
    /// Member `time0`, of a packed row.
    pub time0: Option<Raw<'line>>,
    /// Member `data`.
    pub data: Option<Raw<'line>>,
    /// Member `sourceEventSeqs`.
    pub source_event_seqs: Option<Raw<'line>>,
    /// Member `surfaceOp`.
    pub surface_op: Option<Raw<'line>>,
    /// Member `ignorable`.
    pub ignorable: Option<Raw<'line>>,
    /// The key, with quotes, of the first member that is none of these.
    pub extra: Option<Raw<'line>>,
    /// What is odd about the text.
    pub traits: Traits,
}

impl<'line> Record<'line> {
    /// Reads a line in one pass.
    ///
    /// # Errors
    ///
    /// When the line is no JSON object.
    pub fn parse(line: &Line<'line>, scratch: &mut Scratch) -> Result<Self, RecordDefect> {
        Record::read::<false>(line, scratch)
    }

    fn read<const NOTING: bool>(
        line: &Line<'line>,
        scratch: &mut Scratch,
    ) -> Result<Self, RecordDefect> {
        let mut record = Record::empty(line);
        scratch.jumps.clear(line.start);
        let mut envelope = Envelope::<NOTING> {
            line,
            record: &mut record,
            jumps: &mut scratch.jumps,
        };
        let facts = match validate(line.bytes, &mut scratch.keys, &mut envelope) {
            Ok(facts) => facts,
            Err(at) => return Err(defect(line, at, scratch)),
        };
        let value = envelope.part(facts.value.clone(), facts.canonical);
        if value.kind() != Kind::Object {
            return Err(RecordDefect::NotAnObject { kind: value.kind() });
        }
        record.value = value;
        record.traits = traits(line, &facts);
        Ok(record)
    }

    /// The same, with the ends of long values noted: walks over the record's values do not look into what they pass over.
    ///
    /// # Errors
    ///
    /// When the line is no JSON object.
    pub fn parse_noting(
        line: &Line<'line>,
        scratch: &'line mut Scratch,
    ) -> Result<Self, RecordDefect> {
        let record = Record::read::<true>(line, scratch)?;
        let jumps = &scratch.jumps;
        let noting = |part: Option<Raw<'line>>| part.map(|part| part.with_jumps(jumps));
        Ok(Record {
            value: record.value.with_jumps(jumps),
            data: noting(record.data),
            source_event_seqs: noting(record.source_event_seqs),
            surface_op: noting(record.surface_op),
            ..record
        })
    }

    /// The record of a line that was not read yet.
    fn empty(line: &Line<'line>) -> Record<'line> {
        Record {
            line: line.no,
            span: line.span(),
            value: Raw::new(line.bytes, line.start, false),
            kind: None,
            seq: None,
            time: None,
            seq0: None,
            time0: None,
            data: None,
            source_event_seqs: None,
            surface_op: None,
            ignorable: None,
            extra: None,
            traits: Traits::default(),
        }
    }
}

/// What a line is whose grammar breaks at `at`.
#[cold]
fn defect(line: &Line<'_>, at: usize, scratch: &mut Scratch) -> RecordDefect {
    if line.bytes.iter().all(|&b| is_blank(b)) {
        return RecordDefect::Blank;
    }
    let second = second_record(line.bytes, at, &mut scratch.keys);
    RecordDefect::NotJson {
        at: line.start + at as u64,
        second_record: second.map(|at| line.start + at as u64),
    }
}

fn traits(line: &Line<'_>, facts: &Facts) -> Traits {
    let absolute = |range: &Option<Range<usize>>| {
        range
            .as_ref()
            .map(|range| Span::at(line.start + range.start as u64, range.len()))
    };
    Traits {
        canonical: facts.canonical && facts.value.len() == line.bytes.len(),
        not_utf8: absolute(&facts.not_utf8),
        duplicate_key: absolute(&facts.duplicate_key),
        huge_number: absolute(&facts.huge_number),
        lone_surrogate: absolute(&facts.lone_surrogate),
    }
}

/// Puts members in their places while the line is validated.
struct Envelope<'line, 'r, const NOTING: bool> {
    line: &'r Line<'line>,
    record: &'r mut Record<'line>,
    jumps: &'r mut Jumps,
}

/// A name of less than eight bytes in one word, as in [`Key::short`].
const fn short(name: &str) -> u64 {
    let mut bytes = [0; 8];
    let (place, _) = bytes.split_at_mut(name.len());
    place.copy_from_slice(name.as_bytes());
    u64::from_le_bytes(bytes)
}

const TYPE: u64 = short("type");
const SEQ: u64 = short("seq");
const TIME: u64 = short("time");
const DATA: u64 = short("data");
const SEQ0: u64 = short("seq0");
const TIME0: u64 = short("time0");

impl<'line, const NOTING: bool> Envelope<'line, '_, NOTING> {
    fn part(&self, range: Range<usize>, canonical: bool) -> Raw<'line> {
        let start = self.line.start + range.start as u64;
        Raw::new(
            slice(self.line.bytes, range.start, range.end),
            start,
            canonical,
        )
    }

    /// Passes over the record of a stream at `at`; the offset behind it.
    #[inline(always)]
    fn stream_record(&mut self, at: usize, is_utf8: bool) -> Option<usize> {
        let mut scan = Scan::inside(self.line, at, is_utf8);
        if !scan.sees(b"{\"type\":\"") {
            return None;
        }
        if scan.sees(b"{\"type\":\"chunk\"") {
            // What is odd about an object is odd about its member already when the object comes again.
            let known = |block| self.jumps.repeated(self.line.bytes, block);
            let (_, _, edge) = scan.edge(known)?;
            self.jumps.value(at, scan.at());
            if let Edge::End(block) = edge {
                let end = scan.at() - 2;
                self.jumps.value(end - block.bytes().len(), end);
            }
            return Some(scan.at());
        }
        let (steps, texts) = scan.any_run(&mut self.jumps.joined)?;
        self.jumps.value(at, scan.at());
        self.jumps.list(steps);
        self.jumps.list(texts);
        Some(scan.at())
    }

    /// Keeps a member whose key is no short one.
    #[inline(never)]
    fn long_member(&mut self, key: Key, value: Raw<'line>) {
        let name = self.part(key.at.clone(), false);
        let text = text_of(slice(self.line.bytes, key.at.start + 1, key.at.end - 1));
        let record = &mut *self.record;
        let place = match &*text {
            b"sourceEventSeqs" => &mut record.source_event_seqs,
            b"surfaceOp" => &mut record.surface_op,
            b"ignorable" => &mut record.ignorable,
            // Spelled with escapes.
            b"type" => &mut record.kind,
            b"seq" => &mut record.seq,
            b"time" => &mut record.time,
            b"data" => &mut record.data,
            b"seq0" => &mut record.seq0,
            b"time0" => &mut record.time0,
            _ => {
                record.extra.get_or_insert(name);
                return;
            }
        };
        *place = Some(value);
    }
}

impl<const NOTING: bool> Sink for Envelope<'_, '_, NOTING> {
    const MEMBERS: bool = true;

    #[inline(always)]
    fn enter(&mut self, at: usize) {
        if NOTING {
            self.jumps.enter(at);
        }
    }

    #[inline(always)]
    fn leave(&mut self, end: usize) {
        if NOTING {
            self.jumps.leave(end);
        }
    }

    #[inline(always)]
    fn string(&mut self, start: usize, end: usize) {
        if NOTING && end - start >= LONG {
            self.jumps.value(start, end);
        }
    }

    #[inline(always)]
    fn pass_over(&mut self, at: usize, is_utf8: bool) -> Option<usize> {
        if !NOTING {
            return None;
        }
        let end = self.stream_record(at, is_utf8);
        if end.is_none() {
            self.jumps.element(at);
        }
        end
    }

    #[inline(always)]
    fn member(&mut self, key: Key, value: Range<usize>, canonical: bool) {
        if NOTING {
            self.jumps.next_member();
        }
        let value = self.part(value, canonical);
        let place = match key.short {
            TYPE => &mut self.record.kind,
            SEQ => &mut self.record.seq,
            TIME => &mut self.record.time,
            DATA => &mut self.record.data,
            SEQ0 => &mut self.record.seq0,
            TIME0 => &mut self.record.time0,
            _ => return self.long_member(key, value),
        };
        *place = Some(value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::deltas::{DeltaKind, DeltaRun};
    use super::*;
    use crate::line::LineEnd;

    fn line(bytes: &[u8]) -> Line<'_> {
        Line {
            no: LineNo(7),
            start: 100,
            bytes,
            end: LineEnd::Newline,
        }
    }

    fn parse(bytes: &[u8]) -> Result<Record<'_>, RecordDefect> {
        Record::parse(&line(bytes), &mut Scratch::new())
    }

    #[test]
    fn takes_the_envelope_apart() {
        let text = br#"{"type":"a","seq":3,"time":5,"data":{"x":[1]},"sourceEventSeqs":[1],"surfaceOp":"append","ignorable":true}"#;
        let record = parse(text).unwrap();
        assert!(record.kind.unwrap().is_str("a"));
        assert_eq!(
            record.seq.unwrap().span(),
            Span {
                start: 118,
                end: 119
            }
        );
        assert_eq!(record.time.unwrap().safe_int(), Some(5));
        assert_eq!(record.data.unwrap().bytes(), b"{\"x\":[1]}");
        assert_eq!(record.source_event_seqs.unwrap().bytes(), b"[1]");
        assert!(record.surface_op.unwrap().is_str("append"));
        assert_eq!(record.ignorable.unwrap().as_bool(), Some(true));
        assert!(record.extra.is_none() && record.seq0.is_none() && record.time0.is_none());
        assert!(record.traits.canonical && record.value.is_canonical());
        assert_eq!(
            record.span,
            Span {
                start: 100,
                end: 100 + text.len() as u64
            }
        );
    }

    #[test]
    fn a_line_that_looks_like_a_record_of_a_stream_is_taken_apart() {
        let text = br#"{"type":"t","time0":5,"index":0,"dt":[1],"texts":["a","b"]}"#;
        let mut scratch = Scratch::new();
        let line = line(text);
        let record = Record::parse_noting(&line, &mut scratch).unwrap();
        assert!(record.kind.unwrap().is_str("t"));
        assert_eq!(record.time0.unwrap().safe_int(), Some(5));
        assert!(record.extra.unwrap().is_str("index"));
    }

    #[test]
    fn noting_changes_nothing() {
        let long = "long text, ".repeat(20);
        let run = r#"{"type":"t","time0":5,"index":0,"dt":[1,20],"texts":["a","é","\n"]}"#;
        let call = r#"{"type":"t","time0":5,"index":0,"dt":[],"id":"c","name":"n","args":["{}"]}"#;
        let other = run
            .replace("[1,20]", "[1]")
            .replace("\"\\n\"", "\"\\ud83d\"");
        let text = format!(
            r#"{{"type":"a","data":{{"turn":1,"stream":[{run},{call},{other},{run}],"x":["{long}",{{"y":"{long}"}}],"z":7}}}}"#
        );
        let line = line(text.as_bytes());
        let (mut plain, mut noting) = (Scratch::new(), Scratch::new());
        let plain = Record::parse(&line, &mut plain).unwrap();
        let noting = Record::parse_noting(&line, &mut noting).unwrap();
        assert_eq!(format!("{plain:?}"), format!("{noting:?}"));
        let told = |record: &Record<'_>| {
            let data = record.data.unwrap();
            let stream = data.get("stream").unwrap();
            let runs = stream.elements().map(|record| {
                let kind = match record.get("id") {
                    Some(_) => DeltaKind::ToolCall,
                    None => DeltaKind::Text,
                };
                format!("{:?}", DeltaRun::parse(kind, record))
            });
            let runs: Vec<_> = runs.collect();
            let x: Vec<_> = data.get("x").unwrap().elements().collect();
            format!("{runs:?} {x:?} {:?}", data.fields(["z", "turn"]))
        };
        assert_eq!(told(&plain), told(&noting));
    }

    #[test]
    fn an_object_that_comes_again_is_as_odd_as_before() {
        let sound = r#"{"type":"text","text":"long enough to be noted"}"#;
        let odd = r#"{"type":"text","text":"\u0041\ud83d","text":1e400}"#;
        let end = |block: &str| {
            format!(
                r#"{{"type":"chunk","time":5,"chunk":{{"type":"block-end","index":0,"block":{block}}}}}"#
            )
        };
        for block in [sound, odd] {
            let ends = [end(block), end(sound), end(odd)].join(",");
            let inside =
                format!(r#"{{"data":{{"content":[{block},{sound}],"stream":[{ends}]}},"seq":1}}"#);
            let outside = format!(r#"{{"x":[{block},{sound}],"data":{{"stream":[{ends}]}}}}"#);
            for text in [inside, outside] {
                let line = line(text.as_bytes());
                let (mut plain, mut noting) = (Scratch::new(), Scratch::new());
                let plain = Record::parse(&line, &mut plain).unwrap();
                let noting = Record::parse_noting(&line, &mut noting).unwrap();
                assert_eq!(format!("{plain:?}"), format!("{noting:?}"));
                let forms = [plain, noting].map(|record| record.data.unwrap().is_canonical());
                assert_eq!(forms[0], forms[1], "{text}");
            }
        }
    }

    #[test]
    fn the_last_of_a_repeated_member_counts() {
        let record = parse(br#"{"seq":1,"x":{"a":1,"b":2,"a":3},"s\u0065q":2.0}"#).unwrap();
        assert_eq!(record.seq.unwrap().safe_int(), Some(2));
        assert!(record.extra.unwrap().is_str("x"));
        assert_eq!(
            record.traits.duplicate_key,
            Some(Span {
                start: 126,
                end: 129
            })
        );
        assert!(!record.traits.canonical);
    }

    #[test]
    fn each_member_has_its_own_form() {
        let record = parse(b"{\"type\" : \"a\",\"data\":{ },\"seq\":1,\"time\":1.0}\r").unwrap();
        assert!(record.kind.unwrap().is_canonical());
        assert!(!record.data.unwrap().is_canonical());
        assert!(record.seq.unwrap().is_canonical());
        assert!(!record.time.unwrap().is_canonical());
        assert!(!record.value.is_canonical());
        let record = parse(b"{\"type\":\"a\"}\r").unwrap();
        assert!(record.value.is_canonical() && !record.traits.canonical);
        let record = parse(b"{\"type\":\"a\xFF\",\"data\":\"b\"}").unwrap();
        assert!(!record.kind.unwrap().is_canonical() && record.data.unwrap().is_canonical());
    }

    #[test]
    fn odd_text_has_a_place() {
        let record = parse(b"{\"a\":\"\xE2\x82\",\"b\":[1e400,\"\\ud800\"]}").unwrap();
        let traits = record.traits;
        assert_eq!(
            traits.not_utf8,
            Some(Span {
                start: 106,
                end: 108
            })
        );
        assert_eq!(
            traits.huge_number,
            Some(Span {
                start: 115,
                end: 120
            })
        );
        assert_eq!(
            traits.lone_surrogate,
            Some(Span {
                start: 122,
                end: 128
            })
        );
        assert_eq!(traits.duplicate_key, None);
    }

    #[test]
    fn equal_texts_are_repeated_keys_however_they_are_written() {
        for (text, at) in [
            (&br#"{"a":1,"\u0061":2}"#[..], Some(7)),
            (b"{\"\xFF\":1,\"\xFE\":2}", Some(7)),
            (b"{\"\xFF\":1,\"\xEF\xBF\xBD\":2}", Some(7)),
            (br#"{"a":{"a":1},"b":{"a":1}}"#, None),
        ] {
            let found = parse(text)
                .unwrap()
                .traits
                .duplicate_key
                .map(|span| span.start - 100);
            assert_eq!(found, at, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn repeated_keys_of_large_objects_are_found() {
        let mut text = b"{\"x\":{".to_vec();
        for key in 0..100_000 {
            text.extend_from_slice(format!("\"aaaaaaaa{key}aaaaaaaa\":{{}},").as_bytes());
        }
        let second = text.len();
        text.extend_from_slice(b"\"aaaaaaaa5aaaaaaaa\":0}}");
        let found = parse(&text).unwrap().traits.duplicate_key.unwrap();
        assert_eq!(found, Span::at(100 + second as u64, 19));
    }

    #[test]
    fn says_why_a_line_is_no_record() {
        for blank in [&b""[..], b"\r", b"  \t"] {
            assert_eq!(parse(blank).unwrap_err(), RecordDefect::Blank);
        }
        let not_an_object = |text: &[u8]| match parse(text).unwrap_err() {
            RecordDefect::NotAnObject { kind } => kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(not_an_object(b"null"), Kind::Null);
        assert_eq!(not_an_object(b"[{}]"), Kind::Array);
        let bad = |text: &[u8]| match parse(text).unwrap_err() {
            RecordDefect::NotJson { at, .. } => at - 100,
            other => panic!("{other:?}"),
        };
        assert_eq!(bad(b"{\"a\":1"), 6);
        assert_eq!(bad(b"\xEF\xBB\xBF{}"), 0);
        assert_eq!(bad(b"{\"a\":tru}"), 8);
        assert_eq!(bad(b"{} {}"), 3);
        assert_eq!(bad(b"{\"a\":\"\n\"}"), 6);
        assert_eq!(bad(b"{\"a\":1,\"b\"\xC3\xA9:1}"), 10);
    }

    #[test]
    fn depth_is_no_limit() {
        for (open, close) in [("[", "]"), ("{\"\":", "}"), ("[{\"a\":", "}]")] {
            let depth = 200_000;
            let text = format!(
                "{{\"data\":{}0{}}}",
                open.repeat(depth),
                close.repeat(depth)
            );
            let record = parse(text.as_bytes()).unwrap();
            assert_eq!(record.data.unwrap().span().len() as usize, text.len() - 9);
            assert!(record.traits.canonical);
            let spaced = text.replace('0', " 0");
            assert_eq!(
                *parse(spaced.as_bytes()).unwrap().value.printed(),
                *text.as_bytes()
            );
            let torn = &text.as_bytes()[..text.len() - 1];
            assert!(matches!(parse(torn), Err(RecordDefect::NotJson { .. })));
        }
    }
}
