//! What a header changes, behind a bust: its options, its prompt line by line, its tools, its prefix.
//!
//! **Takes** a [`HeaderChange`]. **Gives** a part of the page that is folded away. **Never** shows more lines than a person reads,
//! and says how many there are.

use maud::{Markup, html};

use crate::analyse::answer::{
    HeaderChange, Hunk, LineChange, MessageChange, Piece, PrefixChange, Side, TextChange,
    ToolChange, ToolsChange, ValueChange,
};

use super::super::super::safe::Safe;
use super::super::super::words::{count, grouped};

/// The most lines of one text.
const MOST_LINES: usize = 200;

/// The change, folded away.
pub(super) fn change(change: &HeaderChange) -> Markup {
    html! {
        details {
            summary { "What the header changes" }
            @for member in &change.config {
                p {
                    "option " code { (Safe(&member.name).to_string()) } ": "
                    (value(member.old.as_deref())) " → " (value(member.new.as_deref()))
                }
            }
            @if let Some(system) = &change.system {
                p { "the system prompt, " (size(system)) }
                (text(system))
            }
            @if let Some(list) = &change.tools { (tools(list)) }
            @if let Some(list) = &change.prefix { (prefix(list)) }
        }
    }
}

fn value(value: Option<&str>) -> String {
    value.map_or("–".into(), |value| Safe(value).to_string())
}

fn size(text: &TextChange) -> String {
    format!(
        "{} → {} bytes, +{} −{} lines",
        grouped(text.old.bytes),
        grouped(text.new.bytes),
        grouped(text.added),
        grouped(text.removed)
    )
}

fn text(change: &TextChange) -> Markup {
    let lines: usize = change.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    let mut left = MOST_LINES;
    let mut shown: Vec<(&Hunk, &[LineChange])> = Vec::new();
    for hunk in &change.hunks {
        let (lines, _) = hunk.lines.split_at(hunk.lines.len().min(left));
        left -= lines.len();
        if !lines.is_empty() {
            shown.push((hunk, lines));
        }
    }
    let left_out = change.left_out + lines.saturating_sub(MOST_LINES) as u64;
    html! {
        @for (hunk, lines) in &shown {
            div.diff {
                @if let Some(section) = &hunk.section { div.at { (Safe(section).to_string()) } }
                @for line in *lines { (line_change(line)) }
            }
        }
        @if left_out > 0 { p.soft { "… and " (count(left_out, "line")) } }
    }
}

fn line_change(line: &LineChange) -> Markup {
    html! {
        @if line.same {
            @if let Some(side) = line.new.as_ref().or(line.old.as_ref()) {
                div { "\u{a0} " (plain(side)) }
            }
        } @else {
            @if let Some(side) = &line.old {
                div.was { "− " @for piece in &side.pieces { (part(piece, Gone::Yes)) } }
            }
            @if let Some(side) = &line.new {
                div.is { "+ " @for piece in &side.pieces { (part(piece, Gone::No)) } }
            }
        }
    }
}

/// Whether a piece is on the side that went.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gone {
    Yes,
    No,
}

fn plain(side: &Side) -> String {
    let text: String = side
        .pieces
        .iter()
        .map(|piece| piece.text.as_str())
        .collect();
    Safe(&text).to_string()
}

fn part(piece: &Piece, gone: Gone) -> Markup {
    let text = Safe(&piece.text).to_string();
    html! {
        @match (piece.changed, gone) {
            (false, _) => (text),
            (true, Gone::Yes) => del { (text) },
            (true, Gone::No) => ins { (text) },
        }
    }
}

fn tools(change: &ToolsChange) -> Markup {
    let names = |names: Vec<&str>| {
        let names: Vec<String> = names.iter().map(|name| Safe(name).to_string()).collect();
        names.join(", ")
    };
    let added: Vec<&str> = change.added.iter().map(|tool| tool.name.as_str()).collect();
    let removed: Vec<&str> = change
        .removed
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let moved: Vec<&str> = change.moved.iter().map(|tool| tool.name.as_str()).collect();
    html! {
        p {
            (count(change.old, "tool")) " → " (grouped(change.new))
            @if change.order_only { ": the same ones in another order" }
        }
        @if !removed.is_empty() { div.diff { div.was { "− " (names(removed)) } } }
        @if !added.is_empty() { div.diff { div.is { "+ " (names(added)) } } }
        @if !moved.is_empty() { p { "moved: " (names(moved)) } }
        @for tool in &change.changed { (tool_change(tool)) }
    }
}

fn tool_change(tool: &ToolChange) -> Markup {
    html! {
        p { "tool " code { (Safe(&tool.name).to_string()) } }
        @if let Some(description) = &tool.description { (text(description)) }
        (values(&tool.values))
        @if tool.left_out > 0 { p.soft { "… and " (count(tool.left_out, "difference")) } }
    }
}

fn values(values: &[ValueChange]) -> Markup {
    html! {
        @for change in values {
            div.diff {
                div.at { (Safe(&change.pointer).to_string()) " " (change.fate.as_str()) }
                @if let Some(pieces) = &change.old {
                    div.was { "− " @for piece in pieces { (part(piece, Gone::Yes)) } }
                }
                @if let Some(pieces) = &change.new {
                    div.is { "+ " @for piece in pieces { (part(piece, Gone::No)) } }
                }
            }
        }
    }
}

fn prefix(change: &PrefixChange) -> Markup {
    html! {
        p { "session prefix: " (count(change.old, "message")) " → " (grouped(change.new)) }
        @for message in &change.messages { (message_change(message)) }
    }
}

fn message_change(message: &MessageChange) -> Markup {
    let place = match (message.old, message.new) {
        (_, Some(at)) | (Some(at), None) => grouped(at + 1),
        (None, None) => String::new(),
    };
    html! {
        p { "message " (place) ", " (Safe(&message.role).to_string()) }
        @if let Some(change) = &message.text { (text(change)) }
        (values(&message.values))
    }
}
