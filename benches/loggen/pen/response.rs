//! A model's response: chunk lines, packed rows or a stream, then the message they assemble to.
//!
//! **Takes** a [`Response`]. **Gives** the events of one attempt. **Never** lets the message differ from its chunks (format.md G).

use std::io::{self, Write};

use super::super::header::PROVIDER;
use super::super::json::Json;
use super::super::shape::Shape;
use super::super::stream::{Block, Failure, Finish, Kind, Response};
use super::chunk::{
    delta_names, print_block, print_end, print_failure, print_finish, print_members, print_start,
    replay_state, waits,
};
use super::surface::{Node, Role};
use super::usage::Usage;
use super::{Pen, Sources};

/// Runs shorter than this stay single chunk lines in a packed log.
const SHORTEST_ROW: usize = 3;

/// The policy of every retry.
const POLICY: &str = "[\"normal\",3,[\"EMPTY_RESPONSE\",\"RATE_LIMIT\",\"SERVER\",\"TIMEOUT\",\"TRANSPORT\"],500,8000,0]";

impl<W: Write> Pen<W> {
    /// Writes one attempt; `id` is the message's, for shapes that have one.
    pub fn respond(&mut self, response: &Response, id: &str) -> io::Result<()> {
        self.counts.requests += 1;
        let prompt = self.meter.header_tokens() + self.surface.tokens();
        let usage = match response.finish {
            Finish::Failed(_) => None,
            _ => Some(
                self.meter
                    .report(prompt, response.tokens(), response.reasoning_tokens()),
            ),
        };
        let model = self.logged.as_ref().map_or("", |head| head.model.name());
        let replay =
            (self.shape == Shape::V4 && usage.is_some()).then(|| replay_state(response, model));
        let first = self.seq;
        self.stream.clear();
        self.write_chunks(response, usage, replay.as_deref())?;
        let sources = match self.shape.streams() {
            true => Sources::None,
            false => Sources::Run {
                first,
                last: self.seq - 1,
            },
        };
        match usage {
            Some(usage) => self.write_message(response, usage, replay.as_deref(), id, sources)?,
            None if self.shape.streams() => self.write_attempt()?,
            None => {}
        }
        self.sink.end_batch()
    }

    fn write_chunks(
        &mut self,
        response: &Response,
        usage: Option<Usage>,
        replay: Option<&str>,
    ) -> io::Result<()> {
        self.now += response.delay;
        let shape = self.shape;
        let closes_early = shape == Shape::V4;
        let last = response.blocks.len().wrapping_sub(1);
        for (at, block) in response.blocks.iter().enumerate() {
            self.chunk(|json| print_start(json, at, block))?;
            self.deltas(at as u64, block)?;
            if closes_early && (usage.is_some() || at != last) {
                self.chunk(|json| print_end(json, at, block))?;
            }
        }
        if let Some(usage) = usage {
            for (at, block) in response.blocks.iter().enumerate().filter(|_| !closes_early) {
                self.chunk(|json| print_end(json, at, block))?;
            }
            self.chunk(|json| {
                json.raw("{\"type\":\"usage\",\"usage\":");
                usage.print(shape, json);
                json.raw("}");
            })?;
        }
        self.chunk(|json| print_finish(json, shape, response.finish, replay))
    }

    /// One chunk that is no delta.
    fn chunk(&mut self, chunk: impl FnOnce(&mut Json)) -> io::Result<()> {
        let (turn, step) = (self.turn, self.step);
        if !self.shape.streams() {
            self.event("assistant/chunk", |json| {
                json.raw("{\"turn\":")
                    .int(turn)
                    .raw(",\"step\":")
                    .int(step)
                    .raw(",\"chunk\":");
                chunk(json);
                json.raw("}");
            })?;
            return Ok(());
        }
        self.begin_record("chunk");
        self.stream
            .raw(",\"time\":")
            .int(self.now)
            .raw(",\"chunk\":");
        chunk(&mut self.stream);
        self.stream.raw("}");
        Ok(())
    }

    fn begin_record(&mut self, kind: &str) {
        let comma = if self.stream.bytes().is_empty() {
            ""
        } else {
            ","
        };
        self.stream
            .raw(comma)
            .raw("{\"type\":\"")
            .raw(kind)
            .raw("\"");
    }

    fn deltas(&mut self, index: u64, block: &Block) -> io::Result<()> {
        match self.shape {
            Shape::Seed | Shape::Released => self.delta_lines(index, block, 0..block.ends.len()),
            Shape::Packed | Shape::Late if block.ends.len() < SHORTEST_ROW => {
                self.delta_lines(index, block, 0..block.ends.len())
            }
            Shape::Packed | Shape::Late => self.packed_row(index, block),
            Shape::V2 | Shape::V3 => self.record(index, block, 0..block.ends.len(), true),
            // The Messages adapter names a call once, in a delta of its own.
            Shape::V4 if matches!(block.kind, Kind::Call { .. }) => {
                self.record(index, block, 0..1, true)?;
                self.record(index, block, 1..block.ends.len(), false)
            }
            Shape::V4 => self.record(index, block, 0..block.ends.len(), true),
        }
    }

    fn delta_lines(
        &mut self,
        index: u64,
        block: &Block,
        members: std::ops::Range<usize>,
    ) -> io::Result<()> {
        let (kind, _) = delta_names(&block.kind);
        let (turn, step) = (self.turn, self.step);
        for at in members {
            self.now += u64::from(block.waits[at]);
            self.event("assistant/chunk", |json| {
                json.raw("{\"turn\":").int(turn).raw(",\"step\":").int(step);
                json.raw(",\"chunk\":{\"type\":\"")
                    .raw(kind)
                    .raw("\",\"index\":")
                    .int(index);
                match &block.kind {
                    Kind::Call { id, name } => json
                        .raw(",\"id\":")
                        .text(id)
                        .raw(",\"name\":")
                        .text(name)
                        .raw(",\"argumentsDelta\":"),
                    _ => json.raw(",\"text\":"),
                };
                json.text(block.delta(at)).raw("}}");
            })?;
        }
        Ok(())
    }

    fn packed_row(&mut self, index: u64, block: &Block) -> io::Result<()> {
        let (_, tag) = delta_names(&block.kind);
        self.now += u64::from(block.waits.first().copied().unwrap_or(0));
        self.line.clear();
        self.line
            .raw("{\"type\":\"")
            .raw(tag)
            .raw("\",\"seq0\":")
            .int(self.seq)
            .raw(",\"time0\":")
            .int(self.now);
        self.line
            .raw(",\"data\":{\"turn\":")
            .int(self.turn)
            .raw(",\"step\":")
            .int(self.step);
        print_members(&mut self.line, index, block, 0..block.ends.len(), true);
        self.line.raw("}}");
        self.now += waits(block, 1..block.ends.len()).sum::<u64>();
        self.seq += block.ends.len() as u64;
        self.sink.line(self.line.bytes())
    }

    fn record(
        &mut self,
        index: u64,
        block: &Block,
        members: std::ops::Range<usize>,
        named: bool,
    ) -> io::Result<()> {
        if members.is_empty() {
            return Ok(());
        }
        let (_, tag) = delta_names(&block.kind);
        self.now += waits(block, members.start..members.start + 1).sum::<u64>();
        self.begin_record(tag);
        self.stream.raw(",\"time0\":").int(self.now);
        print_members(&mut self.stream, index, block, members.clone(), named);
        self.stream.raw("}");
        self.now += waits(block, members.start + 1..members.end).sum::<u64>();
        Ok(())
    }

    fn write_message(
        &mut self,
        response: &Response,
        usage: Usage,
        replay: Option<&str>,
        id: &str,
        sources: Sources<'_>,
    ) -> io::Result<()> {
        let (shape, turn, step) = (self.shape, self.turn, self.step);
        let model = self.logged.as_ref().map_or("", |head| head.model.name());
        let stream = std::mem::take(&mut self.stream);
        let node = Node {
            role: Role::Assistant,
            tokens: response.tokens(),
        };
        self.append("assistant/message", sources, node, |json| {
            json.raw("{\"turn\":").int(turn).raw(",\"step\":").int(step);
            json.raw(if shape.identified() {
                ",\"message\":{\"role\":\"assistant\""
            } else {
                ""
            });
            json.raw(",\"content\":[")
                .list(&response.blocks, print_block)
                .raw("]");
            if shape.identified() {
                json.raw(",\"source\":{\"kind\":\"model\",\"provider\":")
                    .text(PROVIDER)
                    .raw(",\"model\":")
                    .text(model);
                if let Some(replay) = replay {
                    json.raw(",\"replayState\":").raw(replay);
                }
                json.raw("},\"id\":").text(id).raw("}");
            }
            json.raw(",\"usage\":");
            usage.print(shape, json);
            if shape.streams() {
                json.raw(",\"stream\":[").raw_bytes(stream.bytes()).raw("]");
            }
            json.raw("}");
        })?;
        self.stream = stream;
        Ok(())
    }

    fn write_attempt(&mut self) -> io::Result<()> {
        let (turn, step) = (self.turn, self.step);
        let stream = std::mem::take(&mut self.stream);
        self.event("assistant/attempt", |json| {
            json.raw("{\"turn\":").int(turn).raw(",\"step\":").int(step);
            json.raw(",\"stream\":[")
                .raw_bytes(stream.bytes())
                .raw("]}");
        })?;
        self.stream = stream;
        Ok(())
    }

    /// The failed attempt is retried: announced, waited for, started. `retry` counts from 1 within the step.
    pub fn retry(&mut self, id: &str, retry: u64, failure: Failure) -> io::Result<()> {
        let (turn, step) = (self.turn, self.step);
        let delay = 500 << (retry - 1);
        self.event("llm/retry", |json| {
            json.raw("{\"retryId\":")
                .text(id)
                .raw(",\"turn\":")
                .int(turn)
                .raw(",\"step\":")
                .int(step);
            json.raw(",\"provider\":")
                .text(PROVIDER)
                .raw(",\"mode\":\"normal\",\"policyKey\":")
                .text(POLICY);
            json.raw(",\"retry\":")
                .int(retry)
                .raw(",\"maxRetries\":3,\"delayMs\":")
                .int(delay)
                .raw(",\"failure\":");
            print_failure(json, failure);
            json.raw("}");
        })?;
        self.sink.end_batch()?;
        self.wait(delay + 1);
        self.event("llm/retry-started", |json| {
            json.raw("{\"retryId\":")
                .text(id)
                .raw(",\"turn\":")
                .int(turn)
                .raw(",\"step\":")
                .int(step);
            json.raw(",\"retry\":").int(retry).raw("}");
        })?;
        self.sink.end_batch()
    }
}
