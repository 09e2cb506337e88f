//! Family 03: which build wrote the log, and what of it cannot be replayed.
//!
//! **Takes** the file's standing, the settlement and facts about types. **Gives** findings 0102 and 0301 to 0310.
//! **Never** knows a request.

use super::bytes::first_line;
use super::catalogue::*;
use super::judge::{Answers, Case, possible, shortened};
use crate::dialect::{Era, Generation, Guess, Support};
use crate::event::{Fault, Legacy};
use crate::finding::{Bytes, Finding, Level, Place};
use crate::log::{Log, Standing};

pub(super) fn judge(log: &Log<'_>, findings: &mut Vec<Finding>) {
    findings.extend(standing(log));
    let Some(header) = &log.header else { return };
    if header.generation == Generation::V0 && !header.has_depth && !header.fixture {
        let message = "header has no delegationDepth: current harness builds cannot open this log";
        findings.push(Finding::new(
            &SEED_ERA_HEADER,
            message,
            first_line(log),
            b"depth",
        ));
    }
    redacted(log, findings);
    guesses(log, findings);
    if header.generation >= Generation::V2
        && header.is_seeded != log.session.inherited_until.is_some()
    {
        let message = match header.is_seeded {
            true => "header says isSeeded, and no session/end-seed marks inherited events",
            false => "header says not isSeeded, and a session/end-seed marks inherited events",
        };
        findings.push(Finding::new(
            &BAD_SESSION_HEADER,
            message,
            first_line(log),
            b"isSeeded",
        ));
    }
}

/// The finding that a higher generation of the same session, called `name`, stands beside the log.
pub fn newer_sibling(log: &Log<'_>, name: &str) -> Finding {
    let name = shortened(name);
    let message = format!("{name} beside this file is a newer generation of the session");
    Finding::new(&NEWER_SIBLING, message, first_line(log), name.as_bytes())
        .help("audit that file to see the present state of the session")
}

/// Says in the finding that a newer generation stands beside a log that the one called `name` lacks some of its requests.
pub fn newer_sibling_lacks(findings: &mut [Finding], name: &str, lost: usize) {
    let mut siblings = findings
        .iter_mut()
        .filter(|finding| finding.rule == &NEWER_SIBLING);
    if let Some(finding) = siblings.next() {
        let name = shortened(name);
        finding.message =
            format!("{name} beside this file is newer, and {lost} requests are lost in it");
        finding.level = Level::Warning;
        finding.help = Some("keep this file: it alone says what those requests were".to_owned());
    }
}

fn standing(log: &Log<'_>) -> Option<Finding> {
    let found = |message: String, evidence: &[u8]| {
        Finding::new(&NOT_A_SESSION_LOG, message, first_line(log), evidence)
    };
    match &log.standing {
        Standing::NotASessionLog(_) if log.has_bom => None,
        Standing::NotASessionLog(why) => Some(found(
            format!("first line is not a session header of this harness: it {why}"),
            b"header",
        )),
        Standing::Foreign => {
            let message =
                "first line is not a session header of this harness: timestamp, no createdAt";
            Some(found(message.into(), b"foreign").help("this is the log of another agent"))
        }
        Standing::Unsupported(support) => Some(unsupported(log, support)),
        _ => None,
    }
}

fn unsupported(log: &Log<'_>, support: &Support) -> Finding {
    let version = shortened(&support.version);
    let (age, help) = match support.newer {
        true => (
            "newer",
            "use a release of dsh-audit that reads this format; some forks use the number 5 for their own",
        ),
        false => (
            "older",
            "logs of June 2026 hold no request headers: there is nothing to reconstruct",
        ),
    };
    let message = format!("log format v{version} is {age} than this build reads (0 to 4)");
    Finding::new(
        &UNSUPPORTED_VERSION,
        message,
        first_line(log),
        version.as_bytes(),
    )
    .help(help)
}

fn redacted(log: &Log<'_>, findings: &mut Vec<Finding>) {
    let headers = &log.session.headers;
    let count = headers.iter().filter(|header| header.redacted).count();
    if let Some(header) = headers.iter().find(|header| header.redacted) {
        let headers = match count {
            1 => "1 request header holds".into(),
            _ => format!("{count} request headers hold"),
        };
        let message = format!("{headers} placeholders: requests are not byte-exact");
        let bytes = Some(Bytes::Decoded(header.raw.span()));
        let place = Place {
            line: Some(header.line),
            bytes,
            seq: Some(header.seq),
            ..Place::default()
        };
        findings.push(Finding::new(&REDACTED_HEADER, message, place, b"redacted"));
    }
}

fn guesses(log: &Log<'_>, findings: &mut Vec<Finding>) {
    for (guess, what) in [
        (
            Guess::Boundary,
            "its boundary: a surface event was appended while it ran",
        ),
        (
            Guess::Tags,
            "the tags around injected context: decided by the time of its step",
        ),
        (
            Guess::Order,
            "the order of its members: decided by the time of its step",
        ),
        (
            Guess::Derivation,
            "its derivation: no event shows which build sent it",
        ),
        (
            Guess::Steering,
            "the order of a steering message's members: a fork wrote it anew",
        ),
    ] {
        let mut requests = log
            .settlement
            .requests
            .iter()
            .filter(|request| request.guess == Some(guess));
        let Some(request) = requests.next() else {
            continue;
        };
        let more = requests.count();
        let session = &log.session;
        let Some(step) = session.steps.get(request.step.get()) else {
            continue;
        };
        let turn = session
            .turns
            .get(step.turn.get())
            .map_or(0, |turn| turn.number);
        let others = if more > 0 {
            format!(" (and {more} more)")
        } else {
            String::new()
        };
        let message = format!(
            "request {turn}.{}{others} is uncertain: {what}",
            step.number
        );
        let place = Place {
            line: Some(step.line),
            seq: Some(step.start),
            turn: Some(turn),
            step: Some(step.number),
            ..Place::default()
        };
        let evidence = format!("{guess:?}");
        findings.push(possible(Finding::new(
            &AMBIGUOUS_REQUEST,
            message,
            place,
            evidence.as_bytes(),
        )));
    }
}

pub(super) fn finding(case: &Case<'_, '_>) -> Option<Finding> {
    match &case.noted.fault {
        Fault::Legacy { kind, members } => Some(legacy(case, *kind, members)),
        Fault::SessionHeader(why) => {
            let message = format!(
                "first line is not a session header: {}",
                shortened_tail(why)
            );
            Some(case.finding(&BAD_SESSION_HEADER, message))
        }
        _ => None,
    }
}

fn shortened_tail(why: &str) -> String {
    let cut: String = why.chars().take(60).collect();
    cut
}

fn legacy(case: &Case<'_, '_>, kind: Legacy, members: &str) -> Finding {
    let seq = case.noted.at.seq.map_or(0, |seq| seq.0);
    match kind {
        Legacy::HeaderDelta => {
            let members = shortened(members);
            let message = format!(
                "unsupported legacy request/header-delta at seq {seq} ({members}): log rejected"
            );
            case.finding(&LEGACY_HEADER_DELTA, message).help(
                "written by builds of 2026-07-06 to 2026-07-17: record the session again, or read it with one of them",
            )
        }
        Legacy::FallbackReason => {
            let message = format!(
                "request/header at seq {seq} has the legacy reason \"fallback\": log rejected"
            );
            case.finding(&LEGACY_FALLBACK_REASON, message).help(
                "written by builds of 2026-07-06 to 2026-07-17: record the session again, or read it with one of them",
            )
        }
        Legacy::ModeSet => {
            let message = format!("unsupported legacy mode/set at seq {seq}: log rejected");
            case.finding(&LEGACY_MODE_SET, message)
                .help("written by a prototype of the plan mode: record the session again")
        }
    }
}

/// Unknown types, one finding each, with their first and last seq.
pub(super) fn unknown_types(log: &Log<'_>, findings: &mut Vec<Finding>) {
    struct Group<'a> {
        name: &'a str,
        released: bool,
        first: usize,
        last: Option<crate::line::Seq>,
        count: u64,
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (at, noted) in log.faults.noted().iter().enumerate() {
        let Fault::UnknownType { name } = &noted.fault else {
            continue;
        };
        let era = log.settlement.era(noted.turn_index);
        if !era.is_in(noted.scope) {
            continue;
        }
        let released = era == Era::Released;
        match groups
            .iter_mut()
            .find(|group| group.name == name && group.released == released)
        {
            Some(group) => (group.last, group.count) = (noted.at.seq, group.count + 1),
            None => groups.push(Group {
                name,
                released,
                first: at,
                last: noted.at.seq,
                count: 1,
            }),
        }
    }
    for group in groups {
        let Some(noted) = log.faults.noted().get(group.first) else {
            continue;
        };
        let seq = |seq: Option<crate::line::Seq>| seq.map_or(0, |seq| seq.0);
        let seqs = match group.count {
            1 => format!("seq {}", seq(noted.at.seq)),
            count => format!(
                "{count} times, seq {} to {}",
                seq(noted.at.seq),
                seq(group.last)
            ),
        };
        let name = shortened(group.name);
        let message = format!("event type \"{name}\" ({seqs}) is unknown and not marked ignorable");
        let case = Case {
            answers: &Answers::default(),
            log,
            noted,
            era: if group.released {
                Era::Released
            } else {
                Era::Old
            },
        };
        let place = case.place();
        let found = Finding::new(&UNKNOWN_EVENT_TYPE, message, place, group.name.as_bytes());
        let found = if group.released {
            found
        } else {
            found.level(Level::Note)
        };
        let found = found.about(group.name);
        findings.push(found.help("a plugin's own event needs \"ignorable\":true, or no harness without the plugin opens the log"));
    }
}
