//! A text that differs.
//!
//! **Takes** nothing. **Gives** [`TextChange`] and what it is made of. **Never** borrows from a log.

/// How large a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextSize {
    /// Bytes.
    pub bytes: u64,
    /// Lines; of an empty text none.
    pub lines: u64,
}

/// A text that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChange {
    /// How large it was.
    pub old: TextSize,
    /// How large it is.
    pub new: TextSize,
    /// Bytes that both begin with.
    pub same_start: u64,
    /// Lines that went.
    pub removed: u64,
    /// Lines that came.
    pub added: u64,
    /// The places that differ, with context.
    pub hunks: Vec<Hunk>,
    /// Lines of hunks that are left out because there are too many.
    pub left_out: u64,
    /// Sections that came, went, moved or changed, where the texts have headings.
    pub sections: Vec<SectionChange>,
    /// Why the answer is coarser than it could be.
    pub coarse: Option<Coarse>,
}

impl TextChange {
    /// Drops the text: of the differences, where and how much is left.
    pub(super) fn hide(&mut self) {
        self.hunks.clear();
        self.sections.clear();
    }
}

/// Why an answer is coarser than it could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coarse {
    /// The deadline passed.
    Deadline,
    /// There is too much of it.
    Size,
}

impl Coarse {
    /// As reports print it.
    pub fn as_str(self) -> &'static str {
        match self {
            Coarse::Deadline => "deadline",
            Coarse::Size => "size",
        }
    }
}

/// A stretch of lines with a difference in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The heading it stands under.
    pub section: Option<String>,
    /// Its lines, in order.
    pub lines: Vec<LineChange>,
}

/// A line, before and after. Equal sides are context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    /// The line as it was.
    pub old: Option<Side>,
    /// The line as it is.
    pub new: Option<Side>,
    /// Whether both sides are the same.
    pub same: bool,
}

/// One side of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Its number, from 1.
    pub number: u64,
    /// Its text in pieces, without the line feed.
    pub pieces: Vec<Piece>,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Whether the other side has something else here.
    pub changed: bool,
    /// The text.
    pub text: String,
}

/// A section of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionChange {
    /// Its heading.
    pub heading: String,
    /// What became of it.
    pub fate: SectionFate,
    /// Lines it has now, or had.
    pub lines: u64,
}

/// What became of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionFate {
    /// It came.
    Added,
    /// It went.
    Removed,
    /// Its text differs.
    Changed,
    /// It stands elsewhere among the others.
    Moved,
}

impl SectionFate {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            SectionFate::Added => "added",
            SectionFate::Removed => "removed",
            SectionFate::Changed => "changed",
            SectionFate::Moved => "moved",
        }
    }
}
