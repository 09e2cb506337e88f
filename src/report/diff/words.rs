//! The words for headers that several formats share.
//!
//! **Takes** answers. **Gives** short English, not yet harmless where it quotes a log. **Never** colours it.

use super::phrases::{Values, phrases, some};
use crate::analyse::answer::{
    Broken, HeaderPair, HeaderRow, HeaderSpot, Kept, Part, Pattern, PatternKind, Reason,
    SegmentName, Spot, SystemMove, Verdict,
};
use crate::report::words::{count, grouped};

/// Milliseconds as a person says them: `+3 ms`, `+8.2 s`, `+4 min`, `+2.3 h`, `+1.5 d`.
pub(super) fn since(millis: i64) -> String {
    let sign = if millis < 0 { "−" } else { "+" };
    let size = millis.unsigned_abs();
    let tenths = |unit: u64| {
        let tenths = size / (unit / 10);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match size {
        0..1_000 => format!("{sign}{size} ms"),
        1_000..60_000 => format!("{sign}{} s", tenths(1_000)),
        60_000..3_600_000 => format!("{sign}{} min", size / 60_000),
        3_600_000..86_400_000 => format!("{sign}{} h", tenths(3_600_000)),
        _ => format!("{sign}{} d", tenths(86_400_000)),
    }
}

/// `1.2`, and the attempt where it is not the first.
pub(super) fn place(row: &HeaderRow) -> String {
    let number = |number: Option<u64>| number.map_or("?".to_string(), |number| number.to_string());
    match (row.turn, row.step, row.attempt) {
        (None, None, _) => String::new(),
        (turn, step, Some(attempt @ 2..)) => {
            format!("{}.{}.{attempt}", number(turn), number(step))
        }
        (turn, step, _) => format!("{}.{}", number(turn), number(step)),
    }
}

/// The share of a whole in hundredths, rounded down; `<1` where there is some.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "100 %".to_string();
    }
    match u128::from(part) * 100 / u128::from(whole) {
        0 if part > 0 => "<1 %".to_string(),
        percent => format!("{percent} %"),
    }
}

/// `1,204 of 2,584 B`.
pub(super) fn share(part: u64, whole: u64) -> String {
    format!("{} of {} B", grouped(part), grouped(whole))
}

/// What a row's change keeps of the prompt.
pub(super) fn kept(kept: &Kept) -> String {
    match (&kept.broken, &kept.doubt) {
        (None, None) => "keeps the whole prompt".to_string(),
        (None, Some(option)) => {
            format!("keeps the whole prompt, unless the provider minds {option}")
        }
        (Some(broken), _) if kept.bytes == 0 => {
            let of = grouped(kept.of);
            format!("keeps nothing of the prompt ({of} B): {}", at(broken))
        }
        (Some(broken), _) => format!(
            "keeps {} of the prompt ({}): breaks at {}",
            percent(kept.bytes, kept.of),
            share(kept.bytes, kept.of),
            at(broken)
        ),
    }
}

/// The same in a few words.
pub(super) fn kept_briefly(kept: &Kept) -> String {
    match (&kept.broken, &kept.doubt) {
        (None, None) => "keeps all".to_string(),
        (None, Some(_)) => "keeps all?".to_string(),
        (Some(_), _) if kept.bytes == 0 => "keeps nothing".to_string(),
        (Some(_), _) => format!("keeps {}", percent(kept.bytes, kept.of)),
    }
}

fn at(broken: &Broken) -> String {
    let place = match &broken.at {
        SegmentName::Route => "another provider or model".to_string(),
        SegmentName::System => "system".to_string(),
        SegmentName::Tool(name) if name.is_empty() => "a tool without a name".to_string(),
        SegmentName::Tool(name) => format!("tool {name}"),
        SegmentName::Prefix(index) => format!("prefix message {}", index + 1),
        SegmentName::Message(index, None) => format!("message {}", index + 1),
        SegmentName::Message(index, Some(seq)) => format!("message {} (seq {seq})", index + 1),
    };
    match broken.byte {
        Some(byte) if byte > 0 => format!("{place}, byte {}", grouped(byte)),
        _ => place,
    }
}

/// What else is to be said of a row, in a few words each.
pub(super) fn notes(row: &HeaderRow) -> Vec<String> {
    let mut notes = Vec::new();
    match (row.reason, row.verdict) {
        (Some(Reason::Resume), _) => notes.push(format!("resume, loop {}", row.instance + 1)),
        (Some(Reason::Series), _) => notes.push("series".to_string()),
        (Some(Reason::Other), _) => notes.push("unknown reason".to_string()),
        (Some(Reason::Change), Verdict::Same | Verdict::Hidden) => {
            notes.push("said to change".to_string());
        }
        _ => {}
    }
    if row.starts_series && row.reason != Some(Reason::Series) {
        notes.push("starts a series".to_string());
    }
    notes.extend(row.moves.iter().filter_map(move_phrase));
    if !row.redacted.is_empty() {
        let parts: Vec<&str> = row.redacted.iter().map(|part| part.as_str()).collect();
        notes.push(format!("redacted: {}", parts.join(", ")));
    }
    if let Some(seq) = row.returns_to {
        notes.push(format!("back to seq {seq}"));
    }
    if row.inherited {
        notes.push("inherited".to_string());
    }
    notes
}

fn move_phrase(found: &SystemMove) -> Option<String> {
    Some(match found {
        SystemMove::HeadAppended { .. } => return None,
        SystemMove::HeadReplaced { .. } => "head replaced".to_string(),
        SystemMove::PromptUpdate { .. } => "in-history update".to_string(),
        SystemMove::UpdateEmptied { .. } => "earlier update emptied".to_string(),
        SystemMove::UpdateShadowed => "update compacted away".to_string(),
        SystemMove::ToolUpdate { added, removed, .. } => {
            let sign = |sign: &'static str, names: &[String]| -> Vec<String> {
                names.iter().map(|name| format!("{sign}{name}")).collect()
            };
            let words = [sign("+", added), sign("−", removed)].concat();
            format!("developer message {}", words.join(" "))
        }
    })
}

/// What a pair of headers amounts to.
pub(super) fn pair(pair: &HeaderPair, values: Values) -> String {
    match (pair.old, pair.new) {
        (Some(_), None) => "is not there any more".to_string(),
        (None, Some(_)) => "is new".to_string(),
        _ if !pair.change.is_empty() => phrases(&pair.change, values).join(" · "),
        _ if pair.redacted.is_empty() => "the same".to_string(),
        _ => "the same, as far as can be seen".to_string(),
    }
}

/// Which headers a pair is: `seq 5 (1.1) ↔ seq 7 (1.1)`, or `header 1 ↔ seq 7 (1.1)` of a lock.
pub(super) fn pair_name(pair: &HeaderPair) -> String {
    let spot = |spot: Option<HeaderSpot>| match spot {
        None => "–".to_string(),
        Some(HeaderSpot {
            locked: Some(number),
            ..
        }) => format!("header {number}"),
        Some(HeaderSpot {
            seq,
            turn: Some(turn),
            step: Some(step),
            ..
        }) => {
            format!("seq {seq} ({turn}.{step})")
        }
        Some(spot) => format!("seq {}", spot.seq),
    };
    format!("{} ↔ {}", spot(pair.old), spot(pair.new))
}

/// What comes back, as one sentence. The place is not part of it.
pub(super) fn pattern(pattern: &Pattern) -> String {
    let times = count(pattern.changes, "change");
    let part = pattern.part.as_str();
    match &pattern.kind {
        PatternKind::Volatile { spot, varying } => {
            let what = match varying.as_str() {
                "text" => "ever new text".to_string(),
                "id" => "an identifier".to_string(),
                word => format!("a {word}"),
            };
            format!(
                "{part} {} varies: {what}, {times}, {} values",
                spot.at,
                grouped(spot.distinct)
            )
        }
        PatternKind::Flap { spot, period: 2 } => {
            format!("{part} {} goes back and forth: {times}", spot.at)
        }
        PatternKind::Flap { spot, period } => {
            format!(
                "{part} {} comes back after {period} changes: {times}",
                spot.at
            )
        }
        PatternKind::ComeAndGo { tools, came, went } => {
            let who = match tools.len() {
                1 => format!("tool {} comes and goes", some(tools)),
                number => format!(
                    "{} come and go together: {}",
                    count(number as u64, "tool"),
                    some(tools)
                ),
            };
            format!("{who}: {came} × added, {went} × removed")
        }
        PatternKind::Order => format!("the same tools in ever another order: {times}"),
    }
}

/// The size of a first header.
pub(super) fn size(row: &HeaderRow) -> String {
    let size = row.size;
    let mut parts = Vec::new();
    let is_told = |part: Part| !row.redacted.contains(&part);
    if size.system > 0 && is_told(Part::System) {
        let lines = count(size.system_lines, "line");
        parts.push(format!("system {} B in {lines}", grouped(size.system)));
    }
    if size.tools > 0 {
        let bytes = match is_told(Part::Tools) {
            true => format!(", {} B", grouped(size.tools_bytes)),
            false => String::new(),
        };
        let tools = count(size.tools, "tool");
        parts.push(format!("{tools}{bytes}"));
    }
    if size.prefix > 0 && is_told(Part::Prefix) {
        let messages = count(size.prefix, "prefix message");
        parts.push(format!("{messages}, {} B", grouped(size.prefix_bytes)));
    }
    if parts.is_empty() && row.redacted.is_empty() {
        parts.push("no system prompt, no tools".to_string());
    }
    parts.join(" · ")
}

/// A value's quotes say nothing where all values have them.
pub(super) fn unquoted(spot: &Spot) -> Spot {
    let mut spot = spot.clone();
    if spot.before == "\"" && spot.after == "\"" {
        spot.before.clear();
        spot.after.clear();
    }
    spot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_shares_are_said_as_people_say_them() {
        assert_eq!(since(3), "+3 ms");
        assert_eq!(since(8_240), "+8.2 s");
        assert_eq!(since(-61_000), "−1 min");
        assert_eq!(since(9_000_000), "+2.5 h");
        assert_eq!(since(i64::MIN), "−106751991167.3 d");
        assert_eq!(percent(1, 1000), "<1 %");
        assert_eq!(percent(999, 1000), "99 %");
        assert_eq!(percent(0, 0), "100 %");
    }
}
