//! What digests say of a prompt is what its bytes say.
//!
//! Over the fixtures, generated logs, and every log below `DSH_AUDIT_LOGS`, if that is set.

#[allow(dead_code, reason = "not every test uses all that tests share")]
mod common;
#[path = "../benches/loggen/mod.rs"]
mod loggen;

use std::path::{Path, PathBuf};

use dsh_audit::dialect::Interface;
use dsh_audit::log::{Log, ReadOptions, Retain};
use dsh_audit::request::Request;
use dsh_audit::source::Source;
use dsh_audit::wire::{Kept, Prompt, SegmentKind, write_body};
use loggen::{Habits, Model, Recipe, Shape, write_log};
use xxhash_rust::xxh3::xxh3_128;

/// A prompt, written out.
struct Written {
    segments: Vec<Vec<u8>>,
}

fn source(bytes: &[u8]) -> Source {
    Source::from_bytes(bytes.to_vec())
}

fn options(retain: Retain) -> ReadOptions {
    ReadOptions {
        retain,
        ..ReadOptions::default()
    }
}

/// Checks every request of a log; gives how many there are.
fn check(name: &str, bytes: &[u8]) -> usize {
    let (whole, sparse) = (source(bytes), source(bytes));
    let Ok(log) = Log::read(&whole, &options(Retain::Messages)) else {
        return 0;
    };
    let lean = Log::read(&sparse, &options(Retain::Headers)).expect("as readable as before");
    assert_eq!(log.wire.len(), log.session.messages.len(), "{name}");
    let (Some(mut requests), Some(mut lean_requests)) = (log.requests(), lean.requests()) else {
        return 0;
    };
    let interface = log
        .header
        .expect("a log with requests")
        .generation
        .interface();
    let mut prompts = log.prompts().expect("a log with requests");
    let mut lean_prompts = lean.prompts().expect("a log with requests");
    let mut written: Vec<Written> = Vec::new();
    while let Some(request) = requests.next_request() {
        let prompt = prompts.take(&request);
        let place = format!("{name}, request {}", written.len());
        let now = write(&place, &prompt);
        let lean_request = lean_requests.next_request().expect("as many requests");
        body_holds_the_segments(&place, &request, interface, &prompt, &now);
        same_without_messages(&place, &prompt, &lean_prompts.take(&lean_request));
        assert_eq!(prompt.kept.is_some(), !written.is_empty(), "{place}");
        if let (Some(kept), Some(before)) = (&prompt.kept, written.last()) {
            kept_as_written(&place, kept, before, &now);
        }
        let longest = written.iter().map(|earlier| common(earlier, &now)).max();
        let found = prompt.earlier.map_or(0, |earlier| earlier.segments);
        assert_eq!(found, longest.unwrap_or(0), "{place}");
        if let Some(earlier) = prompt.earlier {
            let named = &written[earlier.request];
            assert_eq!(common(named, &now), earlier.segments, "{place}");
            assert_eq!(
                earlier.bytes,
                size(&now.segments[..earlier.segments]),
                "{place}"
            );
        }
        written.push(now);
    }
    written.len()
}

fn write(place: &str, prompt: &Prompt<'_, '_>) -> Written {
    let mut segments = Vec::new();
    for (index, segment) in prompt.segments().enumerate() {
        let mut bytes = Vec::new();
        let known = prompt
            .write_segment(index, &mut bytes)
            .expect("memory takes every byte");
        assert!(known, "{place}, segment {index}");
        assert_eq!(segment.len, bytes.len() as u64, "{place}, segment {index}");
        assert_eq!(segment.digest, xxh3_128(&bytes), "{place}, segment {index}");
        segments.push(bytes);
    }
    assert_eq!(prompt.len(), segments.len(), "{place}");
    assert_eq!(prompt.bytes, size(&segments), "{place}");
    Written { segments }
}

/// The body is made of the prompt's segments, in the places that the interface has for them.
fn body_holds_the_segments(
    place: &str,
    request: &Request<'_, '_>,
    interface: Interface,
    prompt: &Prompt<'_, '_>,
    written: &Written,
) {
    let mut body = Vec::new();
    write_body(request, interface, &mut body).expect("memory takes every byte");
    let body = String::from_utf8_lossy(&body);
    let texts = || {
        written
            .segments
            .iter()
            .map(|bytes| String::from_utf8_lossy(bytes))
    };
    let of = |wanted: fn(&SegmentKind<'_>) -> bool| -> Vec<_> {
        let kinds = prompt.segments().map(|segment| segment.kind);
        let both = kinds.zip(texts()).filter(|(kind, _)| wanted(kind));
        both.map(|(_, text)| text).collect()
    };
    let tools = of(|kind| matches!(kind, SegmentKind::Tool { .. }));
    let system = of(|kind| matches!(kind, SegmentKind::System));
    let holds = |what: String| assert!(body.contains(&what), "{place}: {what} in {body}");
    if !tools.is_empty() {
        holds(format!("\"tools\":[{}]", tools.join(",")));
    }
    if interface == Interface::Messages {
        let messages = of(|kind| matches!(kind, SegmentKind::Message { .. }));
        system
            .iter()
            .for_each(|text| holds(format!("\"system\":{text}")));
        holds(format!(
            "\"stream\":true,\"messages\":[{}],",
            merged(&messages)
        ));
    } else {
        let messages = of(|kind| !matches!(kind, SegmentKind::Tool { .. }));
        holds(format!(
            "\"messages\":[{}],\"stream\":true,",
            messages.join(",")
        ));
    }
}

/// Messages of one voice that follow each other, as one; what the system says stands alone.
fn merged<T: AsRef<str>>(messages: &[T]) -> String {
    let mut all = String::new();
    let mut voice = "";
    for message in messages {
        let (role, rest) = message
            .as_ref()
            .split_once(",\"content\":[")
            .expect("a message");
        let blocks = rest.strip_suffix("]}").expect("a message");
        if role == voice && !role.contains("system") {
            all.truncate(all.len() - 2);
            all.push(',');
            all.push_str(blocks);
            all.push_str("]}");
        } else {
            if !all.is_empty() {
                all.push(',');
            }
            all.push_str(message.as_ref());
        }
        voice = role;
    }
    all
}

fn size(segments: &[Vec<u8>]) -> u64 {
    segments.iter().map(|bytes| bytes.len() as u64).sum()
}

fn common(a: &Written, b: &Written) -> usize {
    let pairs = a.segments.iter().zip(&b.segments);
    pairs.take_while(|(a, b)| a == b).count()
}

/// A log whose messages were not kept says the same, but for bytes inside a message.
fn same_without_messages(place: &str, prompt: &Prompt<'_, '_>, lean: &Prompt<'_, '_>) {
    let all = |prompt: &Prompt<'_, '_>| -> Vec<(u64, u128)> {
        let segments = prompt.segments();
        segments
            .map(|segment| (segment.len, segment.digest))
            .collect()
    };
    assert_eq!(all(prompt), all(lean), "{place}");
    assert_eq!(prompt.earlier, lean.earlier, "{place}");
    if let (Some(kept), Some(lean)) = (&prompt.kept, &lean.kept) {
        assert_eq!(kept.segments, lean.segments, "{place}");
        assert_eq!(kept.broken.is_some(), lean.broken.is_some(), "{place}");
    }
}

fn kept_as_written(place: &str, kept: &Kept<'_>, before: &Written, now: &Written) {
    let segments = common(before, now);
    assert_eq!(kept.segments, segments, "{place}");
    let bytes = size(&now.segments[..segments]);
    let Some(old) = before.segments.get(segments) else {
        assert!(kept.broken.is_none(), "{place}");
        return assert_eq!(kept.bytes, bytes, "{place}");
    };
    let broken = kept.broken.expect("the prompt before is no prefix");
    assert_eq!(broken.before.digest, xxh3_128(old), "{place}");
    let new = now.segments.get(segments);
    assert_eq!(
        broken.now.map(|now| now.digest),
        new.map(|bytes| xxh3_128(bytes)),
        "{place}"
    );
    let pairs = new.into_iter().flatten().zip(old);
    let byte = pairs.take_while(|(a, b)| a == b).count() as u64;
    assert_eq!(broken.byte, Some(byte), "{place}");
    assert_eq!(kept.bytes, bytes + byte, "{place}");
}

fn below(directory: &Path) -> Vec<(PathBuf, usize)> {
    let is_log = |path: &PathBuf| {
        let name = path.to_string_lossy().into_owned();
        [".jsonl", ".jsonl.zstd"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    let files = common::files_below(directory).into_iter().filter(is_log);
    files
        .map(|path| {
            let bytes = std::fs::read(&path).expect("a readable file");
            let count = check(&path.to_string_lossy(), &bytes);
            (path, count)
        })
        .collect()
}

#[test]
fn digests_tell_what_the_bytes_of_the_fixtures_tell() {
    let checked = below(&common::root().join("testdata"));
    let requests: usize = checked.iter().map(|(_, count)| count).sum();
    assert!(requests > 300, "{requests} requests");
}

#[test]
fn digests_tell_what_the_bytes_of_other_logs_tell() {
    let Ok(directory) = std::env::var("DSH_AUDIT_LOGS") else {
        return;
    };
    let checked = below(Path::new(&directory));
    let requests: usize = checked.iter().map(|(_, count)| count).sum();
    assert!(requests > 0, "no request below {directory}");
    eprintln!("{requests} requests in {} files", checked.len());
}

#[test]
fn digests_tell_what_the_bytes_of_generated_logs_tell() {
    for (name, shape) in Shape::NAMES {
        for seed in 0..6 {
            let model = if seed % 2 == 0 {
                Model::Flash
            } else {
                Model::Pro
            };
            let habits = Habits {
                clock: seed % 3 == 0,
                ..Habits::default()
            };
            let recipe = Recipe {
                shape,
                seed,
                model,
                habits,
                steps: Some(40),
                step_size: Some(3_000),
                cadence: 1,
                ..Recipe::default()
            };
            let mut log = Vec::new();
            write_log(&recipe, &mut log).expect("memory takes every byte");
            assert!(check(&format!("{name} {seed}"), &log) > 20);
        }
    }
}
