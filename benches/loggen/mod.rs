//! Healthy session logs of any size, of every shape, from a seed.
//!
//! **Takes** a [`Recipe`]. **Gives** the log that the harness's writer of that shape would have written: canonical lines, right
//! member orders, messages that are what their chunks assemble to, plausible cache numbers. **Never** holds more than one step.
//!
//! One seed tells one session: `released`, `packed`, `late`, `v2`, `v3` and `v4` differ in their form, not in what was said.
#![allow(dead_code, reason = "the binary and each test use a part of it")]
#![allow(unreachable_pub, reason = "a crate of its own in all but name")]

mod header;
mod json;
mod pen;
mod rng;
mod shape;
mod sink;
mod story;
mod stream;
mod text;

use std::io::{self, Write};

pub use header::Model;
pub use pen::Counts;
pub use shape::Shape;
pub use sink::Encoding;

use header::Head;
use pen::{Opening, Pen};
use rng::Rng;
use sink::Sink;
use story::Story;

/// Which unusual things happen in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// Compactions (also failed and manual ones) and pruned results.
    pub compactions: bool,
    /// Changes of system prompt, tools, model and effort.
    pub header_changes: bool,
    /// Attempts that fail and are repeated.
    pub retries: bool,
    /// Processes that go on with the log.
    pub resumes: bool,
    /// Messages while tools run.
    pub steering: bool,
    /// Other scripts and emoji.
    pub unicode: bool,
    /// The time of day in the system prompt.
    pub clock: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            compactions: true,
            header_changes: true,
            retries: true,
            resumes: true,
            steering: true,
            unicode: true,
            clock: false,
        }
    }
}

/// A fork's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The seed of the parent, which is told with the same recipe.
    pub parent: u64,
    /// The turn behind which the fork begins.
    pub turn: u64,
}

/// What log to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The dialect.
    pub shape: Shape,
    /// Raw or compressed.
    pub encoding: Encoding,
    /// What the session depends on.
    pub seed: u64,
    /// End after this many steps.
    pub steps: Option<u64>,
    /// End at about this size; whatever the shape, the size is the one the session has as raw `released` lines.
    pub bytes: Option<u64>,
    /// The raw size of a step; otherwise derived from `bytes` and `steps`.
    pub step_size: Option<u64>,
    /// The model at the beginning.
    pub model: Model,
    /// Something unusual happens about every `cadence` steps.
    pub cadence: u64,
    /// What may happen.
    pub habits: Habits,
    /// The log is a fork.
    pub fork: Option<Fork>,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            shape: Shape::Released,
            encoding: Encoding::Raw,
            seed: 1,
            steps: None,
            bytes: None,
            step_size: None,
            model: Model::Flash,
            cadence: 12,
            habits: Habits::default(),
            fork: None,
        }
    }
}

impl Recipe {
    /// The raw size of an average step, in bytes.
    pub fn step_bytes(&self) -> u64 {
        match (self.step_size, self.bytes, self.steps) {
            (Some(size), ..) => size,
            (None, Some(bytes), Some(steps)) => bytes / steps.max(1),
            (None, Some(bytes), None) => (bytes / 400).clamp(6_000, 512_000),
            (None, None, _) => 24_000,
        }
    }

    /// Small steps get a short system prompt and few tools, so that they do not drown in headers.
    fn is_lean(&self) -> bool {
        self.step_bytes() < 6_000
    }

    /// The raw bytes that step `number` may stream, after `used` bytes in all.
    fn budget(&self, number: u64, used: u64, rng: &mut Rng) -> u64 {
        let mean = match (self.step_size, self.bytes, self.steps) {
            (None, Some(bytes), Some(steps)) => {
                bytes.saturating_sub(used) / (steps + 1).saturating_sub(number).max(1)
            }
            _ => self.step_bytes(),
        };
        if number == self.steps.unwrap_or(0) {
            mean
        } else {
            mean * rng.between(50, 150) / 100
        }
    }

    /// About the raw bytes of the headers that a clock causes at every step.
    fn clock_cost(&self, head: &Head) -> u64 {
        if self.habits.clock {
            head.system.len() as u64 + 4 * head.tool_tokens() + 300
        } else {
            0
        }
    }

    fn session_id(seed: u64) -> String {
        Rng::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)).uuid()
    }
}

/// Writes the log of `recipe` to `out`.
///
/// # Errors
///
/// What `out` gives; `InvalidInput` for a fork behind a turn that the parent does not have.
pub fn write_log(recipe: &Recipe, out: impl Write) -> io::Result<Counts> {
    let Some(fork) = recipe.fork else {
        let mut story = begin(recipe, recipe.seed, None, out)?;
        story.tell(None)?;
        return story.into_pen().finish();
    };
    let mut parent = begin(recipe, fork.parent, None, io::sink())?;
    parent.tell(Some(fork.turn))?;
    if parent.turns() < fork.turn {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the parent has fewer turns",
        ));
    }
    let inherited = (parent.pen().next_seq(), parent.pen().now() + 1000);
    let mut story = begin(recipe, fork.parent, Some(inherited), out)?;
    story.tell(Some(fork.turn))?;
    story.fork(recipe.seed)?;
    story.tell(None)?;
    story.into_pen().finish()
}

/// Opens the log of the session that `seed` tells; `inherited`: number of events and moment of the fork.
fn begin<W: Write>(
    recipe: &Recipe,
    seed: u64,
    inherited: Option<(u64, u64)>,
    out: W,
) -> io::Result<Story<'_, W>> {
    let start = recipe.shape.first_moment();
    let opening = Opening {
        id: Recipe::session_id(recipe.seed),
        created: inherited.map_or(start, |(_, moment)| moment),
        parent: inherited.map(|(events, _)| (Recipe::session_id(seed), events)),
    };
    let sink = Sink::new(out, recipe.encoding)?;
    let pen = Pen::open(recipe.shape, sink, &opening, start, seed)?;
    Story::begin(recipe, seed, pen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(recipe: &Recipe) -> Vec<u8> {
        let mut out = Vec::new();
        write_log(recipe, &mut out).expect("memory takes every byte");
        out
    }

    #[test]
    fn the_same_recipe_gives_the_same_bytes() {
        let recipe = Recipe {
            steps: Some(40),
            step_size: Some(7000),
            cadence: 2,
            ..Recipe::default()
        };
        assert_eq!(log(&recipe), log(&recipe));
        assert_ne!(
            log(&recipe),
            log(&Recipe {
                seed: 2,
                ..recipe.clone()
            })
        );
    }

    #[test]
    fn a_compressed_log_decodes_to_the_raw_one() {
        let raw = Recipe {
            steps: Some(12),
            cadence: 2,
            ..Recipe::default()
        };
        let compressed = log(&Recipe {
            encoding: Encoding::Zstd,
            ..raw.clone()
        });
        assert_eq!(
            zstd::stream::decode_all(&compressed[..]).expect("whole frames"),
            log(&raw)
        );
    }

    #[test]
    fn a_wished_size_is_met() {
        let recipe = Recipe {
            bytes: Some(3_000_000),
            steps: Some(60),
            ..Recipe::default()
        };
        let size = log(&recipe).len();
        assert!((2_700_000..3_300_000).contains(&size), "{size}");
    }

    #[test]
    fn a_fork_begins_like_its_parent() {
        for (_, shape) in Shape::NAMES {
            let parent = Recipe {
                shape,
                seed: 5,
                steps: Some(40),
                cadence: 2,
                ..Recipe::default()
            };
            let child = Recipe {
                seed: 6,
                fork: Some(Fork { parent: 5, turn: 3 }),
                ..parent.clone()
            };
            let (parent, child) = (log(&parent), log(&child));
            let body = |log: &[u8]| {
                log.iter()
                    .position(|&byte| byte == b'\n')
                    .expect("a header line")
            };
            let (parent, child) = (&parent[body(&parent)..], &child[body(&child)..]);
            let shared = parent.iter().zip(child).take_while(|(a, b)| a == b).count();
            assert!(
                shared > 2000 && shared < child.len() && shared < parent.len(),
                "{shape:?} shares {shared}"
            );
        }
    }
}
