//! The answer of the cache model: what each request read from the provider's prefix cache, and why not more.
//!
//! **Takes** nothing. **Gives** [`CacheReport`] and its rows. **Never** judges: budgets and levels are `rules`'.
//!
//! Terms: `prompt = input + cache_read + cache_write`, disjoint; *hit* is `cache_read`; a field that is absent was not reported,
//! never 0. Shares in bytes are of the wire prompt and exact; tokens are scaled with the request's own prompt.

use crate::line::{LineNo, Millis, Seq, Span};

/// The cache report of one log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheReport {
    /// The session.
    pub session_id: String,
    /// One row per request, in order.
    pub rows: Vec<CacheRow>,
    /// Calls that are not the loop's.
    pub one_shots: Vec<OneShotRow>,
    /// Sums over the rows that were billed to this session.
    pub totals: CacheTotals,
    /// In what steps the provider caches.
    pub unit: Unit,
    /// How often the predicted window held.
    pub window: WindowCount,
}

/// What one request read from the cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheRow {
    /// Turn.
    pub turn: u64,
    /// Step within the turn.
    pub step: u64,
    /// Attempt within the step, from 1.
    pub attempt: u32,
    /// The messages are the derivation of all events with a smaller seq.
    pub boundary: Seq,
    /// The header in force.
    pub header: Seq,
    /// The event that it shows at: its first trace, else the start of its step.
    pub seq: Seq,
    /// The line of that event.
    pub line: LineNo,
    /// When its first trace was written.
    pub time: Millis,
    /// Time since the end of the request before it.
    pub idle: Option<Millis>,
    /// The provider, where the header names one.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Whether the parent session sent it: then it is neither billed nor judged here.
    pub inherited: bool,
    /// Prompt tokens; absent where usage was not reported.
    pub prompt: Option<u64>,
    /// Prompt tokens read from the cache.
    pub hit: Option<u64>,
    /// Prompt tokens written to the cache.
    pub cache_write: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Bytes of the wire prompt.
    pub prompt_bytes: u64,
    /// Bytes of it that the request before already sent, from the start on.
    pub kept_bytes: u64,
    /// What the hit should be.
    pub expected: Option<Expectation>,
    /// What came of it.
    pub verdict: CacheVerdict,
    /// Where and why the prefix broke, where it did.
    pub broken: Option<Break>,
    /// An earlier request whose prompt begins this one better than the last one's does: its index among the rows.
    pub best_earlier: Option<usize>,
    /// Tokens that an intact prefix would have read from the cache and this request did not.
    pub lost: Option<u64>,
    /// What it cost, where the price is known.
    pub cost: Option<Cost>,
}

/// The window that a hit should lie in, both ends included, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// At least this.
    pub low: u64,
    /// At most this.
    pub high: u64,
}

/// What came of a request's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CacheVerdict {
    /// No predecessor: a hit is possible and never judged.
    First,
    /// The prefix was kept, and the hit shows it.
    Kept,
    /// The hit is larger than expected: another warm prefix.
    Better,
    /// A logged cause broke the prefix.
    Broken,
    /// The hit is too small, and the log does not explain it.
    Lost,
    /// A logged break, yet the hit exceeds what the kept prefix allows.
    Contradicted,
    /// The prompt is smaller than what a provider caches.
    BelowUnit,
    /// No usage, so no judgement.
    NotReported,
    /// The parent sent it.
    Inherited,
}

impl CacheVerdict {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            CacheVerdict::First => "first",
            CacheVerdict::Kept => "kept",
            CacheVerdict::Better => "better",
            CacheVerdict::Broken => "broken",
            CacheVerdict::Lost => "lost",
            CacheVerdict::Contradicted => "contradicted",
            CacheVerdict::BelowUnit => "below-unit",
            CacheVerdict::NotReported => "not-reported",
            CacheVerdict::Inherited => "inherited",
        }
    }
}

/// A break of the prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct Break {
    /// The first segment of the wire prompt that differs.
    pub segment: SegmentName,
    /// First differing byte within the segment.
    pub byte: u64,
    /// Why.
    pub cause: Cause,
    /// Whether the cause is a resumed session's header that differs from the one before it.
    pub on_resume: bool,
    /// The event that carries the cause.
    pub seq: Option<Seq>,
    /// The event's line.
    pub line: Option<LineNo>,
    /// Where the event's value stands.
    pub span: Option<Span>,
    /// What stood there before, at the first difference; bounded.
    pub before: String,
    /// What stands there now; bounded.
    pub after: String,
}

/// A part of the wire prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentName {
    /// The route itself: another provider or model.
    Route,
    /// The system prompt.
    System,
    /// The declaration of a tool.
    Tool(String),
    /// A message of the session prefix, from 0.
    Prefix(usize),
    /// A message of the history, from 0; with its event where it has one.
    Message(usize, Option<Seq>),
}

/// Why a prefix broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Another provider.
    Provider {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Another model.
    Model {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Another member of the config: possible, not certain.
    Config {
        /// Which members.
        members: Vec<String>,
    },
    /// The system prompt differs.
    SystemText,
    /// A tool was added.
    ToolAdded(String),
    /// A tool was removed.
    ToolRemoved(String),
    /// A tool's declaration differs.
    ToolChanged(String),
    /// The same tools stand in another order; the first that moved.
    ToolsMoved(String),
    /// The session prefix differs.
    SessionPrefix,
    /// Events of the surface were replaced.
    Replace {
        /// By what.
        kind: ReplaceKind,
        /// First and last event shadowed.
        range: (Seq, Seq),
    },
    /// Images were left out.
    Offload,
    /// A header was logged that differs, and whose text is redacted: coincident.
    Redacted,
    /// Another build ran the request and derives its messages otherwise.
    Dialect,
    /// Nothing the log says.
    Unexplained,
}

impl Cause {
    /// The word used in every format.
    pub fn as_str(&self) -> &'static str {
        match self {
            Cause::Provider { .. } => "provider",
            Cause::Model { .. } => "model",
            Cause::Config { .. } => "config",
            Cause::SystemText => "system-text",
            Cause::ToolAdded(_) => "tool-added",
            Cause::ToolRemoved(_) => "tool-removed",
            Cause::ToolChanged(_) => "tool-changed",
            Cause::ToolsMoved(_) => "tools-moved",
            Cause::SessionPrefix => "session-prefix",
            Cause::Replace {
                kind: ReplaceKind::Compaction,
                ..
            } => "compaction",
            Cause::Replace {
                kind: ReplaceKind::PrunedResult,
                ..
            } => "pruned-result",
            Cause::Replace {
                kind: ReplaceKind::SystemHead,
                ..
            } => "system-replaced",
            Cause::Replace {
                kind: ReplaceKind::Other,
                ..
            } => "replace",
            Cause::Offload => "image-offload",
            Cause::Redacted => "redacted-header",
            Cause::Dialect => "dialect",
            Cause::Unexplained => "unexplained",
        }
    }
}

/// What took the place of surface events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplaceKind {
    /// The summary of a compaction.
    Compaction,
    /// A pruned tool result.
    PrunedResult,
    /// A new system prompt at the surface's head, or an emptied one behind it.
    SystemHead,
    /// Anything else.
    Other,
}

/// A call that is not the loop's.
#[derive(Clone, Debug, PartialEq)]
pub struct OneShotRow {
    /// What it was for.
    pub purpose: Purpose,
    /// The event that tells of it.
    pub seq: Seq,
    /// When that was written.
    pub time: Millis,
    /// Prompt tokens, where reported.
    pub prompt: Option<u64>,
    /// Prompt tokens read from the cache, where reported.
    pub hit: Option<u64>,
    /// Output tokens, where reported.
    pub output: Option<u64>,
    /// What it cost, where the price is known.
    pub cost: Option<Cost>,
}

/// What a call that is not the loop's was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The summary of a compaction.
    Compaction,
    /// A title.
    Title,
    /// A web search.
    Search,
}

impl Purpose {
    /// The word used in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            Purpose::Compaction => "compaction",
            Purpose::Title => "session-title",
            Purpose::Search => "web-search",
        }
    }
}

/// Sums over requests. Mergeable: every field but `first_time` and `last_time` adds up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheTotals {
    /// Requests.
    pub requests: u64,
    /// Of them, with usage.
    pub with_usage: u64,
    /// Prompt tokens.
    pub prompt: u64,
    /// Prompt tokens read from the cache.
    pub hit: u64,
    /// Output tokens.
    pub output: u64,
    /// Prompt tokens of first requests.
    pub first_prompt: u64,
    /// Hit tokens of first requests.
    pub first_hit: u64,
    /// Tokens lost.
    pub lost: u64,
    /// Of them, those that no event explains: of a prefix that held, or of the part that a break left.
    pub lost_unexplained: u64,
    /// Requests whose prefix broke.
    pub broken: u64,
    /// Requests whose prefix was lost without a cause in the log.
    pub unexplained: u64,
    /// What the requests with a known price cost, by currency.
    pub cost: Vec<Cost>,
    /// How many requests have a known price.
    pub priced: u64,
    /// The first request's time.
    pub first_time: Option<Millis>,
    /// The last request's time.
    pub last_time: Option<Millis>,
}

impl CacheTotals {
    /// `hit / prompt` over all requests with usage; absent where there is no prompt.
    pub fn rate(&self) -> Option<f64> {
        (self.prompt > 0).then(|| self.hit as f64 / self.prompt as f64)
    }

    /// The same without first requests, whose hit nobody can expect.
    pub fn rate_without_first(&self) -> Option<f64> {
        let prompt = self
            .prompt
            .checked_sub(self.first_prompt)
            .filter(|prompt| *prompt > 0)?;
        Some(self.hit.saturating_sub(self.first_hit) as f64 / prompt as f64)
    }
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// In which currency.
    pub currency: Currency,
    /// What was paid, in pico-units (a trillionth), so that prices per million tokens stay whole.
    pub paid: u128,
    /// Of that, what an intact prefix would have saved.
    pub lost: u128,
}

/// A currency's code: `USD`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(pub String);

impl Currency {
    /// The currency of a code; `None` for text that is none: more than twelve characters, or others than letters and digits of
    /// ASCII.
    pub fn of_code(code: &str) -> Option<Currency> {
        let is_code =
            (1..=12).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_code.then(|| Currency(code.to_owned()))
    }
}

/// In what steps the provider caches, and where that number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Tokens.
    pub tokens: u64,
    /// Whether it was inferred from the hits; else it is the default or an option.
    pub inferred: bool,
}

impl Default for Unit {
    fn default() -> Self {
        Unit {
            tokens: 128,
            inferred: false,
        }
    }
}

/// How often the predicted window held, over requests whose prefix was kept and that reported usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowCount {
    /// Hits within the window.
    pub inside: u64,
    /// Hits below.
    pub below: u64,
    /// Hits above.
    pub above: u64,
    /// Header changes after which the hit was 0.
    pub changes_to_zero: u64,
    /// Header changes that reported usage.
    pub changes: u64,
    /// Hits that are multiples of the unit.
    pub multiples: u64,
    /// Hits.
    pub hits: u64,
}
