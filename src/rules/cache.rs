//! Family 08: where the prefix cache was lost.
//!
//! **Takes** the answer of the cache model, and the headers of a log. **Gives** findings 0801 to 0806 and 0808. **Never** computes a
//! prefix; budgets (0807) are judged where they are set.

use super::catalogue::*;
use crate::analyse::answer::{
    Break, CacheReport, CacheRow, CacheVerdict, Cause, ReplaceKind, SegmentName,
};
use crate::finding::{Bytes, Certainty, Finding, Place};
use crate::fold::{HeaderFact, header_part};
use crate::line::{Millis, Seq};
use crate::log::Log;

/// What the report of one log says by itself, without budgets.
pub fn findings(report: &CacheReport) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in report.rows.iter().filter(|row| !row.inherited) {
        match (&row.broken, row.verdict) {
            (Some(broken), CacheVerdict::Broken | CacheVerdict::Contradicted) => {
                findings.extend(broke(row, broken));
            }
            (_, CacheVerdict::Lost) => findings.push(lost(row)),
            _ => {}
        }
    }
    findings.extend(volatile(report));
    findings.extend(unreported(report));
    findings
}

fn place(row: &CacheRow) -> Place {
    Place {
        line: Some(row.line),
        seq: Some(row.seq),
        turn: Some(row.turn),
        step: Some(row.step),
        ..Place::default()
    }
}

fn broke(row: &CacheRow, broken: &Break) -> Vec<Finding> {
    let kept = 100 * row.kept_bytes / row.prompt_bytes.max(1);
    let at = match broken.line {
        Some(_) => Place {
            line: broken.line,
            bytes: broken.span.map(Bytes::Decoded),
            seq: broken.seq,
            ..place(row)
        },
        None => place(row),
    };
    let (what, name) = (cause(&broken.cause), format!("{}.{}", row.turn, row.step));
    // Where messages are not at hand it is known which of them differs, and not from which byte on.
    let is_message = matches!(broken.segment, SegmentName::Message(..));
    let (after, least) = match is_message {
        true => ("", if broken.byte == 0 { "at least " } else { "" }),
        false => (broken.after.as_str(), ""),
    };
    let evidence = format!("{}\0{after}", broken.cause.as_str());
    let message = format!("prefix broken at step {name} by {what}: {least}{kept} % kept");
    let found = Finding::new(&PREFIX_BROKEN, message, at.clone(), evidence.as_bytes());
    let found = match row.lost {
        Some(lost) if lost > 0 => found.help(format!(
            "{lost} tokens were paid for that an intact prefix would have read from the cache"
        )),
        _ => found,
    };
    let mut all = vec![found];
    if let Cause::ToolsMoved(_) = broken.cause {
        let message = format!("the same tools stand in another order at step {name}");
        let found = Finding::new(&TOOL_ORDER_ONLY, message, at.clone(), evidence.as_bytes());
        all.push(
            found.help("sort tools before they are registered: their order is part of the prompt"),
        );
    }
    if broken.on_resume {
        let message = format!("resumed with another header at step {name}: {what}");
        all.push(Finding::new(
            &PREFIX_DRIFT_ON_RESUME,
            message,
            at,
            evidence.as_bytes(),
        ));
    }
    all
}

/// A cause, in words.
fn cause(cause: &Cause) -> String {
    let quoted = |text: &str| format!("\"{}\"", super::judge::shortened(text));
    match cause {
        Cause::Provider { from, to } => format!("provider {} → {}", quoted(from), quoted(to)),
        Cause::Model { from, to } => format!("model {} → {}", quoted(from), quoted(to)),
        Cause::Config { members } => format!("config {}", quoted(&members.join(", "))),
        Cause::SystemText => "the system prompt".into(),
        Cause::ToolAdded(name) => format!("an added tool {}", quoted(name)),
        Cause::ToolRemoved(name) => format!("a removed tool {}", quoted(name)),
        Cause::ToolChanged(name) => format!("a changed tool {}", quoted(name)),
        Cause::ToolsMoved(_) => "the order of the tools".into(),
        Cause::SessionPrefix => "the session prefix".into(),
        Cause::Replace {
            kind,
            range: (from, to),
        } => {
            let what = match kind {
                ReplaceKind::Compaction => "a compaction",
                ReplaceKind::PrunedResult => "a pruned result",
                ReplaceKind::SystemHead => "a replaced prompt",
                ReplaceKind::Other => "a replace",
            };
            match from == to {
                true => format!("{what} of seq {from}"),
                false => format!("{what} of the messages from seq {from} to seq {to}"),
            }
        }
        Cause::Offload => "images left out".into(),
        Cause::Redacted => "a header that is redacted".into(),
        Cause::Dialect => "another build on resume".into(),
        Cause::Unexplained => "nothing the log says".into(),
    }
}

fn lost(row: &CacheRow) -> Finding {
    let hit = row.hit.unwrap_or(0);
    let low = row.expected.map_or(0, |expected| expected.low);
    let idle = row
        .idle
        .filter(|idle| idle.0 > 60_000)
        .map(|idle| format!("; idle {}", duration(idle)));
    let message = format!(
        "hit is {hit} of an expected {low} tokens at step {}.{}{}",
        row.turn,
        row.step,
        idle.clone().unwrap_or_default()
    );
    let found = Finding::new(&CACHE_LOST, message, place(row), b"lost");
    let help = match &row.broken {
        Some(Break { cause: Cause::Config { members }, .. }) => {
            let members = super::judge::shortened(&members.join(", "));
            format!("the log shows no cause in the prompt; config {members} changed at the same step")
        }
        _ if idle.is_some() => "the log shows no cause; entries may have expired while the session was idle".into(),
        _ => "the log shows no cause: a gateway that rotates accounts, an eviction, or a plugin that alters requests may be one".into(),
    };
    found.certainty(Certainty::Observed).help(help)
}

/// A duration, in its two largest units.
fn duration(millis: Millis) -> String {
    let seconds = millis.0 / 1000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

/// Said where no request tells of the cache: a failed attempt alone has no usage in any log.
fn unreported(report: &CacheReport) -> Option<Finding> {
    let own = || report.rows.iter().filter(|row| !row.inherited);
    let first = own().next()?;
    if own().any(|row| row.hit.is_some()) {
        return None;
    }
    let requests = match own().count() {
        1 => "1 request".into(),
        count => format!("{count} requests"),
    };
    let message = format!("no cache usage was reported for {requests}: cache hits are not checked");
    Some(Finding::new(
        &USAGE_NOT_REPORTED,
        message,
        place(first),
        b"usage",
    ))
}

/// So many changes of the prompt at one place are no coincidence.
const AGAIN_AND_AGAIN: usize = 3;

/// First differences this near each other are one place: of a clock now the hour changes, now the second.
const ONE_PLACE: u64 = 16;

/// The same place of the system prompt changes again and again: a clock, a counter, a path.
fn volatile(report: &CacheReport) -> Option<Finding> {
    let mut changes: Vec<(u64, &CacheRow, &Break)> = Vec::new();
    for row in report.rows.iter().filter(|row| !row.inherited) {
        if let Some(broken) = row
            .broken
            .as_ref()
            .filter(|broken| broken.cause == Cause::SystemText)
        {
            changes.push((broken.byte, row, broken));
        }
    }
    changes.sort_by_key(|(byte, row, _)| (*byte, row.boundary));
    let places = changes.chunk_by(|(a, ..), (b, ..)| b - a <= ONE_PLACE);
    let place_of_most = places.max_by_key(|place| place.len())?;
    let (byte, count) = (place_of_most.first()?.0, place_of_most.len());
    let (_, first, broken) = place_of_most
        .iter()
        .min_by_key(|(_, row, _)| row.boundary)?;
    if count < AGAIN_AND_AGAIN {
        return None;
    }
    let requests = report.rows.iter().filter(|row| !row.inherited).count();
    let message = format!("system prompt varies at byte {byte} in {count} of {requests} requests");
    let lost: u64 = place_of_most
        .iter()
        .filter_map(|(_, row, _)| row.lost)
        .sum();
    let seen = format!("{}\0{}", broken.before, broken.after);
    let found = Finding::new(
        &VOLATILE_SYSTEM_TEXT,
        message,
        place(first),
        seen.as_bytes(),
    );
    let help = format!(
        "move what varies behind the history, or out of the prompt: {lost} tokens were lost with it"
    );
    Some(found.help(help))
}

/// What of a header stands in the prompt, or decides whose cache is asked.
fn prompt_text(header: &HeaderFact<'_>) -> Vec<u8> {
    let config = header.raw.get("config");
    let route = ["provider", "model"].map(|name| config.and_then(|config| config.get(name)));
    let parts = ["system", "tools", "messagePrefix"].map(|name| header_part(header.raw, name));
    let mut text = Vec::new();
    for part in route.into_iter().chain(parts) {
        if let Some(raw) = part {
            text.extend_from_slice(&raw.printed());
        }
        text.push(0);
    }
    text
}

/// Headers that go back to what they were: A, B, A.
pub(super) fn flaps(log: &Log<'_>) -> Option<Finding> {
    let mut distinct: Vec<(&HeaderFact<'_>, Vec<u8>)> = Vec::new();
    let mut flaps: Vec<(&HeaderFact<'_>, [Seq; 2])> = Vec::new();
    for header in log.session.headers.iter().filter(|header| !header.redacted) {
        let text = prompt_text(header);
        match distinct.as_slice() {
            [.., (_, last)] if *last == text => continue,
            [.., (earlier, old), (between, _)] if *old == text => {
                flaps.push((header, [earlier.seq, between.seq]))
            }
            _ => {}
        }
        if distinct.len() == 2 {
            distinct.remove(0);
        }
        distinct.push((header, text));
    }
    let (header, [earlier, between]) = *flaps.first()?;
    let again = match flaps.len() {
        1 => String::new(),
        count => format!(" ({count} times in all)"),
    };
    let message = format!(
        "header at seq {} is again that of seq {earlier}, after another at seq {between}{again}",
        header.seq
    );
    let at = Place {
        line: Some(header.line),
        bytes: Some(Bytes::Decoded(header.raw.span())),
        seq: Some(header.seq),
        ..Place::default()
    };
    let help = "each change loses the prefix behind it; keep one header, or change it once";
    Some(Finding::new(&HEADER_FLAP, message, at, b"flap").help(help))
}
