//! Runs of deltas in exactly the bytes the harness prints: what packed rows and stream records have in common.
//!
//! **Takes** a cursor that stands before the run. **Gives** what the general pass over the row would give.
//! **Never** takes a time step that goes back, or a text with an escape of four digits: those are left to the general pass.

use crate::line::{Millis, Seq};

use super::deltas::{DeltaKind, DeltaRun};
use super::fast::{Scan, WORD, is_short_escape, natural};
use super::joined::{Joined, Texts};
use super::jumps::List;
use super::number::MAX_SAFE_INTEGER;
use super::packed::PackedRow;
use super::raw::Raw;
use super::scan::{each, lowest, slice, stops};
use super::survey::is_utf8;

/// The members of a run.
struct Members<'line> {
    index: Raw<'line>,
    dt: (Raw<'line>, List),
    id: Option<Raw<'line>>,
    name: Option<Raw<'line>>,
    payload: (Raw<'line>, List),
    joined: Option<&'line [u8]>,
    last_time: i64,
}

impl<'line> Scan<'line> {
    /// Takes the rest of a packed row, behind its `type`, but for the closing brace.
    #[inline]
    pub fn row(&mut self, kind: DeltaKind) -> Option<PackedRow<'line>> {
        self.literal(b",\"seq0\":")?;
        let seq0 = self.natural()?;
        self.literal(b",\"time0\":")?;
        let time0 = self.natural()?;
        self.literal(b",\"data\":{\"turn\":")?;
        let turn = self.natural_raw()?;
        self.literal(b",\"step\":")?;
        let step = self.natural_raw()?;
        self.literal(b",")?;
        let run = self.run(kind, time0)?;
        self.literal(b"}")?;
        let is_safe = seq0 + run.len <= MAX_SAFE_INTEGER.cast_unsigned();
        is_safe.then_some(PackedRow {
            seq0: Seq(seq0),
            turn,
            step,
            run,
        })
    }

    /// Takes a record of a stream, whose `type` is known.
    #[inline]
    pub(super) fn stream_run(&mut self, kind: DeltaKind) -> Option<DeltaRun<'line>> {
        let time0 = self.stream_record()?;
        let run = self.run(kind, time0)?;
        self.literal(b"}")?;
        Some(run)
    }

    /// Passes over a record of a stream, whatever its `type`: its lists of time steps and of texts, by their place in the line.
    #[inline]
    pub(super) fn any_run(&mut self, joined: &mut Joined) -> Option<(List, List)> {
        let time0 = self.stream_record()?;
        let mut room = joined.room(self.bytes().len());
        let members = self.members(None, time0, &mut room)?;
        self.literal(b"}")?;
        let left = room.left();
        let texts = List {
            text: joined.ends(left),
            ..members.payload.1
        };
        Some((members.dt.1, texts))
    }

    /// Takes what stands before the members of a run; the time of its first delta.
    #[inline(always)]
    fn stream_record(&mut self) -> Option<u64> {
        self.literal(b"{\"type\":")?;
        self.string()?;
        self.literal(b",\"time0\":")?;
        let time0 = self.natural()?;
        self.literal(b",")?;
        Some(time0)
    }

    #[inline]
    fn run(&mut self, kind: DeltaKind, time0: u64) -> Option<DeltaRun<'line>> {
        let members = self.members(Some(kind), time0, &mut ())?;
        Some(DeltaRun {
            kind,
            index: members.index,
            id: members.id,
            name: members.name,
            len: members.payload.1.len,
            time0: Millis(time0.cast_signed()),
            last_time: Millis(members.last_time),
            payload: members.payload.0,
            joined: members.joined,
            dt: members.dt.0,
        })
    }

    /// Takes the members of a run, from `index` on.
    fn members(
        &mut self,
        kind: Option<DeltaKind>,
        time0: u64,
        texts: &mut impl Texts,
    ) -> Option<Members<'line>> {
        self.literal(b"\"index\":")?;
        let index = self.natural_raw()?;
        self.literal(b",\"dt\":")?;
        let dt = self.naturals()?;
        let (mut id, mut name) = (None, None);
        let is_call = match kind {
            Some(kind) => kind == DeltaKind::ToolCall,
            None => self.sees(b",\"id\":"),
        };
        if is_call {
            self.literal(b",\"id\":")?;
            id = Some(self.string()?);
            if self.literal(b",\"name\":").is_some() {
                name = Some(self.string()?);
            }
            self.literal(b",\"args\":")?;
        } else {
            self.literal(b",\"texts\":")?;
        }
        let noted = self.noted_list();
        let (payload, joined) = match (noted, self.jumps()) {
            (Some(list), Some(jumps)) => (self.noted(list), Some(jumps.text_of(list))),
            _ => (self.strings(texts)?, None),
        };
        let last_time = i64::try_from(time0.saturating_add(dt.1.sum)).ok()?;
        let is_sound = dt.1.len + 1 == payload.1.len && last_time <= MAX_SAFE_INTEGER;
        is_sound.then_some(Members {
            index,
            dt,
            id,
            name,
            payload,
            joined,
            last_time,
        })
    }

    #[inline(always)]
    fn natural_raw(&mut self) -> Option<Raw<'line>> {
        let from = self.at();
        self.natural()?;
        Some(self.part(from, self.at()))
    }

    /// Takes an array of natural numbers.
    fn naturals(&mut self) -> Option<(Raw<'line>, List)> {
        if let Some(list) = self.noted_list() {
            return Some(self.noted(list));
        }
        let start = self.at();
        if self.literal(b"[]").is_some() {
            return Some(self.list(start, 0, 0));
        }
        self.literal(b"[")?;
        let (bytes, from) = (self.bytes(), self.at());
        let mut rest = bytes.get(from..)?;
        let (mut len, mut sum) = (0, 0u64);
        loop {
            // Most deltas come within milliseconds.
            let short = match rest {
                [ones @ b'0'..=b'9', b',', behind @ ..] => Some((ones & 0x0F, behind)),
                [tens @ b'1'..=b'9', ones @ b'0'..=b'9', b',', behind @ ..] => {
                    Some((10 * (tens & 0x0F) + (ones & 0x0F), behind))
                }
                _ => None,
            };
            if let Some((value, behind)) = short {
                sum = sum.saturating_add(u64::from(value));
                len += 1;
                rest = behind;
                continue;
            }
            let at = bytes.len() - rest.len();
            let (value, digits) = natural(bytes, at)?;
            sum = sum.saturating_add(value);
            len += 1;
            match rest.get(digits..) {
                Some([b',', behind @ ..]) => rest = behind,
                Some([b']', behind @ ..]) => {
                    self.move_to(bytes.len() - behind.len());
                    break;
                }
                _ => return None,
            }
        }
        Some(self.list(start, len, sum))
    }

    /// Takes an array of at least one string.
    fn strings(&mut self, texts: &mut impl Texts) -> Option<(Raw<'line>, List)> {
        let start = self.at();
        self.literal(b"[\"")?;
        let (bytes, from) = (self.bytes(), self.at());
        let mut rest = bytes.get(from..)?;
        let (mut len, mut seen) = (1, 0);
        loop {
            let Some((word, behind)) = rest.split_first_chunk::<WORD>() else {
                let (more, bits, behind) = last_strings(rest, texts)?;
                len += more;
                seen |= bits;
                self.move_to(bytes.len() - behind.len());
                break;
            };
            let marks = stops(u64::from_le_bytes(*word));
            seen |= u64::from_le_bytes(*word);
            texts.put(word)?;
            if marks == 0 {
                texts.keep(WORD)?;
                rest = behind;
                continue;
            }
            // Less than a word, which spares a look at the end.
            let plain = lowest(marks) % WORD;
            texts.keep(plain)?;
            rest = rest.get(plain..)?;
            if let Some((b"\",\"", behind)) = rest.split_first_chunk() {
                len += 1;
                rest = behind;
                continue;
            }
            match rest {
                [b'\\', letter, behind @ ..] if is_short_escape(*letter) => {
                    texts.put(&[b'\\', *letter, 0, 0, 0, 0, 0, 0])?;
                    texts.keep(2)?;
                    rest = behind;
                }
                [b'"', b']', behind @ ..] => {
                    self.move_to(bytes.len() - behind.len());
                    break;
                }
                _ => return None,
            }
        }
        let is_utf8 = self.is_utf8()
            || seen & each(0x80) == 0
            || is_utf8(slice(self.bytes(), start, self.at()));
        is_utf8.then(|| self.list(start, len, 0))
    }

    /// The list from `start` to the cursor.
    fn list(&self, start: usize, len: u64, sum: u64) -> (Raw<'line>, List) {
        let end = self.at();
        let list = List {
            start,
            end,
            len,
            sum,
            text: (0, 0),
        };
        (self.part(start, end), list)
    }

    /// Takes the list that begins at the cursor and was noted.
    fn noted(&mut self, list: &List) -> (Raw<'line>, List) {
        let start = self.at();
        self.move_to(start + (list.end - list.start));
        self.list(start, list.len, list.sum)
    }
}

/// Reads the rest of an array of strings from inside of one, less than a word before the line's end: how many strings come behind
/// that one, all bytes joined, and what is behind the array.
#[cold]
fn last_strings<'b>(line: &'b [u8], texts: &mut impl Texts) -> Option<(u64, u64, &'b [u8])> {
    let (mut rest, mut len, mut seen) = (line, 0, 0);
    loop {
        let taken = match rest {
            [b'"', b']', behind @ ..] => return Some((len, seen, behind)),
            [b'"', b',', b'"', behind @ ..] => {
                len += 1;
                rest = behind;
                continue;
            }
            [b'\\', letter, ..] if is_short_escape(*letter) => 2,
            [byte, ..] if !matches!(byte, ..0x20 | b'"' | b'\\') => 1,
            _ => return None,
        };
        for &byte in slice(rest, 0, taken) {
            seen |= u64::from(byte);
            texts.put(&[byte, 0, 0, 0, 0, 0, 0, 0])?;
            texts.keep(1)?;
        }
        rest = rest.get(taken..)?;
    }
}
