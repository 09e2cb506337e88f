//! From facts to findings: filters by the era of a turn, and hands each family its facts.
//!
//! **Takes** a [`Log`]. **Gives** its findings, sorted by place. **Never** looks at a log's bytes.

use crate::dialect::{Derivation, Era};
use crate::event::Noted;
use crate::finding::{Bytes, Certainty, Finding, Level, Place, Rule};
use crate::log::{Log, Standing};

use super::{bytes, dialect, header, records, responses, surface, turns};

/// A fact on its way to becoming a finding.
pub(super) struct Case<'c, 'log> {
    pub(super) log: &'c Log<'log>,
    pub(super) noted: &'c Noted,
    pub(super) era: Era,
}

impl Case<'_, '_> {
    /// The finding of a rule at the fact's place.
    pub(super) fn finding(&self, rule: &'static Rule, message: impl Into<String>) -> Finding {
        let evidence = format!("{:?}", self.noted.fault);
        Finding::new(rule, message, self.place(), evidence.as_bytes())
    }

    pub(super) fn place(&self) -> Place {
        let noted = self.noted;
        Place {
            line: Some(noted.at.line),
            bytes: Some(Bytes::Decoded(noted.mark)),
            seq: noted.at.seq,
            turn: noted.turn,
            step: noted.step,
            pointer: None,
            excerpt: noted.excerpt.clone(),
        }
    }

    /// The event's type, as it stands in messages.
    pub(super) fn kind(&self) -> String {
        self.noted
            .kind
            .as_deref()
            .map_or_else(|| "the event".to_owned(), shortened)
    }

    pub(super) fn is_released(&self) -> bool {
        self.era == Era::Released
    }

    /// How the request was derived that the event answers.
    pub(super) fn derivation(&self) -> Derivation {
        let session = &self.log.session;
        let answers = |attempt: &crate::fold::AttemptFact| {
            let message = attempt
                .answer
                .and_then(|answer| session.messages.get(answer.message.get()));
            message.is_some_and(|message| Some(message.seq) == self.noted.at.seq)
        };
        let attempt = session.attempts.iter().find(|attempt| answers(attempt));
        let request = attempt.and_then(|attempt| {
            self.log
                .settlement
                .requests
                .iter()
                .find(|request| request.step == attempt.step)
        });
        match request {
            Some(request) => request.derivation,
            None if self.is_released() => Derivation::Identified,
            None => Derivation::Plain,
        }
    }
}

/// A value of the log within a message: quoted text stays on one line and short.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let mut short: String = text
        .chars()
        .take(MOST)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

/// Everything the rules of one log say, sorted by line, place and code.
pub fn judge(log: &Log<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    bytes::judge(log, &mut findings);
    dialect::judge(log, &mut findings);
    for noted in log.faults.noted() {
        let era = log.settlement.era(noted.turn_index);
        if era.is_in(noted.scope) {
            let case = Case { log, noted, era };
            findings.extend(finding(&case));
        }
    }
    dialect::unknown_types(log, &mut findings);
    if log.standing == Standing::Rejected {
        findings.retain(|finding| finding.rule.code < 400);
    }
    sort(&mut findings);
    findings
}

fn finding(case: &Case<'_, '_>) -> Option<Finding> {
    records::finding(case)
        .or_else(|| dialect::finding(case))
        .or_else(|| surface::finding(case))
        .or_else(|| header::finding(case))
        .or_else(|| turns::finding(case))
        .or_else(|| responses::finding(case))
}

/// Sorts by line, place and code, so that any two runs print the same.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| {
        (
            finding.at.line,
            finding.at.bytes.map(Bytes::span),
            finding.rule.code,
            finding.at.seq,
        )
    });
}

/// Shorthand of the families.
pub(super) fn possible(finding: Finding) -> Finding {
    finding.certainty(Certainty::Possible)
}

pub(super) fn weaker(finding: Finding, weak: bool) -> Finding {
    if weak {
        finding.level(Level::Warning)
    } else {
        finding
    }
}
