//! Lines tile their log, however its bytes arrive and whatever the longest line may be.

use dsh_audit::line::LineEnd;
use dsh_audit::source::{Encoding, Source, SourceDefect, SourceOptions, SourceSummary};

use super::readers::Slowly;

/// A line, as far as it can be kept: number, start, bytes, how it ended.
pub type Told = (u64, u64, Vec<u8>, LineEnd);

/// All lines of a source, and what is known behind the last.
pub fn walk(source: &Source) -> (Vec<Told>, SourceSummary) {
    let mut walk = source.lines();
    let mut lines = Vec::new();
    while let Some(line) = walk.next_line().expect("memory is readable") {
        lines.push((line.no.0, line.start, line.bytes.to_vec(), line.end));
    }
    (lines, walk.finish().expect("memory is readable"))
}

pub fn check(log: &[u8]) {
    let whole = Source::from_bytes(log.to_vec());
    let (lines, summary) = walk(&whole);
    if whole.encoding() == Encoding::Raw {
        tiles(log, &lines);
        assert_eq!(summary.decoded_len, log.len() as u64);
        assert_eq!(summary.lines, lines.len() as u64);
    }
    for max_line in [SourceOptions::default().max_line, 100, 3] {
        let options = SourceOptions {
            max_line,
            ..SourceOptions::default()
        };
        let short = walk(&Source::from_bytes_with(log.to_vec(), &options));
        let stream = Source::from_reader(Slowly::over(log), &options).expect("readable");
        assert_eq!(walk(&stream), short, "at most {max_line} bytes a line");
        let (kept, summary) = short;
        let fits = |line: &&Told| line.2.len() as u64 <= max_line;
        let mut expected: Vec<_> = lines.iter().filter(fits).cloned().collect();
        if whole.encoding() == Encoding::Zstd && kept.len() < expected.len() {
            // A last line that was too long already when a broken frame took its end back.
            expected.pop_if(|(.., end)| *end == LineEnd::Eof);
        }
        assert_eq!(kept, expected, "at most {max_line} bytes a line");
        let is_limit = |defect: &&SourceDefect| matches!(defect, SourceDefect::LineLimit { .. });
        let named = summary.defects.as_slice().iter().filter(is_limit).count();
        let left_out = usize::try_from(summary.defects.left_out()).expect("small");
        assert!(
            named + left_out >= lines.len() - kept.len(),
            "a line vanished"
        );
    }
}

/// The lines are the log, byte for byte.
fn tiles(log: &[u8], lines: &[Told]) {
    let mut rebuilt = Vec::new();
    for (index, (no, start, bytes, end)) in lines.iter().enumerate() {
        assert_eq!((*no, *start), (index as u64 + 1, rebuilt.len() as u64));
        assert!(!bytes.contains(&b'\n'), "line {no} holds a line feed");
        rebuilt.extend_from_slice(bytes);
        match end {
            LineEnd::Newline => rebuilt.push(b'\n'),
            LineEnd::Eof => assert_eq!(index + 1, lines.len(), "only the last line may be torn"),
        }
    }
    assert!(rebuilt == log, "lines leave bytes out");
}
