//! Runs of deltas in exactly the bytes the harness prints: what packed rows and stream records have in common.
//!
//! **Takes** a cursor that stands before the run. **Gives** what the general pass over the row would give.
//! **Never** takes a time step that goes back, or a text with an escape of four digits: those are left to the general pass.

use crate::line::{Millis, Seq};

use super::deltas::{DeltaKind, DeltaRun};
use super::fast::{Scan, natural, string_body};
use super::jumps::List;
use super::number::MAX_SAFE_INTEGER;
use super::packed::PackedRow;
use super::raw::Raw;
use super::scan::{byte, each, slice};
use super::survey::is_utf8;

/// The members of a run.
struct Members<'line> {
    index: Raw<'line>,
    dt: (Raw<'line>, List),
    id: Option<Raw<'line>>,
    name: Option<Raw<'line>>,
    payload: (Raw<'line>, List),
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
    pub(super) fn any_run(&mut self) -> Option<(List, List)> {
        let time0 = self.stream_record()?;
        let members = self.members(None, time0)?;
        self.literal(b"}")?;
        Some((members.dt.1, members.payload.1))
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
        let members = self.members(Some(kind), time0)?;
        Some(DeltaRun {
            kind,
            index: members.index,
            id: members.id,
            name: members.name,
            len: members.payload.1.len,
            time0: Millis(time0.cast_signed()),
            last_time: Millis(members.last_time),
            payload: members.payload.0,
            dt: members.dt.0,
        })
    }

    /// Takes the members of a run, from `index` on.
    fn members(&mut self, kind: Option<DeltaKind>, time0: u64) -> Option<Members<'line>> {
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
        let payload = self.strings()?;
        let last_time = i64::try_from(time0.saturating_add(dt.1.sum)).ok()?;
        let is_sound = dt.1.len + 1 == payload.1.len && last_time <= MAX_SAFE_INTEGER;
        is_sound.then_some(Members {
            index,
            dt,
            id,
            name,
            payload,
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
        let bytes = self.bytes();
        let (mut at, mut len, mut sum) = (self.at(), 0, 0u64);
        loop {
            let (value, digits) = natural(bytes, at)?;
            sum = sum.saturating_add(value);
            len += 1;
            at += digits + 1;
            match byte(bytes, at - 1) {
                b',' => {}
                b']' => break,
                _ => return None,
            }
        }
        self.move_to(at);
        Some(self.list(start, len, sum))
    }

    /// Takes an array of at least one string.
    fn strings(&mut self) -> Option<(Raw<'line>, List)> {
        if let Some(list) = self.noted_list() {
            return Some(self.noted(list));
        }
        let start = self.at();
        self.literal(b"[")?;
        let bytes = self.bytes();
        let (mut at, mut len, mut seen) = (self.at(), 0, 0);
        loop {
            if byte(bytes, at) != b'"' {
                return None;
            }
            at = string_body(bytes, at + 1, &mut seen)? + 2;
            len += 1;
            match byte(bytes, at - 1) {
                b',' => {}
                b']' => break,
                _ => return None,
            }
        }
        self.move_to(at);
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
