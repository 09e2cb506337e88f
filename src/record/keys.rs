//! Keys of objects: whether one stands twice, and which come first in the harness's engine.
//!
//! **Takes** the places of keys in JSON text, object by object. **Gives** repeated keys and JavaScript's order.
//! **Never** compares more pairs than a small object has: large ones are sorted. Keys are compared by decoded text.

use std::borrow::Cow;

use super::escape;
use super::scan::{slice, string_end};

/// Objects with more keys are checked when they close, by sorting.
const COMPARED: usize = 16;
/// Bits of an entry that hold an offset; a digest of the key stands above them.
const OFFSET_BITS: u32 = 40;

/// The keys of all open objects, one word each. Reused from line to line.
///
/// A frame per open object: first the start of the frame below, then one entry per key.
#[derive(Debug, Default)]
pub(super) struct Keys {
    entries: Vec<u64>,
    frame: usize,
    hashed: Vec<(u64, usize)>,
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
        self.frame = 0;
    }

    /// Begins an object.
    #[inline]
    pub(super) fn open(&mut self) {
        self.entries.push(self.frame as u64);
        self.frame = self.entries.len();
    }

    /// Adds the key whose quote opens at `at`. `plain` says that its body is its text: no escapes, valid UTF-8.
    #[inline]
    pub(super) fn add(&mut self, bytes: &[u8], at: usize, end: usize, plain: bool) -> KeyOrder {
        let body = slice(bytes, at + 1, end - 1);
        let tag = if plain {
            digest(body)
        } else {
            digest(&text_of(body))
        };
        let entry = (tag << OFFSET_BITS) | at as u64;
        let keys = self.entries.get(self.frame..).unwrap_or_default();
        let mut order = KeyOrder::InPlace;
        if !plain || body.first().is_some_and(u8::is_ascii_digit) {
            order = order_behind(bytes, keys.last().copied(), body);
        }
        if keys.len() < COMPARED {
            for &known in keys {
                if (known ^ entry) >> OFFSET_BITS == 0
                    && key_text(bytes, offset(known)) == text_of(body)
                {
                    order = KeyOrder::Repeated;
                }
            }
        }
        self.entries.push(entry);
        order
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
        self.frame = self.entries.pop().unwrap_or(0) as usize;
        repeated
    }

    #[cold]
    fn first_repeated(&mut self, bytes: &[u8]) -> Option<usize> {
        let keys = self.entries.get(self.frame..).unwrap_or_default();
        self.hashed.clear();
        self.hashed.extend(keys.iter().map(|&key| {
            let at = offset(key);
            (xxhash_rust::xxh3::xxh3_64(&key_text(bytes, at)), at)
        }));
        // Equal hashes are ordered by text, so that no choice of keys makes the search slow.
        self.hashed.sort_unstable_by(|a, b| {
            let texts = || key_text(bytes, a.1).cmp(&key_text(bytes, b.1));
            a.0.cmp(&b.0).then_with(texts).then(a.1.cmp(&b.1))
        });
        let same = |a: &(u64, usize), b: &(u64, usize)| {
            a.0 == b.0 && key_text(bytes, a.1) == key_text(bytes, b.1)
        };
        let pairs = self.hashed.iter().zip(self.hashed.iter().skip(1));
        pairs.filter(|(a, b)| same(a, b)).map(|(_, b)| b.1).min()
    }
}

fn offset(entry: u64) -> usize {
    (entry & ((1 << OFFSET_BITS) - 1)) as usize
}

/// A cheap digest of 24 bits: equal texts have equal ones.
#[inline]
fn digest(text: &[u8]) -> u64 {
    let word = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(head), Some(tail)) => {
            u64::from_le_bytes(*head) ^ u64::from_le_bytes(*tail).rotate_left(23)
        }
        _ => text.iter().fold(0, |word, &b| word << 8 | u64::from(b)),
    };
    (word ^ text.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> OFFSET_BITS
}

fn order_behind(bytes: &[u8], before: Option<u64>, body: &[u8]) -> KeyOrder {
    let Some(index) = integer_like(&text_of(body)) else {
        return KeyOrder::InPlace;
    };
    let Some(before) = before else {
        return KeyOrder::InPlace;
    };
    match integer_like(&key_text(bytes, offset(before))) {
        Some(smaller) if smaller < index => KeyOrder::InPlace,
        _ => KeyOrder::OutOfPlace,
    }
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
