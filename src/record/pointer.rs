//! JSON pointers to places in a value.
//!
//! **Takes** a valid value and an offset. **Gives** RFC 6901 text.
//! **Never** recurses, and never names more than [`MOST_LEVELS`] levels.

use std::fmt::Write;
use std::ops::Range;

use super::keys::key_text;
use super::raw::Raw;
use super::scan::{byte, string_end};
use super::text::Text;

/// Most reference tokens of a pointer: deeper places are given by what holds them there.
pub const MOST_LEVELS: usize = 64;

/// An open container on the way to the place.
enum Level {
    Object(Option<Range<usize>>),
    Array(usize),
}

/// The JSON pointer, below `value`, of the innermost member or element that holds the byte at `offset` of the decoded log.
///
/// A byte of a key belongs to the member, a brace or comma to its container. Empty for `value` itself and for offsets outside of it.
/// O(bytes before the offset).
pub fn pointer_at(value: Raw<'_>, offset: u64) -> String {
    let span = value.span();
    if offset < span.start || offset >= span.end {
        return String::new();
    }
    let levels = levels_at(value.bytes(), (offset - span.start) as usize);
    let mut pointer = String::new();
    for level in levels {
        match level {
            // Writing to a string does not fail.
            Level::Array(ix) => drop(write!(pointer, "/{ix}")),
            Level::Object(None) => {}
            Level::Object(Some(key)) => {
                let key = Text::new(key_text(value.bytes(), key.start));
                pointer.push('/');
                pointer.push_str(&key.to_lossy().replace('~', "~0").replace('/', "~1"));
            }
        }
    }
    pointer
}

fn levels_at(bytes: &[u8], target: usize) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let mut too_deep = 0usize;
    let mut at = 0;
    let mut before_key = false;
    while at <= target {
        let b = byte(bytes, at);
        let end = if b == b'"' {
            string_end(bytes, at)
        } else {
            at + 1
        };
        let here = target < end;
        match b {
            b'{' | b'[' if here => break,
            b'{' | b'[' if levels.len() == MOST_LEVELS => too_deep += 1,
            b'{' => {
                levels.push(Level::Object(None));
                before_key = true;
            }
            b'[' => levels.push(Level::Array(0)),
            b'}' | b']' if too_deep > 0 => too_deep -= 1,
            b'}' | b']' => drop(levels.pop()),
            _ if too_deep > 0 => {}
            b',' if here => drop(levels.pop()),
            b'"' if before_key => {
                if let Some(Level::Object(key)) = levels.last_mut() {
                    *key = Some(at..end);
                    before_key = false;
                }
            }
            b',' => match levels.last_mut() {
                Some(Level::Array(ix)) => *ix += 1,
                Some(Level::Object(key)) => {
                    *key = None;
                    before_key = true;
                }
                None => {}
            },
            _ => {}
        }
        at = end;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, needle: &str) -> String {
        let value = Raw::parse(text.as_bytes()).unwrap();
        pointer_at(value, text.find(needle).unwrap() as u64)
    }

    #[test]
    fn points_at_the_innermost_part() {
        let text = r#" {"a":1,"b/c":[true,{"~":"x","y":[[],2]}],"d":{"e":3}}"#;
        assert_eq!(at(text, "1"), "/a");
        assert_eq!(at(text, "true"), "/b~1c/0");
        assert_eq!(at(text, "x"), "/b~1c/1/~0");
        assert_eq!(at(text, "2"), "/b~1c/1/y/1");
        assert_eq!(at(text, "3"), "/d/e");
        assert_eq!(at(text, "d"), "/d");
        assert_eq!(at(text, "{\"e"), "/d");
        assert_eq!(at(text, ",{"), "/b~1c");
        assert_eq!(at(text, "{\"a"), "");
        assert_eq!(at(text, " "), "");
    }

    #[test]
    fn stops_at_the_deepest_level_it_names() {
        let text = "[".repeat(1000) + "7" + &"]".repeat(1000) + " ";
        assert_eq!(at(&text, "7"), "/0".repeat(MOST_LEVELS));
        assert_eq!(at(&format!("[{},9]", text.trim()), "9"), "/1");
    }
}
