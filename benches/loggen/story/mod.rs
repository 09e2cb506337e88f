//! What happens in a session, told the same way for every shape.
//!
//! **Takes** a [`Recipe`]. **Gives** calls of the pen. **Never** lets the shape change a draw of the generator, so
//! that one seed gives one session in all identified shapes.

mod deck;
mod prompt;
mod work;

use std::io::{self, Write};

use super::Recipe;
use super::header::{EXTRA_TOOLS, Head, TOOLS};
use super::pen::{Compaction, Pen, Source, UserMessage};
use super::rng::Rng;
use super::stream::{Failure, Finish};
use super::text::{Flavour, Writer};
use deck::{Deck, Happening};

/// A conversation of this many tokens is always condensed.
const CONTEXT_LIMIT: u64 = 400_000;

const FAILURES: [Failure; 3] = [
    Failure {
        message: "HTTP 503 from the provider",
        code: "SERVER",
        status: Some(503),
    },
    Failure {
        message: "rate limit reached",
        code: "RATE_LIMIT",
        status: Some(429),
    },
    Failure {
        message: "connection closed before the response ended",
        code: "TRANSPORT",
        status: None,
    },
];

/// A session being told.
pub struct Story<'r, W> {
    recipe: &'r Recipe,
    rng: Rng,
    pen: Pen<W>,
    head: Head,
    deck: Deck,
    writer: Writer,
    turns: u64,
    steps: u64,
    /// About the bytes so far, had the session been written as raw version-0 lines.
    raw: u64,
    /// About the tokens of the conversation.
    weight: u64,
    rule: u64,
    resume: Option<bool>,
    manual_compaction: bool,
    context_due: bool,
    inputs: Vec<UserMessage>,
}

/// How a step ended.
enum Ended {
    Step,
    Turn,
    /// The seed's era does not retry: the turn ends with the step.
    Failed(Failure),
}

impl<'r, W: Write> Story<'r, W> {
    /// Begins a session with `pen`, which has just written the header line.
    pub fn begin(recipe: &'r Recipe, seed: u64, mut pen: Pen<W>) -> io::Result<Self> {
        let mut rng = Rng::new(seed);
        let writer = Writer {
            unicode: recipe.habits.unicode,
        };
        let lean = recipe.is_lean();
        let mut tools = TOOLS.to_vec();
        if lean {
            tools.retain(|tool| matches!(tool.name, "edit" | "read"));
        }
        let head = Head {
            model: recipe.model,
            max_effort: false,
            system: String::new(),
            tools,
        };
        if !lean {
            pen.set_prefix(writer.write(&mut rng, Flavour::Prose, 600));
        }
        pen.write_presets()?;
        let deck = Deck::new(&recipe.habits, recipe.cadence);
        Ok(Self {
            recipe,
            rng,
            pen,
            head,
            deck,
            writer,
            turns: 0,
            steps: 0,
            raw: 0,
            weight: 0,
            rule: 1,
            resume: None,
            manual_compaction: false,
            context_due: true,
            inputs: Vec::new(),
        })
    }

    /// Tells turns until the recipe is fulfilled, or until `turns` have passed.
    pub fn tell(&mut self, turns: Option<u64>) -> io::Result<()> {
        while !self.is_over() && turns.is_none_or(|turns| self.turns < turns) {
            self.turn()?;
        }
        Ok(())
    }

    /// Goes on as another session that inherited everything so far.
    pub fn fork(&mut self, seed: u64) -> io::Result<()> {
        self.rng = Rng::new(seed);
        self.resume = None;
        self.manual_compaction = false;
        self.pen.wait(1000);
        self.pen.load(true)
    }

    /// The pen, to end the log.
    pub fn into_pen(self) -> Pen<W> {
        self.pen
    }

    /// How many turns there are.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The pen, to look at numbers and times.
    pub fn pen(&self) -> &Pen<W> {
        &self.pen
    }

    fn is_over(&self) -> bool {
        match (self.recipe.steps, self.recipe.bytes) {
            (Some(steps), _) => self.steps >= steps,
            (None, bytes) => {
                self.steps > 0 && self.raw + self.recipe.step_bytes() / 2 >= bytes.unwrap_or(0)
            }
        }
    }

    /// Whether the step after this one would be too many.
    fn is_last_step(&self) -> bool {
        match (self.recipe.steps, self.recipe.bytes) {
            (Some(steps), _) => self.steps >= steps,
            (None, bytes) => self.raw + self.recipe.step_bytes() * 3 / 2 >= bytes.unwrap_or(0),
        }
    }

    fn turn(&mut self) -> io::Result<()> {
        self.between_turns()?;
        self.turns += 1;
        let size = self.rng.between(12, 400) as usize;
        let text = self.write(Flavour::Prose, size);
        let input = UserMessage {
            id: self.rng.uuid(),
            text,
            source: Source::User,
        };
        self.raw += 3 * input.text.len() as u64 + 900;
        self.weight += input.text.len() as u64 / 4;
        self.pen.open_turn(&input)?;
        self.inputs.push(input);
        let wanted = self.rng.between(1, 9);
        for step in 1.. {
            if step > 1 {
                self.pen.wait(self.rng.between(1, 12));
            }
            match self.step(step >= wanted)? {
                Ended::Step => {}
                Ended::Turn => return self.pen.close_turn(None),
                Ended::Failed(failure) => {
                    return self.pen.close_turn(Some((failure.message, failure.code)));
                }
            }
        }
        Ok(())
    }

    fn between_turns(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.manual_compaction) {
            self.compact(true, false)?;
        }
        if let Some(drift) = self.resume.take() {
            self.pen.wait(self.rng.between(60_000, 20_000_000));
            self.pen.load(false)?;
            if drift {
                self.rule += 1;
            }
        } else {
            self.pen.wait(self.rng.between(2_000, 300_000));
        }
        Ok(())
    }

    fn step(&mut self, wants_end: bool) -> io::Result<Ended> {
        self.steps += 1;
        let budget = self.recipe.budget(self.steps, self.raw, &mut self.rng);
        let happening = self.deck.draw(&mut self.rng);
        let ends = wants_end || self.is_last_step() || matches!(happening, Some(Happening::Resume));
        self.happen(happening, ends)?;
        if self.weight > CONTEXT_LIMIT && self.recipe.habits.compactions {
            self.compact(false, false)?;
        }
        self.head.system = self.system_prompt();
        if std::mem::take(&mut self.context_due) {
            let context = self.runtime_context();
            self.inputs.push(context);
        }
        self.raw += 250 + self.recipe.clock_cost(&self.head);
        self.pen
            .open_step(&self.inputs, &self.head, self.steps == 1)?;
        self.inputs.clear();
        if matches!(happening, Some(Happening::Retry)) {
            let failure = self.fail_attempts(budget / 8)?;
            if !self.pen.shape().identified() {
                self.pen.close_step()?;
                return Ok(Ended::Failed(failure));
            }
        }
        let response = self.plan_response(budget, !ends);
        self.raw += response.raw_size();
        self.weight += response.tokens();
        let id = self.rng.uuid();
        self.pen.respond(&response, &id)?;
        let steering = matches!(happening, Some(Happening::Steering)) && !ends;
        self.run_tools(&response, steering)?;
        self.pen.close_step()?;
        if steering {
            self.pen.claim_steering()?;
        }
        Ok(if ends { Ended::Turn } else { Ended::Step })
    }

    /// Attempts that fail, each with what it streamed before; gives the last failure.
    fn fail_attempts(&mut self, budget: u64) -> io::Result<Failure> {
        let retry = self.rng.uuid();
        let attempts = self.rng.between(1, 3);
        let mut failure = FAILURES[0];
        for attempt in 1..=attempts {
            failure = FAILURES[self.rng.below(FAILURES.len() as u64) as usize];
            let mut response = self.plan_response(budget, true);
            let left = self.rng.below(response.blocks.len() as u64 + 1) as usize;
            response.blocks.truncate(left);
            if let Some(block) = response.blocks.last_mut() {
                let deltas = self.rng.between(1, block.ends.len() as u64) as usize;
                block.truncate(deltas);
            }
            response.finish = Finish::Failed(failure);
            self.raw += response.raw_size() + 800;
            self.pen.respond(&response, "")?;
            if !self.pen.shape().identified() {
                break;
            }
            self.pen.retry(&retry, attempt, failure)?;
        }
        Ok(failure)
    }

    fn happen(&mut self, happening: Option<Happening>, ends: bool) -> io::Result<()> {
        match happening {
            Some(Happening::Compaction) => self.compact(false, false)?,
            Some(Happening::FailedCompaction) => self.compact(false, true)?,
            Some(Happening::ManualCompaction) => {
                self.manual_compaction = self.pen.shape().identified()
            }
            Some(Happening::Prune) => self.pen.prune(2)?,
            Some(Happening::Resume) => self.resume = Some(self.rng.one_in(2)),
            Some(Happening::System) => self.rule += 1,
            Some(Happening::AddTool) => {
                let missing = EXTRA_TOOLS
                    .iter()
                    .find(|tool| self.head.tools.iter().all(|has| has.name != tool.name));
                self.head.tools.extend(missing.cloned());
            }
            Some(Happening::RemoveTool) => {
                let extra = |name| EXTRA_TOOLS.iter().any(|tool| tool.name == name);
                if let Some(at) = self.head.tools.iter().position(|tool| extra(tool.name)) {
                    self.head.tools.remove(at);
                }
            }
            Some(Happening::EditTool) => {
                let at = self.rng.below(self.head.tools.len() as u64) as usize;
                self.head.tools[at].edition += 1;
            }
            Some(Happening::MoveTools) => self.head.tools.rotate_left(1),
            Some(Happening::Model) => self.switch_model(),
            Some(Happening::Effort) => self.head.max_effort = !self.head.max_effort,
            // These stand inside a step.
            Some(Happening::Retry | Happening::Steering) | None => {}
        }
        debug_assert!(!matches!(happening, Some(Happening::Resume)) || ends);
        Ok(())
    }

    fn switch_model(&mut self) {
        let (old, new) = (self.head.model, self.head.model.other());
        self.head.model = new;
        self.inputs.push(UserMessage {
            id: self.rng.uuid(),
            text: format!(
                "[From here on answers come from {}, those above came from {}.]",
                new.name(),
                old.name()
            ),
            source: Source::ModelNotice {
                summary: format!("{} → {}", old.name(), new.name()),
            },
        });
    }

    fn compact(&mut self, manual: bool, fails: bool) -> io::Result<()> {
        let length = self.rng.between(300, 1500) as usize;
        let summary = format!(
            "## Goal and state\n\n{}",
            self.write(Flavour::Prose, length)
        );
        let (id, message) = (self.rng.uuid(), self.rng.uuid());
        if self.pen.compact(&Compaction {
            id,
            summary,
            message,
            manual,
            fails,
        })? {
            self.weight = length as u64;
            self.context_due = self.pen.shape().identified();
        }
        Ok(())
    }

    fn write(&mut self, flavour: Flavour, length: usize) -> String {
        self.writer.write(&mut self.rng, flavour, length)
    }
}
