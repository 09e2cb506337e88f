//! Keys of objects: whether one stands twice, and which come first in the harness's engine.
//!
//! **Takes** the places of keys in JSON text, object by object. **Gives** repeated keys and JavaScript's order.
//! **Never** compares more pairs than a small object has: large ones are sorted. Keys are compared by decoded text.

use std::borrow::Cow;

use super::escape;
use super::scan::{slice, string_end};

/// Objects with more keys are checked when they close, by sorting.
const COMPARED: usize = 16;
/// Words of memory that are kept from line to line.
const KEPT: usize = 1 << 16;
/// Bits of an entry that hold an offset; a digest of the key stands above them.
const OFFSET_BITS: u32 = 40;

/// The keys of all open objects, one word each. Reused from line to line.
///
/// A frame per open object: first the state of the object around it, two words, then one entry per key.
#[derive(Debug, Default)]
pub(super) struct Keys {
    entries: Vec<u64>,
    frame: usize,
    /// A bit for every key of the innermost object: without its bit, a key is new.
    seen: u64,
}

/// What a new key is to the object it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrder {
    /// Its place is where the engine prints it, as far as the keys before tell.
    InPlace,
    /// It is like an integer and stands behind a larger one, or behind a name.
    OutOfPlace,
    /// The same key stands before it.
    Repeated,
}

impl Keys {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        // One hostile line does not hold its memory until the log's end.
        self.entries.shrink_to(KEPT);
        self.frame = 0;
        self.seen = 0;
    }

    /// Begins an object.
    #[inline]
    pub(super) fn open(&mut self) {
        self.entries.push(self.frame as u64);
        self.entries.push(self.seen);
        self.frame = self.entries.len();
        self.seen = 0;
    }

    /// Adds the key whose quote opens at `at`. `word` is its whole text in one word, the first byte lowest, when it is shorter than eight bytes.
    #[inline(always)]
    pub(super) fn add_short(&mut self, bytes: &[u8], at: usize, word: u64) -> KeyOrder {
        self.add(bytes, at, mix(word), (word as u8).is_ascii_digit())
    }

    /// Adds the key between the quotes at `at` and before `end`. `plain` says that its body is its text: no escapes, valid UTF-8.
    #[inline(never)]
    pub(super) fn add_any(&mut self, bytes: &[u8], at: usize, end: usize, plain: bool) -> KeyOrder {
        let body = slice(bytes, at + 1, end - 1);
        let text = if plain {
            Cow::Borrowed(body)
        } else {
            text_of(body)
        };
        self.add(
            bytes,
            at,
            digest(&text),
            text.first().is_some_and(u8::is_ascii_digit),
        )
    }

    #[inline(always)]
    fn add(&mut self, bytes: &[u8], at: usize, digest: u64, is_digit: bool) -> KeyOrder {
        let bit = 1 << (digest >> 58);
        let order = if is_digit || self.seen & bit != 0 {
            self.order(bytes, at, digest)
        } else {
            KeyOrder::InPlace
        };
        self.seen |= bit;
        self.entries.push(entry(digest, at));
        order
    }

    /// What the key at `at` is to those before it.
    #[inline(never)]
    fn order(&self, bytes: &[u8], at: usize, digest: u64) -> KeyOrder {
        let keys = self.entries.get(self.frame..).unwrap_or_default();
        let text = key_text(bytes, at);
        let mut known = keys
            .iter()
            .filter(|&&known| same_tag(known, entry(digest, at)));
        if keys.len() < COMPARED && known.any(|&known| key_text(bytes, offset(known)) == text) {
            return KeyOrder::Repeated;
        }
        let (Some(index), Some(&before)) = (integer_like(&text), keys.last()) else {
            return KeyOrder::InPlace;
        };
        match integer_like(&key_text(bytes, offset(before))) {
            Some(smaller) if smaller < index => KeyOrder::InPlace,
            _ => KeyOrder::OutOfPlace,
        }
    }

    /// Ends the object; the place of its first repeated key, where [`Keys::add`] did not look for it.
    #[inline]
    pub(super) fn close(&mut self, bytes: &[u8]) -> Option<usize> {
        let large = self.entries.len() - self.frame > COMPARED;
        let repeated = if large {
            self.first_repeated(bytes)
        } else {
            None
        };
        self.entries.truncate(self.frame);
        self.seen = self.entries.pop().unwrap_or(0);
        self.frame = self.entries.pop().unwrap_or(0) as usize;
        repeated
    }

    #[inline(never)]
    fn first_repeated(&mut self, bytes: &[u8]) -> Option<usize> {
        let keys = self.entries.get_mut(self.frame..).unwrap_or_default();
        // By digest, and by place where digests are equal.
        keys.sort_unstable();
        let mut first: Option<usize> = None;
        for group in keys
            .chunk_by(|&a, &b| same_tag(a, b))
            .filter(|group| group.len() > 1)
        {
            // Ordered by text, so that no choice of keys makes the search slow.
            let mut texts: Vec<_> = group
                .iter()
                .map(|&key| (key_text(bytes, offset(key)), offset(key)))
                .collect();
            texts.sort_unstable();
            let pairs = texts.iter().zip(texts.iter().skip(1));
            let repeated = pairs.filter(|(a, b)| a.0 == b.0).map(|(_, b)| b.1).min();
            first = first.into_iter().chain(repeated).min();
        }
        first
    }
}

/// A key's place, below the upper bits of its digest.
#[inline]
fn entry(digest: u64, at: usize) -> u64 {
    (digest >> OFFSET_BITS << OFFSET_BITS) | at as u64
}

fn offset(entry: u64) -> usize {
    (entry & ((1 << OFFSET_BITS) - 1)) as usize
}

fn same_tag(a: u64, b: u64) -> bool {
    (a ^ b) >> OFFSET_BITS == 0
}

/// A cheap digest, best in its upper bits: equal texts have equal ones.
fn digest(text: &[u8]) -> u64 {
    match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(head), Some(tail)) => {
            let tail = u64::from_le_bytes(*tail).rotate_left(23);
            mix(u64::from_le_bytes(*head) ^ tail ^ text.len() as u64)
        }
        _ => mix(text
            .iter()
            .rev()
            .fold(0, |word, &b| word << 8 | u64::from(b))),
    }
}

#[inline(always)]
fn mix(word: u64) -> u64 {
    word.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The text of the key whose quote opens at `at`.
pub(super) fn key_text(bytes: &[u8], at: usize) -> Cow<'_, [u8]> {
    text_of(slice(bytes, at + 1, string_end(bytes, at) - 1))
}

/// The text that the body of a string stands for.
pub(super) fn text_of(body: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', body).is_none() && std::str::from_utf8(body).is_ok() {
        return Cow::Borrowed(body);
    }
    let mut text = Vec::new();
    escape::decode(body, &mut text);
    Cow::Owned(text)
}

/// The number of a key that the engine lists before all names: canonical decimal from 0 to 4294967294.
pub(super) fn integer_like(key: &[u8]) -> Option<u32> {
    if key.is_empty() || key.len() > 10 || (key.len() > 1 && key.first() == Some(&b'0')) {
        return None;
    }
    let mut value = 0u64;
    for &digit in key {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u64::from(digit - b'0');
    }
    u32::try_from(value).ok().filter(|&value| value != u32::MAX)
}

/// An order of members: for each, which one gives the key and which one the value.
pub(super) type Order = Vec<(usize, usize)>;

/// The order of code units of the texts; of equal ones the first key with the last value.
pub(super) fn sorted_order(texts: &[Cow<'_, [u8]>]) -> Order {
    let mut by_text: Vec<(&[u8], usize)> = texts
        .iter()
        .enumerate()
        .map(|(ix, text)| (&**text, ix))
        .collect();
    by_text.sort_unstable();
    let groups = by_text.chunk_by(|a, b| a.0 == b.0);
    groups
        .filter_map(|group| Some((group.first()?.1, group.last()?.1)))
        .collect()
}

/// The order in which the engine lists members: integers ascending, then names as they stand; of equal ones the first key with the last value.
pub(super) fn engine_order(texts: &[Cow<'_, [u8]>]) -> Order {
    let mut order = sorted_order(texts);
    order.sort_unstable_by_key(|&(key, _)| {
        let integer = texts.get(key).and_then(|text| integer_like(text));
        (integer.map_or(u64::MAX, u64::from), key)
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_canonical_decimals_below_the_largest() {
        assert_eq!(integer_like(b"0"), Some(0));
        assert_eq!(integer_like(b"4294967294"), Some(4_294_967_294));
        for name in ["4294967295", "01", "", "-1", "1.0", "99999999999"] {
            assert_eq!(integer_like(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn the_engine_lists_integers_first_and_the_last_value_at_the_first_place() {
        let texts: Vec<_> = ["b", "10", "a", "9", "b", "__proto__"]
            .map(|t| Cow::Borrowed(t.as_bytes()))
            .into();
        assert_eq!(
            engine_order(&texts),
            [(3, 3), (1, 1), (0, 4), (2, 2), (5, 5)]
        );
        assert_eq!(
            sorted_order(&texts),
            [(1, 1), (3, 3), (5, 5), (2, 2), (0, 4)]
        );
    }
}
