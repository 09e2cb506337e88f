//! A log's requests against captured ones.
//!
//! **Takes** a [`Log`] and a [`Capture`]. **Gives** a [`CaptureCheck`]: for each request that is not the captured one the first
//! difference, and what only one side has. **Never** holds more than one request's bytes.
//!
//! Requests are equal when they are printed alike, byte for byte. Rows belong to a request by turn and step, where the recorder
//! named them, else by their order.

use std::collections::BTreeMap;
use std::io;

use super::align::{Mark, Pair, align};
use super::capture::{Capture, CapturedRow, Content};
use super::difference::{Difference, first_difference};
use crate::line::{LineNo, Seq};
use crate::log::Log;
use crate::record::Raw;
use crate::request::{Digests, Request};

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
    /// The line that it shows at: of its first trace, else of its step's start.
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
}

/// A request of the log, before it is compared.
struct Sent {
    name: RequestName,
    mark: Mark<String>,
    /// Whether a capture may lack it: another session sent it, or the log cannot say that it was sent.
    may_be_missing: bool,
    inherited: bool,
}

/// The rows that belong to one log.
struct Rows<'c> {
    own: Vec<&'c CapturedRow<'c>>,
    /// What the parent session sent; only where a request was inherited.
    parents: Vec<&'c CapturedRow<'c>>,
}

/// What one step sent, as both sides have it.
#[derive(Default)]
struct Group<'c> {
    rows: Vec<&'c CapturedRow<'c>>,
    /// Indices into the log's requests.
    requests: Vec<usize>,
    is_inherited: bool,
}

/// Compares a log with captured requests. The log must hold its messages.
///
/// # Errors
///
/// None of its own: hashing and writing to memory do not fail.
pub fn against(log: &Log<'_>, against: Against<'_>) -> io::Result<CaptureCheck> {
    let sent = sent(log)?;
    let Some(rows) = rows_of(log, &against) else {
        let faults = if sent.iter().all(|sent| sent.may_be_missing) {
            Vec::new()
        } else {
            vec![CaptureFault::OtherSession]
        };
        return Ok(CaptureCheck {
            faults,
            compared: 0,
        });
    };
    let pairs = pairs(&rows, &sent);
    let mut check = CaptureCheck::default();
    let mut unequal: BTreeMap<usize, &CapturedRow<'_>> = BTreeMap::new();
    let mut extra = Vec::new();
    for (row, at) in pairs {
        match (row, at.and_then(|at| Some((at, sent.get(at)?)))) {
            (Some(row), Some((at, sent))) => {
                check.compared += 1;
                if row.sha256 != sent.mark.digest {
                    unequal.insert(at, row);
                }
            }
            (None, Some((_, sent))) if !sent.may_be_missing => {
                let request = sent.name;
                check.faults.push(CaptureFault::NotCaptured { request });
            }
            (Some(row), None) if !rows.is_parents(row) => extra.push(CaptureFault::NotInLog {
                row: row.line,
                step: row.step,
            }),
            _ => {}
        }
    }
    describe(log, &sent, &unequal, against.most, &mut check)?;
    check.faults.sort_by_key(CaptureFault::boundary);
    check.faults.append(&mut extra);
    Ok(check)
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

impl<'c> Rows<'c> {
    fn is_parents(&self, row: &CapturedRow<'_>) -> bool {
        self.parents.iter().any(|other| other.line == row.line)
    }
}

/// Walks the log's requests for their names and digests.
fn sent(log: &Log<'_>) -> io::Result<Vec<Sent>> {
    let mut sent: Vec<Sent> = Vec::new();
    let mut digests = Digests::default();
    let Some(mut requests) = log.requests() else {
        return Ok(sent);
    };
    while let Some(request) = requests.next_request() {
        let derived = request.derived();
        let mark = Mark {
            digest: digests.next(&request)?,
            size: request.surface().len(),
        };
        sent.push(Sent {
            name: name_of(&request),
            mark,
            may_be_missing: derived.inherited || derived.unsent,
            inherited: derived.inherited,
        });
    }
    let mut attempts: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for sent in &sent {
        *attempts
            .entry((sent.name.turn, sent.name.step))
            .or_default() += 1;
    }
    for sent in &mut sent {
        if attempts.get(&(sent.name.turn, sent.name.step)) == Some(&1) {
            sent.name.attempt = None;
        }
    }
    Ok(sent)
}

fn name_of(request: &Request<'_, '_>) -> RequestName {
    let derived = request.derived();
    let (turn, step) = (request.turn(), request.step());
    RequestName {
        turn: turn.number,
        step: step.number,
        attempt: Some(u64::from(derived.number)),
        boundary: derived.boundary,
        line: request.attempt().map_or(step.line, |attempt| attempt.line),
    }
}

/// The rows that the loop of this log's session, or of its parent's, sent. `None` if all rows are of other sessions.
fn rows_of<'c>(log: &Log<'_>, against: &Against<'c>) -> Option<Rows<'c>> {
    let text = |raw: Option<Raw<'_>>| {
        let text = raw.and_then(Raw::text);
        text.map(|text| text.to_lossy().into_owned())
    };
    let header = log.header.as_ref();
    let id = header.and_then(|header| text(header.id));
    let parent = header.and_then(|header| text(header.parent));
    let all = against.capture.rows.iter();
    let mut rows: Vec<_> = all.filter(|row| !row.is_other_call).collect();
    let none_at_all = rows.is_empty();
    rows.retain(|row| row.path.as_deref().is_none_or(|path| path == against.path));
    // A bare request names its session itself: that tells rows apart where some are this session's.
    let own = |row: &CapturedRow<'_>| match row.content {
        Content::Options(options) => text(options.get("sessionId")),
        _ => None,
    };
    let tells = rows
        .iter()
        .any(|row| row.session.is_none() && id.is_some() && own(row) == id);
    let session = |row: &CapturedRow<'_>| match &row.session {
        Some(session) => Some(session.clone()),
        None if tells => own(row),
        None => None,
    };
    let is = |row: &CapturedRow<'_>, wanted: &Option<String>| {
        let session = session(row);
        session.is_some() && session == *wanted
    };
    let parents = rows
        .iter()
        .copied()
        .filter(|row| is(row, &parent))
        .collect();
    rows.retain(|row| session(row).is_none() || is(row, &id));
    (none_at_all || !rows.is_empty()).then_some(Rows { own: rows, parents })
}

/// Which row belongs to which request.
fn pairs<'c>(rows: &Rows<'c>, sent: &[Sent]) -> Vec<(Option<&'c CapturedRow<'c>>, Option<usize>)> {
    if rows.own.iter().any(|row| row.step.is_none()) {
        // In order: what the parent sent, and what may not have been sent, is taken for missing rather than altered.
        let all: Vec<usize> = (0..sent.len()).collect();
        return paired(&rows.own, &all, sent);
    }
    let mut groups: BTreeMap<(u64, u64), Group<'_>> = BTreeMap::new();
    for (at, sent) in sent.iter().enumerate() {
        let group = groups.entry((sent.name.turn, sent.name.step)).or_default();
        group.requests.push(at);
        group.is_inherited |= sent.inherited;
    }
    for row in &rows.own {
        let step = row.step.unwrap_or_default();
        groups.entry(step).or_default().rows.push(row);
    }
    for row in &rows.parents {
        let group = row.step.and_then(|step| groups.get_mut(&step));
        if let Some(group) = group.filter(|group| group.is_inherited) {
            group.rows.push(row);
        }
    }
    let mut pairs = Vec::with_capacity(sent.len());
    for mut group in groups.into_values() {
        group.rows.sort_by_key(|row| (row.attempt, row.line));
        pairs.extend(paired(&group.rows, &group.requests, sent));
    }
    pairs
}

/// Pairs rows with requests (indices into `sent`) that can only be told apart by their order and content.
fn paired<'c>(
    rows: &[&'c CapturedRow<'c>],
    requests: &[usize],
    sent: &[Sent],
) -> Vec<(Option<&'c CapturedRow<'c>>, Option<usize>)> {
    let of_row = |row: &&CapturedRow<'_>| Mark {
        digest: row.sha256.clone(),
        size: match row.content {
            Content::Options(raw) | Content::Body(raw) => messages_in(raw),
            Content::Digest => 0,
        },
    };
    let left: Vec<_> = rows.iter().map(of_row).collect();
    let marks = requests.iter().filter_map(|at| sent.get(*at));
    let right: Vec<_> = marks.map(|sent| sent.mark.clone()).collect();
    let found = |(left, right): Pair| {
        let row = left.and_then(|at| rows.get(at).copied());
        (row, right.and_then(|at| requests.get(at).copied()))
    };
    align(&left, &right).into_iter().map(found).collect()
}

fn messages_in(request: Raw<'_>) -> usize {
    request
        .get("messages")
        .map_or(0, |messages| messages.elements().count())
}

/// Writes the requests that differ once more, and finds where.
fn describe(
    log: &Log<'_>,
    sent: &[Sent],
    unequal: &BTreeMap<usize, &CapturedRow<'_>>,
    most: usize,
    check: &mut CaptureCheck,
) -> io::Result<()> {
    let (Some(last), Some(mut requests)) = (unequal.keys().next_back(), log.requests()) else {
        return Ok(());
    };
    let mut options = Vec::new();
    for (at, sent) in sent.iter().enumerate().take(last + 1) {
        let Some(request) = requests.next_request() else {
            break;
        };
        let Some(row) = unequal.get(&at) else {
            continue;
        };
        options.clear();
        if check.faults.len() < most {
            request.write_options(&mut options)?;
        }
        check.faults.push(CaptureFault::Differs {
            request: sent.name,
            row: row.line,
            difference: difference(row, &options).map(Box::new),
        });
    }
    Ok(())
}

fn difference(row: &CapturedRow<'_>, options: &[u8]) -> Option<Difference> {
    let ours = Raw::parse(options).ok()?;
    match row.content {
        Content::Options(theirs) => first_difference(theirs, ours),
        Content::Body(_) | Content::Digest => None,
    }
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
