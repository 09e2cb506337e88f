//! Responses with few blocks and with many.
//!
//! **Takes** chunks. **Gives** nothing. **Never** reads a log.

use super::*;

/// Starts, fills and ends this many blocks, whose indexes do not come in their order; the blocks as printed.
fn answer(count: u64) -> (Response, Vec<String>) {
    let mut response = Response::default();
    let kind = Raw::parse(b"\"text\"").ok();
    let indexes = || (0..count).map(|ix| Some(ix * 7 % count.max(1)));
    for index in indexes() {
        response.push(&Chunk::BlockStart { index, kind });
    }
    for index in indexes().rev() {
        let text = format!("\"t{}\"", index.unwrap_or_default());
        let text = Raw::parse(text.as_bytes()).expect("a string");
        response.push(&Chunk::Text { index, text });
    }
    let printed = response
        .blocks(false)
        .map(|(block, _)| String::from_utf8_lossy(&block).into_owned())
        .collect();
    (response, printed)
}

#[test]
fn deltas_find_their_block_among_few_and_many() {
    for count in [1, 2, 8, 9, 10, 30] {
        let (mut response, blocks) = answer(count);
        let expected: Vec<_> = (0..count)
            .map(|ix| format!("{{\"type\":\"text\",\"text\":\"t{}\"}}", ix * 7 % count))
            .collect();
        assert_eq!(blocks, expected);
        assert_eq!(response.grammar(), None);
        for index in [0, count] {
            let index = Some(index);
            response.push(&Chunk::BlockStart { index, kind: None });
            let again = "a block starts twice";
            assert_eq!(response.grammar(), Some(again), "{count}");
        }
        assert_eq!(response.parts.len() as u64, count + 1);
    }
}
