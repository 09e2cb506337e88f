//! The headers of a log in order, each with what it changes.
//!
//! **Takes** a session and a walk over its requests. **Gives** a [`Timeline`]. **Never** compares what its bytes show to be the same.

use std::collections::HashMap;
use std::rc::Rc;

use super::change::{self, compare_with};
use super::effective::Effective;
use super::limits::Limits;
use super::moments::{Moment, Walk};
use super::patterns::{Step, Tracker};
use crate::analyse::answer::{HeaderRow, Part, Reason, Timeline, Verdict};
use crate::fold::{HeaderReason, Session};
use crate::line::{Millis, Seq};
use crate::request::Requests;
use crate::wire::Prompts;
use xxhash_rust::xxh3::xxh3_128;

/// Most bytes of text that the changes of one log hold together; later ones are coarser.
const MOST_TEXT: usize = 64 << 20;

/// The headers of a log, and what changes between them.
pub fn timeline<'log>(
    session: &Session<'log>,
    requests: Requests<'_, 'log>,
    prompts: Prompts<'_, 'log>,
    limits: &Limits,
) -> Timeline {
    let mut rows = Rows {
        limits: *limits,
        rows: Vec::new(),
        tracker: Tracker::default(),
        last: None,
        seen: HashMap::new(),
        text_left: MOST_TEXT,
    };
    let requests = Walk::new(session).run(requests, Some(prompts), |moment| rows.take(moment));
    let distinct = rows.seen.len() as u64;
    let (patterns, explained) = rows.tracker.finish();
    for (row, pattern) in rows.rows.iter_mut().zip(explained) {
        row.pattern = pattern;
    }
    Timeline {
        rows: rows.rows,
        patterns,
        distinct,
        requests,
        left_out: 0,
    }
}

type Digests = [u128; 4];

/// The header before.
struct Last<'log> {
    header: Effective<'log>,
    text: Rc<Vec<u8>>,
    digests: Digests,
    time: Millis,
}

struct Rows<'log> {
    limits: Limits,
    rows: Vec<HeaderRow>,
    tracker: Tracker,
    last: Option<Last<'log>>,
    /// The last row with each header.
    seen: HashMap<Digests, Seq>,
    text_left: usize,
}

impl<'log> Rows<'log> {
    fn take(&mut self, mut moment: Moment<'_, 'log>) {
        let last = self.last.take();
        let digests = digests(&moment, last.as_ref());
        let mut row = row(&mut moment, last.as_ref());
        match &last {
            Some(last) => self.compare(last, &mut moment, digests, &mut row),
            None => self.tracker.row(row.seq, None),
        }
        self.seen.insert(digests, row.seq);
        self.last = Some(Last {
            header: moment.header,
            text: moment.text,
            digests,
            time: row.time,
        });
        self.rows.push(row);
    }

    /// Says what a header changes, and what that amounts to.
    fn compare(
        &mut self,
        last: &Last<'log>,
        moment: &mut Moment<'_, 'log>,
        digests: Digests,
        row: &mut HeaderRow,
    ) {
        let (mut change, edits) = match last.digests == digests {
            true => Default::default(),
            false => compare_with(
                (&last.header, &last.text),
                (&moment.header, &moment.text),
                &self.limits,
            ),
        };
        let was_hidden = Part::ALL.iter().any(|part| last.header.is_redacted(*part));
        let is_hidden = was_hidden || !row.redacted.is_empty();
        let differs = !change.is_empty();
        row.verdict = verdict(differs, row.reason, is_hidden);
        let step = Step {
            seq: row.seq,
            change: &change,
            edits: &edits,
            old_prompt: &last.text,
            new_prompt: &moment.text,
        };
        self.tracker.row(row.seq, differs.then_some(&step));
        row.returns_to = self.seen.get(&digests).copied().filter(|_| differs);
        self.bound(&mut change);
        // Placeholders say nothing about lengths.
        change.kept = moment.kept.take().filter(|_| !is_hidden);
        row.change = (differs || is_broken(&change)).then_some(change);
    }

    fn bound(&mut self, found: &mut crate::analyse::answer::HeaderChange) {
        let weight = change::weight(found);
        match self.text_left.checked_sub(weight) {
            Some(left) => self.text_left = left,
            None => change::make_coarse(found),
        }
    }
}

fn is_broken(change: &crate::analyse::answer::HeaderChange) -> bool {
    change
        .kept
        .as_ref()
        .is_some_and(|kept| kept.broken.is_some())
}

/// A row with everything but what it changes.
fn row(moment: &mut Moment<'_, '_>, last: Option<&Last<'_>>) -> HeaderRow {
    let (place, snapshot) = (moment.place, moment.snapshot);
    let redacted = |part: &Part| moment.header.is_redacted(*part);
    HeaderRow {
        seq: place.seq,
        line: place.line,
        turn: place.turn,
        step: place.step,
        attempt: place.attempt,
        time: place.time,
        since: last.map(|last| place.time.0.saturating_sub(last.time.0)),
        reason: snapshot.map(|snapshot| reason(snapshot.reason)),
        starts_series: snapshot.is_some_and(|snapshot| snapshot.starts_series),
        instance: place.instance,
        inherited: place.inherited,
        verdict: Verdict::Initial,
        redacted: Part::ALL.into_iter().filter(redacted).collect(),
        size: moment.header.size(&moment.text),
        moves: std::mem::take(&mut moment.moves),
        change: None,
        returns_to: None,
        pattern: None,
    }
}

/// The digests of a header's parts; those of the header before where the bytes are the same.
fn digests(moment: &Moment<'_, '_>, last: Option<&Last<'_>>) -> Digests {
    Part::ALL.map(|part| match last {
        Some(last) if moment.header.is_same_bytes(&last.header, part) => {
            last.digests.get(part as usize).copied().unwrap_or(0)
        }
        _ if part == Part::System => xxh3_128(&moment.text),
        _ => moment.header.digest(part),
    })
}

fn verdict(differs: bool, reason: Option<Reason>, is_hidden: bool) -> Verdict {
    match (differs, reason) {
        (true, Some(Reason::Resume | Reason::Initial)) => Verdict::Drift,
        (true, _) => Verdict::Change,
        (false, _) if is_hidden => Verdict::Hidden,
        (false, Some(Reason::Change)) => Verdict::ChangeWithoutChange,
        (false, _) => Verdict::Same,
    }
}

fn reason(reason: HeaderReason) -> Reason {
    match reason {
        HeaderReason::Initial => Reason::Initial,
        HeaderReason::Resume => Reason::Resume,
        HeaderReason::Change => Reason::Change,
        HeaderReason::Series => Reason::Series,
        HeaderReason::Other => Reason::Other,
    }
}
