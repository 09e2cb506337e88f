//! From facts to findings: filters by the era of a turn, and hands each family its facts.
//!
//! **Takes** a [`Log`]. **Gives** its findings, sorted by place. **Never** looks at a log's bytes.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::analyse::cache::CacheOptions;
use crate::dialect::{Derivation, Era};
use crate::event::{Fault, LeftOut, Noted};
use crate::finding::{Bytes, Certainty, Finding, Level, Place, Rule};
use crate::line::Seq;
use crate::log::{Log, Standing};

use super::catalogue::{LIMIT_REACHED, UNKNOWN_EVENT_TYPE};
use super::{bytes, cache, dialect, header, records, responses, surface, turns};

/// A fact on its way to becoming a finding.
pub(super) struct Case<'c, 'log> {
    pub(super) log: &'c Log<'log>,
    pub(super) noted: &'c Noted,
    pub(super) era: Era,
    pub(super) answers: &'c Answers,
}

impl Case<'_, '_> {
    /// The finding of a rule at the fact's place.
    pub(super) fn finding(&self, rule: &'static Rule, message: impl Into<String>) -> Finding {
        Finding::new(rule, message, self.place(), self.evidence().as_bytes())
    }

    /// What was found, whatever line it stands on and however it is worded: the type, and the text at fault.
    fn evidence(&self) -> String {
        let Some(excerpt) = &self.noted.excerpt else {
            return self.kind();
        };
        let text = match &self.noted.fault {
            Fault::Line(_) => &excerpt.text,
            _ => excerpt
                .text
                .get(excerpt.mark.clone())
                .unwrap_or(&excerpt.text),
        };
        format!("{}\0{text}", self.kind())
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
        let known = self
            .noted
            .at
            .seq
            .and_then(|seq| self.answers.derivation(self.log, seq));
        match known {
            Some(derivation) => derivation,
            None if self.is_released() => Derivation::Identified,
            None => Derivation::Plain,
        }
    }
}

/// How the request behind each answer was derived; found out when the first is asked for.
#[derive(Default)]
pub(super) struct Answers(OnceCell<HashMap<Seq, Derivation>>);

impl Answers {
    fn derivation(&self, log: &Log<'_>, seq: Seq) -> Option<Derivation> {
        let all = self.0.get_or_init(|| Self::of(log));
        all.get(&seq).copied()
    }

    fn of(log: &Log<'_>) -> HashMap<Seq, Derivation> {
        let mut of_steps = HashMap::new();
        for request in &log.settlement.requests {
            of_steps.entry(request.step).or_insert(request.derivation);
        }
        let mut all = HashMap::new();
        for attempt in &log.session.attempts {
            let message = attempt
                .answer
                .and_then(|answer| log.session.messages.get(answer.message.get()));
            if let (Some(message), Some(derivation)) = (message, of_steps.get(&attempt.step)) {
                all.entry(message.seq).or_insert(*derivation);
            }
        }
        all
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
    let mut findings = judge_replay(log);
    if let Some(report) = log.cache_report(&CacheOptions::default()) {
        findings.extend(cache::findings(&report));
        findings.extend(cache::flaps(log));
        sort(&mut findings);
    }
    findings
}

/// The same without family 08: all that a reader of the requests must know, in less time.
pub fn judge_replay(log: &Log<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let answers = Answers::default();
    bytes::judge(log, &mut findings);
    dialect::judge(log, &mut findings);
    for noted in log.faults.noted() {
        let era = log.settlement.era(noted.turn_index);
        if era.is_in(noted.scope) {
            let answers = &answers;
            let case = Case {
                log,
                noted,
                era,
                answers,
            };
            findings.extend(finding(&case));
        }
    }
    dialect::unknown_types(log, &mut findings);
    findings.extend(
        log.faults
            .left_out()
            .filter_map(|left_out| beyond_limit(log, &answers, left_out)),
    );
    if log.standing == Standing::Rejected {
        findings.retain(|finding| finding.rule.code < 400);
    }
    sort(&mut findings);
    findings
}

/// Facts that the sink counted and did not keep.
fn beyond_limit(log: &Log<'_>, answers: &Answers, left_out: &LeftOut) -> Option<Finding> {
    let era = |turn| log.settlement.era(turn);
    let turns = left_out.turns.iter();
    let counted: u64 = turns
        .filter(|(turn, _)| era(*turn).is_in(left_out.scope))
        .map(|(_, count)| count)
        .sum();
    if counted == 0 {
        return None;
    }
    let sample = left_out.sample.and_then(|at| log.faults.noted().get(at));
    let rule = sample.and_then(|noted| match noted.fault {
        Fault::UnknownType { .. } => Some(&UNKNOWN_EVENT_TYPE),
        _ => {
            let era = era(noted.turn_index);
            let case = Case {
                log,
                noted,
                era,
                answers,
            };
            finding(&case).map(|finding| finding.rule)
        }
    });
    let name = rule.map_or("any rule".into(), |rule| {
        format!("DSH{:04} {}", rule.code, rule.name)
    });
    let is_released = |(turn, _): &(u32, u64)| era(*turn) == Era::Released;
    let level = match sample.map(|noted| &noted.fault) {
        Some(Fault::NotPrinted) => Level::Note,
        Some(Fault::NotUtf8 | Fault::DuplicateKey | Fault::LoneSurrogate { .. }) => Level::Warning,
        Some(Fault::UnknownType { .. }) if !left_out.turns.iter().any(is_released) => Level::Note,
        _ => Level::Error,
    };
    let message = format!("{counted} more facts for {name} were counted and not judged");
    let place = Place {
        line: Some(left_out.first.line),
        bytes: Some(Bytes::Decoded(left_out.first.span)),
        seq: left_out.first.seq,
        turn: left_out.turn,
        step: left_out.step,
        ..Place::default()
    };
    let found = Finding::new(&LIMIT_REACHED, message, place, name.as_bytes()).level(level);
    Some(found.help("mend the first faults, or raise --max-findings to see them all"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::ReadOptions;
    use crate::source::Source;

    const HEADER: &str =
        "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\"delegationDepth\":0}\n";
    const NOTE: &str =
        "{\"type\":\"feedback/record\",\"seq\":0,\"time\":1,\"data\":{\"text\":\"a\"}}\n";

    fn findings(text: &str) -> Vec<Finding> {
        let source = Source::from_bytes(text.as_bytes().to_vec());
        let log = Log::read(&source, &ReadOptions::default()).expect("bytes in memory can be read");
        judge(&log)
    }

    #[test]
    fn a_bad_line_is_the_same_finding_wherever_it_stands() {
        let first = findings(&format!("{HEADER}oops\n"));
        let second = findings(&format!("{HEADER}{NOTE}oops\n"));
        let digests = |found: &[Finding]| {
            found
                .iter()
                .map(|f| (f.rule.code, f.evidence))
                .collect::<Vec<_>>()
        };
        assert_eq!(digests(&first), digests(&second));
        assert_eq!(first.len(), 1);
        assert_ne!(
            digests(&first),
            digests(&findings(&format!("{HEADER}other\n")))
        );
    }

    #[test]
    fn a_rejected_log_is_not_judged_by_the_families_of_replay() {
        let delta =
            "{\"type\":\"request/header-delta\",\"seq\":7,\"time\":1,\"data\":{\"system\":1}}\n";
        let codes: Vec<u16> = findings(&format!("{HEADER}{delta}"))
            .iter()
            .map(|f| f.rule.code)
            .collect();
        assert_eq!(codes, [302]);
    }

    #[test]
    fn a_value_in_a_message_is_short_and_on_one_line() {
        assert_eq!(shortened("a\nb"), "a\u{fffd}b");
        assert_eq!(shortened(&"x".repeat(50)).chars().count(), 41);
    }
}
