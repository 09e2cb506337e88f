//! Which log is whose parent.
//!
//! **Takes** what the header lines of several logs say, and their paths. **Gives** for each log its parent among them.
//! **Never** reads a log.

use std::collections::BTreeMap;
use std::path::Path;

use crate::dialect::Generation;
use crate::line::Seq;
use crate::log::{Log, Standing};
use crate::record::Raw;

/// What a log says of its descent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kin {
    /// The session's id; what is no Unicode in it as U+FFFD.
    pub id: String,
    /// The parent session's id.
    pub parent: Option<String>,
    /// The generation, of which both must be for their events to be compared.
    pub generation: Generation,
    /// Events with a smaller number are inherited.
    pub inherited_until: Seq,
    /// How much of the log that is.
    pub inherited: Share,
}

/// A part of a log, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Events.
    pub events: u64,
    /// Turns that begin in it.
    pub turns: u64,
    /// Steps that begin in it.
    pub steps: u64,
    /// Requests that the parent session sent.
    pub requests: u64,
}

impl Kin {
    /// What a log says of its descent; `None` where it is no session log that can be replayed.
    pub fn of(log: &Log<'_>) -> Option<Kin> {
        let header = log.header.as_ref()?;
        let text = |raw: Option<Raw<'_>>| {
            let text = raw.and_then(Raw::text);
            text.map(|text| text.to_lossy().into_owned())
        };
        let until = match log.session.inherited_until {
            Some(until) => until,
            None => Seq(header.seed_length),
        };
        let inherited = if log.standing == Standing::Readable {
            share(log, until)
        } else {
            Share::default()
        };
        Some(Kin {
            id: text(header.id)?,
            parent: text(header.parent),
            generation: header.generation,
            inherited_until: until,
            inherited,
        })
    }
}

fn share(log: &Log<'_>, until: Seq) -> Share {
    let session = &log.session;
    let before =
        |starts: &mut dyn Iterator<Item = Seq>| starts.filter(|at| *at < until).count() as u64;
    Share {
        events: until.0.min(session.events),
        turns: before(&mut session.turns.iter().map(|turn| turn.start)),
        steps: before(&mut session.steps.iter().map(|step| step.start)),
        requests: log
            .settlement
            .requests
            .iter()
            .filter(|request| request.inherited)
            .count() as u64,
    }
}

/// For each log the index of its parent among them, where there is one.
///
/// Of several logs with the parent's id the nearest in the tree of directories is meant, of equally near ones the one of the same
/// generation, then the first. A log is never its own parent, nor that of its own ancestors.
pub fn parents(logs: &[(&Path, Option<&Kin>)]) -> Vec<Option<usize>> {
    let mut by_id: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, (_, kin)) in logs.iter().enumerate() {
        if let Some(kin) = kin {
            by_id.entry(&kin.id).or_default().push(at);
        }
    }
    let mut parents: Vec<Option<usize>> = vec![None; logs.len()];
    for (at, (path, kin)) in logs.iter().enumerate() {
        let Some((kin, parent)) = kin.and_then(|kin| Some((kin, kin.parent.as_deref()?))) else {
            continue;
        };
        let candidates = by_id.get(parent).into_iter().flatten().copied();
        let rank = |other: &usize| {
            let (their_path, theirs) = logs.get(*other).copied().unwrap_or((path, None));
            let same = theirs.is_some_and(|theirs| theirs.generation == kin.generation);
            (
                shared_directories(path, their_path),
                same,
                std::cmp::Reverse(*other),
            )
        };
        let nearest = candidates
            .filter(|other| !descends(&parents, *other, at))
            .max_by_key(rank);
        if let Some(slot) = parents.get_mut(at) {
            *slot = nearest;
        }
    }
    parents
}

/// Whether `log` is `ancestor` or descends from it.
fn descends(parents: &[Option<usize>], log: usize, ancestor: usize) -> bool {
    let mut at = Some(log);
    while let Some(log) = at {
        if log == ancestor {
            return true;
        }
        at = parents.get(log).copied().flatten();
    }
    false
}

/// How many directories two paths share from the first on.
fn shared_directories(one: &Path, other: &Path) -> usize {
    let directories = |path: &Path| {
        let parent = path.parent().unwrap_or(Path::new(""));
        parent
            .components()
            .map(|part| part.as_os_str().to_owned())
            .collect::<Vec<_>>()
    };
    let (one, other) = (directories(one), directories(other));
    one.iter()
        .zip(&other)
        .take_while(|(one, other)| one == other)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kin(id: &str, parent: Option<&str>, generation: Generation) -> Kin {
        Kin {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            generation,
            inherited_until: Seq(0),
            inherited: Share::default(),
        }
    }

    fn parents_of(logs: &[(&str, Kin)]) -> Vec<Option<usize>> {
        let logs: Vec<_> = logs
            .iter()
            .map(|(path, kin)| (Path::new(path), Some(kin)))
            .collect();
        parents(&logs)
    }

    #[test]
    fn the_nearest_log_of_the_parents_id_is_the_parent() {
        use Generation::{V3, V4};
        let logs = [
            ("a/p/session.v4.jsonl", kin("p", None, V4)),
            ("b/p/session.v3.jsonl", kin("p", None, V3)),
            ("b/p/session.v4.jsonl", kin("p", None, V4)),
            ("b/c/session.v4.jsonl", kin("c", Some("p"), V4)),
            ("a/c/session.v3.jsonl", kin("c", Some("p"), V3)),
            ("b/d/session.v3.jsonl", kin("d", Some("p"), V3)),
            ("b/e/session.v3.jsonl", kin("e", Some("gone"), V3)),
        ];
        assert_eq!(
            parents_of(&logs),
            [None, None, None, Some(2), Some(0), Some(1), None]
        );
    }

    #[test]
    fn no_log_descends_from_itself() {
        use Generation::V4;
        let logs = [
            ("a", kin("a", Some("b"), V4)),
            ("b", kin("b", Some("a"), V4)),
            ("c", kin("c", Some("c"), V4)),
        ];
        assert_eq!(parents_of(&logs), [Some(1), None, None]);
    }
}
