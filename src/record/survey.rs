//! Surveys the bytes of a text block by block: is it UTF-8, and are there control characters.
//!
//! **Takes** bytes. **Gives** a [`Survey`], which spares the pass over the text a closer look.
//! **Never** calls bytes invalid on its own: the standard library decides that, and names the place.

use std::ops::Range;

/// What is known of a text before it is parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    /// The first bytes that are no UTF-8: one maximal subpart.
    pub(super) not_utf8: Option<Range<usize>>,
    /// Whether there is surely no byte below 0x20.
    pub(super) no_controls: bool,
}

/// Bytes that are checked at once.
const BLOCK: usize = 32;
/// Bytes of ASCII that are passed over at once.
const STRIDE: usize = 2 * BLOCK;
/// Bytes before a block that decide which bytes it may begin with.
const BEFORE: usize = 3;

/// A block with the bytes before it.
type Window = [u8; BEFORE + BLOCK];

/// Surveys a text.
pub(super) fn survey(bytes: &[u8]) -> Survey {
    survey_blocks(bytes).unwrap_or_else(|| Survey {
        not_utf8: first_invalid(bytes),
        no_controls: bytes.iter().all(|&b| b >= 0x20),
    })
}

/// Whether a text is UTF-8.
pub(super) fn is_utf8(bytes: &[u8]) -> bool {
    survey_blocks(bytes).is_some() || std::str::from_utf8(bytes).is_ok()
}

fn first_invalid(bytes: &[u8]) -> Option<Range<usize>> {
    let error = std::str::from_utf8(bytes).err()?;
    let start = error.valid_up_to();
    Some(start..error.error_len().map_or(bytes.len(), |len| start + len))
}

/// The survey of a text that the blocks show to be valid.
fn survey_blocks(bytes: &[u8]) -> Option<Survey> {
    // Between a first and a last byte of ASCII nothing begins before or ends behind.
    let first = bytes.first_chunk::<BEFORE>()?;
    let last = bytes.last_chunk::<{ BEFORE + BLOCK }>()?;
    if !first.is_ascii() || !last.last()?.is_ascii() {
        return None;
    }
    let mut no_controls = is_quiet(first);
    let mut at = 0;
    let mut before = Block::Ascii;
    while let Some(window) = chunk::<{ BEFORE + BLOCK }>(bytes, at) {
        if before == Block::Ascii && chunk::<STRIDE>(bytes, at + BEFORE).is_some_and(is_quiet_ascii)
        {
            at += STRIDE;
            continue;
        }
        before = check(window, before)?;
        no_controls &= is_quiet(lanes::<BEFORE>(window));
        at += BLOCK;
    }
    // Looks at some bytes again.
    check(last, before)?;
    no_controls &= is_quiet(last);
    Some(Survey {
        not_utf8: None,
        no_controls,
    })
}

#[inline(always)]
fn chunk<const LEN: usize>(bytes: &[u8], at: usize) -> Option<&[u8; LEN]> {
    bytes.get(at..)?.first_chunk()
}

/// What a valid block holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Ascii,
    /// First bytes of two or three that allow any continuation.
    Plain,
    /// Anything.
    Any,
}

/// What the block of the window holds, unless it is invalid. `before` is what the block before it holds.
#[inline(always)]
fn check(window: &Window, before: Block) -> Option<Block> {
    let ascii = is_ascii(lanes::<BEFORE>(window));
    if ascii && before == Block::Ascii {
        return Some(Block::Ascii);
    }
    if before != Block::Any && is_plain(window) {
        return Some(if ascii { Block::Ascii } else { Block::Plain });
    }
    is_valid(window).then_some(if ascii { Block::Ascii } else { Block::Any })
}

// What follows is written without branches, so that the compiler checks many bytes at once.

#[inline(always)]
fn is_ascii<const LEN: usize>(block: &[u8; LEN]) -> bool {
    let mut high = 0u8;
    for &b in block {
        high |= u8::from(b >= 0x80);
    }
    high == 0
}

#[inline(always)]
fn is_quiet<const LEN: usize>(block: &[u8; LEN]) -> bool {
    let mut loud = 0u8;
    for &b in block {
        loud |= u8::from(b < 0x20);
    }
    loud == 0
}

/// Both at once: as signed numbers, bytes above ASCII are below the control characters.
#[inline(always)]
fn is_quiet_ascii<const LEN: usize>(block: &[u8; LEN]) -> bool {
    let mut loud = 0u8;
    for &b in block {
        loud |= u8::from(b.cast_signed() < 0x20);
    }
    loud == 0
}

/// The bytes that stand `BEFORE - FROM` before those of the block.
#[inline(always)]
fn lanes<const FROM: usize>(window: &Window) -> &[u8; BLOCK] {
    window
        .get(FROM..)
        .and_then(|rest| rest.first_chunk())
        .unwrap_or(&[0xFF; BLOCK])
}

/// Whether continuations stand exactly where first bytes of two or three ask for them, and no first byte restricts the next one.
#[inline(always)]
fn is_plain(window: &Window) -> bool {
    let (back2, back1, now) = (lanes::<1>(window), lanes::<2>(window), lanes::<3>(window));
    let mut bad = 0u8;
    for ((&b2, &b1), &b) in back2.iter().zip(back1).zip(now) {
        let continues = b2.saturating_sub(0x20).max(b1) >= 0xC0;
        let restricts = (b & 0xFE == 0xC0) | (b >= 0xF0) | (b == 0xE0) | (b == 0xED);
        bad |= u8::from((continues != (b & 0xC0 == 0x80)) | restricts);
    }
    bad == 0
}

/// Whether the block is valid after what stands before it.
#[inline(never)]
fn is_valid(window: &Window) -> bool {
    let (back3, back2) = (lanes::<0>(window), lanes::<1>(window));
    let (back1, now) = (lanes::<2>(window), lanes::<3>(window));
    let mut bad = 0u8;
    for (((&b3, &b2), &b1), &b) in back3.iter().zip(back2).zip(back1).zip(now) {
        let continues = (b1 >= 0xC0) | (b2 >= 0xE0) | (b3 >= 0xF0);
        let no_first = (b & 0xFE == 0xC0) | (b >= 0xF5);
        let no_second = ((b1 == 0xE0) & (b < 0xA0))
            | ((b1 == 0xED) & (b > 0x9F))
            | ((b1 == 0xF0) & (b < 0x90))
            | ((b1 == 0xF4) & (b > 0x8F));
        bad |= u8::from((continues != (b & 0xC0 == 0x80)) | no_first | no_second);
    }
    bad == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library_at_every_offset() {
        let mut pieces: Vec<Vec<u8>> = [
            "a",
            "é",
            "日本",
            "\u{800}",
            "\u{D7FF}",
            "\u{E000}",
            "😀",
            "\u{10FFFF}",
        ]
        .map(|text| text.as_bytes().to_vec())
        .into();
        let bad: [&[u8]; 12] = [
            b"\x80",
            b"\xC0\x80",
            b"\xC1\xBF",
            b"\xE0\x9F\xBF",
            b"\xED\xA0\x80",
            b"\xF0\x8F\xBF\xBF",
            b"\xF4\x90\x80\x80",
            b"\xF5\x80\x80\x80",
            b"\xFF",
            b"\xE6\x97",
            b"\xF0\x9F\x98",
            b"\xC3",
        ];
        pieces.extend(bad.map(<[u8]>::to_vec));
        for piece in &pieces {
            for filler in ["a", "日", "é", "😀"] {
                for count in 0..70 {
                    for behind in ["", "b", "\n\"}", "日本語日本語日本語日本語日本語"]
                    {
                        let mut text = b"{\"a".to_vec();
                        text.extend_from_slice(filler.repeat(count).as_bytes());
                        text.extend_from_slice(piece);
                        text.extend_from_slice(behind.as_bytes());
                        let expected = Survey {
                            not_utf8: first_invalid(&text),
                            no_controls: !text.contains(&b'\n'),
                        };
                        assert_eq!(survey(&text), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn valid_text_is_seen_as_such() {
        let text = "{\"a\":\"日本語, тест, 한국어 ไทย é 😀\"}".repeat(20);
        let survey = survey_blocks(text.as_bytes()).unwrap();
        assert!(survey.not_utf8.is_none() && survey.no_controls);
        assert!(survey_blocks(&text.as_bytes()[..text.len() - 4]).is_none());
    }
}
