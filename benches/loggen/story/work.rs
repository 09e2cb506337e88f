//! The model's work: what it says, which tools it calls, what they answer.
//!
//! **Takes** a budget of bytes. **Gives** a [`Response`] and the tools' answers. **Never** calls a tool that the header lacks.

use std::io::{self, Write};

use super::super::json::Json;
use super::super::pen::{Answer, Source, UserMessage};
use super::super::stream::{Block, Finish, Kind, Response};
use super::super::text::Flavour;
use super::Story;

impl<W: Write> Story<'_, W> {
    /// A response that takes about `budget` bytes as raw version-0 lines.
    pub(super) fn plan_response(&mut self, budget: u64, calls: bool) -> Response {
        // A byte of text costs 31 bytes in its delta's line and is written three times.
        let letters = (budget / 34).max(24) as usize;
        let mut blocks = Vec::new();
        let thinks = !self.rng.one_in(8);
        if thinks {
            let text = self.write(Flavour::Prose, letters * 45 / 100);
            blocks.push(Block::new(&mut self.rng, Kind::Reasoning, text));
        }
        let left = if thinks { letters * 55 / 100 } else { letters };
        if !calls || self.rng.one_in(2) {
            let text = self.write(Flavour::Prose, if calls { left / 2 } else { left });
            blocks.push(Block::new(&mut self.rng, Kind::Text, text));
        }
        if calls {
            let count = if self.rng.one_in(4) {
                self.rng.between(2, 4)
            } else {
                1
            };
            for at in 0..count {
                let (name, arguments) = self.plan_call(left / (2 * count as usize));
                let id = format!(
                    "call_{at:02}_{:016x}{:04x}",
                    self.rng.bits(),
                    self.rng.below(1 << 16)
                );
                blocks.push(Block::new(
                    &mut self.rng,
                    Kind::Call { id, name },
                    arguments,
                ));
            }
        }
        let finish = if calls {
            Finish::ToolCalls
        } else {
            Finish::Stop
        };
        Response {
            blocks,
            finish,
            delay: self.rng.between(300, 2500),
        }
    }

    /// A call with about `letters` bytes of arguments.
    fn plan_call(&mut self, letters: usize) -> (&'static str, String) {
        let at = self.rng.below(self.head.tools.len() as u64) as usize;
        let long = letters > 400 && !self.recipe.is_lean();
        let name = match self.head.tools[at].name {
            "bash" | "read" | "grep" | "glob" if long => "write",
            name => name,
        };
        let path = self.writer.path(&mut self.rng);
        let mut json = Json::default();
        match name {
            "bash" => {
                let command = format!(
                    "cd web && npm test -- --filter \"{path}\" | tail -n {}",
                    self.rng.between(5, 200)
                );
                json.raw("{\"description\":\"Run the tests\",\"command\":")
                    .text(&command)
                    .raw("}")
            }
            "edit" => {
                let old = self.write(Flavour::Code, letters / 2);
                let new = self.write(Flavour::Code, letters / 2);
                json.raw("{\"file_path\":")
                    .text(path)
                    .raw(",\"old_text\":")
                    .text(&old)
                    .raw(",\"new_text\":")
                    .text(&new)
                    .raw("}")
            }
            "write" => {
                let content = self.write(Flavour::Code, letters);
                json.raw("{\"file_path\":")
                    .text(path)
                    .raw(",\"content\":")
                    .text(&content)
                    .raw("}")
            }
            "read" => json
                .raw("{\"file_path\":")
                .text(path)
                .raw(",\"offset\":")
                .int(self.rng.below(400))
                .raw("}"),
            "task" | "translate" => {
                let text = self.write(Flavour::Prose, letters.max(40));
                json.raw(if name == "task" {
                    "{\"prompt\":"
                } else {
                    "{\"text\":"
                })
                .text(&text)
                .raw("}")
            }
            "todo" => json.raw("{\"todos\":").raw(&self.todos()).raw("}"),
            "browse" => json.raw("{\"url\":\"https://example.org/orders\"}"),
            "tickets" => json
                .raw("{\"number\":")
                .int(self.rng.between(1, 5000))
                .raw("}"),
            _ => json.raw("{\"pattern\":").text(path).raw("}"),
        };
        (name, json.into_string())
    }

    /// Items of a todo list: one done, one under way, some left.
    fn todos(&mut self) -> String {
        let mut json = Json::default();
        let count = self.rng.between(2, 5);
        json.raw("[").list(0..count, |json, at| {
            let path = self.writer.path(&mut self.rng);
            let status = ["completed", "in_progress", "pending"][(at as usize).min(2)];
            json.raw("{\"content\":")
                .text(&format!("{}. check {path}", at + 1));
            json.raw(",\"status\":").text(status).raw("}");
        });
        json.raw("]");
        json.into_string()
    }

    /// Runs the response's calls, one after the other or all at once; `steering`: the user speaks meanwhile.
    pub(super) fn run_tools(&mut self, response: &Response, steering: bool) -> io::Result<()> {
        let together = self.rng.one_in(3) && self.pen.shape().identified();
        let calls: Vec<_> = response.calls().collect();
        let mut open = Vec::new();
        for (at, &(call, name, arguments)) in calls.iter().enumerate() {
            self.pen.wait(1);
            open.push((call, name, self.pen.call_tool(call, name, arguments)?));
            if name == "todo" {
                let list = arguments
                    .strip_prefix("{\"todos\":")
                    .and_then(|rest| rest.strip_suffix('}'));
                self.pen.write_todos(list.unwrap_or("[]"))?;
            }
            if steering && at == 0 && self.pen.shape().identified() {
                self.steer()?;
            }
            if together && at + 1 < calls.len() {
                continue;
            }
            for (call, name, seq) in std::mem::take(&mut open) {
                let answer = self.plan_answer(call, name);
                self.pen.wait(self.rng.between(3, 9000));
                self.pen.answer(&answer, seq)?;
            }
        }
        if !self.pen.shape().identified() && !calls.is_empty() {
            if steering {
                self.steer()?;
            } else if self.steps.is_multiple_of(7) {
                self.pen
                    .write_context("The working tree has changed files: src/basket.rs")?;
            }
        }
        Ok(())
    }

    fn steer(&mut self) -> io::Result<()> {
        let text = self.write(Flavour::Prose, 80);
        let message = UserMessage {
            id: self.rng.uuid(),
            text,
            source: Source::User,
        };
        self.pen.steer(&message)?;
        self.inputs.push(message);
        Ok(())
    }

    fn plan_answer(&mut self, call: &str, name: &'static str) -> Answer {
        let failed = self.rng.one_in(15);
        let typical = (self.recipe.step_bytes() / 40).clamp(60, 16_000);
        let length = match self.rng.below(20) {
            0 => self.rng.between(4 * typical, (16 * typical).min(256_000)),
            1..=3 => self.rng.between(typical, 4 * typical),
            _ => self.rng.between(20, typical),
        };
        let text = match name {
            _ if failed => format!("Error: {}", self.write(Flavour::Terminal, 120)),
            "write" | "edit" | "todo" => "Done.".to_owned(),
            "read" => self.write(Flavour::Code, length as usize),
            "task" | "translate" | "browse" => self.write(Flavour::Prose, length as usize),
            _ => format!(
                "{}[exit code: 0]",
                self.write(Flavour::Terminal, length as usize)
            ),
        };
        self.raw += text.len() as u64 + 700;
        self.weight += text.len() as u64 / 4;
        Answer {
            call: call.to_owned(),
            name,
            text,
            failed,
            id: self.rng.uuid(),
        }
    }
}
