//! Digests of values by what they mean.
//!
//! **Takes** a value. **Gives** a digest that is equal for equal values.
//! **Never** recurses, and never sorts what the engine printed: members are summed up, whatever their order.

use xxhash_rust::xxh3::xxh3_128;

use super::raw::Raw;
use super::scan::{bare_end, byte, slice, string_end};

impl Raw<'_> {
    /// A digest that is equal for values that are [`Raw::deep_eq`].
    pub fn deep_digest(self) -> u128 {
        if self.is_known_canonical() {
            return digest(self.bytes());
        }
        let mut sorted = Vec::with_capacity(self.bytes().len());
        // Writing to memory does not fail.
        let _ = self.print_sorted(&mut sorted);
        digest(&sorted)
    }
}

/// A container that is open.
struct Open {
    is_object: bool,
    /// The key whose value comes next.
    key: Option<u128>,
    sum: u128,
}

impl Open {
    /// Takes what comes next in it.
    fn take(&mut self, part: u128) {
        match self.key.take() {
            _ if !self.is_object => self.sum = pair(self.sum, part),
            Some(key) => self.sum = self.sum.wrapping_add(pair(key, part)),
            None => self.key = Some(part),
        }
    }

    fn close(&self) -> u128 {
        pair(self.sum, u128::from(self.is_object))
    }
}

/// Digests text without whitespace, in which equal tokens are the same bytes.
fn digest(text: &[u8]) -> u128 {
    let mut outer = Vec::new();
    // What holds the value, as if it were in an array.
    let mut open = Open {
        is_object: false,
        key: None,
        sum: 0,
    };
    let mut at = 0;
    while at < text.len() {
        let end = match byte(text, at) {
            b'"' => string_end(text, at),
            b'{' | b'[' => {
                let inner = Open {
                    is_object: byte(text, at) == b'{',
                    key: None,
                    sum: 0,
                };
                outer.push(std::mem::replace(&mut open, inner));
                at += 1;
                continue;
            }
            b'}' | b']' => {
                let closed = open.close();
                open = outer.pop().unwrap_or(open);
                open.take(closed);
                at += 1;
                continue;
            }
            b',' | b':' => {
                at += 1;
                continue;
            }
            _ => bare_end(text, at),
        };
        open.take(xxh3_128(slice(text, at, end)));
        at = end;
    }
    open.sum
}

/// The digest of two digests in their order.
fn pair(first: u128, second: u128) -> u128 {
    let mut both = [0; 32];
    let (left, right) = both.split_at_mut(16);
    left.copy_from_slice(&first.to_le_bytes());
    right.copy_from_slice(&second.to_le_bytes());
    xxh3_128(&both)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> u128 {
        Raw::parse(text.as_bytes()).unwrap().deep_digest()
    }

    #[test]
    fn order_counts_in_arrays_alone() {
        assert_eq!(
            of(r#"{"a":1,"b":[{"c":2,"d":"x"}]}"#),
            of(r#"{"b":[{"d":"x","c":2}],"a":1}"#)
        );
        assert_eq!(
            of(r#"{"b":"é","10":1,"9":2}"#),
            of(r#" {"9":2,"10":1e0,"b":"\u00e9"}"#)
        );
        assert_ne!(of("[1,2]"), of("[2,1]"));
    }

    #[test]
    fn different_values_have_different_digests() {
        let texts = [
            "[]",
            "{}",
            "[[]]",
            "[{}]",
            "null",
            "\"null\"",
            "1",
            "\"1\"",
            "[1]",
            "[1,1]",
            "[[1],1]",
            "[[1,1]]",
            "[1e400]",
            "[-1e400]",
            "[null]",
            r#"{"a":1}"#,
            r#"{"a":[1]}"#,
            r#"["a",1]"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"b":{"a":1}}"#,
            r#"{"a":"b"}"#,
            r#"{"b":"a"}"#,
        ];
        let mut digests: Vec<_> = texts.map(of).into();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), texts.len());
    }
}
