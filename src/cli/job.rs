//! The work on one file: the only place where the command line meets the rooms that read logs.
//!
//! **Takes** an input and how to read it. **Gives** [`Answer`]: what the log is, and its findings.
//! **Never** prints, and never lets one file's trouble reach another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::analyse::answer::{BudgetMiss, Budgets, CacheReport, HeaderChange};
use crate::analyse::cache::CacheOptions;
use crate::analyse::fleet;
use crate::analyse::header::{Limits, timeline};
use crate::compare::{self, Against, Capture, Kin};
use crate::dialect;
use crate::finding::{Finding, Place, Rule};
use crate::line::Seq;
use crate::log::{self, Log, ReadOptions, Retain};
use crate::record;
use crate::report::{FormatRow, Inherited, SessionFacts};
use crate::rules;
use crate::source::{Keep, Source};
use crate::verdict::Standing;

use super::discover::Found;
use super::reading::{Reading, cannot_read, open};

/// How many lines there were, and how many of them were read the short way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineCounts {
    /// All.
    pub(crate) all: u64,
    /// Those read the short way.
    pub(crate) fast: u64,
}

/// What one file is and holds.
#[derive(Debug)]
pub(crate) struct Answer {
    /// What it turned out to be.
    pub(crate) standing: Standing,
    /// What its log is, if the header was understood.
    pub(crate) session: Option<SessionFacts>,
    /// Everything the rules say, in the order of places.
    pub(crate) findings: Vec<Finding>,
    /// SHA-256 of the bytes as read, in hexadecimal.
    pub(crate) digest: Option<String>,
    /// What the log says of its descent.
    pub(crate) kin: Option<Kin>,
    /// The place of its first line.
    pub(crate) top: Place,
    /// Its lines.
    pub(crate) lines: LineCounts,
}

impl Answer {
    /// The answer to a file that could not be read.
    pub(crate) fn unreadable() -> Answer {
        Answer {
            standing: Standing::Unreadable,
            session: None,
            findings: Vec::new(),
            digest: None,
            kin: None,
            top: Place::default(),
            lines: LineCounts::default(),
        }
    }
}

/// What is kept of a log, and what is judged of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    retain: Retain,
    families: Families,
}

/// The families of rules that judge a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Families {
    All,
    /// All but that of the cache.
    Replay,
}

impl Wanted {
    /// An audit: no message is kept.
    const AUDIT: Wanted = Wanted {
        retain: Retain::Headers,
        families: Families::All,
    };

    /// An audit that compares messages.
    const COMPARISON: Wanted = Wanted {
        retain: Retain::Messages,
        families: Families::All,
    };

    /// Requests, and what limits them.
    pub(crate) const REQUESTS: Wanted = Wanted {
        retain: Retain::Messages,
        families: Families::Replay,
    };
}

/// Audits one file, holds it to budgets, and compares its requests with a capture where there is one.
///
/// # Errors
///
/// There is no complete audit; the message says why in one line.
pub(crate) fn audit(
    found: &Found,
    reading: &Reading,
    capture: Option<&Capture<'_>>,
    budgets: &Budgets,
) -> Result<Answer, String> {
    let held = |log: &Log<'_>, answer: &mut Answer| {
        if budgets.are_set()
            && let Some(report) = log.cache_report(&CacheOptions::default())
        {
            let misses = fleet::missed(&report, budgets);
            let found = rules::budget_findings(&report, &misses);
            answer.findings.extend(found);
            rules::sort(&mut answer.findings);
        }
    };
    let Some(capture) = capture else {
        return with_log(found, reading, Wanted::AUDIT, |log, mut answer| {
            held(log, &mut answer);
            Ok(answer)
        });
    };
    with_log(found, reading, Wanted::COMPARISON, |log, mut answer| {
        held(log, &mut answer);
        let against = Against {
            capture,
            path: &found.path.to_string_lossy(),
            most: reading.max_findings,
        };
        let check = compare::against(log, against).map_err(|error| error.to_string())?;
        answer.findings.extend(rules::captured(log, &check));
        rules::sort(&mut answer.findings);
        Ok(answer)
    })
}

/// The answer about the prefix cache of one file.
#[derive(Debug)]
pub(crate) struct CacheAnswer {
    /// What the log is, and what is found of it.
    pub(crate) answer: Answer,
    /// The answer of the cache model.
    pub(crate) report: CacheReport,
    /// Budgets it missed.
    pub(crate) misses: Vec<BudgetMiss>,
    /// What headers change that broke a prefix.
    pub(crate) changes: BTreeMap<Seq, HeaderChange>,
}

impl CacheAnswer {
    /// The answer to a file that could not be read.
    pub(crate) fn unreadable() -> CacheAnswer {
        CacheAnswer {
            answer: Answer::unreadable(),
            report: CacheReport::default(),
            misses: Vec::new(),
            changes: BTreeMap::new(),
        }
    }
}

/// Whether the changes of headers are part of a cache report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// They are.
    Wanted,
    /// They cost time, and are not shown.
    Unwanted,
}

/// Reports on the prefix cache of one file.
///
/// # Errors
///
/// There is no complete answer; the message says why in one line.
pub(crate) fn cache_report(
    found: &Found,
    reading: &Reading,
    options: &CacheOptions,
    budgets: &Budgets,
    changes: Changes,
) -> Result<CacheAnswer, String> {
    with_log(found, reading, Wanted::REQUESTS, |log, mut answer| {
        let report = log.cache_report(options).unwrap_or_default();
        let misses = fleet::missed(&report, budgets);
        let found = rules::budget_findings(&report, &misses);
        answer.findings.extend(found);
        rules::sort(&mut answer.findings);
        let changes = match changes {
            Changes::Unwanted => BTreeMap::new(),
            Changes::Wanted => header_changes(log, &report),
        };
        Ok(CacheAnswer {
            answer,
            report,
            misses,
            changes,
        })
    })
}

/// What the headers change that broke a prefix, by their events; of the largest losses only.
fn header_changes(log: &Log<'_>, report: &CacheReport) -> BTreeMap<Seq, HeaderChange> {
    const MOST: usize = 50;
    let busts = fleet::busts(&[report]);
    let in_header = |bust: &&fleet::Bust<'_>| {
        let broken = bust.row.broken.as_ref();
        broken.is_some_and(|broken| broken.cause.is_header())
    };
    let wanted: BTreeSet<Seq> = busts
        .iter()
        .filter(in_header)
        .take(MOST)
        .flat_map(|bust| [bust.row.header, bust.row.boundary])
        .collect();
    let (false, Some((requests, prompts))) = (wanted.is_empty(), log.requests().zip(log.prompts()))
    else {
        return BTreeMap::new();
    };
    let limits = Limits {
        lines: 1000,
        ..Limits::default()
    };
    let rows = timeline(&log.session, requests, prompts, &limits).rows;
    rows.into_iter()
        .filter(|row| wanted.contains(&row.seq))
        .filter_map(|row| Some((row.seq, row.change?)))
        .collect()
}

/// Reads one file and lets `use_log` work with its log and the answer to it.
///
/// A file that was changed while it was read is read once more.
///
/// # Errors
///
/// There is no complete audit; the message says why in one line. Those of `use_log`.
pub(crate) fn with_log<T>(
    found: &Found,
    reading: &Reading,
    wanted: Wanted,
    use_log: impl FnOnce(&Log<'_>, Answer) -> Result<T, String>,
) -> Result<T, String> {
    let defaults = ReadOptions::default();
    let options = ReadOptions {
        retain: wanted.retain,
        parser: reading.parser,
        // Fewer would leave faults unjudged, not only unlisted.
        max_faults: reading.max_findings.max(defaults.max_faults),
    };
    for is_last_try in [found.is_stdin(), true] {
        let source = open(found, reading)?;
        let log = Log::read(&source, &options).map_err(cannot_read)?;
        let answer = answer_of(&log, found, wanted.families);
        // Judging looks at headers, which are the file's own bytes where it is mapped.
        let has_moved = log.source.changed || has_moved(&source)?;
        if has_moved && !is_last_try {
            continue;
        }
        if has_moved {
            return Err("moved while read: it was changed during both tries".into());
        }
        let result = use_log(&log, answer)?;
        source.check().map_err(cannot_read)?;
        if has_moved_under(&source)? {
            return Err("moved while read: what was written of it may be of no one moment".into());
        }
        return Ok(result);
    }
    Err("it could not be read".into())
}

/// Reads a file that has its answer once more, and lets `use_log` work with its log.
///
/// # Errors
///
/// It cannot be read; the message says why in one line.
pub(crate) fn read_again<T>(
    found: &Found,
    reading: &Reading,
    retain: Retain,
    use_log: impl FnOnce(&Log<'_>) -> T,
) -> Result<T, String> {
    let options = ReadOptions {
        retain,
        parser: reading.parser,
        ..ReadOptions::default()
    };
    let source = open(found, reading)?;
    let log = Log::read(&source, &options).map_err(cannot_read)?;
    let result = use_log(&log);
    source.check().map_err(cannot_read)?;
    if log.source.changed || has_moved_under(&source)? {
        return Err("moved while read: it was changed behind its verdict".into());
    }
    Ok(result)
}

fn has_moved(source: &Source) -> Result<bool, String> {
    source.has_changed().map_err(cannot_read)
}

/// Whether kept bytes may have changed since they were read: those of a stream are copies.
fn has_moved_under(source: &Source) -> Result<bool, String> {
    match source.keep() {
        Keep::Whole(_) => has_moved(source),
        Keep::Store(_) => Ok(false),
    }
}

/// Takes content of the log out of findings: excerpts, and keys in pointers.
pub(crate) fn hide_content(findings: &mut [Finding]) {
    for finding in findings {
        let related = finding.related.iter_mut().map(|related| &mut related.at);
        for place in related.chain([&mut finding.at]) {
            place.excerpt = None;
            place.pointer.iter_mut().for_each(hide_keys);
        }
    }
}

/// Takes the keys out of a pointer that are content of the log.
pub(crate) fn hide_keys(pointer: &mut String) {
    *pointer = record::without_content(pointer);
}

fn answer_of(log: &Log<'_>, found: &Found, families: Families) -> Answer {
    let standing = match log.standing {
        log::Standing::Readable | log::Standing::Empty => Standing::Readable,
        log::Standing::Rejected => Standing::Rejected,
        log::Standing::Unsupported(_) => Standing::Unsupported,
        log::Standing::NotASessionLog(_) | log::Standing::Foreign => Standing::Foreign,
    };
    let mut findings = match families {
        Families::All => rules::judge(log),
        Families::Replay => rules::judge_replay(log),
    };
    if let Some(name) = found.newer.as_deref().and_then(Path::file_name) {
        findings.push(rules::newer_sibling(log, &name.to_string_lossy()));
    }
    if standing == Standing::Readable {
        findings.extend(rules::path_does_not_fit(log, &found.path));
    }
    rules::sort(&mut findings);
    let digest = log.source.digest.map(hex);
    let kin = Kin::of(log);
    Answer {
        standing,
        session: facts_of(log, kin.as_ref()),
        findings,
        digest,
        kin,
        top: rules::header_place(log),
        lines: LineCounts {
            all: log.source.lines,
            fast: log.fast_lines,
        },
    }
}

fn hex(bytes: [u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn facts_of(log: &Log<'_>, kin: Option<&Kin>) -> Option<SessionFacts> {
    let header = log.header.as_ref()?;
    let id = header
        .id
        .and_then(|id| id.text().map(|text| text.to_lossy().into_owned()));
    let is_rejected = log.standing == log::Standing::Rejected;
    Some(SessionFacts {
        id: id.unwrap_or_default(),
        version: (!header.fixture).then_some(header.generation.version()),
        dialect: log.settlement.dialect_name(header.generation, &log.session),
        events: log.session.events,
        turns: log.session.turns.len() as u64,
        steps: log.session.steps.len() as u64,
        requests: if is_rejected {
            0
        } else {
            log.settlement.requests.len() as u64
        },
        parent: kin.and_then(|kin| kin.parent.clone()),
        inherited: kin.map(|kin| kin.inherited).map(|share| Inherited {
            events: share.events,
            turns: share.turns,
            steps: share.steps,
            requests: share.requests,
        }),
    })
}

/// The generations of session logs, and what this build does with each.
pub(crate) fn formats() -> Vec<FormatRow> {
    let row = |format: &dialect::Format| FormatRow {
        version: format.version,
        builds: format.builds,
        supported: format.supported,
        since: format.since,
        notes: format.notes,
    };
    dialect::FORMATS.iter().map(row).collect()
}

/// Every rule, in the order of codes.
pub(crate) fn catalogue() -> &'static [&'static Rule] {
    rules::CATALOGUE
}

/// The rule that a code (`DSH0302`, `0302`, `302`) or a name stands for.
pub(crate) fn find_rule(code_or_name: &str) -> Option<&'static Rule> {
    rules::find(code_or_name)
}
