//! Writes events in one shape: numbers, times, surface operations, batches.
//!
//! **Takes** what happens, in order. **Gives** the lines a writer of that shape would have written. **Never** decides what
//! happens; ids that all shapes share come from outside.

mod chunk;
mod compaction;
mod dialog;
mod message;
mod request;
mod response;
mod surface;
mod usage;

use std::io::{self, Write};

pub use compaction::Compaction;
pub use message::{Answer, Source, UserMessage};

use super::header::Head;
use super::json::Json;
use super::rng::Rng;
use super::shape::Shape;
use super::sink::Sink;
use surface::{Node, Surface};
use usage::Meter;

/// The first line of a log.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The session's id.
    pub id: String,
    /// When it was created.
    pub created: u64,
    /// The parent's id and how many events were inherited, for a fork.
    pub parent: Option<(String, u64)>,
}

/// How often something was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Events (a packed row counts its members).
    pub events: u64,
    /// Turns.
    pub turns: u64,
    /// Steps.
    pub steps: u64,
    /// Requests: attempts of all steps.
    pub requests: u64,
    /// Lines, the header line included.
    pub lines: u64,
    /// Bytes of all lines, decoded.
    pub bytes: u64,
}

/// What a log event comes from.
#[derive(Clone, Copy)]
enum Sources<'s> {
    None,
    List(&'s [u64]),
    Run { first: u64, last: u64 },
}

/// An open log of one shape.
pub struct Pen<W> {
    shape: Shape,
    sink: Sink<W>,
    line: Json,
    stream: Json,
    seq: u64,
    now: u64,
    turn: u64,
    step: u64,
    /// For messages that only some shapes have.
    ids: Rng,
    surface: Surface,
    meter: Meter,
    logged: Option<Head>,
    context: Option<&'static str>,
    fresh_instance: bool,
    replaced: bool,
    prefix: Option<String>,
    counts: Counts,
}

impl<W: Write> Pen<W> {
    /// Writes the header line; the first event happens at `start`.
    pub fn open(
        shape: Shape,
        sink: Sink<W>,
        opening: &Opening,
        start: u64,
        seed: u64,
    ) -> io::Result<Self> {
        let mut pen = Self {
            shape,
            sink,
            line: Json::default(),
            stream: Json::default(),
            seq: 0,
            now: start,
            turn: 0,
            step: 0,
            ids: Rng::new(!seed),
            surface: Surface::default(),
            meter: Meter::new(seed),
            logged: None,
            context: None,
            fresh_instance: true,
            replaced: false,
            prefix: None,
            counts: Counts::default(),
        };
        pen.print_opening(opening);
        pen.sink.line(pen.line.bytes())?;
        pen.sink.end_batch()?;
        Ok(pen)
    }

    fn print_opening(&mut self, opening: &Opening) {
        let line = &mut self.line;
        line.raw("{\"type\":\"session\",\"version\":")
            .int(self.shape.version());
        line.raw(",\"id\":")
            .text(&opening.id)
            .raw(",\"createdAt\":")
            .int(opening.created);
        line.raw(",\"cwd\":\"/work/shop\"");
        let parent = opening.parent.as_ref();
        line.maybe(",\"parentSession\":", parent.map(|(id, _)| id.as_str()));
        if self.shape.streams() {
            line.raw(if parent.is_some() {
                ",\"isSeeded\":true"
            } else {
                ",\"isSeeded\":false"
            });
        } else if let Some((_, events)) = parent {
            line.raw(",\"seedLength\":").int(*events);
        }
        line.raw(if self.shape.identified() {
            ",\"delegationDepth\":0}"
        } else {
            "}"
        });
    }

    /// Ends the log.
    pub fn finish(mut self) -> io::Result<Counts> {
        let (bytes, lines) = self.sink.finish()?;
        self.counts.bytes = bytes;
        self.counts.lines = lines;
        self.counts.events = self.seq;
        Ok(self.counts)
    }

    /// Lets time pass.
    pub fn wait(&mut self, millis: u64) {
        self.now += millis;
    }

    /// The present moment.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The next event's number.
    pub fn next_seq(&self) -> u64 {
        self.seq
    }

    /// The shape that is written.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Gives a session of the seed's era its prefix message; before the first request. Later shapes have none.
    pub fn set_prefix(&mut self, text: String) {
        self.prefix = Some(text).filter(|_| !self.shape.identified());
    }

    /// A process loads the log: a new loop instance. `inherited`: the events so far are a parent's.
    pub fn load(&mut self, inherited: bool) -> io::Result<()> {
        self.fresh_instance = true;
        if self.shape.identified() {
            let inherited = inherited && self.shape.streams();
            self.event("session/end-seed", |data| {
                data.raw(if inherited {
                    "{\"inherited\":true}"
                } else {
                    "{}"
                });
            })?;
        }
        self.sink.end_batch()
    }

    fn begin_event(&mut self, kind: &str) {
        self.line.clear();
        self.line
            .raw("{\"type\":\"")
            .raw(kind)
            .raw("\",\"seq\":")
            .int(self.seq);
        self.line.raw(",\"time\":").int(self.now).raw(",\"data\":");
    }

    fn end_event(&mut self) -> io::Result<u64> {
        self.line.raw("}");
        self.sink.line(self.line.bytes())?;
        self.seq += 1;
        Ok(self.seq - 1)
    }

    /// Writes an event that is not of the surface.
    fn event(&mut self, kind: &str, data: impl FnOnce(&mut Json)) -> io::Result<u64> {
        self.begin_event(kind);
        data(&mut self.line);
        self.end_event()
    }

    /// Writes an event that is appended to the surface.
    fn append(
        &mut self,
        kind: &str,
        sources: Sources<'_>,
        node: Node,
        data: impl FnOnce(&mut Json),
    ) -> io::Result<u64> {
        self.begin_event(kind);
        data(&mut self.line);
        print_sources(&mut self.line, sources, self.shape.ranges());
        self.line.raw(",\"surfaceOp\":\"append\"");
        let seq = self.end_event()?;
        self.surface.append(seq, node);
        Ok(seq)
    }

    /// Writes an event that takes the place of the nodes at positions `first` to `last`.
    fn replace(
        &mut self,
        kind: &str,
        sources: &[u64],
        (first, last): (usize, usize),
        node: Node,
        data: impl FnOnce(&mut Json),
    ) -> io::Result<u64> {
        let (start, end) = (self.surface.seq(first), self.surface.seq(last));
        self.begin_event(kind);
        data(&mut self.line);
        print_sources(&mut self.line, Sources::List(sources), self.shape.ranges());
        let (start_key, end_key) = if self.shape.system_on_surface() {
            ("\"startSeq\":", ",\"endSeq\":")
        } else {
            ("\"start\":", ",\"end\":")
        };
        self.line
            .raw(",\"surfaceOp\":{\"op\":\"replace\",")
            .raw(start_key)
            .int(start)
            .raw(end_key)
            .int(end)
            .raw("}");
        let seq = self.end_event()?;
        let kept = if node.is_system() {
            0
        } else {
            self.meter.header_tokens() + self.surface.tokens_before(first)
        };
        self.meter.break_at(kept);
        self.surface.replace(seq, first, last, node);
        self.replaced = true;
        Ok(seq)
    }

    /// A message id that only some shapes need.
    fn own_id(&mut self) -> String {
        self.ids.uuid()
    }
}

fn print_sources(line: &mut Json, sources: Sources<'_>, ranges: bool) {
    match sources {
        Sources::None => {}
        Sources::Run { first, last } if ranges && last - first >= 2 => {
            line.raw(",\"sourceEventSeqs\":[[")
                .int(first)
                .raw(",")
                .int(last)
                .raw("]]");
        }
        Sources::Run { first, last } => {
            line.raw(",\"sourceEventSeqs\":[")
                .list(first..=last, |line, seq| {
                    line.int(seq);
                });
            line.raw("]");
        }
        Sources::List(seqs) => {
            let runs = runs(
                seqs,
                ranges && seqs.windows(2).all(|pair| pair[0] < pair[1]),
            );
            line.raw(",\"sourceEventSeqs\":[")
                .list(runs, |line, (first, last)| {
                    if first == last {
                        line.int(first);
                    } else {
                        line.raw("[").int(first).raw(",").int(last).raw("]");
                    }
                });
            line.raw("]");
        }
    }
}

/// Joins three and more consecutive numbers to a pair, if `joined`; other numbers stand as pairs of themselves.
fn runs(seqs: &[u64], joined: bool) -> Vec<(u64, u64)> {
    let mut runs = Vec::with_capacity(seqs.len());
    let mut at = 0;
    while at < seqs.len() {
        let mut end = at + 1;
        while joined && end < seqs.len() && seqs[end] == seqs[end - 1] + 1 {
            end += 1;
        }
        if end - at >= 3 {
            runs.push((seqs[at], seqs[end - 1]));
        } else {
            runs.extend(seqs[at..end].iter().map(|&seq| (seq, seq)));
        }
        at = end;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_joined_as_the_writer_does() {
        let print = |sources, ranges| {
            let mut line = Json::default();
            print_sources(&mut line, sources, ranges);
            line.into_string()
        };
        let list = [4, 5, 6, 9, 11, 12];
        assert_eq!(
            print(Sources::List(&list), true),
            ",\"sourceEventSeqs\":[[4,6],9,11,12]"
        );
        assert_eq!(
            print(Sources::List(&list), false),
            ",\"sourceEventSeqs\":[4,5,6,9,11,12]"
        );
        assert_eq!(
            print(Sources::List(&[9, 1, 2, 3]), true),
            ",\"sourceEventSeqs\":[9,1,2,3]"
        );
        assert_eq!(
            print(Sources::Run { first: 3, last: 4 }, true),
            ",\"sourceEventSeqs\":[3,4]"
        );
        assert_eq!(
            print(Sources::Run { first: 3, last: 5 }, true),
            ",\"sourceEventSeqs\":[[3,5]]"
        );
        assert_eq!(print(Sources::None, true), "");
    }
}
