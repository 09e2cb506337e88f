//! What of a prompt still begins the next one.
//!
//! **Takes** a request's prompt as `wire` knows it. **Gives** [`Kept`]. **Never** counts tokens: bytes on the wire.
//!
//! Source: cache model.

use super::config;
use super::effective::Effective;
use super::shown::shown;
use super::tools;
use crate::analyse::answer::{Broken, Kept, SegmentName};
use crate::fold::Session;
use crate::wire::{Prompt, Segment, SegmentKind};

/// What a prompt keeps of the one before, which was sent with the header `last`.
pub(super) fn kept(
    session: &Session<'_>,
    last: &Effective<'_>,
    header: &Effective<'_>,
    prompt: &Prompt<'_, '_>,
) -> Kept {
    let of = prompt.bytes;
    let members = config::compare(last, header).0;
    let is_route = |name: &str| ["provider", "model"].contains(&name);
    if members.iter().any(|member| is_route(&member.name)) {
        return Kept {
            bytes: 0,
            of,
            broken: Some(Broken {
                at: SegmentName::Route,
                byte: None,
            }),
            doubt: None,
        };
    }
    let doubt = members.first().map(|member| member.name.clone());
    let Some(kept) = prompt.kept else {
        return Kept {
            bytes: 0,
            of,
            broken: None,
            doubt,
        };
    };
    let broken = kept.broken.map(|broken| {
        let segment = telling(&broken.before, broken.now.as_ref(), header);
        let heads = prompt.segments().take_while(|segment| !is_history(segment));
        let index = kept.segments.saturating_sub(heads.count());
        Broken {
            at: name(session, segment, index),
            byte: broken.byte,
        }
    });
    Kept {
        bytes: kept.bytes,
        of,
        doubt: doubt.filter(|_| broken.is_none()),
        broken,
    }
}

fn is_history(segment: &Segment<'_>) -> bool {
    matches!(segment.kind, SegmentKind::Message { .. })
}

/// The segment that says most about a break: a tool that went, else what stands there now.
fn telling<'k, 'log>(
    before: &'k Segment<'log>,
    now: Option<&'k Segment<'log>>,
    header: &Effective<'_>,
) -> &'k Segment<'log> {
    let Some(now) = now else { return before };
    let SegmentKind::Tool {
        name: Some(name), ..
    } = before.kind
    else {
        return now;
    };
    let wanted = name.text().map(|text| text.bytes().to_vec());
    let mut names = header.tools.into_iter().flat_map(|tools| tools.elements());
    if names.any(|tool| Some(tools::name(tool)) == wanted) {
        return now;
    }
    before
}

fn name(session: &Session<'_>, segment: &Segment<'_>, index: usize) -> SegmentName {
    match segment.kind {
        SegmentKind::System => SegmentName::System,
        SegmentKind::Tool { name, .. } => {
            let name = name.and_then(|name| name.text().map(|text| shown(text.bytes())));
            SegmentName::Tool(name.unwrap_or_default())
        }
        SegmentKind::Prefix { index } => SegmentName::Prefix(index as usize),
        SegmentKind::Message { message, .. } => {
            let seq = session.messages.get(message.get()).map(|fact| fact.seq);
            SegmentName::Message(index, seq)
        }
    }
}
