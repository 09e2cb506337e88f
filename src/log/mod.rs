//! One file's log: the rooms left of here, run once, in their order.
//!
//! **Takes** a [`Source`]. **Gives** a [`Log`]: the session, the settlement, and every fact that was noted on the way.
//! **Never** judges, and never prints.

mod reading;

use crate::analyse::cache::{self, CacheOptions, CacheReport};
use crate::dialect::{Generation, Settlement, Support};
use crate::event::{At, Faults};
use crate::fold::Session;
use crate::line::{Excerpt, LineNo, Seq, Span};
use crate::record::{Raw, Scratch};
use crate::request::{Calls, CallsOf, Requests};
use crate::source::{Source, SourceError, SourceSummary};
use crate::wire::{Parts, Prompts};

use reading::Reading;

pub use crate::fold::Retain;

/// How a log is read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// What outlives its line.
    pub retain: Retain,
    /// How many facts of a kind are kept; the rest is counted.
    pub max_faults: usize,
    /// How lines are taken apart.
    pub parser: Parser,
}

/// How a line's bytes are taken apart. Both give the same log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// A short way for lines in exactly the bytes the harness writes, and notes of what was passed over for the others.
    Fast,
    /// One way for every line: the oracle of the other.
    General,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            retain: Retain::Messages,
            max_faults: 10_000,
            parser: Parser::Fast,
        }
    }
}

/// What a file turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A session log that was read.
    Readable,
    /// A session log that must be rejected: a legacy representation stands in it.
    Rejected,
    /// A session log of a generation this build does not read.
    Unsupported(Support),
    /// No session log; the reason, as a predicate.
    NotASessionLog(&'static str),
    /// Another agent's log.
    Foreign,
    /// No complete line.
    Empty,
}

/// What stands behind the last line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Its bytes; of a tail that is partly zeros, without them.
    pub span: Span,
    /// Zero bytes at its end.
    pub zeros: Span,
    /// Its line.
    pub line: LineNo,
    /// Whether it is a whole JSON object.
    pub parses: bool,
    /// What stands there.
    pub excerpt: Excerpt,
}

/// The facts of the session header that outlive its line.
#[derive(Clone, Copy, Debug)]
pub struct Identification<'log> {
    /// The generation.
    pub generation: Generation,
    /// The session's id, as it stands.
    pub id: Option<Raw<'log>>,
    /// The parent session's id, as it stands.
    pub parent: Option<Raw<'log>>,
    /// The working directory, as it stands.
    pub cwd: Option<Raw<'log>>,
    /// How many events are inherited (versions 0 and 1).
    pub seed_length: u64,
    /// Whether events are inherited (version 2 and later).
    pub is_seeded: bool,
    /// Whether the header names a delegation depth.
    pub has_depth: bool,
    /// Whether the log is a committed fixture.
    pub fixture: bool,
    /// The header line.
    pub at: At,
}

/// One log, read.
#[derive(Debug)]
pub struct Log<'log> {
    /// What it is.
    pub standing: Standing,
    /// Its header; absent where it is no session log of a generation that is read.
    pub header: Option<Identification<'log>>,
    /// What it says.
    pub session: Session<'log>,
    /// What each of its messages adds to a prompt, by message.
    pub wire: Vec<Parts>,
    /// Which build wrote what.
    pub settlement: Settlement,
    /// What is wrong with it, from the lines on.
    pub faults: Faults,
    /// What is wrong with its bytes.
    pub source: SourceSummary,
    /// What stands behind its last line feed.
    pub tail: Option<Tail>,
    /// Whether a byte-order mark stands at its start.
    pub has_bom: bool,
    /// The first line's excerpt, for findings about the file as a whole.
    pub first_line: Option<(At, Excerpt)>,
    /// The last event's line, for findings about the log as a whole.
    pub last: At,
    /// How many lines were read the short way.
    pub fast_lines: u64,
}

impl<'log> Log<'log> {
    /// Reads a log, front to back, once.
    ///
    /// # Errors
    ///
    /// When the bytes cannot be read on. What is wrong with them is no error but part of the result.
    pub fn read(source: &'log Source, options: &ReadOptions) -> Result<Log<'log>, SourceError> {
        let mut reading = Reading::new(source, *options);
        let mut lines = source.lines();
        let mut scratch = Scratch::new();
        let mut skipped = 0;
        while let Some(line) = lines.next_line()? {
            reading.line(&line, &mut scratch);
            if reading.is_over() {
                break;
            }
            skipped = reading.left_out(&lines, skipped);
        }
        reading.left_out(&lines, skipped);
        Ok(reading.finish(lines.finish()?))
    }

    /// The calls that were not the loop's and can be rebuilt, in order; none where [`Log::requests`] gives none.
    pub fn calls(&self) -> Option<Calls<'_, 'log>> {
        let header = self.header.as_ref()?;
        let seed = Some(Seq(header.seed_length));
        let inherited_until = self.session.inherited_until.or(seed);
        Some(Calls::new(CallsOf {
            session: &self.session,
            settlement: &self.settlement,
            interface: header.generation.interface(),
            session_id: header.id?,
            parent_id: header.parent,
            inherited_until: inherited_until.unwrap_or(Seq(0)),
        }))
    }

    /// What follows the log's requests as prompts; none where [`Log::requests`] gives none.
    pub fn prompts(&self) -> Option<Prompts<'_, 'log>> {
        let header = self.header.as_ref()?;
        let interface = header.generation.interface();
        Some(Prompts::new(&self.session, &self.wire, interface))
    }

    /// What its requests read from the provider's prefix cache; none where [`Log::requests`] gives none.
    pub fn cache_report(&self, options: &CacheOptions) -> Option<CacheReport> {
        let id = self
            .header
            .as_ref()?
            .id
            .and_then(Raw::text)?
            .to_lossy()
            .into_owned();
        Some(cache::report(
            &self.session,
            self.prompts()?,
            id,
            self.requests()?,
            options,
        ))
    }

    /// The log's requests, in order; none where it must be rejected.
    pub fn requests(&self) -> Option<Requests<'_, 'log>> {
        let header = self
            .header
            .as_ref()
            .filter(|_| self.standing == Standing::Readable)?;
        Some(Requests::new(
            &self.session,
            &self.settlement.requests,
            header.id?,
            header.parent,
        ))
    }
}
