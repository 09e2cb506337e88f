//! A log while it is read: line by line through the rooms.
//!
//! **Takes** lines in their order, and what is known of the bytes at the end. **Gives** a [`Log`]. **Never** goes back.

use super::{Identification, Log, Parser, ReadOptions, Standing, Tail};
use crate::dialect::{Decoder, Detected, SessionHeader, detect, settle};
use crate::event::{At, Body, Event, Fault, Faults, Outcome, Scope};
use crate::fold::{Fold, Session};
use crate::line::{Excerpt, Line, LineEnd, LineNo, Span};
use crate::record::{Raw, Record, RecordDefect, Scratch, Traits, pointer_at};
use crate::source::{Lines, Source, SourceDefect, SourceSummary};
use crate::wire::{Parts, Scribe};

/// A log while it is read.
pub(super) struct Reading<'log> {
    options: ReadOptions,
    source: &'log Source,
    faults: Faults,
    standing: Standing,
    header: Option<Identification<'log>>,
    decoder: Option<Decoder>,
    fold: Option<Fold<'log>>,
    scribe: Option<Scribe>,
    wire: Vec<Parts>,
    tail: Option<Tail>,
    has_bom: bool,
    first_line: Option<(At, Excerpt)>,
    last: At,
    started: bool,
    fast_lines: u64,
}

const NO_PLACE: At = At {
    line: LineNo(1),
    span: Span { start: 0, end: 0 },
    seq: None,
};

impl<'log> Reading<'log> {
    /// Nothing of it is read yet.
    pub(super) fn new(source: &'log Source, options: ReadOptions) -> Reading<'log> {
        Reading {
            options,
            source,
            faults: Faults::new(options.max_faults),
            standing: Standing::Empty,
            header: None,
            decoder: None,
            fold: None,
            scribe: None,
            wire: Vec::new(),
            tail: None,
            has_bom: false,
            first_line: None,
            last: NO_PLACE,
            started: false,
            fast_lines: 0,
        }
    }

    /// Whether nothing more is to be read: the file is no log of this kind.
    pub(super) fn is_over(&self) -> bool {
        self.started && self.fold.is_none()
    }

    /// Takes the next line.
    pub(super) fn line(&mut self, line: &Line<'_>, scratch: &mut Scratch) {
        if line.end == LineEnd::Eof {
            return self.tail = Some(tail(line, scratch));
        }
        let at = At {
            line: line.no,
            span: line.span(),
            seq: None,
        };
        if self.fold.is_some() {
            self.last = at;
            return self.record(line, at, scratch);
        }
        if self.started || self.is_blank_before_fixture(line) {
            return;
        }
        self.started = true;
        self.first_line = Some((at, Excerpt::around(line.bytes, 0..0)));
        let text = line.bytes.strip_prefix(b"\xEF\xBB\xBF");
        self.has_bom = text.is_some();
        // What stands behind a byte-order mark is read on, for its other faults; no request is rebuilt of it.
        let start = line.start + if self.has_bom { 3 } else { 0 };
        let header = Line {
            bytes: text.unwrap_or(line.bytes),
            start,
            ..*line
        };
        match Record::parse(&header, scratch) {
            Ok(record) => self.session_header(&record, at),
            Err(RecordDefect::NotAnObject { .. }) => {
                self.standing = Standing::NotASessionLog("is no JSON object");
            }
            Err(_) => self.standing = Standing::NotASessionLog("is no JSON"),
        }
    }

    /// Blank lines may stand before the header of a committed fixture only; there is no telling yet, so they are left to it.
    fn is_blank_before_fixture(&self, line: &Line<'_>) -> bool {
        line.no.0 > 1 && line.bytes.iter().all(u8::is_ascii_whitespace)
    }

    fn session_header(&mut self, record: &Record<'_>, at: At) {
        match detect(record, at, &mut self.faults) {
            Detected::NotASessionLog(why) => self.standing = Standing::NotASessionLog(why),
            Detected::Foreign => self.standing = Standing::Foreign,
            Detected::Unsupported(support) => self.standing = Standing::Unsupported(support),
            Detected::Session(header) => {
                self.standing = Standing::Readable;
                self.traits(record, at, false);
                self.header = Some(self.identify(&header, at));
                self.decoder = Some(Decoder::new(&header));
                self.scribe = Some(Scribe::new(header.generation.interface()));
                let conduct = header.generation.conduct();
                let mut fold = Fold::new(conduct, self.source.keep(), self.options.retain);
                if self.has_bom {
                    fold.bad_line(at.line, &mut self.faults);
                }
                self.fold = Some(fold);
            }
        }
    }

    fn identify(&self, header: &SessionHeader<'_>, at: At) -> Identification<'log> {
        let keep = |raw: Option<Raw<'_>>| {
            raw.map(|raw| raw.rebased(self.source.keep().keep(raw.bytes(), raw.span())))
        };
        Identification {
            generation: header.generation,
            id: keep(header.id),
            parent: keep(header.parent),
            cwd: keep(header.cwd),
            seed_length: header.seed_length,
            is_seeded: header.is_seeded,
            has_depth: header.has_depth,
            fixture: header.fixture,
            at,
        }
    }

    fn record(&mut self, line: &Line<'_>, at: At, scratch: &mut Scratch) {
        let (Some(decoder), Some(fold)) = (&mut self.decoder, &mut self.fold) else {
            return;
        };
        if self.options.parser == Parser::Fast
            && let Some(at) = decoder.decode_fast(line, |event| {
                fold.event(event, &mut self.faults);
                event.at
            })
        {
            self.fast_lines += 1;
            self.last = at;
            return;
        }
        let parsed = match self.options.parser {
            Parser::Fast => Record::parse_noting(line, scratch),
            Parser::General => Record::parse(line, scratch),
        };
        let record = match parsed {
            Ok(record) => record,
            Err(defect) => {
                let fixture =
                    decoder.is_fixture() || self.header.is_some_and(|header| header.fixture);
                if defect == RecordDefect::Blank && fixture {
                    return;
                }
                let mark = defect_mark(&defect, at.span);
                self.faults
                    .note(Fault::Line(defect), Scope::Any, at, line.bytes, mark);
                return fold.bad_line(at.line, &mut self.faults);
            }
        };
        let outcome = decoder.decode(&record, at, &mut self.faults);
        let on_surface = matches!(&outcome, Outcome::Event(event) if event.surface.is_some());
        let at = match &outcome {
            Outcome::Event(event) => event.at,
            Outcome::Unusable { seq, .. } => At { seq: *seq, ..at },
        };
        let known = fold.session().messages.len();
        fold.feed(&outcome, at, &mut self.faults);
        if let Outcome::Event(Event {
            body: Body::Message(message),
            ..
        }) = &outcome
            && let (Some(scribe), Some(fact)) =
                (&mut self.scribe, fold.session().messages.get(known))
        {
            self.wire.push(scribe.parts(message, fact));
        }
        self.last = at;
        self.traits(&record, at, on_surface);
    }

    /// Notes what is odd about a line's text.
    fn traits(&mut self, record: &Record<'_>, at: At, on_surface: bool) {
        let Traits {
            canonical,
            not_utf8,
            duplicate_key,
            huge_number,
            lone_surrogate,
        } = record.traits;
        if canonical && lone_surrogate.is_none() {
            return;
        }
        let line = record.value.bytes();
        let mut note = |fault, mark| self.faults.note(fault, Scope::Any, at, line, mark);
        if let Some(mark) = not_utf8 {
            note(Fault::NotUtf8, mark);
        }
        if let Some(mark) = duplicate_key {
            note(Fault::DuplicateKey, mark);
        }
        if let Some(mark) = huge_number {
            note(Fault::HugeNumber, mark);
        }
        if let Some(mark) = lone_surrogate {
            let pointer = pointer_at(record.value, mark.start);
            self.faults.note(
                Fault::LoneSurrogate {
                    pointer,
                    on_surface,
                },
                Scope::Any,
                at,
                line,
                mark,
            );
        }
        if !canonical && not_utf8.is_none() && duplicate_key.is_none() {
            self.faults
                .note(Fault::NotPrinted, Scope::Any, at, line, record.span);
        }
    }

    /// A line left out by a limit ends the reconstruction like a bad line. Gives how many defects are known.
    pub(super) fn left_out(&mut self, lines: &Lines<'_>, known: usize) -> usize {
        let defects = lines.defects();
        for defect in defects.iter().skip(known) {
            if let (SourceDefect::LineLimit { line, .. }, Some(fold)) = (defect, &mut self.fold) {
                fold.bad_line(*line, &mut self.faults);
            }
        }
        defects.len()
    }

    /// There are no more lines.
    pub(super) fn finish(self, source: SourceSummary) -> Log<'log> {
        let Reading {
            mut faults,
            fold,
            header,
            standing,
            ..
        } = self;
        let session =
            fold.map_or_else(Session::default, |fold| fold.finish(self.last, &mut faults));
        let settlement = header
            .as_ref()
            .map(|header| settle(&header.as_session_header(), &session));
        let standing = match (standing, session.legacy) {
            (Standing::Readable, Some(_)) => Standing::Rejected,
            (standing, _) => standing,
        };
        Log {
            standing,
            header,
            session,
            wire: self.wire,
            settlement: settlement.unwrap_or_default(),
            faults,
            source,
            tail: self.tail,
            has_bom: self.has_bom,
            first_line: self.first_line,
            last: self.last,
            fast_lines: self.fast_lines,
        }
    }
}

impl<'log> Identification<'log> {
    fn as_session_header(&self) -> SessionHeader<'log> {
        SessionHeader {
            generation: self.generation,
            id: self.id,
            parent: self.parent,
            cwd: self.cwd,
            seed_length: self.seed_length,
            is_seeded: self.is_seeded,
            has_depth: self.has_depth,
            fixture: self.fixture,
        }
    }
}

fn defect_mark(defect: &RecordDefect, line: Span) -> Span {
    match *defect {
        RecordDefect::NotJson { at, .. } => Span {
            start: at,
            end: (at + 1).min(line.end).max(at),
        },
        RecordDefect::NotAnObject { .. } | RecordDefect::Blank => line,
    }
}

fn tail(line: &Line<'_>, scratch: &mut Scratch) -> Tail {
    let zeros = line
        .bytes
        .iter()
        .rev()
        .take_while(|byte| **byte == 0)
        .count();
    let text = line.bytes.len() - zeros;
    let start = line.start + text as u64;
    Tail {
        span: Span::at(line.start, text),
        zeros: Span::at(start, zeros),
        line: line.no,
        parses: zeros == 0 && Record::parse(line, scratch).is_ok(),
        excerpt: Excerpt::around(line.bytes, 0..text),
    }
}
