//! Packed chunk rows: one line for a run of deltas (format.md B.0).
//!
//! **Takes** a record whose `type` is one of the storage tags. **Gives** its run with sequence numbers, or why it is malformed.
//! **Never** gives part of a row: one breach makes the whole row a bad line.

use crate::line::{Millis, Seq};

use super::deltas::{Delta, DeltaKind, DeltaRun, PackedDefect, PackedFault, Parts, typed};
use super::envelope::Record;
use super::number::MAX_SAFE_INTEGER;
use super::raw::{Kind, Raw};

/// One line that stands for consecutive deltas of one step.
#[derive(Clone, Copy, Debug)]
pub struct PackedRow<'line> {
    /// Sequence number of the first delta.
    pub seq0: Seq,
    /// The turn: a number.
    pub turn: Raw<'line>,
    /// The step: a number.
    pub step: Raw<'line>,
    /// The deltas.
    pub run: DeltaRun<'line>,
}

impl<'line> PackedRow<'line> {
    /// Reads a row. The envelope has exactly `type`, `seq0`, `time0` and `data`, in any order, and `data` exactly the run's members.
    ///
    /// `missing` stands in for a `seq0` or `time0` that is not there, as in logs whose numbers were taken out (format.md A.9).
    ///
    /// # Errors
    ///
    /// The first way in which the row breaks its shape.
    pub fn parse(
        kind: DeltaKind,
        record: &Record<'line>,
        missing: Option<(Seq, Millis)>,
    ) -> Result<PackedRow<'line>, PackedDefect> {
        let others = [
            record.extra,
            record.seq,
            record.time,
            record.source_event_seqs,
            record.surface_op,
            record.ignorable,
        ];
        if let Some(&other) = others.iter().flatten().next() {
            return Err(PackedFault::Unexpected.at(other));
        }
        let missing_seq = missing.map(|(seq, _)| seq.0 as i64);
        let missing_time = missing.map(|(_, time)| time.0);
        let seq0 = integer(record, record.seq0, "seq0", missing_seq)?;
        let time0 = integer(record, record.time0, "time0", missing_time)?;
        let seq0_at = record.seq0.unwrap_or(record.value);
        let seq0 = u64::try_from(seq0).map_err(|_| PackedFault::WrongType("seq0").at(seq0_at))?;
        let data = record
            .data
            .ok_or(PackedFault::Missing("data").at(record.value))?;
        let data = typed(data, Kind::Object, "data")?;
        let parts = Parts::read(kind, data, &["turn", "step"])?;
        let row = PackedRow {
            seq0: Seq(seq0),
            turn: parts.number(parts.turn, "turn")?,
            step: parts.number(parts.step, "step")?,
            run: parts.run(kind, Millis(time0), record.time0.unwrap_or(record.value))?,
        };
        if row.last_seq().0 > MAX_SAFE_INTEGER as u64 {
            return Err(PackedFault::UnsafeSeq.at(seq0_at));
        }
        Ok(row)
    }

    /// Sequence number of the last delta.
    pub fn last_seq(&self) -> Seq {
        Seq(self.seq0.0 + self.run.len - 1)
    }

    /// The deltas with their sequence numbers and times.
    pub fn deltas(&self) -> impl Iterator<Item = (Seq, Millis, Delta<'line>)> + use<'line> {
        let seqs = (self.seq0.0..).map(Seq);
        seqs.zip(self.run.deltas())
            .map(|(seq, (time, delta))| (seq, time, delta))
    }
}

/// The value of a member that must be a safe integer.
fn integer(
    record: &Record<'_>,
    part: Option<Raw<'_>>,
    name: &'static str,
    missing: Option<i64>,
) -> Result<i64, PackedDefect> {
    match part {
        Some(part) => part.safe_int().ok_or(PackedFault::WrongType(name).at(part)),
        None => missing.ok_or(PackedFault::Missing(name).at(record.value)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Scratch;
    use super::*;
    use crate::line::{Line, LineEnd, LineNo};

    const TEXT: &str = r#"{"type":"t","seq0":13,"time0":5,"data":{"turn":1,"step":2,"index":0,"dt":[0,-1],"texts":["a","b","c"]}}"#;
    const CALL: &str = r#"{"type":"t","seq0":13,"time0":5,"data":{"args":["{","}"],"id":"c1","dt":[0],"index":1,"step":1,"turn":1}}"#;

    fn record(text: &str) -> Record<'_> {
        let line = Line {
            no: LineNo(1),
            start: 0,
            bytes: text.as_bytes(),
            end: LineEnd::Newline,
        };
        Record::parse(&line, &mut Scratch::new()).unwrap()
    }

    fn fault(kind: DeltaKind, text: &str) -> PackedFault {
        PackedRow::parse(kind, &record(text), None)
            .unwrap_err()
            .fault
    }

    #[test]
    fn rows_expand_to_numbered_deltas() {
        let record = record(TEXT);
        let row = PackedRow::parse(DeltaKind::Text, &record, None).unwrap();
        let listed: Vec<_> = row
            .deltas()
            .map(|(seq, time, delta)| (seq.0, time.0, delta.text.bytes().to_vec()))
            .collect();
        assert_eq!(
            listed,
            [
                (13, 5, b"\"a\"".to_vec()),
                (14, 5, b"\"b\"".to_vec()),
                (15, 4, b"\"c\"".to_vec())
            ]
        );
        assert_eq!(row.last_seq(), Seq(15));
        assert_eq!(
            (row.turn.safe_int(), row.step.safe_int()),
            (Some(1), Some(2))
        );
    }

    #[test]
    fn members_may_stand_in_any_order() {
        let row_record = record(CALL);
        let row = PackedRow::parse(DeltaKind::ToolCall, &row_record, None).unwrap();
        assert!(row.run.id.unwrap().is_str("c1") && row.run.name.is_none());
        let swapped = r#"{"data":{"turn":1,"step":2,"index":0,"dt":[],"texts":["a"]},"time0":-5,"seq0":0.0,"type":"t"}"#;
        assert!(PackedRow::parse(DeltaKind::Text, &record(swapped), None).is_ok());
    }

    #[test]
    fn every_breach_makes_the_row_bad() {
        use PackedFault::*;
        for (from, to, expected) in [
            ("\"seq0\":13", "\"seq0\":-1", WrongType("seq0")),
            ("\"seq0\":13", "\"seq0\":\"13\"", WrongType("seq0")),
            ("\"seq0\":13,", "", Missing("seq0")),
            ("\"seq0\":13", "\"seq0\":9007199254740990", UnsafeSeq),
            ("\"time0\":5", "\"time0\":5.5", WrongType("time0")),
            ("\"time0\":5", "\"time0\":-9007199254740991", UnsafeTime),
            ("\"seq0\"", "\"ignorable\":true,\"seq0\"", Unexpected),
            ("\"seq0\"", "\"seq\":13,\"seq0\"", Unexpected),
            ("\"seq0\"", "\"x\":13,\"seq0\"", Unexpected),
            ("\"turn\":1", "\"turn\":\"1\"", WrongType("turn")),
            ("\"turn\":1,", "", Missing("turn")),
            ("\"turn\":1", "\"turn\":1,\"id\":\"x\"", Unexpected),
            ("\"index\":0", "\"index\":null", WrongType("index")),
            ("[0,-1]", "[0,0.5]", WrongType("dt")),
            ("[0,-1]", "[0]", StepsDoNotMatch { texts: 3, steps: 1 }),
            ("[0,-1]", "[0,9007199254740992]", WrongType("dt")),
            ("[0,-1]", "[9007199254740991,0]", UnsafeTime),
            ("[\"a\",\"b\",\"c\"]", "[]", NoText),
            ("\"b\"", "2", WrongType("texts")),
            ("[\"a\",\"b\",\"c\"]", "\"abc\"", WrongType("texts")),
        ] {
            assert_eq!(
                fault(DeltaKind::Text, &TEXT.replace(from, to)),
                expected,
                "{from} -> {to}"
            );
        }
        let no_data = r#"{"type":"t","seq0":13,"time0":5,"data":[]}"#;
        assert_eq!(fault(DeltaKind::Text, no_data), WrongType("data"));
    }

    #[test]
    fn numbers_that_were_taken_out_are_stood_in_for() {
        let text = TEXT.replace("\"seq0\":13,\"time0\":5,", "");
        let record = record(&text);
        let row = PackedRow::parse(DeltaKind::Text, &record, Some((Seq(7), Millis(0)))).unwrap();
        assert_eq!((row.seq0, row.run.last_time), (Seq(7), Millis(-1)));
    }
}
