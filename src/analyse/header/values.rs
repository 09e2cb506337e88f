//! The texts that stand at one place over time.
//!
//! **Takes** one text after the other. **Gives** what they have in common, what varies, and whether they come back. **Never** keeps
//! more than a few of them.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::lines::common_start;
use super::shown::{shortened, shown};
use crate::analyse::answer::Varying;

/// How many texts are kept as examples, beside the last one.
const EXAMPLES: usize = 4;
/// Longest example that is printed.
const LONGEST: usize = 120;

/// Texts at one place, in order.
#[derive(Clone, Debug)]
pub(super) struct Values {
    examples: Vec<Vec<u8>>,
    last: Vec<u8>,
    /// Bytes with which all begin, and with which all end.
    start: usize,
    end: usize,
    shortest: usize,
    /// Where each text stood last.
    seen: HashMap<u128, u64>,
    /// How often a text came back after so many changes.
    gaps: HashMap<u64, u64>,
    changes: u64,
    returns: u64,
}

impl Values {
    pub(super) fn new(first: &[u8]) -> Values {
        Values {
            examples: vec![first.to_vec()],
            last: first.to_vec(),
            start: first.len(),
            end: first.len(),
            shortest: first.len(),
            seen: HashMap::from([(xxh3_128(first), 0)]),
            gaps: HashMap::new(),
            changes: 0,
            returns: 0,
        }
    }

    /// Takes the next text, which differs from the last one.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.changes += 1;
        if let Some(at) = self.seen.insert(xxh3_128(text), self.changes) {
            self.returns += 1;
            *self.gaps.entry(self.changes - at).or_default() += 1;
        } else if self.examples.len() < EXAMPLES {
            self.examples.push(text.to_vec());
        }
        let first = self.examples.first().map(Vec::as_slice).unwrap_or_default();
        self.start = self.start.min(common_start(first, text));
        let tails = first.iter().rev().zip(text.iter().rev()).take(self.end);
        self.end = tails.take_while(|(a, b)| a == b).count();
        self.shortest = self.shortest.min(text.len());
        self.last = text.to_vec();
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn distinct(&self) -> u64 {
        self.seen.len() as u64
    }

    /// After how many changes the same text mostly stands there again, if that is what it does.
    pub(super) fn period(&self) -> Option<u64> {
        let is_flapping = self.returns > 0 && self.returns >= self.changes.saturating_sub(1) / 2;
        let mut gaps: Vec<_> = self
            .gaps
            .iter()
            .map(|(gap, count)| (*gap, *count))
            .collect();
        gaps.sort_unstable_by_key(|(gap, count)| (std::cmp::Reverse(*count), *gap));
        gaps.first().filter(|_| is_flapping).map(|(gap, _)| *gap)
    }

    /// The texts, shortened: the first ones and the last.
    pub(super) fn texts(&self) -> Vec<String> {
        let last = (!self.examples.contains(&self.last)).then_some(&self.last);
        let all = self.examples.iter().chain(last);
        all.map(|text| shortened(&shown(text), LONGEST)).collect()
    }

    /// What stands before and behind the part that varies, and the part's texts.
    pub(super) fn varying(&self) -> (String, String, Vec<String>) {
        let first = self.examples.first().map(Vec::as_slice).unwrap_or_default();
        let start = back_to_value(first, self.start);
        let end = self.end.min(self.shortest - self.start);
        let end = end - value_start(first.get(first.len() - end..).unwrap_or_default());
        let inner = |text: &[u8]| {
            let to = text.len().saturating_sub(end).max(start);
            shortened(&shown(text.get(start..to).unwrap_or_default()), LONGEST)
        };
        let last = (!self.examples.contains(&self.last)).then_some(&self.last);
        let texts = self
            .examples
            .iter()
            .chain(last)
            .map(|text| inner(text))
            .collect();
        let edge = |text: &[u8]| shortened(&shown(text), LONGEST);
        (
            edge(first.get(..start).unwrap_or_default()),
            edge(first.get(first.len() - end..).unwrap_or_default()),
            texts,
        )
    }
}

/// Whether a byte is likely part of a value: of a number, a name, a time, a path.
fn is_value(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_:./\\+-".contains(&byte)
}

/// How many bytes of a text still belong to the value that ends in it: marks at its end do not.
fn value_start(text: &[u8]) -> usize {
    let run = text.iter().take_while(|byte| is_value(**byte)).count();
    let value = text.get(..run).unwrap_or_default();
    let is_core = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    value.iter().rposition(is_core).map_or(0, |at| at + 1)
}

/// Goes back from where texts begin to differ to where the value begins.
fn back_to_value(text: &[u8], start: usize) -> usize {
    let before = text.get(..start).unwrap_or_default();
    start
        - before
            .iter()
            .rev()
            .take_while(|byte| is_value(**byte))
            .count()
}

/// What varying texts look like.
pub(super) fn looks_like(texts: &[String]) -> Varying {
    let all = |is: fn(&str) -> bool| texts.iter().all(|text| is(text));
    let any = |is: fn(&str) -> bool| texts.iter().any(|text| is(text));
    if any(has_time) || all(is_epoch) {
        return Varying::Clock;
    }
    if counts(texts) {
        return Varying::Counter;
    }
    if all(is_path) {
        return Varying::Path;
    }
    if all(is_id) {
        return Varying::Id;
    }
    Varying::Text
}

/// Whether a text holds `12:30`, `2026-07-13`, or the name of a month or weekday.
fn has_time(text: &str) -> bool {
    const NAMES: [&str; 19] = [
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
        "Jan",
        "Feb",
        "Mar",
        "Apr",
        "May",
        "Jun",
        "Jul",
        "Aug",
        "Sep",
        "Oct",
        "Nov",
        "Dec",
    ];
    let bytes = text.as_bytes();
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let is_clock = |part: &[u8]| matches!(part, [a, b, b':', c, d] if digits(&[*a, *b, *c, *d]));
    let is_date = |part: &[u8]| matches!(part, [a, b, c, d, b'-' | b'/', e, f] if digits(&[*a, *b, *c, *d, *e, *f]));
    let has_name = text
        .split(|c: char| !c.is_ascii_alphabetic())
        .any(|word| NAMES.contains(&word));
    bytes.windows(5).any(is_clock)
        || bytes.windows(7).any(is_date)
        || (has_name && bytes.iter().any(u8::is_ascii_digit))
}

/// Whether a text is a number of seconds or milliseconds since 1970 that falls into this half of the century.
fn is_epoch(text: &str) -> bool {
    text.parse::<u64>().is_ok_and(|number| {
        (1_500_000_000..2_600_000_000).contains(&number)
            || (1_500_000_000_000..2_600_000_000_000).contains(&number)
    })
}

/// Whether the texts are one number that only grows or only falls, with the same letters around it.
fn counts(texts: &[String]) -> bool {
    let split = |text: &str| -> Option<(String, u64, String)> {
        let start = text.find(|c: char| c.is_ascii_digit())?;
        let (before, rest) = text.split_at(start);
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        Some((
            before.into(),
            number.replace(',', "").parse().ok()?,
            after.into(),
        ))
    };
    let Some(parts) = texts
        .iter()
        .map(|text| split(text))
        .collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let same_letters = parts.windows(2).all(|pair| match pair {
        [a, b] => a.0 == b.0 && a.2 == b.2,
        _ => true,
    });
    same_letters && (parts.is_sorted_by(|a, b| a.1 < b.1) || parts.is_sorted_by(|a, b| a.1 > b.1))
}

fn is_path(text: &str) -> bool {
    text.contains(['/', '\\']) && !text.contains(char::is_whitespace)
}

fn is_id(text: &str) -> bool {
    text.len() >= 6
        && text.contains(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(texts: &[&str]) -> Values {
        let mut values = Values::new(texts[0].as_bytes());
        for text in &texts[1..] {
            values.push(text.as_bytes());
        }
        values
    }

    #[test]
    fn the_varying_part_is_a_whole_value() {
        let found = values(&[
            "It is 12:00:01 now.",
            "It is 12:00:02 now.",
            "It is 12:01:10 now.",
        ]);
        let (before, after, texts) = found.varying();
        assert_eq!((before.as_str(), after.as_str()), ("It is ", " now."));
        assert_eq!(texts, ["12:00:01", "12:00:02", "12:01:10"]);
        assert_eq!(found.period(), None);
        assert_eq!((found.changes(), found.distinct()), (2, 3));
    }

    #[test]
    fn a_full_stop_is_no_part_of_a_value() {
        let (_, after, texts) = values(&["at 1:10.", "at 1:20."]).varying();
        assert_eq!(
            (after.as_str(), texts),
            (".", vec!["1:10".to_string(), "1:20".into()])
        );
    }

    #[test]
    fn ends_that_overlap_are_cut_once() {
        let (before, after, texts) = values(&["a a", "a a a"]).varying();
        assert_eq!((before.as_str(), after.as_str()), ("a ", ""));
        assert_eq!(texts, ["a", "a a"]);
        let (_, _, texts) = values(&["", "x", ""]).varying();
        assert_eq!(texts, ["", "x"]);
    }

    #[test]
    fn what_returns_has_a_period() {
        assert_eq!(values(&["a", "b", "a"]).period(), Some(2));
        assert_eq!(
            values(&["a", "b", "c", "a", "b", "c", "a"]).period(),
            Some(3)
        );
        assert_eq!(values(&["a", "b", "c", "d", "e", "f", "a"]).period(), None);
    }

    #[test]
    fn values_are_known_by_their_look() {
        let look = |texts: &[&str]| {
            looks_like(
                &texts
                    .iter()
                    .map(|text| text.to_string())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(look(&["12:00", "12:01"]), Varying::Clock);
        assert_eq!(look(&["2026-07-13", "2026-07-14"]), Varying::Clock);
        assert_eq!(look(&["Mon Jul 13", "Tue Jul 14"]), Varying::Clock);
        assert_eq!(look(&["1796088541912", "1796088541999"]), Varying::Clock);
        assert_eq!(look(&["t0", "t1", "t2"]), Varying::Counter);
        assert_eq!(look(&["9", "8"]), Varying::Counter);
        assert_eq!(look(&["/tmp/a", "/tmp/b"]), Varying::Path);
        assert_eq!(look(&["3f2a9c1b", "00aa12ff"]), Varying::Id);
        assert_eq!(look(&["red", "blue"]), Varying::Text);
        assert_eq!(look(&["Maybe 1", "so"]), Varying::Text);
    }
}
