//! The JSON of chunks, packed members and blocks.
//!
//! **Takes** blocks and how a response finished. **Gives** text. **Never** knows about lines or times.

use std::ops::Range;

use super::super::json::Json;
use super::super::shape::Shape;
use super::super::stream::{Block, Failure, Finish, Kind, Response};

/// The delta's chunk type and its packed tag.
pub(super) fn delta_names(kind: &Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Reasoning => ("reasoning-delta", "reasoning-chunks"),
        Kind::Text => ("text-delta", "text-chunks"),
        Kind::Call { .. } => ("tool-call-delta", "tool-call-chunks"),
    }
}

pub(super) fn waits(block: &Block, members: Range<usize>) -> impl Iterator<Item = u64> {
    block.waits[members].iter().map(|&wait| u64::from(wait))
}

pub(super) fn print_members(
    json: &mut Json,
    index: u64,
    block: &Block,
    members: Range<usize>,
    named: bool,
) {
    json.raw(",\"index\":").int(index).raw(",\"dt\":[");
    json.list(
        waits(block, members.start + 1..members.end),
        |json, wait| {
            json.int(wait);
        },
    );
    json.raw("]");
    match &block.kind {
        Kind::Call { id, name } => {
            json.raw(",\"id\":")
                .text(id)
                .maybe(",\"name\":", named.then_some(*name))
                .raw(",\"args\":[");
        }
        _ => {
            json.raw(",\"texts\":[");
        }
    }
    json.list(members, |json, at| {
        json.text(block.delta(at));
    });
    json.raw("]");
}

pub(super) fn print_start(json: &mut Json, index: usize, block: &Block) {
    let kind = match block.kind {
        Kind::Reasoning => "reasoning",
        Kind::Text => "text",
        Kind::Call { .. } => "tool-call",
    };
    json.raw("{\"type\":\"block-start\",\"index\":")
        .int(index as u64)
        .raw(",\"blockType\":")
        .text(kind)
        .raw("}");
}

pub(super) fn print_end(json: &mut Json, index: usize, block: &Block) {
    json.raw("{\"type\":\"block-end\",\"index\":")
        .int(index as u64)
        .raw(",\"block\":");
    print_block(json, block);
    json.raw("}");
}

pub(super) fn print_block(json: &mut Json, block: &Block) {
    match &block.kind {
        Kind::Reasoning => json.raw("{\"type\":\"reasoning\",\"text\":"),
        Kind::Text => json.raw("{\"type\":\"text\",\"text\":"),
        Kind::Call { id, name } => json
            .raw("{\"type\":\"tool-call\",\"id\":")
            .text(id)
            .raw(",\"name\":")
            .text(name)
            .raw(",\"arguments\":"),
    };
    json.text(&block.text).raw("}");
}

pub(super) fn print_finish(json: &mut Json, shape: Shape, finish: Finish, replay: Option<&str>) {
    json.raw("{\"type\":\"finish\",\"reason\":");
    match finish {
        Finish::Stop => json.raw("{\"kind\":\"stop\"}"),
        Finish::ToolCalls => json.raw("{\"kind\":\"tool-calls\"}"),
        Finish::Failed(failure) if shape.identified() => {
            json.raw("{\"kind\":\"error\",\"failure\":");
            print_failure(json, failure);
            json.raw("}")
        }
        Finish::Failed(failure) => json
            .raw("{\"kind\":\"error\",\"message\":")
            .text(failure.message)
            .raw(",\"code\":")
            .text(failure.code)
            .raw("}"),
    };
    if let Some(replay) = replay {
        json.raw(",\"replayState\":").raw(replay);
    }
    json.raw("}");
}

pub(super) fn print_failure(json: &mut Json, failure: Failure) {
    json.raw("{\"message\":")
        .text(failure.message)
        .raw(",\"code\":")
        .text(failure.code);
    if let Some(status) = failure.status {
        json.raw(",\"status\":").int(status);
    }
    json.raw("}");
}

/// What the Messages adapter keeps of a response, to send it again.
pub(super) fn replay_state(response: &Response, model: &str) -> String {
    let mut json = Json::default();
    json.raw("{\"response\":{\"kind\":\"deepseek-messages\",\"version\":1,\"model\":")
        .text(model)
        .raw("},\"blocks\":[");
    json.list(&response.blocks, |json, block| {
        match block.kind {
            Kind::Reasoning => {
                let signature = format!(
                    "sig-{:08x}-{:x}",
                    block.text.len() * 2_654_435,
                    block.ends.len()
                );
                json.raw("{\"type\":\"reasoning\",\"signature\":")
                    .text(&signature)
                    .raw("}")
            }
            Kind::Text => json.raw("{\"type\":\"text\"}"),
            Kind::Call { .. } => json.raw("{\"type\":\"tool-call\"}"),
        };
    });
    json.raw("]}");
    json.into_string()
}
