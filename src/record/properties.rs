//! Properties of values and records, over generated and damaged texts.

use proptest::prelude::*;

use super::*;
use crate::line::{Line, LineEnd, LineNo, Span};

/// A text that the engine accepts, spelled in any way it may be.
fn valid_text() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        (-20i64..20).prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>()
            .prop_filter("finite", |n| n.is_finite())
            .prop_map(|n| format!("{n:e}")),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
    ];
    let scalar = prop_oneof![
        number.prop_map(String::into_bytes),
        prop_oneof![Just("true"), Just("false"), Just("null")].prop_map(|word| word.into()),
        string(),
    ];
    (blank(), scalar, blank())
        .prop_map(|(a, b, c)| [a, b, c].concat())
        .prop_recursive(6, 60, 8, |inner| {
            let member = (blank(), key(), blank(), inner.clone())
                .prop_map(|(a, key, b, value)| [a, key, b, b":".to_vec(), value].concat());
            prop_oneof![
                (blank(), prop::collection::vec(inner, 0..6), blank())
                    .prop_map(|(a, parts, b)| wrap(b"[", a, &parts, b, b"]")),
                (blank(), prop::collection::vec(member, 0..20), blank())
                    .prop_map(|(a, parts, b)| wrap(b"{", a, &parts, b, b"}")),
            ]
        })
}

fn wrap(open: &[u8], a: Vec<u8>, parts: &[Vec<u8>], b: Vec<u8>, close: &[u8]) -> Vec<u8> {
    [open, &a, &parts.join(&b','), &b, close].concat()
}

fn blank() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![9 => Just(""), 1 => Just(" "), 1 => Just("\r\n\t ")].prop_map(|text| text.into())
}

fn string() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        "[ -!#-\\[\\]-~]{0,40}".prop_map(String::into_bytes),
        "[é-ｚ😀-😎]{0,12}".prop_map(String::into_bytes),
        "\\\\[\"\\\\/bfnrt]".prop_map(String::into_bytes),
        "\\\\u[0-9a-fA-F]{4}".prop_map(String::into_bytes),
        "\\\\ud[89a-f][0-9a-f]{2}(\\\\ud[c-f][0-9a-f]{2})?".prop_map(String::into_bytes),
        "\\\\u00[01][0-9a-f]".prop_map(String::into_bytes),
        prop::sample::select(vec![
            &b"\xFF"[..],
            b"\xE6\x97",
            b"\xED\xA0\x80",
            b"\xC0\xAF"
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    prop::collection::vec(piece, 0..5)
        .prop_map(|parts| wrap(b"\"", parts.concat(), &[], vec![], b"\""))
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => "\"[a-c0-3]{0,2}\"".prop_map(String::into_bytes),
        1 => "\"(4294967294|4294967295|__proto__|seq|type|\\\\u0061|\\\\u0031|long key of many bytes)\""
            .prop_map(String::into_bytes),
        1 => string(),
    ]
}

/// A valid text with some bytes replaced, removed or repeated.
fn damaged_text() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        prop::sample::select(b"\"\\{}[],:-+.eE0123 \t\n\r\0tfnu\x1f\x7f\x80\xc3\xed\xf0".to_vec()),
        any::<u8>(),
    ];
    let wound = (
        any::<prop::sample::Index>(),
        0..3usize,
        prop::collection::vec(byte, 0..3),
    );
    (valid_text(), prop::collection::vec(wound, 0..3)).prop_map(|(mut text, wounds)| {
        for (place, removed, put) in wounds {
            let from = place.index(text.len() + 1);
            let to = (from + removed).min(text.len());
            text.splice(from..to, put);
        }
        text
    })
}

fn has_huge_number(text: &[u8]) -> bool {
    let line = line(text);
    Record::parse(&line, &mut Scratch::new()).is_ok_and(|r| r.traits.huge_number.is_some())
}

fn line(bytes: &[u8]) -> Line<'_> {
    Line {
        no: LineNo(1),
        start: 1000,
        bytes,
        end: LineEnd::Newline,
    }
}

fn inside(outer: Raw<'_>, part: Raw<'_>, text: &[u8]) -> bool {
    let (span, around) = (part.span(), outer.span());
    around.start <= span.start
        && span.end <= around.end
        && text.get(span.start as usize..span.end as usize) == Some(part.bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_is_a_fixed_point(text in valid_text()) {
        let value = Raw::parse(&text).unwrap();
        let printed = value.printed();
        let again = Raw::parse(&printed).unwrap();
        prop_assert!(again.is_canonical());
        prop_assert!(std::str::from_utf8(&printed).is_ok());
        prop_assert_eq!(value.is_canonical(), *printed == *value.bytes());
        let mut written = Vec::new();
        again.print(&mut written).unwrap();
        prop_assert_eq!(&written[..], &*printed);
        prop_assert!(value.same_text(again));
        let wrapped = [b"{\"data\":", &text[..], b"}"].concat();
        if !has_huge_number(&wrapped) {
            prop_assert!(value.deep_eq(again));
            prop_assert_eq!(value.deep_digest(), again.deep_digest());
        }
    }

    #[test]
    fn parts_lie_inside_and_print_alike(text in valid_text()) {
        let value = Raw::parse(&text).unwrap();
        let printed = value.printed();
        let canonical = Raw::parse(&printed).unwrap();
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for ((key, part), (canonical_key, canonical_part)) in value.members().zip(canonical.members()) {
            prop_assert!(inside(value, key, &text) && inside(value, part, &text));
            prop_assert_eq!(key.text(), canonical_key.text());
            prop_assert!(part.same_text(canonical_part));
            prop_assert_eq!(part.is_canonical(), *part.printed() == *part.bytes());
            let name = key.text().unwrap();
            if let Some(name) = name.as_str() {
                prop_assert!(key.is_str(name));
                prop_assert_eq!(value.get(name).unwrap().span(), part.span());
            }
            keys.push(name);
            values.push(part);
        }
        prop_assert_eq!(keys.len(), canonical.members().count());
        for (part, canonical_part) in value.elements().zip(canonical.elements()) {
            prop_assert!(inside(value, part, &text));
            prop_assert!(part.same_text(canonical_part));
            values.push(part);
        }
        prop_assert_eq!(values.len(), canonical.elements().count() + keys.len());
        for part in values {
            let pointer = pointer_at(value, part.span().start);
            prop_assert!(pointer.starts_with('/'));
        }
    }

    #[test]
    fn damage_is_refused_as_another_parser_does(text in damaged_text()) {
        let ours = Raw::parse(&text);
        // Outside of strings no replacement character is legal either.
        let repaired = String::from_utf8_lossy(&text);
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&repaired);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        if let Err(error) = ours {
            prop_assert!(error.at <= text.len() as u64);
        }
    }

    #[test]
    fn records_say_where_everything_is(data in valid_text(), seq in valid_text(), tail in blank()) {
        let text = [b"{\"seq\":", &seq[..], b",\"data\":", &data, b"}", &tail].concat();
        let line = line(&text);
        let record = Record::parse(&line, &mut Scratch::new()).unwrap();
        let plain = Raw::parse(&text).unwrap();
        prop_assert_eq!(record.value.bytes(), plain.bytes());
        prop_assert_eq!(record.value.is_canonical(), plain.is_canonical());
        prop_assert_eq!(record.traits.canonical, plain.is_canonical() && tail.is_empty());
        for (part, text) in [(record.data.unwrap(), &data), (record.seq.unwrap(), &seq)] {
            let alone = Raw::parse(text).unwrap();
            prop_assert_eq!(part.bytes(), alone.bytes());
            prop_assert_eq!(part.is_canonical(), alone.is_canonical());
        }
        let traits = record.traits;
        let spans = [traits.not_utf8, traits.duplicate_key, traits.huge_number, traits.lone_surrogate];
        for span in spans.into_iter().flatten() {
            prop_assert!(record.span.start < span.start && span.end < record.span.end);
            prop_assert!(!record.value.is_canonical() || Some(span) == traits.lone_surrogate);
        }
        prop_assert_eq!(traits.not_utf8.is_none(), std::str::from_utf8(&text).is_ok());
    }

    #[test]
    fn damaged_records_never_panic(text in damaged_text()) {
        let line = line(&text);
        let end = line.span().end;
        match Record::parse(&line, &mut Scratch::new()) {
            Ok(record) => prop_assert!(record.traits.canonical || !record.value.bytes().is_empty()),
            Err(RecordDefect::NotJson { at, second_record }) => {
                prop_assert!((1000..=end).contains(&at));
                prop_assert!(second_record.is_none_or(|at| (1001..end).contains(&at)));
            }
            Err(_) => {}
        }
    }

    #[test]
    fn texts_join_as_their_units_do(parts in prop::collection::vec(string(), 0..6)) {
        let mut joined = Printed::new();
        let mut body = Vec::new();
        for part in &parts {
            joined.push(Raw::parse(part).unwrap());
            body.extend_from_slice(&part[1..part.len() - 1]);
        }
        let whole = [b"\"", &body[..], b"\""].concat();
        // Invalid UTF-8 is replaced string by string, so only valid pieces can be joined before.
        if std::str::from_utf8(&whole).is_ok() {
            let whole = Raw::parse(&whole).unwrap().text().unwrap();
            let mut printed = Vec::new();
            whole.print(&mut printed).unwrap();
            prop_assert_eq!(joined.body(), &printed[1..printed.len() - 1]);
            prop_assert!(Raw::parse(&printed).unwrap().is_canonical());
            prop_assert_eq!(Raw::parse(&printed).unwrap().text().unwrap(), whole);
        }
    }

    #[test]
    fn source_lists_are_never_expanded(text in valid_text()) {
        let list = SourceSeqs::of(Raw::parse(&text).unwrap());
        let len = list.ranges().fold(0u64, |len, (a, b)| len.saturating_add(b.0 - a.0 + 1));
        prop_assert_eq!(list.len, len);
        prop_assert!(list.bad_member.is_none_or(|span: Span| span.end <= text.len() as u64));
    }
}
