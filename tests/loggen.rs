//! The generator's logs are what a writer would have written, and one seed tells one session in every shape.
//!
//! They are read with another JSON reader first; then the auditor must find nothing in them.

#[path = "../benches/loggen/mod.rs"]
mod loggen;

use std::collections::BTreeMap;

use dsh_audit::finding::Level;
use dsh_audit::log::{Log, ReadOptions};
use dsh_audit::rules::judge;
use dsh_audit::source::Source;
use loggen::{Encoding, Fork, Habits, Model, Recipe, Shape, write_log};
use serde_json::{Value, json};

/// A session in which everything happens that can happen.
fn eventful(shape: Shape, seed: u64) -> Recipe {
    let model = if seed.is_multiple_of(2) {
        Model::Flash
    } else {
        Model::Pro
    };
    let habits = Habits {
        clock: seed.is_multiple_of(3),
        ..Habits::default()
    };
    Recipe {
        shape,
        seed,
        model,
        habits,
        steps: Some(70),
        step_size: Some(9_000),
        cadence: 1,
        ..Recipe::default()
    }
}

fn lines(recipe: &Recipe) -> Vec<String> {
    let mut log = Vec::new();
    write_log(recipe, &mut log).expect("memory takes every byte");
    String::from_utf8(log)
        .expect("the generator writes UTF-8")
        .lines()
        .map(str::to_owned)
        .collect()
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).expect("every line is JSON")
}

#[test]
fn every_line_is_canonical() {
    for (name, shape) in Shape::NAMES {
        for line in lines(&eventful(shape, 1)) {
            assert_eq!(parse(&line).to_string(), line, "in {name}");
        }
    }
}

#[test]
fn numbers_are_dense_and_times_never_go_back() {
    for (name, shape) in Shape::NAMES {
        let (mut expected, mut now) = (0, 0);
        for line in lines(&eventful(shape, 2)).iter().skip(1) {
            for event in events(parse(line)) {
                assert_eq!(event["seq"], expected, "in {name}");
                let time = event["time"].as_u64().expect("a time");
                assert!(time >= now, "in {name}: {time} follows {now}");
                (expected, now) = (expected + 1, time);
            }
        }
    }
}

#[test]
fn messages_are_what_their_chunks_assemble_to() {
    for (name, shape) in Shape::NAMES {
        let mut chunks = Vec::new();
        let mut messages = 0;
        for event in lines(&eventful(shape, 3))
            .iter()
            .skip(1)
            .flat_map(|line| events(parse(line)))
        {
            let data = &event["data"];
            match event["type"].as_str() {
                Some("step/start" | "llm/retry") => chunks.clear(),
                Some("assistant/chunk") => chunks.push(data["chunk"].clone()),
                Some("assistant/message") => {
                    if let Some(stream) = data["stream"].as_array() {
                        chunks = stream.iter().flat_map(stream_chunks).collect();
                    }
                    let content = data.pointer("/message/content").or(data.get("content"));
                    assert_eq!(
                        content,
                        Some(&assemble(&chunks)),
                        "in {name}, seq {}",
                        event["seq"]
                    );
                    messages += 1;
                }
                _ => {}
            }
        }
        assert!(messages > 40, "{name} has {messages} messages");
    }
}

#[test]
fn one_seed_tells_one_session_in_all_identified_shapes() {
    for seed in 1..=6 {
        let released = told(&eventful(Shape::Released, seed));
        for shape in [Shape::Packed, Shape::Late, Shape::V2, Shape::V3, Shape::V4] {
            let told = told(&eventful(shape, seed));
            let differs = told.iter().zip(&released).position(|(a, b)| a != b);
            assert_eq!(
                (differs, told.len()),
                (None, released.len()),
                "seed {seed} in {shape:?}: the first message that differs, the number of messages"
            );
        }
    }
}

#[test]
fn the_auditor_finds_nothing_in_them() {
    for (name, shape) in Shape::NAMES {
        for seed in 1..=2 {
            let plain = Recipe {
                steps: Some(45),
                ..eventful(shape, seed)
            };
            let compressed = Recipe {
                encoding: Encoding::Zstd,
                ..plain.clone()
            };
            let fork = Recipe {
                fork: Some(Fork {
                    parent: seed + 10,
                    turn: 4,
                }),
                ..plain.clone()
            };
            for recipe in [plain, compressed, fork] {
                assert_eq!(audit(&recipe), Vec::<String>::new(), "{name}, {recipe:?}");
            }
        }
    }
}

/// Warnings and errors of a log, but for the cache's: such logs lose their prefix on purpose, and warnings say so.
fn audit(recipe: &Recipe) -> Vec<String> {
    let mut bytes = Vec::new();
    let counts = write_log(recipe, &mut bytes).expect("memory takes every byte");
    let source = Source::from_bytes(bytes);
    let log = Log::read(&source, &ReadOptions::default()).expect("a readable log");
    let mut requests = log.requests().expect("nothing rejects the log");
    let mut walked = 0;
    while requests.next_request().is_some() {
        walked += 1;
    }
    assert_eq!(walked, counts.requests, "requests of {recipe:?}");
    let faults = judge(&log)
        .into_iter()
        .filter(|finding| finding.level > Level::Note && finding.rule.code < 800);
    faults.map(|finding| format!("{finding:?}")).collect()
}

/// What was said, in order, without what only some shapes have.
fn told(recipe: &Recipe) -> Vec<Value> {
    let content = |line: &String| {
        let event = parse(line);
        match event["type"].as_str()? {
            "user/message" => Some(event["data"]["content"].clone()),
            "assistant/message" => Some(event["data"]["message"]["content"].clone()),
            "tool/result" => {
                let content = &event["data"]["message"]["content"];
                Some(content.pointer("/0/content").unwrap_or(content).clone())
            }
            _ => None,
        }
    };
    lines(recipe).iter().filter_map(content).collect()
}

/// The events of a line: the members of a packed row, or the event itself.
fn events(row: Value) -> Vec<Value> {
    let Some(first) = row["seq0"].as_u64() else {
        return vec![row];
    };
    let data = &row["data"];
    let deltas = deltas(
        row["type"].as_str().unwrap_or_default(),
        row["time0"].as_u64(),
        data,
    );
    let event = |(at, (time, chunk)): (usize, (u64, Value))| json!({"type": "assistant/chunk", "seq": first + at as u64, "time": time, "data": {"chunk": chunk}});
    deltas.into_iter().enumerate().map(event).collect()
}

fn stream_chunks(record: &Value) -> Vec<Value> {
    match record["type"].as_str() {
        Some("chunk") => vec![record["chunk"].clone()],
        kind => deltas(kind.unwrap_or_default(), record["time0"].as_u64(), record)
            .into_iter()
            .map(|(_, chunk)| chunk)
            .collect(),
    }
}

/// The members of a packed row or a stream record, with their times.
fn deltas(kind: &str, start: Option<u64>, packed: &Value) -> Vec<(u64, Value)> {
    let texts = packed
        .get("texts")
        .or(packed.get("args"))
        .and_then(Value::as_array)
        .expect("a packed payload");
    let waits = packed["dt"].as_array().expect("waits");
    assert_eq!(waits.len() + 1, texts.len());
    let mut time = start.expect("a start");
    let mut members = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        time += if at == 0 {
            0
        } else {
            waits[at - 1].as_u64().expect("a wait")
        };
        let key = if kind == "tool-call-chunks" {
            "argumentsDelta"
        } else {
            "text"
        };
        let mut chunk =
            json!({"type": kind.replace("-chunks", "-delta"), "index": packed["index"], key: text});
        for name in ["id", "name"] {
            if let Some(value) = packed.get(name) {
                chunk[name] = value.clone();
            }
        }
        members.push((time, chunk));
    }
    members
}

/// The content that chunks make (format.md G), deltas only: what a block's end says must be the same.
fn assemble(chunks: &[Value]) -> Value {
    let mut blocks: BTreeMap<u64, Value> = BTreeMap::new();
    for chunk in chunks {
        let Some(index) = chunk["index"].as_u64() else {
            continue;
        };
        match chunk["type"].as_str() {
            Some("block-start") => {
                let kind = &chunk["blockType"];
                let empty = match kind.as_str() {
                    Some("tool-call") => {
                        json!({"type": kind, "id": null, "name": null, "arguments": ""})
                    }
                    _ => json!({"type": kind, "text": ""}),
                };
                assert!(blocks.insert(index, empty).is_none(), "a block starts once");
            }
            Some("block-end") => assert_eq!(Some(&chunk["block"]), blocks.get(&index)),
            _ => extend(blocks.get_mut(&index).expect("a started block"), chunk),
        }
    }
    blocks.into_values().collect()
}

fn extend(block: &mut Value, delta: &Value) {
    let (to, from) = if delta.get("id").is_some() {
        ("arguments", "argumentsDelta")
    } else {
        ("text", "text")
    };
    for name in ["id", "name"] {
        if let Some(value) = delta.get(name) {
            block[name] = value.clone();
        }
    }
    let text = [&block[to], &delta[from]]
        .map(|part| part.as_str().expect("text"))
        .concat();
    block[to] = json!(text);
}
