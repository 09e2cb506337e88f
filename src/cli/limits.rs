//! Which findings limit the answer of a command that is not the audit itself.
//!
//! **Takes** findings. **Gives** those that say why an answer ends early, is refused, or rests on a guess.
//! **Never** judges: the full audit is `verify`'s.

use crate::finding::{Finding, Level};

/// Whether a finding limits what can be said about requests: damage of bytes, records and sequence, a rejection, an unknown
/// event type, a missing header, and what the log does not decide.
pub(super) fn limits_requests(finding: &Finding) -> bool {
    match finding.rule.code {
        // A redacted header, an ambiguous request: noted, and exactly what a reader of requests must know.
        307 | 309 => true,
        0..=499 | 501 => finding.level == Level::Error,
        _ => false,
    }
}

/// Whether a finding limits what can be said about headers: as for requests, but what a timeline shows itself (a redacted header)
/// and what only messages depend on (a guessed derivation) do not.
pub(super) fn limits_headers(finding: &Finding) -> bool {
    limits_requests(finding) && ![307, 309].contains(&finding.rule.code)
}

/// Whether a finding is of a budget that a cache report judges, and shows itself.
pub(super) fn is_of_a_budget(finding: &Finding) -> bool {
    finding.rule.code == 807
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Place;
    use crate::rules;

    #[test]
    fn damage_and_guesses_limit_and_other_rules_do_not() {
        let limits = |name: &str| {
            let rule = rules::find(name).expect("a rule");
            limits_requests(&Finding::new(rule, "", Place::default(), b""))
        };
        for name in [
            "legacy-header-delta",
            "seq-gap",
            "not-json",
            "ambiguous-request",
            "request-without-header",
        ] {
            assert!(limits(name), "{name}");
        }
        for name in [
            "torn-tail",
            "seed-era-header",
            "response-differs-from-chunks",
            "header-flap",
        ] {
            assert!(!limits(name), "{name}");
        }
    }
}
