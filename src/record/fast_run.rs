//! Runs of deltas in exactly the bytes the harness prints: what packed rows and stream records have in common.
//!
//! **Takes** a cursor that stands before the run. **Gives** what the general pass over the row would give.
//! **Never** takes a time step that goes back, or a text with an escape of four digits: those are left to the general pass.

use crate::line::{Millis, Seq};

use super::deltas::{DeltaKind, DeltaRun};
use super::fast::{Scan, string_body};
use super::number::MAX_SAFE_INTEGER;
use super::packed::PackedRow;
use super::raw::Raw;
use super::scan::{each, slice};
use super::survey::is_utf8;

/// An array that was passed over.
struct List<'line, Sum> {
    value: Raw<'line>,
    len: u64,
    sum: Sum,
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
        self.literal(b"{\"type\":")?;
        self.string()?;
        self.literal(b",\"time0\":")?;
        let time0 = self.natural()?;
        self.literal(b",")?;
        let run = self.run(kind, time0)?;
        self.literal(b"}")?;
        Some(run)
    }

    /// Takes the members of a run, from `index` on.
    #[inline]
    fn run(&mut self, kind: DeltaKind, time0: u64) -> Option<DeltaRun<'line>> {
        self.literal(b"\"index\":")?;
        let index = self.natural_raw()?;
        self.literal(b",\"dt\":")?;
        let steps = self.naturals()?;
        let (mut id, mut name) = (None, None);
        if kind == DeltaKind::ToolCall {
            self.literal(b",\"id\":")?;
            id = Some(self.string()?);
            if self.literal(b",\"name\":").is_some() {
                name = Some(self.string()?);
            }
            self.literal(b",\"args\":")?;
        } else {
            self.literal(b",\"texts\":")?;
        }
        let texts = self.strings()?;
        let last_time = i64::try_from(time0.saturating_add(steps.sum)).ok()?;
        let is_sound = steps.len + 1 == texts.len && last_time <= MAX_SAFE_INTEGER;
        is_sound.then_some(DeltaRun {
            kind,
            index,
            id,
            name,
            len: texts.len,
            time0: Millis(time0.cast_signed()),
            last_time: Millis(last_time),
            payload: texts.value,
            dt: steps.value,
        })
    }

    #[inline(always)]
    fn natural_raw(&mut self) -> Option<Raw<'line>> {
        let from = self.at();
        self.natural()?;
        Some(self.part(from, self.at()))
    }

    /// Takes an array of natural numbers.
    fn naturals(&mut self) -> Option<List<'line, u64>> {
        let from = self.at();
        self.literal(b"[")?;
        let (mut len, mut sum) = (0, 0u64);
        if self.literal(b"]").is_none() {
            loop {
                sum = sum.saturating_add(self.natural()?);
                len += 1;
                if self.literal(b",").is_none() {
                    break;
                }
            }
            self.literal(b"]")?;
        }
        let value = self.part(from, self.at());
        Some(List { value, len, sum })
    }

    /// Takes an array of at least one string.
    fn strings(&mut self) -> Option<List<'line, ()>> {
        let from = self.at();
        self.literal(b"[")?;
        let (mut len, mut seen) = (0, 0);
        loop {
            self.literal(b"\"")?;
            let end = string_body(self.bytes(), self.at(), &mut seen)?;
            self.move_to(end + 1);
            len += 1;
            if self.literal(b",").is_none() {
                break;
            }
        }
        self.literal(b"]")?;
        let has_others = seen & each(0x80) != 0;
        if has_others && !is_utf8(slice(self.bytes(), from, self.at())) {
            return None;
        }
        let value = self.part(from, self.at());
        Some(List {
            value,
            len,
            sum: (),
        })
    }
}
