//! Several generations of one session among the inputs: each beside the next, once both have their answers.
//!
//! **Takes** inputs and answers. **Gives** what each generation has of the one before it. **Never** compares other files than those of
//! one directory and one session.

use std::collections::BTreeMap;
use std::path::Path;

use crate::compare::{self, Change, Migration};
use crate::log::Retain;
use crate::report::{LostRequest, MigrationFacts};
use crate::rules;
use crate::verdict::Standing;

use super::discover::Found;
use super::generations::generation_of;
use super::job::{self, Answer};
use super::reading::Reading;

/// A generation of a session.
#[derive(Clone, Copy)]
struct Generation<'a> {
    version: u64,
    /// Its index among the inputs.
    at: usize,
    found: &'a Found,
}

/// Two neighbouring generations.
pub(super) struct Step<'a> {
    older: Generation<'a>,
    newer: Generation<'a>,
}

/// The neighbouring generations among the inputs.
pub(super) fn steps<'a>(found: &'a [Found], answers: &[Answer]) -> Vec<Step<'a>> {
    let mut sessions: BTreeMap<(&Path, &str), Vec<Generation<'a>>> = BTreeMap::new();
    for (at, (found, answer)) in found.iter().zip(answers).enumerate() {
        let is_read = answer.standing == Standing::Readable;
        let kin = answer
            .kin
            .as_ref()
            .filter(|_| is_read && generation_of(&found.path).is_some());
        let directory = found.path.parent();
        if let Some((kin, directory)) = kin.zip(directory) {
            let version = kin.generation.version();
            let generations = sessions.entry((directory, &kin.id)).or_default();
            generations.push(Generation { version, at, found });
        }
    }
    let mut steps = Vec::new();
    for mut generations in sessions.into_values() {
        generations.sort_by_key(|generation| (generation.version, generation.at));
        generations.dedup_by_key(|generation| generation.version);
        let neighbours = generations.iter().zip(generations.iter().skip(1));
        steps.extend(neighbours.map(|(older, newer)| Step {
            older: *older,
            newer: *newer,
        }));
    }
    steps
}

impl Step<'_> {
    /// Compares both. Reads them once more.
    pub(super) fn compare(&self, reading: &Reading) -> Result<Migration, String> {
        job::read_again(self.older.found, reading, Retain::Messages, |older| {
            job::read_again(self.newer.found, reading, Retain::Messages, |newer| {
                compare::migration(older, newer).map_err(|error| error.to_string())
            })
        })??
    }

    /// How much there is to read, roughly.
    pub(super) fn size(&self) -> u64 {
        self.older.found.size.saturating_add(self.newer.found.size)
    }

    /// The newer one's index among the inputs, and what is told of it. The older one's finding says if something is lost.
    pub(super) fn tell(
        &self,
        migration: &Migration,
        answers: &mut [Answer],
    ) -> (usize, MigrationFacts) {
        let name = self
            .newer
            .found
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        if let Some(answer) = answers
            .get_mut(self.older.at)
            .filter(|_| !migration.lost.is_empty())
        {
            rules::newer_sibling_lacks(&mut answer.findings, &name, migration.lost.len());
        }
        (self.newer.at, facts_of(self, migration))
    }
}

fn facts_of(step: &Step<'_>, migration: &Migration) -> MigrationFacts {
    let lost = migration.lost.iter().map(|lost| LostRequest {
        turn: lost.turn,
        step: lost.step,
        attempt: lost.attempt,
        pointer: lost.pointer.clone(),
    });
    let changes = migration.changes.iter();
    MigrationFacts {
        from: step.older.found.path.clone(),
        version: step.older.version,
        requests: migration.older,
        kept: migration.kept,
        new: migration.new,
        changes: changes
            .map(|(change, requests)| (word_of(*change), *requests))
            .collect(),
        lost: lost.collect(),
    }
}

/// A change in one word, as machine formats have it, and in a few.
fn word_of(change: Change) -> (&'static str, &'static str) {
    match change {
        Change::SystemMoved => ("system-moved", "the system prompt became a message"),
        Change::ToolRole => ("tool-role", "tool answers got a role of their own"),
        Change::Sources => ("sources", "sources were renamed"),
        Change::Ids => ("ids", "ids changed"),
        Change::Identified => ("identified", "messages got ids and sources"),
        Change::Form => ("form", "members stand in another order"),
        Change::ToolHistory => ("tool-history", "toolHistory was added"),
    }
}
