//! Moves, kept prefixes and patterns as JSON has them.
//!
//! **Takes** answers. **Gives** views that borrow from them. **Never** prints a member that does not apply.

use serde::Serialize;

use crate::analyse::answer::{Kept, Pattern, PatternKind, SegmentName, Spot, SystemMove};

/// What happened on the surface, told by `kind`.
#[derive(Serialize)]
pub(super) struct MoveView<'r> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    added: &'r [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    removed: &'r [String],
}

impl<'r> MoveView<'r> {
    pub(super) fn of(found: &'r SystemMove) -> MoveView<'r> {
        let mut view = MoveView {
            kind: match found {
                SystemMove::HeadAppended { .. } => "head-appended",
                SystemMove::HeadReplaced { .. } => "head-replaced",
                SystemMove::PromptUpdate { .. } => "prompt-update",
                SystemMove::UpdateEmptied { .. } => "update-emptied",
                SystemMove::UpdateShadowed => "update-shadowed",
                SystemMove::ToolUpdate { .. } => "tool-update",
            },
            seq: found.seq(),
            added: &[],
            removed: &[],
        };
        if let SystemMove::ToolUpdate { added, removed, .. } = found {
            (view.added, view.removed) = (added, removed);
        }
        view
    }
}

/// What of the prompt before still begins this one.
#[derive(Serialize)]
pub(super) struct KeptView<'r> {
    bytes: u64,
    of: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<BrokenView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<&'r str>,
}

#[derive(Serialize)]
struct BrokenView<'r> {
    segment: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
}

impl<'r> KeptView<'r> {
    pub(super) fn of(kept: &'r Kept) -> KeptView<'r> {
        let broken = kept.broken.as_ref().map(|broken| {
            let (segment, name, index, seq) = match &broken.at {
                SegmentName::Route => ("route", None, None, None),
                SegmentName::System => ("system", None, None, None),
                SegmentName::Tool(name) => ("tool", Some(name.as_str()), None, None),
                SegmentName::Prefix(index) => ("prefix", None, Some(*index), None),
                SegmentName::Message(index, seq) => ("message", None, Some(*index), *seq),
            };
            BrokenView {
                segment,
                name,
                index,
                seq: seq.map(|seq| seq.0),
                byte: broken.byte,
            }
        });
        KeptView {
            bytes: kept.bytes,
            of: kept.of,
            broken,
            doubt: kept.doubt.as_deref(),
        }
    }
}

/// What comes back, told by `kind`.
#[derive(Serialize)]
pub(super) struct PatternView<'r> {
    kind: &'static str,
    part: &'static str,
    changes: u64,
    first: u64,
    last: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    spot: Option<SpotView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    varying: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tools: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    came: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    went: Option<u64>,
}

#[derive(Serialize)]
struct SpotView<'r> {
    at: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'r str>,
    before: &'r str,
    after: &'r str,
    values: &'r [String],
    distinct: u64,
}

impl<'r> SpotView<'r> {
    fn of(spot: &'r Spot) -> SpotView<'r> {
        SpotView {
            at: &spot.at,
            section: spot.section.as_deref(),
            before: &spot.before,
            after: &spot.after,
            values: &spot.values,
            distinct: spot.distinct,
        }
    }
}

impl<'r> PatternView<'r> {
    pub(super) fn of(pattern: &'r Pattern) -> PatternView<'r> {
        let mut view = PatternView {
            kind: "order",
            part: pattern.part.as_str(),
            changes: pattern.changes,
            first: pattern.first.0,
            last: pattern.last.0,
            spot: None,
            varying: None,
            period: None,
            tools: &[],
            came: None,
            went: None,
        };
        match &pattern.kind {
            PatternKind::Volatile { spot, varying } => {
                view.kind = "volatile";
                view.spot = Some(SpotView::of(spot));
                view.varying = Some(varying.as_str());
            }
            PatternKind::Flap { spot, period } => {
                view.kind = "flap";
                view.spot = Some(SpotView::of(spot));
                view.period = Some(*period);
            }
            PatternKind::ComeAndGo { tools, came, went } => {
                view.kind = "come-and-go";
                view.tools = tools;
                view.came = Some(*came);
                view.went = Some(*went);
            }
            PatternKind::Order => {}
        }
        view
    }
}
