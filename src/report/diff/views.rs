//! Changes as JSON has them.
//!
//! **Takes** answers. **Gives** views that borrow from them. **Never** prints a member that does not apply.

use serde::Serialize;

use crate::analyse::answer::{
    HeaderChange, Hunk, LineChange, MemberChange, MessageChange, Piece, PrefixChange,
    SectionChange, Side, TextChange, TextSize, ToolChange, ToolMove, ToolPlace, ToolsChange,
    ValueChange,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeView<'r> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    config: Vec<MemberView<'r>>,
    #[serde(skip_serializing_if = "is_false")]
    config_reordered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<TextView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<ToolsView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<PrefixView<'r>>,
}

impl<'r> ChangeView<'r> {
    pub(super) fn of(change: &'r HeaderChange) -> ChangeView<'r> {
        ChangeView {
            config: change.config.iter().map(MemberView::of).collect(),
            config_reordered: change.config_reordered,
            system: change.system.as_ref().map(TextView::of),
            tools: change.tools.as_ref().map(ToolsView::of),
            prefix: change.prefix.as_ref().map(PrefixView::of),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MemberView<'r> {
    name: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'r str>,
    #[serde(skip_serializing_if = "is_false")]
    old_is_default: bool,
    #[serde(skip_serializing_if = "is_false")]
    new_is_default: bool,
}

impl<'r> MemberView<'r> {
    fn of(member: &'r MemberChange) -> MemberView<'r> {
        MemberView {
            name: &member.name,
            old: member.old.as_deref(),
            new: member.new.as_deref(),
            old_is_default: member.old_is_default,
            new_is_default: member.new_is_default,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TextView<'r> {
    old: SizeView,
    new: SizeView,
    same_start: u64,
    added: u64,
    removed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sections: Vec<SectionView<'r>>,
    hunks: Vec<HunkView<'r>>,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coarse: Option<&'static str>,
}

#[derive(Serialize)]
struct SizeView {
    bytes: u64,
    lines: u64,
}

impl<'r> TextView<'r> {
    fn of(text: &'r TextChange) -> TextView<'r> {
        let size = |size: TextSize| SizeView {
            bytes: size.bytes,
            lines: size.lines,
        };
        TextView {
            old: size(text.old),
            new: size(text.new),
            same_start: text.same_start,
            added: text.added,
            removed: text.removed,
            sections: text.sections.iter().map(SectionView::of).collect(),
            hunks: text.hunks.iter().map(HunkView::of).collect(),
            left_out: text.left_out,
            coarse: text.coarse.map(|coarse| coarse.as_str()),
        }
    }
}

#[derive(Serialize)]
struct SectionView<'r> {
    heading: &'r str,
    fate: &'static str,
    lines: u64,
}

impl<'r> SectionView<'r> {
    fn of(section: &'r SectionChange) -> SectionView<'r> {
        SectionView {
            heading: &section.heading,
            fate: section.fate.as_str(),
            lines: section.lines,
        }
    }
}

#[derive(Serialize)]
struct HunkView<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'r str>,
    lines: Vec<LineView<'r>>,
}

impl<'r> HunkView<'r> {
    fn of(hunk: &'r Hunk) -> HunkView<'r> {
        HunkView {
            section: hunk.section.as_deref(),
            lines: hunk.lines.iter().map(LineView::of).collect(),
        }
    }
}

/// `same` for context; else what stood there, and what does.
#[derive(Serialize)]
struct LineView<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<SideView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<SideView<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<SideView<'r>>,
}

impl<'r> LineView<'r> {
    fn of(line: &'r LineChange) -> LineView<'r> {
        let side = |side: &'r Option<Side>, is_told: bool| {
            side.as_ref().filter(|_| is_told).map(SideView::of)
        };
        LineView {
            same: side(&line.new, line.same),
            old: side(&line.old, !line.same),
            new: side(&line.new, !line.same),
        }
    }
}

#[derive(Serialize)]
struct SideView<'r> {
    line: u64,
    pieces: Vec<PieceView<'r>>,
}

impl<'r> SideView<'r> {
    fn of(side: &'r Side) -> SideView<'r> {
        SideView {
            line: side.number,
            pieces: side.pieces.iter().map(PieceView::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct PieceView<'r> {
    text: &'r str,
    #[serde(skip_serializing_if = "is_false")]
    changed: bool,
}

impl<'r> PieceView<'r> {
    fn of(piece: &'r Piece) -> PieceView<'r> {
        PieceView {
            text: &piece.text,
            changed: piece.changed,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolsView<'r> {
    old: u64,
    new: u64,
    order_only: bool,
    same_start: u64,
    added: Vec<ToolPlaceView<'r>>,
    removed: Vec<ToolPlaceView<'r>>,
    moved: Vec<ToolMoveView<'r>>,
    changed: Vec<ToolView<'r>>,
}

impl<'r> ToolsView<'r> {
    fn of(tools: &'r ToolsChange) -> ToolsView<'r> {
        ToolsView {
            old: tools.old,
            new: tools.new,
            order_only: tools.order_only,
            same_start: tools.same_start,
            added: tools.added.iter().map(ToolPlaceView::of).collect(),
            removed: tools.removed.iter().map(ToolPlaceView::of).collect(),
            moved: tools.moved.iter().map(ToolMoveView::of).collect(),
            changed: tools.changed.iter().map(ToolView::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct ToolPlaceView<'r> {
    name: &'r str,
    index: u64,
    bytes: u64,
}

impl<'r> ToolPlaceView<'r> {
    fn of(place: &'r ToolPlace) -> ToolPlaceView<'r> {
        ToolPlaceView {
            name: &place.name,
            index: place.index,
            bytes: place.bytes,
        }
    }
}

#[derive(Serialize)]
struct ToolMoveView<'r> {
    name: &'r str,
    from: u64,
    to: u64,
}

impl<'r> ToolMoveView<'r> {
    fn of(found: &'r ToolMove) -> ToolMoveView<'r> {
        ToolMoveView {
            name: &found.name,
            from: found.from,
            to: found.to,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolView<'r> {
    name: &'r str,
    index: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<TextView<'r>>,
    values: Vec<ValueView<'r>>,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
}

impl<'r> ToolView<'r> {
    fn of(tool: &'r ToolChange) -> ToolView<'r> {
        ToolView {
            name: &tool.name,
            index: tool.index,
            description: tool.description.as_ref().map(TextView::of),
            values: tool.values.iter().map(ValueView::of).collect(),
            left_out: tool.left_out,
        }
    }
}

#[derive(Serialize)]
struct ValueView<'r> {
    pointer: &'r str,
    fate: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<Vec<PieceView<'r>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<Vec<PieceView<'r>>>,
}

impl<'r> ValueView<'r> {
    fn of(value: &'r ValueChange) -> ValueView<'r> {
        let pieces = |pieces: &'r Option<Vec<Piece>>| {
            let pieces = pieces.as_ref()?.iter();
            Some(pieces.map(PieceView::of).collect())
        };
        ValueView {
            pointer: &value.pointer,
            fate: value.fate.as_str(),
            old: pieces(&value.old),
            new: pieces(&value.new),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrefixView<'r> {
    old: u64,
    new: u64,
    same_start: u64,
    messages: Vec<MessageView<'r>>,
}

impl<'r> PrefixView<'r> {
    fn of(prefix: &'r PrefixChange) -> PrefixView<'r> {
        PrefixView {
            old: prefix.old,
            new: prefix.new,
            same_start: prefix.same_start,
            messages: prefix.messages.iter().map(MessageView::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct MessageView<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<u64>,
    role: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextView<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueView<'r>>,
}

impl<'r> MessageView<'r> {
    fn of(message: &'r MessageChange) -> MessageView<'r> {
        MessageView {
            old: message.old,
            new: message.new,
            role: &message.role,
            text: message.text.as_ref().map(TextView::of),
            values: message.values.iter().map(ValueView::of).collect(),
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}
