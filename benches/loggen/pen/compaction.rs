//! Compactions and prunes: what makes the conversation shorter.
//!
//! **Takes** a summary. **Gives** the bracket of events around a replace (format.md B.1 S-COMPACT, B.2 H-COMPACT, H-PRUNE).
//! **Never** shadows the protected head of versions 3 and 4.

use std::io::{self, Write};

use super::super::header::PROVIDER;
use super::super::json::Json;
use super::super::shape::Shape;
use super::message::{Answer, Source, UserMessage, print_text};
use super::usage::Usage;
use super::{Node, Pen};

/// One wanted compaction.
#[derive(Clone, Debug)]
pub struct Compaction {
    /// Its id, for shapes that have one.
    pub id: String,
    /// The summary.
    pub summary: String,
    /// The checkpoint message's id.
    pub message: String,
    /// It stands between turns and belongs to none.
    pub manual: bool,
    /// The summary turns out to be too long, and nothing is replaced.
    pub fails: bool,
}

impl<W: Write> Pen<W> {
    /// Condenses all but the newest messages; false if there is too little to condense.
    pub fn compact(&mut self, compaction: &Compaction) -> io::Result<bool> {
        let Some((first, last)) = self.surface.old_span(2) else {
            return Ok(false);
        };
        let names = Names::of(self.shape);
        let shadowed = self.surface.seqs(first, last);
        let tokens = self.surface.tokens_of(first, last);
        let owner = (!compaction.manual).then_some(self.turn);
        let start = self.event(names.start, |json| {
            print_bracket(json, names.ids, compaction, owner, None)
        })?;
        self.sink.end_batch()?;
        self.wait(4000 + tokens / 50);
        if compaction.fails {
            let words = format!(
                "summary is not smaller than the shadowed content ({} estimated framed tokens >= {tokens})",
                tokens + 7
            );
            self.event(names.end, |json| {
                print_bracket(json, names.ids, compaction, owner, Some(&words))
            })?;
            self.sink.end_batch()?;
            return Ok(false);
        }
        let summary = self.write_summary(&names, compaction, &shadowed, tokens)?;
        let message = UserMessage {
            id: compaction.message.clone(),
            text: compaction.summary.clone(),
            source: Source::Checkpoint {
                compaction: compaction.id.clone(),
            },
        };
        let sources: Vec<u64> = [start, summary].into_iter().chain(shadowed).collect();
        let shape = self.shape;
        self.replace(
            "user/message",
            &sources,
            (first, last),
            message.node(),
            |json| message.print(shape, json),
        )?;
        self.event(names.end, |json| {
            print_bracket(json, names.ids, compaction, owner, None)
        })?;
        self.sink.end_batch()?;
        Ok(true)
    }

    fn write_summary(
        &mut self,
        names: &Names,
        compaction: &Compaction,
        shadowed: &[u64],
        tokens: u64,
    ) -> io::Result<u64> {
        let shape = self.shape;
        let model = self.logged.as_ref().map_or("", |head| head.model.name());
        let (prompt, output) = (
            self.meter.header_tokens() + tokens + 400,
            compaction.summary.len() as u64 / 4 + 3,
        );
        let read = prompt * 4 / 5 / 128 * 128;
        let usage = Usage {
            input: prompt - read,
            output,
            read,
            reasoning: 0,
        };
        self.event(names.summary, |json| {
            json.raw("{");
            if names.ids {
                json.raw("\"compactionId\":").text(&compaction.id).raw(",");
            }
            json.raw("\"summary\":[");
            print_text(json, &compaction.summary);
            json.raw("]");
            if names.ids {
                json.raw(",\"rawOutput\":[");
                print_text(json, &compaction.summary);
                json.raw("],\"llmStreamCall\":true");
            }
            print_shadowed(json, shadowed, tokens);
            if names.ids {
                json.raw(",\"provider\":").text(PROVIDER);
            }
            json.raw(",\"model\":")
                .text(model)
                .raw(",\"maxTokens\":8192");
            if names.ids {
                json.raw(",\"usage\":");
                usage.print(shape, json);
            }
            json.raw("}");
        })
    }

    /// Takes the middle out of up to `count` old long tool results; the seed's era has no such thing.
    pub fn prune(&mut self, count: usize) -> io::Result<()> {
        let Some((_, last)) = self.surface.old_span(2).filter(|_| self.shape.identified()) else {
            return Ok(());
        };
        let long: Vec<_> = self
            .surface
            .long_results(last + 1)
            .take(count)
            .map(|(at, result)| (at, result.clone()))
            .collect();
        for (at, result) in long {
            let shadowed = [self.surface.seq(at)];
            let tokens = self.surface.tokens_of(at, at);
            self.event("compaction/prune", |json| {
                json.raw("{");
                print_range(json, &shadowed);
                json.raw(",\"shadowedTokenCount\":").int(tokens).raw("}");
            })?;
            let answer = Answer {
                text: result.pruned,
                ..result.answer
            };
            let (shape, turn, step) = (self.shape, result.turn, result.step);
            let node = Node {
                tokens: answer.text.len() as u64 / 4 + 6,
                ..answer.node(turn, step)
            };
            self.replace("tool/result", &shadowed, (at, at), node, |json| {
                answer.print(shape, turn, step, json)
            })?;
        }
        self.sink.end_batch()
    }
}

/// What the events are called, and whether they carry ids.
struct Names {
    start: &'static str,
    summary: &'static str,
    end: &'static str,
    ids: bool,
}

impl Names {
    fn of(shape: Shape) -> Self {
        if shape.identified() {
            Self {
                start: "compaction/start",
                summary: "compaction/summary",
                end: "compaction/end",
                ids: true,
            }
        } else {
            Self {
                start: "compact/start",
                summary: "compact/summary",
                end: "compact/end",
                ids: false,
            }
        }
    }
}

fn print_bracket(
    json: &mut Json,
    ids: bool,
    compaction: &Compaction,
    owner: Option<u64>,
    error: Option<&str>,
) {
    json.raw("{");
    if ids {
        json.raw("\"compactionId\":").text(&compaction.id).raw(",");
    }
    json.raw("\"turn\":");
    match owner {
        Some(turn) => json.int(turn),
        None => json.raw("null"),
    };
    json.maybe(",\"error\":", error).raw("}");
}

fn print_shadowed(json: &mut Json, shadowed: &[u64], tokens: u64) {
    json.raw(",");
    print_range(json, shadowed);
    json.raw(",\"shadowedTokenCount\":").int(tokens);
}

fn print_range(json: &mut Json, shadowed: &[u64]) {
    let ends = (
        shadowed.first().copied().unwrap_or(0),
        shadowed.last().copied().unwrap_or(0),
    );
    json.raw("\"shadowedRange\":{\"start\":")
        .int(ends.0)
        .raw(",\"end\":")
        .int(ends.1)
        .raw("},\"shadowedSeqs\":[");
    json.list(shadowed, |json, &seq| {
        json.int(seq);
    });
    json.raw("]");
}
