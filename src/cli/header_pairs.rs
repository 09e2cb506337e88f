//! Headers of different origin: two logs, a fork and its parent, a log and its lock.
//!
//! **Takes** what each file said. **Gives** [`Comparison`]s. **Never** compares a log that yields no headers.

use std::path::{Path, PathBuf};

use crate::analyse::answer::{HeaderPair, Part};
use crate::analyse::header::{HeaderState, pair};
use crate::compare::{Candidate, candidates, headers};
use crate::report::diff::{Comparison, Relation};

use super::diff_headers::{OneFile, Wish};
use super::discover::Found;
use super::header_lock::HeaderLock;
use super::job;
use super::plan::{Plan, shown};

type Heard<'f> = [(&'f Found, OneFile)];

/// All comparisons of a run.
///
/// # Errors
///
/// Wrong usage.
pub(super) fn comparisons(
    plan: &Plan,
    wish: &Wish,
    heard: &Heard<'_>,
) -> Result<Vec<Comparison>, String> {
    let mut found = if wish.is_between {
        vec![between(wish, heard)?]
    } else if let Some(lock) = &wish.lock {
        against(wish, lock, heard)
    } else {
        forks(plan, wish, heard)
    };
    let locked = wish.lock.as_ref().map(|lock| lock.parts.as_slice());
    let is_wanted =
        |part: &Part| wish.parts.contains(part) && locked.is_none_or(|parts| parts.contains(part));
    let parts: Vec<Part> = Part::ALL.into_iter().filter(is_wanted).collect();
    for pair in found
        .iter_mut()
        .flat_map(|comparison| &mut comparison.pairs)
    {
        pair.change.keep_parts(&parts);
        pair.redacted.retain(|part| parts.contains(part));
        if !wish.shows_text {
            pair.change.hide_text();
        }
    }
    Ok(found)
}

fn between(wish: &Wish, heard: &Heard<'_>) -> Result<Comparison, String> {
    let [(old, a), (new, b)] = heard else {
        let number = heard.len();
        return Err(format!(
            "--between compares two logs; the paths give {number}"
        ));
    };
    let (Some(olds), Some(news)) = (&a.states, &b.states) else {
        return Err("--between: one of the two logs yields no headers".into());
    };
    Ok(Comparison {
        kind: Relation::Between,
        old: old.path.clone(),
        new: Some(new.path.clone()),
        pairs: pair(olds, news, &wish.limits()),
    })
}

/// Each child among the inputs with its parent.
fn forks(plan: &Plan, wish: &Wish, heard: &Heard<'_>) -> Vec<Comparison> {
    let logs: Vec<_> = heard
        .iter()
        .map(|(found, one)| (found.path.as_path(), one.kin.as_ref()))
        .collect();
    let mut found = Vec::new();
    for ((child, one), parents) in heard.iter().zip(candidates(&logs)) {
        // Where several logs far away have the parent's id, none of them is known to be it.
        let is_known = |parent: &&Candidate| parent.is_near || parents.len() == 1;
        let likeliest = parents.first().filter(is_known);
        let likeliest = likeliest.filter(|_| one.file.timeline.is_some());
        let Some((parent, _)) = likeliest.and_then(|parent| heard.get(parent.at)) else {
            continue;
        };
        found.extend(fork(plan, wish, parent, child).map(|pair| Comparison {
            kind: Relation::Fork,
            old: parent.path.clone(),
            new: Some(child.path.clone()),
            pairs: vec![pair],
        }));
    }
    found
}

/// Reads parent and child once more: only where both are there, and one pair at a time.
fn fork(plan: &Plan, wish: &Wish, parent: &Found, child: &Found) -> Option<HeaderPair> {
    if parent.is_stdin() || child.is_stdin() {
        return None;
    }
    let reading = &plan.reading;
    job::with_log(parent, reading, job::Wanted::REQUESTS, |parent, _| {
        job::with_log(child, reading, job::Wanted::REQUESTS, |child, _| {
            Ok(headers::fork(parent, child, &wish.limits()))
        })
    })
    .ok()
    .flatten()
}

/// Each log with its lock. Without a lock of its name, a single log is compared with a single lock.
fn against(wish: &Wish, lock: &HeaderLock, heard: &Heard<'_>) -> Vec<Comparison> {
    let mut left: Vec<&(String, Vec<HeaderState>)> = lock.logs.iter().collect();
    let mut found = Vec::new();
    for (file, one) in heard {
        let Some(states) = &one.states else { continue };
        let name = shown(&file.path);
        let is_only = heard.len() == 1 && lock.logs.len() == 1;
        let at = left.iter().position(|(path, _)| *path == name || is_only);
        let locked = at.map(|at| left.remove(at));
        let locked_states = locked.map_or(&[][..], |(_, states)| states);
        found.push(Comparison {
            kind: Relation::Lock,
            old: locked.map_or_else(PathBuf::new, |(path, _)| path.into()),
            new: Some(file.path.clone()),
            pairs: pair(
                &only_of(&lock.parts, locked_states),
                &only_of(&lock.parts, states),
                &wish.limits(),
            ),
        });
    }
    found.extend(left.into_iter().map(|(path, _)| Comparison {
        kind: Relation::Lock,
        old: Path::new(path).to_path_buf(),
        new: None,
        pairs: Vec::new(),
    }));
    found
}

/// The headers without the parts that are not locked; those that then repeat their predecessor are left out.
fn only_of(parts: &[Part], states: &[HeaderState]) -> Vec<HeaderState> {
    let mut out: Vec<HeaderState> = Vec::new();
    for state in states {
        let mut state = state.clone();
        for part in Part::ALL.into_iter().filter(|part| !parts.contains(part)) {
            state.clear(part);
        }
        let last = out.last().map(HeaderState::digests);
        if last != Some(state.digests()) {
            out.push(state);
        }
    }
    out
}

/// The lock of all inputs.
///
/// # Errors
///
/// An input yields no headers: a lock without it would pass later.
pub(super) fn lock(wish: &Wish, heard: &Heard<'_>) -> Result<HeaderLock, String> {
    let mut logs = Vec::new();
    for (file, one) in heard {
        let states = one.states.as_ref();
        let states = states.ok_or_else(|| {
            format!(
                "no lock is written: {} yields no headers",
                shown(&file.path)
            )
        })?;
        logs.push((shown(&file.path), only_of(&wish.parts, states)));
    }
    Ok(HeaderLock {
        parts: wish.parts.clone(),
        logs,
    })
}
