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
    fn take(&mut self, moment: Moment<'_, 'log>) {
        let last = self.last.take();
        let digests = digests(&moment, last.as_ref());
        let reason = moment.snapshot.map(|snapshot| reason(snapshot.reason));
        let redacted: Vec<Part> = Part::ALL
            .into_iter()
            .filter(|part| moment.header.is_redacted(*part))
            .collect();
        let mut row = HeaderRow {
            seq: moment.place.seq,
            line: moment.place.line,
            turn: moment.place.turn,
            step: moment.place.step,
            attempt: moment.place.attempt,
            time: moment.place.time,
            since: last
                .as_ref()
                .map(|last| moment.place.time.0.saturating_sub(last.time.0)),
            reason,
            starts_series: moment
                .snapshot
                .is_some_and(|snapshot| snapshot.starts_series),
            instance: moment.place.instance,
            inherited: moment.place.inherited,
            verdict: Verdict::Initial,
            moves: moment.moves,
            redacted,
            size: moment.header.size(&moment.text),
            change: None,
            returns_to: None,
            pattern: None,
        };
        if let Some(last) = &last {
            let differs = last.digests != digests;
            let (mut change, edits) = match differs {
                true => compare_with(
                    &last.header,
                    &last.text,
                    &moment.header,
                    &moment.text,
                    &self.limits,
                ),
                false => Default::default(),
            };
            let is_hidden = !row.redacted.is_empty();
            row.verdict = verdict(!change.is_empty(), reason, is_hidden);
            let step = Step {
                seq: row.seq,
                change: &change,
                edits: &edits,
                old_prompt: &last.text,
                new_prompt: &moment.text,
            };
            self.tracker
                .row(row.seq, (!change.is_empty()).then_some(&step));
            if !change.is_empty() {
                row.returns_to = self.seen.get(&digests).copied();
            }
            self.bound(&mut change);
            // Placeholders say nothing about lengths.
            change.kept = moment.kept.filter(|_| !is_hidden);
            row.change = (!change.is_empty() || is_broken(&change)).then_some(change);
        } else {
            self.tracker.row(row.seq, None);
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
