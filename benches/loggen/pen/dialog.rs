//! Turns, steps, the inbox and the tools' calls.
//!
//! **Takes** messages. **Gives** events of the dialogue. **Never** writes what a model said: see `response`.

use std::io::{self, Write};

use super::super::header::Head;
use super::message::{Answer, UserMessage, print_text};
use super::surface::{Node, Role};
use super::{Pen, Sources};

impl<W: Write> Pen<W> {
    /// What a composition of releases after 0.1.1 writes first: its presets.
    pub fn write_presets(&mut self) -> io::Result<()> {
        if !self.shape.series() {
            return Ok(());
        }
        for (kind, data) in [
            ("permission/preset", "{\"preset\":\"workspace-write\"}"),
            ("sandbox/mode", "{\"mode\":\"workspace-write\"}"),
            ("approval/policy", "{\"policy\":\"never\"}"),
        ] {
            self.event(kind, |json| {
                json.raw(data);
            })?;
        }
        Ok(())
    }

    /// Opens the next turn for a message of the user.
    pub fn open_turn(&mut self, input: &UserMessage) -> io::Result<()> {
        self.turn += 1;
        self.step = 0;
        self.counts.turns += 1;
        let turn = self.turn;
        if self.shape.identified() {
            self.queue("next-turn", input)?;
            self.wait(1);
            self.event("turn/start", |json| {
                json.raw("{\"turn\":").int(turn).raw("}");
            })?;
            self.unqueue("next-turn")?;
        } else {
            self.event("turn/start", |json| {
                json.raw("{\"turn\":")
                    .int(turn)
                    .raw(",\"trigger\":{\"kind\":\"message\",\"source\":{\"kind\":\"user\"}}}");
            })?;
            self.write_user(input)?;
        }
        self.sink.end_batch()
    }

    /// Puts a message into the inbox.
    fn queue(&mut self, target: &str, message: &UserMessage) -> io::Result<()> {
        let shape = self.shape;
        self.event("agent/inbox/spliced", |json| {
            json.raw("{\"target\":")
                .text(target)
                .raw(",\"start\":0,\"inserted\":[");
            message.print(shape, json);
            json.raw("]}");
        })?;
        Ok(())
    }

    fn unqueue(&mut self, target: &str) -> io::Result<()> {
        self.event("agent/inbox/spliced", |json| {
            json.raw("{\"target\":")
                .text(target)
                .raw(",\"start\":0,\"removedCount\":1,\"inserted\":[]}");
        })?;
        Ok(())
    }

    /// The user speaks while tools run: at once in the seed's era, else queued for the next step.
    pub fn steer(&mut self, message: &UserMessage) -> io::Result<()> {
        if self.shape.identified() {
            return self.queue("next-step", message);
        }
        let turn = self.turn;
        self.append("steering/message", Sources::None, message.node(), |json| {
            json.raw("{\"turn\":").int(turn).raw(",\"content\":");
            message.print_content(json);
            json.raw(",\"source\":{\"kind\":\"user\"}}");
        })?;
        Ok(())
    }

    /// Takes a steering message out of the inbox, before the step that will show it.
    pub fn claim_steering(&mut self) -> io::Result<()> {
        if self.shape.identified() {
            self.unqueue("next-step")
        } else {
            Ok(())
        }
    }

    /// A plugin of the seed's era puts context into the conversation.
    pub fn write_context(&mut self, text: &str) -> io::Result<()> {
        let node = Node {
            role: Role::User,
            tokens: text.len() as u64 / 4 + 10,
        };
        self.append("context/message", Sources::None, node, |json| {
            json.raw("{\"content\":[");
            print_text(json, text);
            json.raw("],\"source\":{\"kind\":\"plugin\",\"plugin\":\"repo-status\"}}");
        })?;
        Ok(())
    }

    fn write_user(&mut self, message: &UserMessage) -> io::Result<u64> {
        let shape = self.shape;
        self.append("user/message", Sources::None, message.node(), |json| {
            message.print(shape, json)
        })
    }

    /// Opens the next step: its input and what its request needs of a header. `title`: the session gets its title here.
    pub fn open_step(
        &mut self,
        inputs: &[UserMessage],
        head: &Head,
        title: bool,
    ) -> io::Result<()> {
        self.step += 1;
        self.counts.steps += 1;
        self.write_place("step/start")?;
        self.settle_system(head)?;
        let mut first = None;
        // In the seed's era the input stands in front of the step.
        let inside = if self.shape.identified() { inputs } else { &[] };
        for input in inside {
            let seq = self.write_user(input)?;
            first = first.or(Some(seq));
        }
        let titled = first.filter(|_| title);
        if !self.shape.system_on_surface() {
            self.write_title(titled, inputs)?;
        }
        self.settle_header(head)?;
        if self.shape.system_on_surface() {
            self.write_title(titled, inputs)?;
        }
        self.sink.end_batch()
    }

    fn write_title(&mut self, titled: Option<u64>, inputs: &[UserMessage]) -> io::Result<()> {
        let (Some(seq), Some(input)) = (titled, inputs.first()) else {
            return Ok(());
        };
        let title: String = input
            .text
            .chars()
            .filter(|c| !c.is_control())
            .take(24)
            .collect();
        self.event("session/title", |json| {
            json.raw("{\"title\":")
                .text(title.trim())
                .raw(",\"messageSeqs\":[")
                .int(seq);
            json.raw("],\"source\":{\"kind\":\"fallback\"}}");
        })?;
        Ok(())
    }

    fn write_place(&mut self, kind: &str) -> io::Result<()> {
        let (turn, step) = (self.turn, self.step);
        self.event(kind, |json| {
            json.raw("{\"turn\":")
                .int(turn)
                .raw(",\"step\":")
                .int(step)
                .raw("}");
        })?;
        Ok(())
    }

    /// Closes the step.
    pub fn close_step(&mut self) -> io::Result<()> {
        self.write_place("step/end")?;
        self.sink.end_batch()
    }

    /// Closes the turn; `failure`: message and code of the seed-era error that ended it.
    pub fn close_turn(&mut self, failure: Option<(&str, &str)>) -> io::Result<()> {
        let (turn, step) = (self.turn, self.step);
        self.event("turn/end", |json| {
            json.raw("{\"turn\":").int(turn).raw(",\"reason\":");
            match failure {
                None => json.raw("{\"kind\":\"completed\"}}"),
                Some((message, code)) => {
                    json.raw("{\"kind\":\"error\",\"step\":")
                        .int(step)
                        .raw(",\"message\":")
                        .text(message);
                    json.raw(",\"code\":").text(code).raw("}}")
                }
            };
        })?;
        self.sink.end_batch()
    }

    /// A tool is called; gives the event's number.
    pub fn call_tool(&mut self, call: &str, name: &str, arguments: &str) -> io::Result<u64> {
        let (turn, step) = (self.turn, self.step);
        self.event("tool/call", |json| {
            json.raw("{\"turn\":").int(turn).raw(",\"step\":").int(step);
            json.raw(",\"callId\":")
                .text(call)
                .raw(",\"name\":")
                .text(name);
            json.raw(",\"arguments\":").text(arguments).raw("}");
        })
    }

    /// A tool answers the call that was event `call_seq`.
    pub fn answer(&mut self, answer: &Answer, call_seq: u64) -> io::Result<()> {
        let (shape, turn, step) = (self.shape, self.turn, self.step);
        let node = answer.node(turn, step);
        self.append("tool/result", Sources::List(&[call_seq]), node, |json| {
            answer.print(shape, turn, step, json)
        })?;
        self.sink.end_batch()
    }

    /// The todo tool writes its list; `todos` is the JSON of its items.
    pub fn write_todos(&mut self, todos: &str) -> io::Result<()> {
        self.event("todo/write", |json| {
            json.raw("{\"todos\":").raw(todos).raw("}");
        })?;
        Ok(())
    }
}
