//! The words that several formats share: counts, outcomes, and places.
//!
//! **Takes** counts and places. **Gives** short English. **Never** colours or escapes it for a format.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::finding::{Bytes, Place};
use crate::verdict::{Counts, Outcome};

use super::FileReport;

/// `1 error`, `2 errors`; thousands are grouped.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// `12 requests`, and how many of them are inherited, if any are: `12 requests (8 inherited)`.
pub(crate) fn shared(number: u64, noun: &str, inherited: u64) -> String {
    match inherited {
        0 => count(number, noun),
        _ => format!("{} ({} inherited)", count(number, noun), grouped(inherited)),
    }
}

/// `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The levels that occur: `2 errors, 1 note`. Empty if none does.
pub(crate) fn levels(counts: Counts) -> String {
    let mut parts = Vec::new();
    for (number, noun) in [
        (counts.error, "error"),
        (counts.warning, "warning"),
        (counts.note, "note"),
    ] {
        if number > 0 {
            parts.push(count(number, noun));
        }
    }
    parts.join(", ")
}

/// The outcome of a file in a few words.
pub(crate) fn outcome(file: &FileReport) -> String {
    let word = match file.verdict.outcome {
        Outcome::Clean => "clean",
        Outcome::Findings => "",
        Outcome::Rejected => "rejected",
        Outcome::Unsupported => "unsupported",
        Outcome::Foreign => "not a session log",
        Outcome::Unreadable => "unreadable",
    };
    let levels = levels(file.verdict.counts);
    let mut words = match (word, levels.as_str()) {
        (word, "") => word.to_string(),
        ("", levels) => levels.to_string(),
        (word, levels) => format!("{word}: {levels}"),
    };
    if !file.verdict.accepted.is_empty() {
        let _ = write!(words, ", {} accepted", file.verdict.accepted.len());
    }
    words
}

/// Where in the conversation: `turn 2 / step 3 / seq 691`. Empty if the place is not inside one.
pub(crate) fn logical(at: &Place) -> String {
    let parts = [
        ("turn", at.turn),
        ("step", at.step),
        ("seq", at.seq.map(|seq| seq.0)),
    ];
    let known = parts
        .iter()
        .filter_map(|(noun, number)| Some(format!("{noun} {}", (*number)?)));
    known.collect::<Vec<_>>().join(" / ")
}

/// Where in the file: `line 12, byte 3456`. Empty if neither is known.
pub(crate) fn physical(at: &Place) -> String {
    let mut parts = Vec::new();
    if let Some(line) = at.line {
        parts.push(format!("line {line}"));
    }
    match at.bytes {
        Some(Bytes::Decoded(span)) => parts.push(format!("byte {}", span.start)),
        Some(Bytes::File(span)) => parts.push(format!("byte {} of the file", span.start)),
        None => {}
    }
    parts.join(", ")
}

/// Both: `line 12, byte 3456, turn 2 / step 3 / seq 691`.
pub(crate) fn place(at: &Place) -> String {
    let parts = [physical(at), logical(at)];
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join(", ")
}

/// Breaks a text at spaces into lines of at most `columns`; a word that is longer has a line of its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let width = word.width();
        if used > 0 && used + 1 + width > columns {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += width;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{LineNo, Seq, Span};

    #[test]
    fn numbers_are_grouped_and_nouns_agree() {
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(0, "file"), "0 files");
        assert_eq!(count(1_234_567, "file"), "1,234,567 files");
        assert_eq!(grouped(999), "999");
    }

    #[test]
    fn text_is_broken_at_spaces() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(
            wrapped("一二三 longer-than-that x", 6),
            ["一二三", "longer-than-that", "x"]
        );
        assert_eq!(wrapped("", 6), [""]);
    }

    #[test]
    fn a_place_says_what_it_knows() {
        assert_eq!(place(&Place::default()), "");
        let at = Place {
            line: Some(LineNo(12)),
            bytes: Some(Bytes::Decoded(Span {
                start: 3456,
                end: 3460,
            })),
            seq: Some(Seq(691)),
            turn: Some(2),
            step: Some(3),
            ..Place::default()
        };
        assert_eq!(place(&at), "line 12, byte 3456, turn 2 / step 3 / seq 691");
    }
}
