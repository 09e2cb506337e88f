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

/// A session in which anything may take the place of anything that a version allows.
struct Story {
    version: u64,
    state: u64,
    text: String,
    seq: u64,
    /// What is on the surface: its number, and whether it is a system prompt.
    live: Vec<(u64, bool)>,
}

impl Story {
    fn of(version: u64, seed: u64) -> Story {
        let mut story = Story {
            version,
            state: seed,
            text: String::new(),
            seq: 0,
            live: Vec::new(),
        };
        let seeded = if version < 2 {
            ""
        } else {
            "\"isSeeded\":false,"
        };
        story.text = format!(
            "{{\"type\":\"session\",\"version\":{version},\"id\":\"s\",\"createdAt\":1,{seeded}\"delegationDepth\":0}}\n"
        );
        story
    }

    fn tell(version: u64, seed: u64) -> String {
        let mut story = Story::of(version, seed);
        story.event("turn/start", "{\"turn\":1}", "");
        for step in 1..=15 {
            story.step(step);
        }
        story.text
    }

    fn below(&mut self, end: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % end
    }

    fn event(&mut self, kind: &str, data: &str, rest: &str) {
        let seq = self.seq;
        self.text += &format!(
            "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1790000000000,\"data\":{data}{rest}}}\n"
        );
        self.seq += 1;
    }

    fn step(&mut self, step: u64) {
        let name = format!("\"turn\":1,\"step\":{step}");
        self.event("step/start", &format!("{{{name}}}"), "");
        let has_prompts = self.version >= 3;
        if has_prompts && (self.live.is_empty() || self.below(3) == 0) {
            let text = self.content();
            let source = self.source("system-prompt");
            let message = format!(
                "{{{name},\"message\":{{\"role\":\"system\",\"content\":{text},\"source\":{source},\"id\":\"i\"}}}}"
            );
            let prompts = self.live.iter().filter(|(_, is_prompt)| *is_prompt).count() as u64;
            let which = self.below(prompts + 1) as usize;
            let all = self.live.iter().enumerate();
            let at = all.filter(|(_, (_, is_prompt))| *is_prompt).nth(which);
            let range = at.map(|(at, _)| (at, at));
            self.surface("system/message", &message, range, true);
        }
        for _ in 0..self.below(4) {
            let text = self.content();
            let source = self.source("user");
            let message = format!(
                "{{\"content\":{text},\"source\":{source},\"role\":\"user\",\"id\":\"i\"}}"
            );
            let range = self.range();
            self.surface("user/message", &message, range, false);
        }
        if step == 1 || self.below(5) == 0 {
            let model = ["flash", "pro"][self.below(2) as usize];
            let reason = if step == 1 { "initial" } else { "change" };
            let data = format!(
                "{{\"header\":{{\"config\":{{\"provider\":\"p\",\"model\":\"{model}\"}}}},\"reason\":\"{reason}\"}}"
            );
            self.event("request/header", &data, "");
        }
        let text = self.content();
        let stream = if self.version < 2 {
            ""
        } else {
            ",\"stream\":[]"
        };
        let message = format!(
            "{{{name},\"message\":{{\"role\":\"assistant\",\"content\":{text},\"source\":{{\"kind\":\"model\",\"provider\":\"p\",\
             \"model\":\"pro\"}},\"id\":\"i\"}}{stream}}}"
        );
        self.surface("assistant/message", &message, None, false);
        self.event("step/end", &format!("{{{name}}}"), "");
    }

    fn source(&self, kind: &str) -> String {
        match (kind, self.version) {
            ("system-prompt", 3) => "{\"kind\":\"plugin\",\"plugin\":\"p\"}".into(),
            _ => format!("{{\"kind\":\"{kind}\"}}"),
        }
    }

    /// One of a few contents, so that equal ones meet; some say nothing.
    fn content(&mut self) -> &'static str {
        [
            "[{\"type\":\"text\",\"text\":\"a\"}]",
            "[{\"type\":\"text\",\"text\":\"bb\"}]",
            "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"c\"}]",
            "[{\"type\":\"text\",\"text\":\"\"}]",
            "[]",
        ][self.below(5) as usize]
    }

    /// Where the next message goes: at the end, or in the place of some that are no prompts.
    fn range(&mut self) -> Option<(usize, usize)> {
        let len = self.live.len() as u64;
        if len == 0 || self.below(2) == 0 {
            return None;
        }
        let first = self.below(len) as usize;
        let last = (first + [0, 0, 0, 1, 3][self.below(5) as usize]).min(self.live.len() - 1);
        let free = self.live[first..=last]
            .iter()
            .all(|(_, is_prompt)| !is_prompt);
        free.then_some((first, last))
    }

    fn surface(&mut self, kind: &str, data: &str, range: Option<(usize, usize)>, is_prompt: bool) {
        let seq = self.seq;
        let no_sources = if self.version < 2 && kind == "assistant/message" {
            ",\"sourceEventSeqs\":[]"
        } else {
            ""
        };
        let Some((first, last)) = range else {
            self.event(
                kind,
                data,
                &format!("{no_sources},\"surfaceOp\":\"append\""),
            );
            return self.live.push((seq, is_prompt));
        };
        let shadowed: Vec<String> = self.live[first..=last]
            .iter()
            .map(|(seq, _)| seq.to_string())
            .collect();
        let (start, end) = (self.live[first].0, self.live[last].0);
        let keys = if self.version < 3 {
            ("start", "end")
        } else {
            ("startSeq", "endSeq")
        };
        let op = format!(
            ",\"sourceEventSeqs\":[{}],\"surfaceOp\":{{\"op\":\"replace\",\"{}\":{start},\"{}\":{end}}}",
            shadowed.join(","),
            keys.0,
            keys.1
        );
        self.event(kind, data, &op);
        self.live.splice(first..=last, [(seq, is_prompt)]);
    }
}

/// On a route without updates in the history, a later prompt that was emptied leaves the first one in force.
#[test]
fn a_prompt_that_says_nothing_takes_no_place() {
    let mut story = Story::of(4, 1);
    story.event("turn/start", "{\"turn\":1}", "");
    for step in 1..=2 {
        let name = format!("\"turn\":1,\"step\":{step}");
        let prompt = |text: &str| {
            format!(
                "{{{name},\"message\":{{\"role\":\"system\",\"content\":{text},\"source\":{{\"kind\":\"system-prompt\"}},\"id\":\"i\"}}}}"
            )
        };
        let said = |text: &str| format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]");
        story.event("step/start", &format!("{{{name}}}"), "");
        if step == 1 {
            story.surface("system/message", &prompt(&said("first")), None, true);
            story.surface("system/message", &prompt(&said("second")), None, true);
            let header = "{\"header\":{\"config\":{\"provider\":\"p\",\"model\":\"pro\"}},\"reason\":\"initial\"}";
            story.event("request/header", header, "");
        } else {
            story.surface("system/message", &prompt("[]"), Some((1, 1)), true);
        }
        let attempt = format!("{{{name},\"stream\":[]}}");
        story.event("assistant/attempt", &attempt, "");
        story.event("step/end", &format!("{{{name}}}"), "");
    }
    let source = source(story.text.as_bytes());
    let log = Log::read(&source, &options(Retain::Messages)).expect("memory is readable");
    let mut requests = log.requests().expect("a session log");
    for prompt in ["second", "first"] {
        let request = requests.next_request().expect("two requests");
        let mut body = Vec::new();
        write_body(&request, Interface::Messages, &mut body).expect("memory takes every byte");
        let body = String::from_utf8(body).expect("text");
        assert!(body.contains(&format!("\"system\":\"{prompt}\"")), "{body}");
    }
    check("an emptied prompt", story.text.as_bytes());
}

#[test]
fn digests_tell_what_the_bytes_of_shuffled_surfaces_tell() {
    for version in [0, 2, 3, 4] {
        for seed in 0..40 {
            let log = Story::tell(version, seed);
            let requests = check(&format!("version {version}, seed {seed}"), log.as_bytes());
            assert_eq!(requests, 15, "version {version}, seed {seed}: {log}");
        }
    }
}
