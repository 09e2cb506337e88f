//! Frames give the lines that another decoder finds in them, however their bytes arrive.

use dsh_audit::source::{Encoding, Source, SourceOptions};

use super::line::walk;
use super::readers::{Slowly, compressed};

/// No input of the fuzzer means to be longer.
const MAX_DECOMPRESSED: u64 = 4 << 20;

pub fn check(bytes: &[u8]) {
    let options = SourceOptions {
        max_decompressed: MAX_DECOMPRESSED,
        ..SourceOptions::default()
    };
    let whole = Source::from_bytes_with(bytes.to_vec(), &options);
    let told = walk(&whole);
    let stream = Source::from_reader(Slowly::over(bytes), &options).expect("readable");
    assert_eq!(walk(&stream), told, "as a stream");
    if whole.encoding() == Encoding::Zstd {
        decodes_alike(bytes, told.1.defects.as_slice().is_empty(), &text(&told.0));
    } else if let Some(frames) = compressed(bytes, 1 + bytes.len() / 3) {
        let framed = walk(&Source::from_bytes(frames));
        assert_eq!(framed.0, told.0, "compressed");
    }
}

/// Where no defect is told, another decoder gives the same text; where it gives one, no defect is told but for the limit.
fn decodes_alike(frames: &[u8], is_sound: bool, text: &[u8]) {
    let decoder = ::zstd::Decoder::new(frames).expect("memory");
    let mut other = Vec::new();
    let limit = MAX_DECOMPRESSED + 1;
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(decoder, limit), &mut other);
    if is_sound {
        assert!(read.is_ok(), "we read what cannot be read: {read:?}");
    }
    if read.is_ok() && is_sound {
        assert!(other == text, "{} bytes, not {}", text.len(), other.len());
    }
}

fn text(lines: &[super::line::Told]) -> Vec<u8> {
    use dsh_audit::line::LineEnd;
    let mut text = Vec::new();
    for (.., bytes, end) in lines {
        text.extend_from_slice(bytes);
        if *end == LineEnd::Newline {
            text.push(b'\n');
        }
    }
    text
}
