//! Which log is whose parent.
//!
//! **Takes** what the header lines of several logs say, and their paths. **Gives** for each log who may be its parent among them.
//! **Never** reads a log.

use std::cmp::Reverse;
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

/// A log that has the id that another one names as its parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its index among the logs.
    pub at: usize,
    /// Whether both lie where the harness would keep them: in one directory, or in directories side by side.
    pub is_near: bool,
}

/// For each log those that have its parent's id, the likeliest first.
///
/// Of several the nearest in the tree of directories is the likeliest, of equally near ones the one of the same generation, then the
/// first. A log is no candidate for itself.
pub fn candidates(logs: &[(&Path, Option<&Kin>)]) -> Vec<Vec<Candidate>> {
    let mut by_id: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, (_, kin)) in logs.iter().enumerate() {
        if let Some(kin) = kin {
            by_id.entry(&kin.id).or_default().push(at);
        }
    }
    let of_log = |(at, (path, kin)): (usize, &(&Path, Option<&Kin>))| {
        let parent = kin.and_then(|kin| Some((kin, kin.parent.as_deref()?)));
        let Some((kin, parent)) = parent else {
            return Vec::new();
        };
        let others = by_id.get(parent).into_iter().flatten().copied();
        let others = others.filter(|other| *other != at && kin.id != parent);
        let mut ranked: Vec<_> = others
            .filter_map(|other| {
                let (their_path, theirs) = logs.get(other)?;
                let same = theirs.is_some_and(|theirs| theirs.generation == kin.generation);
                let far = Reverse(shared_directories(path, their_path));
                let is_near = are_near(path, their_path);
                Some(((far, !same, other), Candidate { at: other, is_near }))
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, candidate)| candidate).collect()
    };
    logs.iter().enumerate().map(of_log).collect()
}

/// Whether `log` is `ancestor` or descends from it.
pub fn descends(parents: &[Option<usize>], log: usize, ancestor: usize) -> bool {
    let mut at = Some(log);
    while let Some(log) = at {
        if log == ancestor {
            return true;
        }
        at = parents.get(log).copied().flatten();
    }
    false
}

fn are_near(one: &Path, other: &Path) -> bool {
    let project = |path: &Path| path.parent().and_then(Path::parent).map(Path::to_owned);
    one.parent() == other.parent() || (project(one).is_some() && project(one) == project(other))
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

    fn candidates_of(logs: &[(&str, Kin)]) -> Vec<Vec<usize>> {
        let logs: Vec<_> = logs
            .iter()
            .map(|(path, kin)| (Path::new(path), Some(kin)))
            .collect();
        let all = candidates(&logs).into_iter();
        all.map(|found| found.iter().map(|candidate| candidate.at).collect())
            .collect()
    }

    #[test]
    fn the_nearest_log_of_the_parents_id_is_the_likeliest() {
        use Generation::{V3, V4};
        let logs = [
            ("a/p/session.v4.jsonl", kin("p", None, V4)),
            ("b/p/session.v3.jsonl", kin("p", None, V3)),
            ("b/p/session.v4.jsonl", kin("p", None, V4)),
            ("b/c/session.v4.jsonl", kin("c", Some("p"), V4)),
            ("a/c/session.v3.jsonl", kin("c", Some("p"), V3)),
            ("b/d/session.v3.jsonl", kin("d", Some("p"), V3)),
            ("b/e/session.v3.jsonl", kin("e", Some("gone"), V3)),
            ("b/f/session.v3.jsonl", kin("f", Some("f"), V3)),
        ];
        let none: Vec<usize> = Vec::new();
        let expected = [
            none.clone(),
            none.clone(),
            none.clone(),
            vec![2, 1, 0],
            vec![0, 1, 2],
            vec![1, 2, 0],
            none.clone(),
            none,
        ];
        assert_eq!(candidates_of(&logs), expected);
    }

    #[test]
    fn a_parent_lies_beside_its_forks() {
        let near = |one: &str, other: &str| are_near(Path::new(one), Path::new(other));
        assert!(near("r/--p--/a/session.jsonl", "r/--p--/b/session.jsonl"));
        assert!(near("r/cwd-1/a.jsonl", "r/cwd-1/b.jsonl") && near("a.jsonl", "b.jsonl"));
        assert!(!near("r/x/a/session.jsonl", "r/y/a/session.jsonl"));
    }

    #[test]
    fn descent_is_followed_upward() {
        let parents = [None, Some(0), Some(1), None];
        assert!(descends(&parents, 2, 0) && descends(&parents, 2, 2));
        assert!(!descends(&parents, 3, 0) && !descends(&parents, 0, 2));
    }
}
