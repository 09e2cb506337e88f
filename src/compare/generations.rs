//! Two generations of one session side by side.
//!
//! **Takes** two logs of one session, the older generation first. **Gives** a [`Migration`]: which requests both have, what the
//! migration changed in them, and what is lost. **Never** calls lost what only stands elsewhere or under another name.
//!
//! Source: generations reference, section 8; format reference, sections B.3 to B.5.

use std::collections::{BTreeMap, HashMap};
use std::io;

use super::essence::Essence;
use crate::dialect::Derivation;
use crate::fold::{HeaderIx, MessageIx, header_part};
use crate::log::Log;
use crate::record::Raw;
use crate::request::{Request, Requests};

/// What the newer generation of a session has of the older one's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migration {
    /// How many requests the older log has.
    pub older: u64,
    /// How many of them the newer log has, saying the same.
    pub kept: u64,
    /// How many requests only the newer log has.
    pub new: u64,
    /// In how many of the kept ones something is written otherwise.
    pub changes: BTreeMap<Change, u64>,
    /// Requests that the newer log lacks, or in which it says something else.
    pub lost: Vec<Lost>,
}

/// What a migration may change without loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The system prompt stands among the messages.
    SystemMoved,
    /// A tool's answer has a role of its own.
    ToolRole,
    /// Sources have other names.
    Sources,
    /// Messages have other ids.
    Ids,
    /// Messages have ids and sources, which they had not.
    Identified,
    /// Members stand in another order, or blocks' types have a prefix.
    Form,
    /// The request says how its tools came to be.
    ToolHistory,
}

impl Change {
    /// Every change.
    pub const ALL: [Change; 7] = [
        Change::SystemMoved,
        Change::ToolRole,
        Change::Sources,
        Change::Ids,
        Change::Identified,
        Change::Form,
        Change::ToolHistory,
    ];
}

/// A request that the newer log lacks, or in which it says something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its turn.
    pub turn: u64,
    /// Its step.
    pub step: u64,
    /// Its attempt within the step.
    pub attempt: u64,
    /// Where the older request says something else than the newer one, as a JSON pointer into its options; absent where there is no
    /// newer one.
    pub pointer: Option<String>,
}

/// A request's numbers.
type Name = (u64, u64, u64);

/// A message of a request, so that what is known of it is found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    System(HeaderIx),
    Prefix(HeaderIx, usize),
    Message {
        index: MessageIx,
        derivation: u8,
        left_out: usize,
    },
}

/// What is known of one log's messages.
#[derive(Default)]
struct Known {
    essences: HashMap<Key, Option<Essence>>,
    /// The messages of the request at hand.
    list: Vec<(Key, Essence)>,
}

/// Some changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Changes(u8);

impl Changes {
    fn of(change: Change) -> Changes {
        Changes(1 << change as u8)
    }

    fn and(self, other: Changes) -> Changes {
        Changes(self.0 | other.0)
    }

    fn iter(self) -> impl Iterator<Item = Change> {
        let all = Change::ALL.into_iter();
        all.filter(move |change| self.0 & Changes::of(*change).0 != 0)
    }
}

/// Two messages at one position, and what was changed in them or before.
struct Pair {
    older: Key,
    newer: Key,
    changes: Changes,
}

/// Compares two logs of one session. Both must hold their messages.
///
/// # Errors
///
/// None of its own: writing to memory does not fail.
pub fn migration(older: &Log<'_>, newer: &Log<'_>) -> io::Result<Migration> {
    let (names, others) = (names(older), names(newer));
    let places: HashMap<Name, usize> = others
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, at))
        .collect();
    let mut migration = Migration {
        older: names.len() as u64,
        ..Migration::default()
    };
    let (Some(mut olders), Some(mut newers)) = (older.requests(), newer.requests()) else {
        migration.lost = names.iter().map(|name| lost(*name, None)).collect();
        return Ok(migration);
    };
    let has_history = |log: &Log<'_>| {
        let first = log.settlement.requests.first();
        first.is_some_and(|request| request.order == crate::dialect::Order::ToolHistory)
    };
    let gained = match has_history(newer) && !has_history(older) {
        true => Changes::of(Change::ToolHistory),
        false => Changes::default(),
    };
    let mut both = Both::default();
    let mut next = 0;
    let mut matched = 0;
    for name in names {
        let Some(request) = olders.next_request() else {
            break;
        };
        let place = places.get(&name).copied().filter(|place| *place >= next);
        let Some(place) = place else {
            migration.lost.push(lost(name, None));
            continue;
        };
        let Some(other) = skip_to(&mut newers, place - next) else {
            break;
        };
        next = place + 1;
        matched += 1;
        match both.compare(&request, &other)? {
            Ok(changes) => {
                migration.kept += 1;
                for change in changes.and(gained).iter() {
                    *migration.changes.entry(change).or_default() += 1;
                }
            }
            Err(pointer) => migration.lost.push(lost(name, Some(pointer))),
        }
    }
    migration.new = (others.len() as u64).saturating_sub(matched);
    Ok(migration)
}

fn names(log: &Log<'_>) -> Vec<Name> {
    let session = &log.session;
    let requests = log.settlement.requests.iter();
    let name = |request: &crate::dialect::Derived| {
        let step = session.steps.get(request.step.get())?;
        let turn = session.turns.get(step.turn.get())?;
        Some((turn.number, step.number, u64::from(request.number)))
    };
    requests
        .map(|request| name(request).unwrap_or_default())
        .collect()
}

fn lost((turn, step, attempt): Name, pointer: Option<String>) -> Lost {
    Lost {
        turn,
        step,
        attempt,
        pointer,
    }
}

fn skip_to<'r, 'log>(
    requests: &'r mut Requests<'_, 'log>,
    passed: usize,
) -> Option<Request<'r, 'log>> {
    for _ in 0..passed {
        requests.next_request()?;
    }
    requests.next_request()
}

/// What two walks have in common so far.
#[derive(Default)]
struct Both {
    older: Known,
    newer: Known,
    /// From the first message on, as long as both lists are what they were.
    pairs: Vec<Pair>,
    /// The headers compared last, and where they differ.
    headers: Option<((HeaderIx, HeaderIx), Option<&'static str>)>,
}

impl Both {
    /// What was changed between two requests, or where the older one says something else.
    fn compare(
        &mut self,
        older: &Request<'_, '_>,
        newer: &Request<'_, '_>,
    ) -> io::Result<Result<Changes, String>> {
        if let Some(pointer) = self.headers_differ(older, newer) {
            return Ok(Err(pointer.to_owned()));
        }
        self.older.load(older)?;
        self.newer.load(newer)?;
        let (olders, newers) = (&self.older.list, &self.newer.list);
        let keys = olders
            .iter()
            .map(|(key, _)| key)
            .zip(newers.iter().map(|(key, _)| key));
        let pairs = self.pairs.iter().map(|pair| (&pair.older, &pair.newer));
        let known = pairs
            .zip(keys)
            .take_while(|(pair, keys)| pair == keys)
            .count();
        self.pairs.truncate(known);
        for (older, newer) in olders.iter().zip(newers).skip(known) {
            let Some(changes) = changes(older, newer) else {
                break;
            };
            let before = self
                .pairs
                .last()
                .map_or(Changes::default(), |pair| pair.changes);
            self.pairs.push(Pair {
                older: older.0,
                newer: newer.0,
                changes: before.and(changes),
            });
        }
        if self.pairs.len() < olders.len().max(newers.len()) {
            return Ok(Err(pointer_to(olders, self.pairs.len())));
        }
        let last = self.pairs.last();
        Ok(Ok(last.map_or(Changes::default(), |pair| pair.changes)))
    }

    /// Where the headers of two requests differ in what both generations have in them.
    fn headers_differ(
        &mut self,
        older: &Request<'_, '_>,
        newer: &Request<'_, '_>,
    ) -> Option<&'static str> {
        let key = (older.derived().header, newer.derived().header);
        if let Some((known, differ)) = self.headers
            && known == key
        {
            return differ;
        }
        let same = |name: &str| {
            let of = |request: &Request<'_, '_>| {
                header_part(request.header().raw, name).map(Raw::deep_digest)
            };
            of(older) == of(newer)
        };
        let differ = match (same("config"), same("tools")) {
            (false, _) => Some(""),
            (_, false) => Some("/tools"),
            _ => None,
        };
        self.headers = Some((key, differ));
        differ
    }
}

/// The place of a message of the older request in its options.
fn pointer_to(list: &[(Key, Essence)], at: usize) -> String {
    let beside = list
        .iter()
        .filter(|(key, _)| matches!(key, Key::System(_)))
        .count();
    match list.get(at) {
        Some((Key::System(_), _)) => "/system".to_owned(),
        _ => format!("/messages/{}", at - beside.min(at)),
    }
}

/// What was changed in a message; `None` if it says something else.
fn changes(older: &(Key, Essence), newer: &(Key, Essence)) -> Option<Changes> {
    let ((key, before), (_, after)) = (older, newer);
    if before.whole == after.whole {
        return Some(Changes::default());
    }
    if before.said != after.said {
        return None;
    }
    if let Key::System(_) = key {
        return Some(Changes::of(Change::SystemMoved));
    }
    let mut changes = Changes::default();
    if before.role != after.role {
        changes = changes.and(Changes::of(Change::ToolRole));
    }
    if before.id == 0 && after.id != 0 {
        return Some(changes.and(Changes::of(Change::Identified)));
    }
    if before.id != after.id {
        changes = changes.and(Changes::of(Change::Ids));
    }
    if before.source != after.source {
        if before.source_but_names != after.source_but_names {
            return None;
        }
        changes = changes.and(Changes::of(Change::Sources));
    }
    if changes == Changes::default() {
        changes = Changes::of(Change::Form);
    }
    Some(changes)
}

impl Known {
    /// Takes the messages of a request.
    fn load(&mut self, request: &Request<'_, '_>) -> io::Result<()> {
        self.list.clear();
        let header = request.derived().header;
        if let Some(prompt) = request.system() {
            self.push(Key::System(header), || Ok(Some(Essence::of_system(prompt))))?;
        }
        for (at, message) in request.prefix().enumerate() {
            self.push(Key::Prefix(header, at), || Ok(Some(Essence::of(message))))?;
        }
        for index in request.surface() {
            let key = Key::Message {
                index: *index,
                derivation: match request.derived().derivation {
                    Derivation::Plain => 0,
                    Derivation::Provenance => 1,
                    Derivation::Identified => 2,
                },
                left_out: request.offloaded(*index).len(),
            };
            self.push(key, || {
                let mut bytes = Vec::new();
                request.write_message(*index, false, &mut bytes)?;
                Ok(Raw::parse(&bytes).ok().map(Essence::of))
            })?;
        }
        Ok(())
    }

    /// Takes a message, if it derives to one.
    fn push(
        &mut self,
        key: Key,
        essence: impl FnOnce() -> io::Result<Option<Essence>>,
    ) -> io::Result<()> {
        let essence = match self.essences.get(&key) {
            Some(known) => *known,
            None => {
                let essence = essence()?;
                self.essences.insert(key, essence);
                essence
            }
        };
        self.list.extend(essence.map(|essence| (key, essence)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::ReadOptions;
    use crate::source::Source;

    /// Events of a session of one turn with a tool call, as two generations write them.
    fn events(version: u8, answer: &str) -> Vec<String> {
        let step = "\"turn\":1,\"step\":1";
        let user = format!(
            "{{\"content\":[{}],\"source\":{{\"kind\":\"user\"}},\"role\":\"user\",\"id\":\"u\"}}",
            text("hi")
        );
        let call = "{\"type\":\"tool-call\",\"id\":\"c\",\"name\":\"n\",\"arguments\":\"{}\"}";
        let assistant = format!(
            "\"message\":{{\"role\":\"assistant\",\"content\":[{call}],\"source\":{{\"kind\":\"model\",\"provider\":\"p\",\"model\":\"m\"}},\"id\":\"a\"}}"
        );
        let source = "\"source\":{\"kind\":\"tool\",\"callId\":\"c\"}";
        let header = |system: &str| {
            format!(
                "request/header {{\"header\":{{\"config\":{{\"provider\":\"p\",\"model\":\"m\"}}{system}}},\"reason\":\"initial\"}}"
            )
        };
        let rest = |stream: &str, result: String| {
            vec![
                format!("assistant/message {{{step},{assistant}{stream}}}"),
                format!(
                    "tool/call {{{step},\"callId\":\"c\",\"name\":\"n\",\"arguments\":\"{{}}\"}}"
                ),
                format!("tool/result {{{step},\"message\":{result}}}"),
                format!("step/end {{{step}}}"),
                "step/start {\"turn\":1,\"step\":2}".to_owned(),
            ]
        };
        let mut all = vec![
            "turn/start {\"turn\":1}".to_owned(),
            format!("step/start {{{step}}}"),
        ];
        if version < 4 {
            all.push(format!("user/message {user}"));
            all.push(header(",\"system\":\"Be brief.\""));
            let block = format!(
                "{{\"type\":\"tool-result\",\"toolCallId\":\"c\",\"content\":[{}],\"isError\":false}}",
                text(answer)
            );
            all.extend(rest(
                "",
                format!("{{{source},\"content\":[{block}],\"role\":\"user\",\"id\":\"t\"}}"),
            ));
        } else {
            let system = format!(
                "{{\"id\":\"s\",\"role\":\"system\",\"source\":{{\"kind\":\"system-prompt\"}},\"content\":[{}]}}",
                text("Be brief.")
            );
            all.push(format!("system/message {{{step},\"message\":{system}}}"));
            all.push(format!("user/message {user}"));
            all.push(header(""));
            let result = format!(
                "{{\"role\":\"tool\",{source},\"toolCallId\":\"c\",\"content\":[{}],\"id\":\"t\"}}",
                text(answer)
            );
            all.extend(rest(",\"stream\":[]", result));
        }
        all
    }

    fn text(text: &str) -> String {
        format!("{{\"type\":\"text\",\"text\":\"{text}\"}}")
    }

    fn source(version: u8, events: &[String]) -> Source {
        let seeded = if version < 2 {
            ""
        } else {
            ",\"isSeeded\":false"
        };
        let mut log = format!(
            "{{\"type\":\"session\",\"version\":{version},\"id\":\"s\",\"createdAt\":1{seeded},\"delegationDepth\":0}}\n"
        );
        for (seq, event) in events.iter().enumerate() {
            let (kind, data) = event.split_once(' ').expect("type and data");
            let is_message = kind.ends_with("/message") || kind == "tool/result";
            let append = if is_message {
                ",\"surfaceOp\":\"append\""
            } else {
                ""
            };
            log.push_str(&format!(
                "{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{seq},\"data\":{data}{append}}}\n"
            ));
        }
        Source::from_bytes(log.into_bytes())
    }

    fn migrated(older: &[String], newer: &[String]) -> Migration {
        let (older, newer) = (source(0, older), source(4, newer));
        let options = ReadOptions::default();
        let older = Log::read(&older, &options).expect("readable");
        let newer = Log::read(&newer, &options).expect("readable");
        migration(&older, &newer).expect("memory takes all")
    }

    #[test]
    fn what_a_migration_writes_otherwise_is_no_loss() {
        let migration = migrated(&events(0, "x"), &events(4, "x"));
        let changes = [
            (Change::SystemMoved, 2),
            (Change::ToolRole, 1),
            (Change::ToolHistory, 2),
        ];
        assert_eq!((migration.older, migration.kept, migration.new), (2, 2, 0));
        assert_eq!(migration.changes, BTreeMap::from(changes));
        assert!(migration.lost.is_empty());
    }

    #[test]
    fn what_says_something_else_or_is_missing_is_lost() {
        let migration = migrated(&events(0, "x"), &events(4, "y"));
        assert_eq!((migration.kept, migration.new), (1, 0));
        assert_eq!(
            migration.lost,
            [lost((1, 2, 1), Some("/messages/2".into()))]
        );
        let shorter = &events(4, "x");
        let shorter = shorter.split_last().expect("has events").1;
        let migration = migrated(&events(0, "x"), shorter);
        assert_eq!(migration.lost, [lost((1, 2, 1), None)]);
    }
}
