//! A log's requests against captured ones.
//!
//! **Takes** a [`Log`] and a [`Capture`]. **Gives** a [`CaptureCheck`]: for each request that is not the captured one the first
//! difference, and what only one side has. **Never** holds more than one request's bytes.
//!
//! Requests are equal when they are printed alike, byte for byte. What a provider's body holds and the log does not is not compared,
//! but named. Rows belong to a request by turn and step, where the recorder named them, else by their order.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::bodies::{self, UNHELD};
use super::capture::{Capture, CapturedRow, Content};
use super::difference::{Difference, first_difference};
use super::pairing::{Sent, pairs, rows_of, sent};
use crate::line::{LineNo, Seq};
use crate::log::Log;
use crate::record::Raw;
use crate::request::Request;
use crate::wire::write_body;

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Against<'c> {
    /// The captured requests.
    pub capture: &'c Capture<'c>,
    /// The log's path, as rows that come from `reconstruct` name it.
    pub path: &'c str,
    /// Most differences that are described; the others are counted.
    pub most: usize,
}

/// A request of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestName {
    /// Its turn.
    pub turn: u64,
    /// Its step.
    pub step: u64,
    /// Its attempt within the step, from 1, where there are several.
    pub attempt: Option<u64>,
    /// Its messages are the derivation of all events with a smaller seq.
    pub boundary: Seq,
    /// The event that it shows at: its first trace, else the start of its step.
    pub seq: Seq,
    /// The line of that event.
    pub line: LineNo,
}

/// How a log and a capture differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureFault {
    /// A captured request is not the log's.
    Differs {
        /// The request.
        request: RequestName,
        /// The capture's line.
        row: LineNo,
        /// Where; the capture on the left. Absent where only a digest was captured.
        difference: Option<Box<Difference>>,
        /// Whether the body holds images, which the log does not: then it may well differ.
        is_approximate: bool,
    },
    /// The log's request was not captured.
    NotCaptured {
        /// The request.
        request: RequestName,
    },
    /// A captured request is not among the log's.
    NotInLog {
        /// The capture's line.
        row: LineNo,
        /// Turn and step, where the recorder named them.
        step: Option<(u64, u64)>,
    },
    /// Every captured request is another session's.
    OtherSession,
}

/// What came of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureCheck {
    /// What differs, by the order of requests, what is missing in the log behind it.
    pub faults: Vec<CaptureFault>,
    /// How many requests were compared.
    pub compared: u64,
    /// Members of captured bodies that only the deployment knows: they were not compared.
    pub unheld: BTreeSet<&'static str>,
    /// How many bodies hold one.
    pub bodies_with_unheld: u64,
}

/// What of a request is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The harness's options object.
    Options,
    /// The provider's body.
    Body,
}

/// Compares a log with captured requests. The log must hold its messages.
///
/// # Errors
///
/// None of its own: hashing and writing to memory do not fail.
pub fn against(log: &Log<'_>, against: Against<'_>) -> io::Result<CaptureCheck> {
    let mut check = CaptureCheck::default();
    let rows = &against.capture.rows;
    let is_body = |row: &CapturedRow<'_>| matches!(row.content, Content::Body(_));
    let parts = match (rows.iter().any(is_body), rows.iter().all(is_body)) {
        (true, true) if !rows.is_empty() => &[Part::Body][..],
        (true, false) => &[Part::Options, Part::Body],
        _ => &[Part::Options],
    };
    for part in parts {
        compare_part(log, &against, *part, &mut check)?;
    }
    Ok(check)
}

fn compare_part(
    log: &Log<'_>,
    against: &Against<'_>,
    part: Part,
    check: &mut CaptureCheck,
) -> io::Result<()> {
    let sent = sent(log, part)?;
    let Some(rows) = rows_of(log, against, part) else {
        if !sent.iter().all(|sent| sent.may_be_missing) {
            check.faults.push(CaptureFault::OtherSession);
        }
        return Ok(());
    };
    let mut found = Vec::new();
    let mut extra = Vec::new();
    let mut unequal: BTreeMap<usize, &CapturedRow<'_>> = BTreeMap::new();
    for (row, at) in pairs(&rows, &sent) {
        match (row, at.and_then(|at| Some((at, sent.get(at)?)))) {
            (Some(row), Some((at, sent))) => {
                check.compared += 1;
                // A body's digest leaves out what is to be looked at one by one.
                if part == Part::Body || row.sha256 != sent.mark.digest {
                    unequal.insert(at, row);
                }
            }
            (None, Some((_, sent))) if !sent.may_be_missing => {
                let request = sent.name;
                found.push(CaptureFault::NotCaptured { request });
            }
            (Some(row), None) if !rows.is_parents(row) => extra.push(CaptureFault::NotInLog {
                row: row.line,
                step: row.step,
            }),
            _ => {}
        }
    }
    let most = against
        .most
        .saturating_sub(check.faults.len() + found.len());
    found.extend(describe(log, &sent, &unequal, most, check)?);
    found.sort_by_key(CaptureFault::boundary);
    check.faults.append(&mut found);
    check.faults.append(&mut extra);
    Ok(())
}

impl CaptureFault {
    fn boundary(&self) -> Option<Seq> {
        match self {
            CaptureFault::Differs { request, .. } | CaptureFault::NotCaptured { request } => {
                Some(request.boundary)
            }
            _ => None,
        }
    }
}

/// Writes the requests that may differ once more, and finds where.
fn describe(
    log: &Log<'_>,
    sent: &[Sent],
    unequal: &BTreeMap<usize, &CapturedRow<'_>>,
    most: usize,
    check: &mut CaptureCheck,
) -> io::Result<Vec<CaptureFault>> {
    let mut faults = Vec::new();
    let (Some(last), Some(mut requests)) = (unequal.keys().next_back(), log.requests()) else {
        return Ok(faults);
    };
    for (at, sent) in sent.iter().enumerate().take(last + 1) {
        let Some(request) = requests.next_request() else {
            break;
        };
        let Some(row) = unequal.get(&at).filter(|_| faults.len() < most) else {
            continue;
        };
        let (difference, is_approximate) = match row.content {
            Content::Options(theirs) => (options_differ(theirs, &request)?, false),
            Content::Digest => (None, false),
            Content::Body(theirs) => match body_differs(log, theirs, &request, check)? {
                None => continue,
                Some((difference, is_approximate)) => (Some(difference), is_approximate),
            },
        };
        faults.push(CaptureFault::Differs {
            request: sent.name,
            row: row.line,
            difference: difference.map(Box::new),
            is_approximate,
        });
    }
    Ok(faults)
}

fn options_differ(theirs: Raw<'_>, request: &Request<'_, '_>) -> io::Result<Option<Difference>> {
    let mut options = Vec::new();
    request.write_options(&mut options)?;
    let ours = Raw::parse(&options).ok();
    Ok(ours.and_then(|ours| first_difference(theirs, ours)))
}

/// The first difference of two bodies, and whether images make ours approximate.
fn body_differs(
    log: &Log<'_>,
    theirs: Raw<'_>,
    request: &Request<'_, '_>,
    check: &mut CaptureCheck,
) -> io::Result<Option<(Difference, bool)>> {
    let Some(header) = &log.header else {
        return Ok(None);
    };
    let mut ours = Vec::new();
    let omitted = write_body(request, header.generation.interface(), &mut ours)?;
    let theirs = bodies::text_of(theirs);
    let is_left_out = |name: &str| bodies::is_left_out(name, omitted);
    let held = |bytes: &[u8]| bodies::without(bytes, is_left_out);
    if let Ok(theirs) = Raw::parse(&theirs) {
        let unheld = UNHELD.iter().copied().filter(|name| is_left_out(name));
        let unheld: Vec<_> = unheld.filter(|name| theirs.get(name).is_some()).collect();
        check.bodies_with_unheld += u64::from(!unheld.is_empty());
        check.unheld.extend(unheld);
    }
    let (theirs, ours) = (held(&theirs), held(&ours));
    let found = match (Raw::parse(&theirs), Raw::parse(&ours)) {
        (Ok(theirs), Ok(ours)) => first_difference(theirs, ours),
        _ => None,
    };
    Ok(found.map(|found| (found, omitted.images)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::ReadOptions;
    use crate::source::Source;
    use std::fmt::Write as _;

    /// A log of this many turns, one request each; `id` names the session.
    fn log_text(id: &str, turns: u64) -> String {
        let mut text = format!(
            "{{\"type\":\"session\",\"version\":0,\"id\":\"{id}\",\"createdAt\":1,\"delegationDepth\":0}}\n"
        );
        let mut seq = 0;
        let mut event = |kind: &str, data: String, rest: &str| {
            let _ = writeln!(
                text,
                "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1,\"data\":{data}{rest}}}"
            );
            seq += 1;
        };
        for turn in 1..=turns {
            event("turn/start", format!("{{\"turn\":{turn}}}"), "");
            event("step/start", format!("{{\"turn\":{turn},\"step\":1}}"), "");
            let user = format!(
                "{{\"content\":[{{\"type\":\"text\",\"text\":\"q{turn}\"}}],\"source\":{{\"kind\":\"user\"}},\
                 \"role\":\"user\",\"id\":\"u{turn}\"}}"
            );
            event("user/message", user, ",\"surfaceOp\":\"append\"");
            if turn == 1 {
                let header = "{\"header\":{\"config\":{\"provider\":\"p\",\"model\":\"m\"}},\"reason\":\"initial\"}";
                event("request/header", header.to_owned(), "");
            }
            let finish = format!(
                "{{\"turn\":{turn},\"step\":1,\"chunk\":{{\"type\":\"finish\",\"reason\":{{\"kind\":\"stop\"}}}}}}"
            );
            event("assistant/chunk", finish, "");
            event("step/end", format!("{{\"turn\":{turn},\"step\":1}}"), "");
            event(
                "turn/end",
                format!("{{\"turn\":{turn},\"reason\":{{\"kind\":\"completed\"}}}}"),
                "",
            );
        }
        text
    }

    /// The options of a log's requests.
    fn options(text: &str) -> Vec<String> {
        let source = Source::from_bytes(text.as_bytes().to_vec());
        let log = Log::read(&source, &ReadOptions::default()).expect("readable");
        let mut requests = log.requests().expect("a session log");
        let mut all = Vec::new();
        while let Some(request) = requests.next_request() {
            let mut out = Vec::new();
            request.write_options(&mut out).expect("a vector takes all");
            all.push(String::from_utf8(out).expect("text"));
        }
        all
    }

    /// The faults, in short.
    fn check(log: &str, capture: &[String]) -> Vec<String> {
        let rows = capture.join("\n").into_bytes();
        let (source, rows) = (
            Source::from_bytes(log.as_bytes().to_vec()),
            Source::from_bytes(rows),
        );
        let log = Log::read(&source, &ReadOptions::default()).expect("readable");
        let capture = Capture::read(&rows).expect("a capture");
        let with = Against {
            capture: &capture,
            path: "log",
            most: 10,
        };
        let check = against(&log, with).expect("memory takes all");
        let short = |fault: &CaptureFault| match fault {
            CaptureFault::Differs {
                request,
                row,
                difference,
                ..
            } => {
                let pointer = difference
                    .as_ref()
                    .map(|difference| difference.pointer.clone());
                format!(
                    "{}.{} is not row {row}: {pointer:?}",
                    request.turn, request.step
                )
            }
            CaptureFault::NotCaptured { request } => format!("{} missing", request.turn),
            CaptureFault::NotInLog { row, step } => format!("row {row} extra {step:?}"),
            CaptureFault::OtherSession => "other session".to_owned(),
        };
        check.faults.iter().map(short).collect()
    }

    fn row(turn: u64, options: &str) -> String {
        format!("{{\"sessionId\":\"s\",\"turn\":{turn},\"step\":1,\"options\":{options}}}")
    }

    #[test]
    fn what_is_the_same_is_silent_in_every_shape() {
        let log = log_text("s", 3);
        let bare = options(&log);
        assert_eq!(bare.len(), 3);
        assert!(check(&log, &bare).is_empty());
        let wrapped: Vec<String> = (1..)
            .zip(&bare)
            .map(|(turn, options)| row(turn, options))
            .collect();
        assert!(check(&log, &wrapped).is_empty());
        let spaced: Vec<String> = bare
            .iter()
            .map(|options| options.replace(":", " : "))
            .collect();
        assert!(check(&log, &spaced).is_empty());
        let other = "{\"loop\":false,\"sessionId\":\"s\",\"turn\":1,\"step\":1,\"options\":{\"messages\":[]}}";
        assert!(check(&log, &[wrapped, vec![other.to_owned()]].concat()).is_empty());
    }

    #[test]
    fn one_missing_or_extra_request_moves_no_other() {
        let log = log_text("s", 4);
        let all = options(&log);
        assert_eq!(check(&log, &all[1..]), ["1 missing"]);
        assert_eq!(
            check(&log, &[all[0].clone(), all[2].clone(), all[3].clone()]),
            ["2 missing"]
        );
        let longer = options(&log_text("s", 5));
        assert_eq!(check(&log, &longer), ["row 5 extra None"]);
        let altered = all[2].replace("q3", "qX");
        assert_eq!(
            check(&log, &[all[1].clone(), altered, all[3].clone()]),
            [
                "1 missing",
                "3.1 is not row 2: Some(\"/messages/2/content/0/text\")"
            ]
        );
        assert_eq!(
            check(&log, &[row(2, &all[1]), row(7, &all[2])]),
            [
                "1 missing",
                "3 missing",
                "4 missing",
                "row 2 extra Some((7, 1))"
            ]
        );
    }

    #[test]
    fn rows_of_other_sessions_are_left_aside() {
        let log = log_text("s", 2);
        let own = options(&log);
        let other = options(&log_text("t", 2));
        assert!(check(&log, &[other.clone(), own].concat()).is_empty());
        // No row names this session: then the only difference is the name.
        assert_eq!(
            check(&log, &other)[0],
            "1.1 is not row 1: Some(\"/sessionId\")"
        );
        let named = row(1, &other[0]).replace("\"sessionId\":\"s\"", "\"sessionId\":\"t\"");
        assert_eq!(check(&log, &[named]), ["other session"]);
    }
}
