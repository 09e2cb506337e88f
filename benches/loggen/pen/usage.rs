//! Token numbers that a provider with a prefix cache would have reported.
//!
//! **Takes** prompt sizes and breaks of the prefix. **Gives** [`Usage`]: hits are multiples of 128 and follow cache.md.
//! **Never** judges: a logged break gives a small hit or none.

use super::super::json::Json;
use super::super::rng::Rng;
use super::super::shape::Shape;

/// The reported tokens of one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// Prompt tokens the cache did not have.
    pub input: u64,
    pub output: u64,
    pub read: u64,
    pub reasoning: u64,
}

impl Usage {
    /// Prints the usage in the member order of `shape` (format-generations.md 2.4).
    pub(super) fn print(&self, shape: Shape, json: &mut Json) {
        json.raw("{\"inputTokens\":")
            .int(self.input)
            .raw(",\"outputTokens\":")
            .int(self.output);
        let total = self.input + self.read + self.output;
        match shape {
            Shape::V4 => {
                json.raw(",\"cacheReadTokens\":")
                    .int(self.read)
                    .raw(",\"totalTokens\":")
                    .int(total)
                    .raw("}");
                return;
            }
            Shape::Late | Shape::V3 => json.raw(",\"totalTokens\":").int(total),
            _ => json,
        };
        json.raw(",\"cacheReadTokens\":").int(self.read);
        if self.reasoning > 0 {
            json.raw(",\"reasoningTokens\":").int(self.reasoning);
        }
        json.raw("}");
    }
}

/// The provider's cache, as far as one session sees it.
#[derive(Debug)]
pub(super) struct Meter {
    seed: u64,
    reported: u64,
    header_tokens: u64,
    last: Option<(u64, u64)>,
    kept: Option<u64>,
}

impl Meter {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            reported: 0,
            header_tokens: 0,
            last: None,
            kept: None,
        }
    }

    /// The tokens of what stands in front of the messages.
    pub(super) fn header_tokens(&self) -> u64 {
        self.header_tokens
    }

    pub(super) fn set_header_tokens(&mut self, tokens: u64) {
        self.header_tokens = tokens;
    }

    /// Only the first `kept` tokens of the last prompt still begin the next one.
    pub(super) fn break_at(&mut self, kept: u64) {
        self.kept = Some(self.kept.map_or(kept, |before| before.min(kept)));
    }

    /// What is reported for a prompt of `prompt` tokens and an answer of `output`.
    pub(super) fn report(&mut self, prompt: u64, output: u64, reasoning: u64) -> Usage {
        self.reported += 1;
        let mut rng = Rng::new(self.seed ^ self.reported.wrapping_mul(0x9e37_79b9));
        let warm = match (self.last, self.kept.take()) {
            (None, _) => 0,
            (Some(_), Some(kept)) => kept * 7 / 10,
            (Some((before, answer)), None) => before + rng.below(answer + 1),
        };
        let read = warm.min(prompt) / 128 * 128;
        self.last = Some((prompt, output));
        Usage {
            input: prompt - read,
            output,
            read,
            reasoning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_follow_the_cache_model() {
        let mut meter = Meter::new(1);
        assert_eq!(meter.report(1000, 100, 0).read, 0);
        let kept = meter.report(1300, 50, 0);
        assert!(kept.read.is_multiple_of(128) && (896..=1024).contains(&kept.read));
        assert_eq!(kept.input + kept.read, 1300);
        meter.break_at(0);
        assert_eq!(meter.report(1400, 50, 0).read, 0);
        meter.break_at(1000);
        assert_eq!(meter.report(1400, 50, 0).read, 640);
    }
}
