//! The shapes a log can be written in.
//!
//! **Takes** nothing. **Gives** [`Shape`] and the questions that tell the shapes apart. **Never** decides what happens in a session.

/// One dialect of the session log, as one of its writers wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Version 0 of the RFC's era (format.md B.1): no identified messages, one request per step, tags in place of ids.
    Seed,
    /// Version 0 of release 0.1.1-rc.2 (format.md B.2), one line per chunk.
    Released,
    /// The same with packed chunk rows, the release's default.
    Packed,
    /// Version 0 of release 0.1.2: packed rows, range-encoded sources, `series` headers.
    Late,
    /// Version 2, as the codecs make it from a released log: streams inside the response event.
    V2,
    /// Version 3: the system prompt is a message.
    V3,
    /// Version 4: tool role, developer messages, producer source kinds.
    V4,
}

impl Shape {
    /// All shapes with their names on the command line.
    pub const NAMES: [(&'static str, Shape); 7] = [
        ("seed", Shape::Seed),
        ("released", Shape::Released),
        ("packed", Shape::Packed),
        ("late", Shape::Late),
        ("v2", Shape::V2),
        ("v3", Shape::V3),
        ("v4", Shape::V4),
    ];

    /// The `version` of the header line.
    pub fn version(self) -> u64 {
        match self {
            Shape::Seed | Shape::Released | Shape::Packed | Shape::Late => 0,
            Shape::V2 => 2,
            Shape::V3 => 3,
            Shape::V4 => 4,
        }
    }

    /// When the session begins, in milliseconds: a day on which a build of this shape was current.
    pub fn first_moment(self) -> u64 {
        match self {
            Shape::Seed => 1_783_933_200_000,                     // 2026-07-13
            Shape::Released | Shape::Packed => 1_787_302_800_000, // 2026-08-21
            Shape::Late => 1_788_339_600_000,                     // 2026-09-02
            Shape::V2 => 1_788_598_800_000,                       // 2026-09-05
            Shape::V3 => 1_788_944_400_000,                       // 2026-09-09
            Shape::V4 => 1_791_190_800_000,                       // 2026-10-05
        }
    }

    /// Messages carry ids, steps hold their own input and several attempts.
    pub fn identified(self) -> bool {
        self != Shape::Seed
    }

    /// Chunks stand inside the response event.
    pub fn streams(self) -> bool {
        self.version() >= 2
    }

    /// The system prompt is a message of the surface.
    pub fn system_on_surface(self) -> bool {
        self.version() >= 3
    }

    /// Runs in `sourceEventSeqs` become `[first, last]`.
    pub fn ranges(self) -> bool {
        self.streams() || self == Shape::Late
    }

    /// A replaced surface starts a series, which a header records.
    pub fn series(self) -> bool {
        self.system_on_surface() || self == Shape::Late
    }
}
