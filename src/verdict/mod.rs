//! Decides what the findings of one file amount to, before anything is rendered.
//!
//! **Takes** findings, what the file turned out to be, and the [`Policy`] that holds for it. **Gives** a [`Verdict`].
//! **Never** prints, reads a file, or knows an exit code's number.

mod baseline;
mod fingerprint;
mod policy;

pub(crate) use baseline::{Accepted, Baseline};
pub(crate) use fingerprint::Fingerprint;
pub(crate) use policy::{FailOn, Policy, Setting};

use std::cmp::Reverse;

use crate::finding::{Finding, Level};

/// What a file turned out to be, before any finding is weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// A session log of a generation this build reads.
    Readable,
    /// A session log that no build replays (legacy delta representation).
    Rejected,
    /// A session log of a generation this build does not read.
    Unsupported,
    /// No session log of this harness.
    Foreign,
    /// Its bytes could not be read to the end.
    Unreadable,
}

/// The word a file's result carries in every format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Read whole, and nothing to say.
    Clean,
    /// Read, and there are findings of some level.
    Findings,
    /// [`Standing::Rejected`].
    Rejected,
    /// [`Standing::Unsupported`].
    Unsupported,
    /// [`Standing::Foreign`].
    Foreign,
    /// [`Standing::Unreadable`].
    Unreadable,
}

impl Outcome {
    /// The word used in every format.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Outcome::Clean => "clean",
            Outcome::Findings => "findings",
            Outcome::Rejected => "rejected",
            Outcome::Unsupported => "unsupported",
            Outcome::Foreign => "foreign",
            Outcome::Unreadable => "unreadable",
        }
    }
}

/// How many findings of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Findings of level error.
    pub(crate) error: u64,
    /// Findings of level warning.
    pub(crate) warning: u64,
    /// Findings of level note.
    pub(crate) note: u64,
}

impl Counts {
    fn of(&mut self, level: Level) -> &mut u64 {
        match level {
            Level::Error => &mut self.error,
            Level::Warning => &mut self.warning,
            Level::Note => &mut self.note,
        }
    }

    /// Adds another file's counts.
    pub(crate) fn plus(self, other: Counts) -> Counts {
        Counts {
            error: self.error + other.error,
            warning: self.warning + other.warning,
            note: self.note + other.note,
        }
    }

    /// All of them.
    pub(crate) fn total(self) -> u64 {
        self.error + self.warning + self.note
    }
}

/// What one file amounts to.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// The word for it.
    pub(crate) outcome: Outcome,
    /// Whether a finding reaches the level at which the run fails.
    pub(crate) fails: bool,
    /// How many of each level are left, also of those beyond the limit of what is kept.
    pub(crate) counts: Counts,
    /// What is left after policy and baseline, in the order of places.
    pub(crate) findings: Vec<Finding>,
    /// The fingerprint of each finding, in the same order.
    pub(crate) fingerprints: Vec<Fingerprint>,
    /// Fingerprints that the baseline accepts and that were found here.
    pub(crate) accepted: Vec<Fingerprint>,
}

impl Verdict {
    /// Leaves out findings that are said elsewhere, and counts them no more. What the file amounts to stays.
    pub(crate) fn leave_out(&mut self, is_said: impl Fn(&Finding) -> bool) {
        let findings = std::mem::take(&mut self.findings).into_iter();
        let fingerprints = std::mem::take(&mut self.fingerprints);
        for (finding, fingerprint) in findings.zip(fingerprints) {
            if is_said(&finding) {
                *self.counts.of(finding.level) -= 1;
            } else {
                self.findings.push(finding);
                self.fingerprints.push(fingerprint);
            }
        }
    }

    /// Keeps so many findings. None is left out for a lighter one; what says that a limit was reached stays before all others.
    fn keep_gravest(&mut self, limit: usize) {
        if self.findings.len() <= limit {
            return;
        }
        let mut order: Vec<usize> = (0..self.findings.len()).collect();
        order.sort_by_key(|at| {
            let finding = self.findings.get(*at);
            Reverse(finding.map(|finding| (finding.rule.code == LIMIT_REACHED, finding.level)))
        });
        order.truncate(limit);
        order.sort_unstable();
        let kept = |at: &usize| order.binary_search(at).is_ok();
        let mut at = 0..;
        self.findings
            .retain(|_| at.next().as_ref().is_some_and(kept));
        let mut at = 0..;
        self.fingerprints
            .retain(|_| at.next().as_ref().is_some_and(kept));
    }
}

/// The rule that says that something was not checked.
const LIMIT_REACHED: u16 = 109;

/// Weighs the findings of one file.
///
/// `identity` is the session's id, or whatever else names the file where there is none. `limit` is the number of
/// findings that are kept: the gravest, in the order of places. All are counted and all are weighed.
pub(crate) fn decide(
    findings: Vec<Finding>,
    standing: Standing,
    identity: &str,
    policy: &Policy,
    baseline: &Baseline,
    limit: usize,
) -> Verdict {
    let mut verdict = Verdict {
        outcome: Outcome::Clean,
        fails: false,
        counts: Counts::default(),
        findings: Vec::new(),
        fingerprints: Vec::new(),
        accepted: Vec::new(),
    };
    for finding in findings {
        let Some(finding) = policy.apply(finding) else {
            continue;
        };
        let fingerprint = Fingerprint::of(&finding, identity);
        if baseline.accepts(fingerprint) {
            verdict.accepted.push(fingerprint);
            continue;
        }
        verdict.fails |= policy.fail_on.is_reached_by(finding.level);
        *verdict.counts.of(finding.level) += 1;
        verdict.findings.push(finding);
        verdict.fingerprints.push(fingerprint);
    }
    verdict.keep_gravest(limit);
    verdict.outcome = match standing {
        Standing::Readable if verdict.counts.total() == 0 => Outcome::Clean,
        Standing::Readable => Outcome::Findings,
        Standing::Rejected => Outcome::Rejected,
        Standing::Unsupported => Outcome::Unsupported,
        Standing::Foreign => Outcome::Foreign,
        Standing::Unreadable => Outcome::Unreadable,
    };
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Place, Rule};

    static RULE: Rule = Rule {
        code: 302,
        name: "legacy-header-delta",
        level: Level::Error,
        summary: "",
        page: "",
    };
    static NOTE: Rule = Rule {
        code: 607,
        name: "open-turn",
        level: Level::Note,
        summary: "",
        page: "",
    };

    fn two() -> Vec<Finding> {
        vec![
            Finding::new(
                &RULE,
                "request/header-delta at seq 6",
                Place::default(),
                b"6",
            ),
            Finding::new(&NOTE, "turn 1 is open at the end", Place::default(), b"1"),
        ]
    }

    fn judged(policy: &Policy, baseline: &Baseline) -> Verdict {
        decide(two(), Standing::Readable, "s", policy, baseline, 10)
    }

    #[test]
    fn an_error_fails_by_default_and_a_note_does_not() {
        let verdict = judged(&Policy::default(), &Baseline::default());
        assert!(verdict.fails);
        assert_eq!(verdict.outcome, Outcome::Findings);
        assert_eq!((verdict.counts.error, verdict.counts.note), (1, 1));
        let mut off = Policy::default();
        off.levels.insert(302, Setting::Off);
        let verdict = judged(&off, &Baseline::default());
        assert!(!verdict.fails);
        assert_eq!(verdict.findings.len(), 1);
    }

    #[test]
    fn a_baseline_accepts_what_it_names_and_nothing_else() {
        let all = judged(&Policy::default(), &Baseline::default());
        let first = all.fingerprints[0];
        let baseline = Baseline::new([(first, Accepted::default())]);
        let verdict = judged(&Policy::default(), &baseline);
        assert!(!verdict.fails);
        assert_eq!(verdict.accepted, [first]);
        assert_eq!(verdict.findings.len(), 1);
    }

    #[test]
    fn a_flood_of_notes_does_not_push_an_error_out() {
        let note = || Finding::new(&NOTE, "turn 1 is open at the end", Place::default(), b"1");
        let mut findings: Vec<Finding> = std::iter::repeat_with(note).take(20).collect();
        findings.extend(two());
        let (policy, baseline) = (Policy::default(), Baseline::default());
        let verdict = decide(findings, Standing::Readable, "s", &policy, &baseline, 3);
        let codes = verdict.findings.iter().map(|finding| finding.rule.code);
        assert_eq!(codes.collect::<Vec<u16>>(), [607, 607, 302]);
        assert_eq!(verdict.fingerprints.len(), 3);
        assert_eq!(verdict.counts.total(), 22);
    }

    #[test]
    fn what_is_said_elsewhere_is_counted_no_more_and_still_fails() {
        let mut verdict = judged(&Policy::default(), &Baseline::default());
        let note = verdict.fingerprints[1];
        verdict.leave_out(|finding| finding.rule.code == RULE.code);
        assert_eq!((verdict.counts.error, verdict.counts.note), (0, 1));
        assert_eq!(verdict.fingerprints, [note]);
        assert!(verdict.fails);
    }

    #[test]
    fn what_is_beyond_the_limit_still_counts() {
        let verdict = decide(
            two(),
            Standing::Rejected,
            "s",
            &Policy::default(),
            &Baseline::default(),
            0,
        );
        assert!(verdict.fails && verdict.findings.is_empty());
        assert_eq!(verdict.counts.total(), 2);
        assert_eq!(verdict.outcome, Outcome::Rejected);
    }
}
