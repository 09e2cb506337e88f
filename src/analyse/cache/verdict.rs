//! The check of a prediction against the reported usage.
//!
//! **Takes** tokens and shares. **Gives** a verdict, the window and the tokens lost. **Never** reads a log.
//!
//! Source: cache model, "Check against usage".

use super::super::answer::{CacheVerdict, Expectation, SCALE, Unit};

/// Hits whose common divisor is trusted.
const ENOUGH_HITS: usize = 4;

/// What is known of the request before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warm {
    /// Its prompt, in tokens.
    pub(super) prompt: u64,
    /// Its output; absent where a request without usage stands in between.
    pub(super) output: Option<u64>,
}

/// What is known of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    pub(super) prompt: u64,
    pub(super) hit: Option<u64>,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) verdict: CacheVerdict,
    pub(super) expected: Option<Expectation>,
    pub(super) lost: Option<u64>,
}

impl Outcome {
    pub(super) fn without_judgement(verdict: CacheVerdict) -> Outcome {
        Outcome {
            verdict,
            expected: None,
            lost: None,
        }
    }
}

pub(super) fn floor(tokens: u64, unit: Unit) -> u64 {
    tokens - tokens % unit.tokens.max(1)
}

/// Judges a request whose prompt extends the one before it.
pub(super) fn extends(request: Reported, warm: Warm, unit: Unit) -> Outcome {
    let low = floor(warm.prompt.min(request.prompt), unit);
    let high = match warm.output {
        Some(output) => floor(warm.prompt.saturating_add(output), unit),
        None => floor(request.prompt, unit),
    };
    let high = high.max(low);
    if low == 0 {
        return Outcome::without_judgement(CacheVerdict::BelowUnit);
    }
    let Some(hit) = request.hit else {
        return Outcome::without_judgement(CacheVerdict::NotReported);
    };
    let verdict = match hit {
        hit if hit < low => CacheVerdict::Lost,
        hit if hit > high => CacheVerdict::Better,
        _ => CacheVerdict::Kept,
    };
    Outcome {
        verdict,
        expected: Some(Expectation { low, high }),
        lost: Some(low.saturating_sub(hit)),
    }
}

/// Judges a request whose prefix broke. `share` of its prompt was kept from some earlier request, in bytes.
pub(super) fn broken(request: Reported, warm: Option<Warm>, share: f64, unit: Unit) -> Outcome {
    let allowed = floor((share * request.prompt as f64) as u64, unit);
    let expected = Some(Expectation {
        low: 0,
        high: allowed,
    });
    let Some(hit) = request.hit else {
        return Outcome {
            verdict: CacheVerdict::Broken,
            expected,
            lost: None,
        };
    };
    let intact = warm.map(|warm| floor(warm.prompt.min(request.prompt), unit));
    let tolerated = (allowed as f64 * SCALE) as u64 + unit.tokens;
    let verdict = match hit {
        hit if hit > tolerated => CacheVerdict::Contradicted,
        _ => CacheVerdict::Broken,
    };
    Outcome {
        verdict,
        expected,
        lost: intact.map(|intact| intact.saturating_sub(hit)),
    }
}

/// The steps in which a provider caches, from the hits of a session.
pub(super) fn infer_unit(hits: impl Iterator<Item = u64>) -> Unit {
    let unit = Unit::default();
    let (mut divisor, mut seen) = (0, Vec::new());
    for hit in hits.filter(|hit| *hit > 0) {
        divisor = gcd(divisor, hit);
        if !seen.contains(&hit) && seen.len() < ENOUGH_HITS {
            seen.push(hit);
        }
    }
    match seen.len() >= ENOUGH_HITS && divisor > unit.tokens {
        true => Unit {
            tokens: divisor,
            inferred: true,
        },
        false => unit,
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Unit = Unit {
        tokens: 128,
        inferred: false,
    };

    fn judge(hit: Option<u64>) -> Outcome {
        extends(
            Reported { prompt: 2000, hit },
            Warm {
                prompt: 1000,
                output: Some(500),
            },
            UNIT,
        )
    }

    #[test]
    fn the_window_reaches_from_the_last_prompt_to_its_answer() {
        assert_eq!(
            judge(Some(896)).expected,
            Some(Expectation {
                low: 896,
                high: 1408
            })
        );
        assert_eq!(judge(Some(896)).verdict, CacheVerdict::Kept);
        assert_eq!(judge(Some(1408)).verdict, CacheVerdict::Kept);
        assert_eq!(judge(Some(1536)).verdict, CacheVerdict::Better);
        assert_eq!(
            (judge(Some(0)).verdict, judge(Some(0)).lost),
            (CacheVerdict::Lost, Some(896))
        );
        assert_eq!(judge(None).verdict, CacheVerdict::NotReported);
    }

    #[test]
    fn small_prompts_are_not_judged() {
        let small = extends(
            Reported {
                prompt: 200,
                hit: Some(0),
            },
            Warm {
                prompt: 100,
                output: None,
            },
            UNIT,
        );
        assert_eq!(small.verdict, CacheVerdict::BelowUnit);
    }

    #[test]
    fn a_break_allows_what_was_kept() {
        let warm = Some(Warm {
            prompt: 1000,
            output: Some(1),
        });
        let judge = |hit, share| {
            broken(
                Reported {
                    prompt: 1024,
                    hit: Some(hit),
                },
                warm,
                share,
                UNIT,
            )
        };
        assert_eq!(
            (judge(0, 0.0).verdict, judge(0, 0.0).lost),
            (CacheVerdict::Broken, Some(896))
        );
        assert_eq!(judge(896, 0.0).verdict, CacheVerdict::Contradicted);
        assert_eq!(judge(512, 0.5).verdict, CacheVerdict::Broken);
    }

    #[test]
    fn a_larger_unit_is_inferred_from_enough_hits() {
        assert_eq!(
            infer_unit([256, 512, 1024, 2048].into_iter()),
            Unit {
                tokens: 256,
                inferred: true
            }
        );
        assert_eq!(infer_unit([256, 512].into_iter()), Unit::default());
        assert_eq!(
            infer_unit([128, 256, 384, 512].into_iter()),
            Unit::default()
        );
    }
}
