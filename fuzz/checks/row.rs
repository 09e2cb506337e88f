//! A row stands for the same events, however often it is unpacked.

use dsh_audit::dialect::decode_storage_record;
use dsh_audit::record::{DeltaKind, PackedRow, Raw, Record, Scratch};

use super::alike::line;

const KINDS: [DeltaKind; 3] = [DeltaKind::Text, DeltaKind::Reasoning, DeltaKind::ToolCall];

pub fn check(row: &[u8]) {
    unpacks_to_events(row);
    let mut scratch = Scratch::new();
    let Ok(record) = Record::parse(&line(row), &mut scratch) else {
        return;
    };
    for kind in KINDS {
        if let Ok(row) = PackedRow::parse(kind, &record, None) {
            counts_its_deltas(&row);
        }
    }
}

/// Events are rows that stand for themselves.
fn unpacks_to_events(row: &[u8]) {
    let Ok(events) = decode_storage_record(row) else {
        return;
    };
    assert!(!events.is_empty(), "a row stands for something");
    for event in &events {
        let again = decode_storage_record(event).expect("an event can be read");
        assert_eq!(again.as_slice(), std::slice::from_ref(event));
        let value = Raw::parse(event).expect("an event is JSON");
        assert!(value.is_canonical(), "{value:?}");
    }
    let seqs = events.iter().map(|event| {
        let value = Raw::parse(event).expect("an event is JSON");
        value.get("seq").and_then(Raw::safe_int)
    });
    let seqs: Vec<_> = seqs.collect();
    if let [first, .., last] = seqs[..] {
        let (first, last) = (first.expect("a number"), last.expect("a number"));
        assert_eq!(last - first, events.len() as i64 - 1);
    }
}

/// As many deltas as it says, one behind the other.
fn counts_its_deltas(row: &PackedRow<'_>) {
    let deltas: Vec<_> = row.deltas().collect();
    assert_eq!(deltas.len() as u64, row.run.len);
    assert_eq!(deltas.first().map(|(seq, ..)| *seq), Some(row.seq0));
    assert_eq!(deltas.last().map(|(seq, ..)| *seq), Some(row.last_seq()));
    assert!(deltas.windows(2).all(|pair| pair[0].0.0 + 1 == pair[1].0.0));
}
