//! What comes back again and again.
//!
//! **Takes** nothing. **Gives** [`Pattern`]. **Never** borrows from a log.

use super::change::Part;
use crate::line::Seq;
use crate::record::without_content;

/// Something that changes more than once at the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What.
    pub kind: PatternKind,
    /// The part of the header.
    pub part: Part,
    /// How often it changed.
    pub changes: u64,
    /// The first row that shows it.
    pub first: Seq,
    /// The last one.
    pub last: Seq,
}

/// What comes back.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// The same place has ever new text.
    Volatile {
        /// The place, and its texts.
        spot: Spot,
        /// What the varying text looks like.
        varying: Varying,
    },
    /// The same place goes back to what it was.
    Flap {
        /// The place, and the texts it goes through.
        spot: Spot,
        /// After how many changes the same text stands there again.
        period: u64,
    },
    /// Tools that come and go together.
    ComeAndGo {
        /// Their names.
        tools: Vec<String>,
        /// How often they came.
        came: u64,
        /// How often they went.
        went: u64,
    },
    /// The same tools stand in ever another order.
    Order,
}

impl PatternKind {
    pub(super) fn hide_text(&mut self) {
        if let PatternKind::Volatile { spot, .. } | PatternKind::Flap { spot, .. } = self {
            if let Some(start) = spot.at.find(" /") {
                let (tool, pointer) = spot.at.split_at(start);
                spot.at = format!("{tool}{}", without_content(pointer));
            }
            spot.section = None;
            spot.before.clear();
            spot.after.clear();
            spot.values.clear();
        }
    }
}

/// A place whose text varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Where: a line number, a member's name, a tool and a pointer.
    pub at: String,
    /// The heading the place stands under.
    pub section: Option<String>,
    /// What stands before the varying text.
    pub before: String,
    /// What stands behind it.
    pub after: String,
    /// The first values and the last one, shortened.
    pub values: Vec<String>,
    /// How many different values there are.
    pub distinct: u64,
}

/// What a varying text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varying {
    /// A time or a date.
    Clock,
    /// A number that counts.
    Counter,
    /// A path of the file system, or an address.
    Path,
    /// An identifier or a digest.
    Id,
    /// Anything else.
    Text,
}

impl Varying {
    /// As reports print it.
    pub fn as_str(self) -> &'static str {
        match self {
            Varying::Clock => "clock",
            Varying::Counter => "counter",
            Varying::Path => "path",
            Varying::Id => "id",
            Varying::Text => "text",
        }
    }
}
