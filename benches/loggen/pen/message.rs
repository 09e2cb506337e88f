//! Messages that are not the model's: the user's, the harness's, the tools'.
//!
//! **Takes** texts and ids. **Gives** their JSON in each shape's member order, and their nodes. **Never** writes an event.

use super::super::json::Json;
use super::super::shape::Shape;
use super::surface::{LongResult, Node, Role};

/// Results from this length on may be pruned later.
const LONG: usize = 1600;

/// Who wrote a user message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The human.
    User,
    /// The harness: a snapshot of the runtime, one section.
    Context,
    /// The harness: the model changed.
    ModelNotice {
        /// Both names.
        summary: String,
    },
    /// The harness: a compaction's checkpoint.
    Checkpoint {
        /// The compaction's id.
        compaction: String,
    },
}

/// A message in the user's role.
#[derive(Clone, Debug)]
pub struct UserMessage {
    /// Its id, for shapes that have one.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Who wrote it.
    pub source: Source,
}

impl UserMessage {
    pub(super) fn node(&self) -> Node {
        Node {
            role: Role::User,
            tokens: self.text.len() as u64 / 4 + 4,
        }
    }

    pub(super) fn print_content(&self, json: &mut Json) {
        match &self.source {
            Source::Checkpoint { .. } => {
                json.raw("[")
                    .list([CHECKPOINT_OPEN, &self.text, "</summary>"], print_text)
                    .raw("]");
            }
            _ => {
                json.raw("[");
                print_text(json, &self.text);
                json.raw("]");
            }
        }
    }

    fn print_source(&self, shape: Shape, json: &mut Json) {
        let owned = shape == Shape::V4;
        match &self.source {
            Source::User => json.raw("{\"kind\":\"user\"}"),
            Source::Context => json
                .raw(if owned {
                    "{\"kind\":\"runtime-context\""
                } else {
                    "{\"kind\":\"plugin\",\"plugin\":\"@deepseek-ai/dsh-system-prompt\""
                })
                .raw(",\"form\":\"snapshot\",\"sections\":[{\"name\":\"sandbox:policy\",\"text\":")
                .text(
                    self.text
                        .rsplit_once("\n\n")
                        .map_or("", |(_, section)| section),
                )
                .raw("}]}"),
            Source::ModelNotice { summary } => json
                .raw(if owned {
                    "{\"kind\":\"model-selection\""
                } else {
                    "{\"kind\":\"plugin\",\"plugin\":\"model-selection\""
                })
                .raw(",\"form\":\"notice\",\"summary\":")
                .text(summary)
                .raw("}"),
            Source::Checkpoint { compaction } => {
                json.raw(if owned {
                    "{\"kind\":\"compact-checkpoint\""
                } else {
                    "{\"kind\":\"plugin\",\"plugin\":\"compact\""
                });
                if shape.identified() {
                    json.raw(",\"compactionId\":").text(compaction);
                }
                json.raw("}")
            }
        };
    }

    /// Prints the message as the data of `user/message`.
    pub(super) fn print(&self, shape: Shape, json: &mut Json) {
        json.raw("{\"content\":");
        self.print_content(json);
        json.raw(",\"source\":");
        self.print_source(shape, json);
        if shape.identified() {
            json.raw(",\"role\":\"user\",\"id\":").text(&self.id);
        }
        json.raw("}");
    }
}

const CHECKPOINT_OPEN: &str = "The conversation up to here was condensed to save room. What follows in <summary> is established; go on \
                               from it and do not mention it.\n\n<summary>";

pub(super) fn print_text(json: &mut Json, text: &str) {
    json.raw("{\"type\":\"text\",\"text\":").text(text).raw("}");
}

/// A tool's result.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The call it answers.
    pub call: String,
    /// The tool.
    pub name: &'static str,
    /// What the tool gave.
    pub text: String,
    /// The tool failed.
    pub failed: bool,
    /// The message's id, for shapes that have one.
    pub id: String,
}

impl Answer {
    pub(super) fn print(&self, shape: Shape, turn: u64, step: u64, json: &mut Json) {
        json.raw("{\"turn\":").int(turn).raw(",\"step\":").int(step);
        let failed = if self.failed {
            ",\"isError\":true"
        } else {
            ",\"isError\":false"
        };
        match shape {
            Shape::Seed => {
                json.raw(",\"callId\":")
                    .text(&self.call)
                    .raw(",\"content\":[");
                print_text(json, &self.text);
                json.raw("]").raw(failed).raw("}");
                return;
            }
            Shape::V4 => {
                json.raw(
                    ",\"message\":{\"role\":\"tool\",\"source\":{\"kind\":\"tool\",\"callId\":",
                )
                .text(&self.call);
                json.raw("},\"toolCallId\":")
                    .text(&self.call)
                    .raw(",\"content\":[");
                print_text(json, &self.text);
                json.raw("]")
                    .raw(failed)
                    .raw(",\"id\":")
                    .text(&self.id)
                    .raw("}");
            }
            _ => {
                json.raw(",\"message\":{\"source\":{\"kind\":\"tool\",\"callId\":")
                    .text(&self.call);
                json.raw("},\"content\":[{\"type\":\"tool-result\",\"toolCallId\":")
                    .text(&self.call)
                    .raw(",\"content\":[");
                print_text(json, &self.text);
                json.raw("]")
                    .raw(failed)
                    .raw("}],\"role\":\"user\",\"id\":")
                    .text(&self.id)
                    .raw("}");
            }
        }
        if self.failed {
            json.raw(",\"error\":{\"name\":\"ToolError\",\"code\":\"TOOL_FAILED\"}");
        }
        if shape == Shape::V4 && self.name == "bash" {
            json.raw(",\"meta\":{\"cwd\":\"/work/shop\"}");
        }
        json.raw("}");
    }

    pub(super) fn node(&self, turn: u64, step: u64) -> Node {
        let long = self.text.len() >= LONG;
        let result = long.then(|| {
            let (head, tail) = super::super::text::ends(&self.text, 500, 250);
            let pruned = format!("{head}\n\n[… the middle of this result was pruned …]\n\n{tail}");
            let answer = Answer {
                text: String::new(),
                ..self.clone()
            };
            Box::new(LongResult {
                turn,
                step,
                answer,
                pruned,
            })
        });
        Node {
            role: Role::Tool(result),
            tokens: self.text.len() as u64 / 4 + 6,
        }
    }
}
