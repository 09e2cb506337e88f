//! What the harness tells the model: system prompt and runtime context.
//!
//! **Takes** the state of the story. **Gives** texts. **Never** writes them.

use std::io::Write;

use super::super::pen::{Source, UserMessage};
use super::Story;

/// The paragraphs of the system prompt.
const RULES: [&str; 5] = [
    "Look before you change: read a file before you edit it, and search before you say that something is not there. Prefer small \
     steps whose effect can be seen, and say what you did in one or two sentences.",
    "Every command's result ends with a line like `[exit code: 0]`. If it is not zero, find out why before you go on; a failing test \
     is never \"probably unrelated\".",
    "Use `read` — not `cat` — for files, and `edit` for changes of a few lines. `write` replaces the whole file: never use it on a \
     file that you have not read in this session.",
    "The project is a shop: `src/` is Rust, `web/` is TypeScript, `migrations/` is SQL. Tests run with `cargo test --workspace` and \
     `npm --prefix web test`. Generated files under `web/dist/` are not edited by hand.",
    "Answer in the user's language (English, Deutsch, 日本語, …). Do not praise the question, do not apologise twice, do not guess \
     versions: look at `Cargo.lock` and `web/package-lock.json`.",
];

impl<W: Write> Story<'_, W> {
    pub(super) fn system_prompt(&self) -> String {
        let mut prompt =
            String::from("You are an agent that works in the user's project with the tools below.");
        if !self.recipe.is_lean() {
            for rule in RULES {
                prompt.push_str("\n\n");
                prompt.push_str(rule);
            }
        }
        prompt.push_str(&format!(
            "\n\nHouse rule {}: prices are in cents and round half up.",
            self.rule
        ));
        if self.recipe.habits.clock {
            let seconds = 9 * 3600 + (self.pen.now() - self.pen.shape().first_moment()) / 1000;
            let (day, rest) = (seconds / 86_400, seconds % 86_400);
            prompt.push_str(&format!(
                "\n\nIt is day {day}, {:02}:{:02}:{:02}.",
                rest / 3600,
                rest % 3600 / 60,
                rest % 60
            ));
        }
        prompt
    }

    pub(super) fn runtime_context(&mut self) -> UserMessage {
        let text = "What holds at run time. This replaces earlier such messages.\n\nWrites are confined to the project; approval is never \
                    asked for, so what needs it is refused.";
        UserMessage {
            id: self.rng.uuid(),
            text: text.into(),
            source: Source::Context,
        }
    }
}
