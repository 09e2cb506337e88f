//! Which captured row is which of a log's requests.
//!
//! **Takes** a log and a capture. **Gives** pairs, and what has no partner. **Never** keeps a request: digests tell equal ones.

use std::collections::BTreeMap;
use std::io;

use super::align::{Mark, Pair, align};
use super::bodies;
use super::capture::{CapturedRow, Content};
use super::captured::{Against, Part, RequestName};
use crate::log::Log;
use crate::record::Raw;
use crate::request::{Digests, Request};
use crate::wire::write_body;

/// A request of the log, before it is compared.
pub(super) struct Sent {
    pub(super) name: RequestName,
    pub(super) mark: Mark<String>,
    /// Whether a capture may lack it: another session sent it, or the log cannot say that it was sent.
    pub(super) may_be_missing: bool,
    inherited: bool,
}

/// The rows that belong to one log.
pub(super) struct Rows<'c> {
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

impl<'c> Rows<'c> {
    /// Whether the parent session sent a row.
    pub(super) fn is_parents(&self, row: &CapturedRow<'_>) -> bool {
        self.parents.iter().any(|other| other.line == row.line)
    }
}

/// Walks the log's requests for their names and digests.
pub(super) fn sent(log: &Log<'_>, part: Part) -> io::Result<Vec<Sent>> {
    let mut sent: Vec<Sent> = Vec::new();
    let mut digests = Digests::default();
    let Some(mut requests) = log.requests() else {
        return Ok(sent);
    };
    while let Some(request) = requests.next_request() {
        let derived = request.derived();
        let mark = match part {
            Part::Options => Mark {
                digest: digests.next(&request)?,
                size: request.surface().len(),
            },
            Part::Body => body_mark(log, &request)?,
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

fn body_mark(log: &Log<'_>, request: &Request<'_, '_>) -> io::Result<Mark<String>> {
    let interface = log
        .header
        .as_ref()
        .map(|header| header.generation.interface());
    let mut body = Vec::new();
    if let Some(interface) = interface {
        write_body(request, interface, &mut body)?;
    }
    Ok(Mark {
        digest: bodies::digest(&body),
        size: Raw::parse(&body).map_or(0, messages_in),
    })
}

fn name_of(request: &Request<'_, '_>) -> RequestName {
    let derived = request.derived();
    let (turn, step) = (request.turn(), request.step());
    let (seq, line) = request.shows_at();
    RequestName {
        turn: turn.number,
        step: step.number,
        attempt: Some(u64::from(derived.number)),
        boundary: derived.boundary,
        seq,
        line,
    }
}

/// The rows that the loop of this log's session, or of its parent's, sent. `None` if all rows are of other sessions.
pub(super) fn rows_of<'c>(log: &Log<'_>, against: &Against<'c>, part: Part) -> Option<Rows<'c>> {
    let text = |raw: Option<Raw<'_>>| {
        let text = raw.and_then(Raw::text);
        text.map(|text| text.to_lossy().into_owned())
    };
    let header = log.header.as_ref();
    let id = header.and_then(|header| text(header.id));
    let parent = header.and_then(|header| text(header.parent));
    let all = against.capture.rows.iter();
    let is_part = |row: &&CapturedRow<'_>| {
        let is_body = matches!(row.content, Content::Body(_));
        is_body == (part == Part::Body) && !row.is_other_call
    };
    let mut rows: Vec<_> = all.filter(is_part).collect();
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

/// A row and a request that belong together, or one of them alone. The request as an index.
pub(super) type Match<'c> = (Option<&'c CapturedRow<'c>>, Option<usize>);

/// Which row belongs to which request.
pub(super) fn pairs<'c>(rows: &Rows<'c>, sent: &[Sent]) -> Vec<Match<'c>> {
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
fn paired<'c>(rows: &[&'c CapturedRow<'c>], requests: &[usize], sent: &[Sent]) -> Vec<Match<'c>> {
    let of_row = |row: &&CapturedRow<'_>| Mark {
        digest: row.sha256.clone(),
        size: match row.content {
            Content::Options(raw) => messages_in(raw),
            Content::Body(raw) => Raw::parse(&bodies::text_of(raw)).map_or(0, messages_in),
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
