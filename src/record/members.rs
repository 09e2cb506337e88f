//! Walks through the members of objects and the elements of arrays.
//!
//! **Takes** valid values. **Gives** their parts, as they stand or as the harness's engine lists them.
//! **Never** looks into a part: strings and nested values are skipped.

use super::keys::{engine_order, key_text};
use super::raw::Raw;
use super::scan::{byte, skip_blank, string_end};

/// The members of an object as they stand.
#[derive(Clone, Debug)]
pub(super) struct Walk<'b> {
    object: Raw<'b>,
    at: usize,
}

impl<'b> Walk<'b> {
    pub(super) fn of(object: Raw<'b>) -> Walk<'b> {
        // Offset 0 is the brace of an object; anything else is at its end at once.
        let at = if byte(object.bytes(), 0) == b'{' {
            0
        } else {
            object.bytes().len()
        };
        Walk { object, at }
    }
}

impl<'b> Iterator for Walk<'b> {
    type Item = (Raw<'b>, Raw<'b>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.object.bytes();
        // Before each key stands a brace or a comma.
        let key = skip_blank(bytes, self.at + 1);
        if byte(bytes, key) != b'"' {
            self.at = bytes.len();
            return None;
        }
        let key_end = string_end(bytes, key);
        let value = skip_blank(bytes, skip_blank(bytes, key_end) + 1);
        let end = self.object.value_end(value);
        self.at = skip_blank(bytes, end);
        Some((self.object.part(key, key_end), self.object.part(value, end)))
    }
}

/// The members of a canonical object, as offsets: without whitespace every byte has its place.
pub(super) struct Canonical<'b> {
    object: Raw<'b>,
    at: usize,
}

/// A member's key and value: offsets of the opening quote and behind the closing one, of the value's first byte and behind its last.
pub(super) struct Place {
    pub(super) key: (usize, usize),
    pub(super) value: (usize, usize),
}

impl<'b> Canonical<'b> {
    pub(super) fn of(object: Raw<'b>) -> Canonical<'b> {
        let bytes = object.bytes();
        let at = if byte(bytes, 0) == b'{' {
            0
        } else {
            bytes.len()
        };
        Canonical { object, at }
    }

    /// The value of the next member that has this key, which is printed without escapes.
    pub(super) fn find(&mut self, name: &str) -> Option<(usize, usize)> {
        let bytes = self.object.bytes();
        loop {
            let key = self.at + 1;
            if byte(bytes, key) != b'"' {
                return None;
            }
            if has_key(bytes, key, name) {
                let value = key + name.len() + 3;
                self.at = self.object.value_end(value);
                return Some((value, self.at));
            }
            self.at = self.object.value_end(string_end(bytes, key) + 1);
        }
    }
}

impl Iterator for Canonical<'_> {
    type Item = Place;

    #[inline]
    fn next(&mut self) -> Option<Place> {
        let bytes = self.object.bytes();
        let key = self.at + 1;
        if byte(bytes, key) != b'"' {
            return None;
        }
        let key_end = string_end(bytes, key);
        self.at = self.object.value_end(key_end + 1);
        Some(Place {
            key: (key, key_end),
            value: (key_end + 1, self.at),
        })
    }
}

/// Whether exactly this key opens at `at`.
#[inline(always)]
pub(super) fn has_key(bytes: &[u8], at: usize, name: &str) -> bool {
    let body = bytes.get(at + 1..).unwrap_or_default();
    byte(body, name.len()) == b'"' && body.starts_with(name.as_bytes())
}

/// The members of an object as the engine lists them. See [`Raw::members`].
#[derive(Clone, Debug)]
pub struct Members<'b>(View<'b>);

#[derive(Clone, Debug)]
enum View<'b> {
    AsTheyStand(Walk<'b>),
    Listed(std::vec::IntoIter<(Raw<'b>, Raw<'b>)>),
}

impl<'b> Members<'b> {
    pub(super) fn of(object: Raw<'b>) -> Members<'b> {
        let walk = Walk::of(object);
        if object.is_known_canonical() {
            return Members(View::AsTheyStand(walk));
        }
        let stand: Vec<_> = walk.collect();
        let texts: Vec<_> = stand
            .iter()
            .map(|(key, _)| key_text(key.bytes(), 0))
            .collect();
        let listed: Vec<_> = engine_order(&texts)
            .into_iter()
            .filter_map(|(key, value)| Some((stand.get(key)?.0, stand.get(value)?.1)))
            .collect();
        Members(View::Listed(listed.into_iter()))
    }
}

impl<'b> Iterator for Members<'b> {
    type Item = (Raw<'b>, Raw<'b>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            View::AsTheyStand(walk) => walk.next(),
            View::Listed(listed) => listed.next(),
        }
    }
}

/// The elements of an array. See [`Raw::elements`].
#[derive(Clone, Debug)]
pub struct Elements<'b> {
    array: Raw<'b>,
    at: usize,
}

impl<'b> Elements<'b> {
    /// The elements behind the comma or opening bracket at an offset; none behind the closing one.
    pub(super) fn from(array: Raw<'b>, at: usize) -> Elements<'b> {
        let mut elements = Elements::of(array);
        elements.at = elements.at.max(at);
        elements
    }

    pub(super) fn of(array: Raw<'b>) -> Elements<'b> {
        let at = if byte(array.bytes(), 0) == b'[' {
            0
        } else {
            array.bytes().len()
        };
        Elements { array, at }
    }
}

impl<'b> Iterator for Elements<'b> {
    type Item = Raw<'b>;

    #[inline]
    fn next(&mut self) -> Option<Raw<'b>> {
        let bytes = self.array.bytes();
        // Before each element stands a bracket or a comma.
        let start = skip_blank(bytes, self.at + 1);
        if start >= bytes.len() || byte(bytes, start) == b']' {
            self.at = bytes.len();
            return None;
        }
        let end = self.array.value_end(start);
        self.at = skip_blank(bytes, end);
        Some(self.array.part(start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_members_end() {
        let array = Raw::parse(b" [ 1 , [2,3] ,\"]\" ] ").unwrap();
        let parts: Vec<_> = array.elements().map(|part| part.bytes()).collect();
        assert_eq!(parts, [&b"1"[..], b"[2,3]", b"\"]\""]);
        for (text, members, elements) in [
            ("{}", 0, 0),
            ("[]", 0, 0),
            ("[ ]", 0, 0),
            ("{\"a\":{}}", 1, 0),
            ("[[]]", 0, 1),
            ("3", 0, 0),
        ] {
            let raw = Raw::parse(text.as_bytes()).unwrap();
            assert_eq!(raw.members().count(), members, "{text}");
            assert_eq!(raw.elements().count(), elements, "{text}");
            let mut ended = raw.elements();
            while ended.next().is_some() {}
            assert!(ended.next().is_none());
        }
    }
}
