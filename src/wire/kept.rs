//! How far a prompt repeats the one before it, and where it leaves it.
//!
//! **Takes** what stood in the prompt before. **Gives** [`Kept`]. **Never** writes out more than the first two segments that differ.

use super::head::HeadPart;
use super::layout::{Patched, Unit};
use super::parts::Piece;
use super::prompt::Prompts;
use super::segment::Segment;
use super::standing::{Sent, Standing};

/// How far a prompt repeats the one before it.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'log> {
    /// Segments that are equal, from the first on.
    pub segments: usize,
    /// Their bytes, and those of the first differing segments up to where they differ.
    pub bytes: u64,
    /// Where it breaks; absent where the prompt before is a prefix of this one.
    pub broken: Option<Broken<'log>>,
}

/// Where a prompt leaves the one before it.
#[derive(Clone, Copy, Debug)]
pub struct Broken<'log> {
    /// The segment of the prompt before.
    pub before: Segment<'log>,
    /// The segment that stands there now; absent where the prompt is a prefix of the one before.
    pub now: Option<Segment<'log>>,
    /// The first byte that differs, within the segment. Absent where the messages were not kept.
    pub byte: Option<u64>,
}

/// What stood in the prompt before, behind what stays.
pub(super) struct Before<'b, 'log> {
    pub(super) head: &'b [HeadPart<'log>],
    /// Units that others took the place of, with their indexes, ascending.
    pub(super) patched: &'b [Patched<Piece>],
    pub(super) units: &'b [Unit<Piece>],
    /// How many units of the history stay as they are.
    pub(super) stay: usize,
}

pub(super) fn common(a: &[Unit<Piece>], b: &[Unit<Piece>]) -> usize {
    let pairs = a.iter().zip(b);
    pairs.take_while(|(a, b)| a.what == b.what).count()
}

impl<'log> Prompts<'_, 'log> {
    /// Compares the prompt with the one before. `same` units of the history are equal.
    pub(super) fn compare(
        &self,
        last: &Sent<'log>,
        before: &Before<'_, 'log>,
        same: usize,
    ) -> Kept<'log> {
        let pairs = self.head.iter().zip(before.head);
        let heads = pairs
            .take_while(|(now, before)| now.piece == before.piece)
            .count();
        let is_whole = heads == self.head.len() && heads == before.head.len();
        let segments = if is_whole { heads + same } else { heads };
        let bytes = self.bytes_before(segments);
        let now = self.stands_at(segments);
        let Some(old) = self.stood_at(before, segments) else {
            return Kept {
                segments,
                bytes,
                broken: None,
            };
        };
        let byte = match (&now, &self.last) {
            (None, _) | (_, None) => Some(0),
            (Some(now), Some(sent)) => self.first_difference((last, old), (sent, *now)),
        };
        Kept {
            segments,
            bytes: bytes + byte.unwrap_or(0),
            broken: Some(Broken {
                before: old.segment(),
                now: now.map(Standing::segment),
                byte,
            }),
        }
    }

    pub(super) fn stands_at(&self, at: usize) -> Option<Standing<'log>> {
        match self.head.get(at) {
            Some(part) => Some(Standing::Head(*part)),
            None => {
                let unit = self.layout.units.get(at - self.head.len());
                unit.copied().map(Standing::History)
            }
        }
    }

    fn stood_at(&self, before: &Before<'_, 'log>, at: usize) -> Option<Standing<'log>> {
        if let Some(part) = before.head.get(at) {
            return Some(Standing::Head(*part));
        }
        let at = at - before.head.len();
        let unit = match at.checked_sub(before.stay) {
            Some(behind) => before.units.get(behind),
            None => match before.patched.binary_search_by_key(&at, |(at, _)| *at) {
                Ok(found) => before.patched.get(found).map(|(_, unit)| unit),
                Err(_) => self.layout.units.get(at),
            },
        };
        unit.copied().map(Standing::History)
    }

    /// Bytes of the first segments.
    pub(super) fn bytes_before(&self, segments: usize) -> u64 {
        match segments.checked_sub(self.head.len()) {
            Some(0) => self.head_bytes,
            Some(units) => self.head_bytes + self.ends.get(units - 1).copied().unwrap_or(0),
            None => {
                let head = self.head.iter().take(segments);
                head.map(|part| part.piece.len()).sum()
            }
        }
    }

    fn first_difference(
        &self,
        (last, before): (&Sent<'log>, Standing<'log>),
        (sent, now): (&Sent<'log>, Standing<'log>),
    ) -> Option<u64> {
        let write = |sent: &Sent<'log>, standing: Standing<'log>| {
            let mut bytes = Vec::new();
            let known = standing.write(self.session, sent, &mut bytes).ok()?;
            known.then_some(bytes)
        };
        let (before, now) = (write(last, before)?, write(sent, now)?);
        let pairs = before.iter().zip(&now);
        Some(pairs.take_while(|(a, b)| a == b).count() as u64)
    }
}
