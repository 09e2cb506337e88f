//! What an audit says: findings, the rules they belong to and the places they point at.
//!
//! **Takes** nothing of its own accord: `rules` builds findings. **Gives** owned values that outlive the log.
//! **Never** borrows from a log, and never prints.

pub use crate::line::Excerpt;
use crate::line::{LineNo, Seq, Span};

/// How much a finding weighs. Ordered: a note is less than a warning, a warning less than an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Something is off, and the log still says what was sent.
    Warning,
    /// The log is unsound, or a request is not explained by it.
    Error,
}

impl Level {
    /// The word used in every format: `note`, `warning` or `error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// How sure a finding is of its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// The log shows it.
    Observed,
    /// The log shows two things at the same place; that one caused the other is an inference.
    Coincident,
    /// The log allows it and does not decide it.
    Possible,
}

impl Certainty {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Certainty::Observed => "observed",
            Certainty::Coincident => "coincident",
            Certainty::Possible => "possible",
        }
    }
}

/// A rule of the catalogue. Codes and names are interface: never reused, never renamed.
#[derive(Debug)]
pub struct Rule {
    /// Room and number, `rrnn`: 0302 is `302`. Printed as `DSH0302`.
    pub code: u16,
    /// Kebab name of the defect.
    pub name: &'static str,
    /// The level it has unless a finding or the policy says otherwise.
    pub level: Level,
    /// One sentence: when it is reported.
    pub summary: &'static str,
    /// The page that `explain` prints: Markdown with five headings.
    pub page: &'static str,
}

impl Rule {
    /// The printed code, `DSH0302`.
    pub fn id(&self) -> String {
        format!("DSH{:04}", self.code)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.code == other.code
    }
}

impl Eq for Rule {}

/// Which bytes a span counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bytes {
    /// Of the decoded log: what a decompressor would print. The same as the file's in an uncompressed log.
    Decoded(Span),
    /// Of the file as it lies on disk (frames of a compressed log).
    File(Span),
}

impl Bytes {
    /// The span, whatever it counts in.
    pub fn span(self) -> Span {
        match self {
            Bytes::Decoded(span) | Bytes::File(span) => span,
        }
    }
}

/// Where a finding points. The file is the one the finding was made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line of the decoded log.
    pub line: Option<LineNo>,
    /// Bytes, end exclusive.
    pub bytes: Option<Bytes>,
    /// Event.
    pub seq: Option<Seq>,
    /// Turn the event stands in.
    pub turn: Option<u64>,
    /// Step the event stands in.
    pub step: Option<u64>,
    /// JSON pointer into the event.
    pub pointer: Option<String>,
    /// What stands there, bounded.
    pub excerpt: Option<Excerpt>,
}

/// Another place that belongs to a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// What is there, worded like a finding's message.
    pub message: String,
    /// Where.
    pub at: Place,
}

/// One fault, or one fact worth knowing, at one place. Cannot be built without a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its rule.
    pub rule: &'static Rule,
    /// Its level: the rule's, or another where the rule's table says so.
    pub level: Level,
    /// How sure it is of its cause.
    pub certainty: Certainty,
    /// One line, at most 90 characters, present tense, true when read alone.
    pub message: String,
    /// Where.
    pub at: Place,
    /// Further places.
    pub related: Vec<Related>,
    /// What to do, where there is something to do.
    pub help: Option<String>,
    /// The log's own name for what it is about, where a policy may name it too: the event type of an unknown event.
    pub about: Option<String>,
    /// Digest of what was found: stable when lines move or the wording changes. Part of the fingerprint.
    pub evidence: u64,
}

impl Finding {
    /// A finding with its rule's own level, observed, without related places or help. `evidence` is whatever identifies the fault beside its seq.
    pub fn new(
        rule: &'static Rule,
        message: impl Into<String>,
        at: Place,
        evidence: &[u8],
    ) -> Finding {
        Finding {
            rule,
            level: rule.level,
            certainty: Certainty::Observed,
            message: message.into(),
            at,
            related: Vec::new(),
            help: None,
            about: None,
            evidence: xxhash_rust::xxh3::xxh3_64(evidence),
        }
    }

    /// The same finding at another level.
    pub fn level(mut self, level: Level) -> Finding {
        self.level = level;
        self
    }

    /// The same finding with another certainty.
    pub fn certainty(mut self, certainty: Certainty) -> Finding {
        self.certainty = certainty;
        self
    }

    /// The same finding with advice.
    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self
    }

    /// The same finding, which is about something that the log names.
    pub fn about(mut self, name: impl Into<String>) -> Finding {
        self.about = Some(name.into());
        self
    }

    /// The same finding with one more place.
    pub fn related(mut self, message: impl Into<String>, at: Place) -> Finding {
        self.related.push(Related {
            message: message.into(),
            at,
        });
        self
    }
}
