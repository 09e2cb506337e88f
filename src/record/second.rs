//! Finds a second record inside a line that is no JSON: two writers at once, or an append behind a torn record.
//!
//! **Takes** a broken line and where it breaks. **Gives** the offset of the record that starts inside.
//! **Never** takes a nested object for a record: a record has an envelope. Tries a bounded number of places.

use std::ops::Range;

use super::keys::Keys;
use super::scan::{skip_blank, slice};
use super::validate::{Key, Sink, validate};

/// How the harness begins every record.
const BEGINNING: &[u8] = b"{\"type\":\"";
/// Most places that are tried.
const MOST_TRIES: usize = 32;

/// Offset of the second record in a line whose grammar breaks at `broken`.
pub(super) fn second_record(bytes: &[u8], broken: usize, keys: &mut Keys) -> Option<usize> {
    let inside = skip_blank(bytes, 0) + 1;
    // A first record torn in a string goes on to the first quote of the second one.
    let near = broken.saturating_sub(2).max(inside);
    // One torn before a value takes the second one as that value, and breaks at the end of the line.
    let everywhere = (broken == bytes.len()).then_some(inside);
    std::iter::once(near).chain(everywhere).find_map(|from| {
        let rest = bytes.get(from..)?;
        let mut places = memchr::memmem::find_iter(rest, BEGINNING).take(MOST_TRIES);
        places
            .find(|&at| is_record(rest.get(at..).unwrap_or_default(), keys))
            .map(|at| from + at)
    })
}

/// Whether a record begins with the text, be it whole or torn.
fn is_record(text: &[u8], keys: &mut Keys) -> bool {
    let mut envelope = Envelope {
        bytes: text,
        found: false,
    };
    // What follows the record, or tears it, does not matter.
    let _ = validate(text, keys, &mut envelope);
    envelope.found
}

/// Looks for members that only records have.
struct Envelope<'b> {
    bytes: &'b [u8],
    found: bool,
}

impl Sink for Envelope<'_> {
    const MEMBERS: bool = true;

    fn member(&mut self, key: Key, _value: Range<usize>, _canonical: bool) {
        let key = slice(self.bytes, key.at.start, key.at.end);
        self.found |= matches!(key, b"\"seq\"" | b"\"seq0\"" | b"\"createdAt\"");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(line: &str) -> Option<usize> {
        let broken = validate(line.as_bytes(), &mut Keys::default(), &mut ()).unwrap_err();
        second_record(line.as_bytes(), broken, &mut Keys::default())
    }

    #[test]
    fn finds_the_record_behind_a_torn_or_whole_one() {
        let whole =
            r#"{"type":"x/y","seq":5,"time":1,"data":{"chunk":{"type":"t","text":"a b"},"n":12}}"#;
        for cut in 1..=whole.len() {
            for second_cut in [whole.len(), 25] {
                let line = format!("{}{}", &whole[..cut], &whole[..second_cut]);
                assert_eq!(second(&line), Some(cut), "{line}");
            }
        }
        assert_eq!(
            second(&format!("{whole}\0\0\0{whole}{whole}")),
            Some(whole.len() + 3)
        );
    }

    #[test]
    fn nested_objects_are_no_records() {
        assert_eq!(
            second(r#"{"type":"x","data":{"chunk":{"type":"t","text":"a"}"#),
            None
        );
        assert_eq!(
            second(r#"{"type":"x","seq":01,"data":{"chunk":{"type":"t","text":"a"}}}"#),
            None
        );
        assert_eq!(second("garbage"), None);
    }
}
