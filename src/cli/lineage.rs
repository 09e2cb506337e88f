//! Forks among the inputs, once each of them has its answer: parents, what was inherited, and what that changes.
//!
//! **Takes** the answers to all inputs. **Gives** findings of family 09, and takes those of inherited events away that are the
//! parent's to answer for. **Never** holds more than a line of a log.

use std::path::Path;

use crate::compare::{self, Candidate, InheritedFault, Kin};
use crate::rules::{self, ParentGap};
use crate::verdict::Standing;

use super::discover::Found;
use super::generations;
use super::job::Answer;
use super::reading::{self, Reading};

/// How many logs of the parent's id are compared with a fork.
const MOST_TRIED: usize = 8;

/// A log that names a parent session.
pub(super) struct Fork<'a> {
    /// Its index among the inputs.
    at: usize,
    found: &'a Found,
    kin: &'a Kin,
    /// Who has the parent's id, the likeliest first.
    candidates: Vec<Possible<'a>>,
}

/// A log that has the parent's id.
struct Possible<'a> {
    candidate: Candidate,
    found: &'a Found,
    kin: &'a Kin,
}

/// What came of a fork.
pub(super) struct Descent {
    /// Its index among the inputs.
    at: usize,
    /// The index of its parent among them.
    parent: Option<usize>,
    result: Inheritance,
}

/// What became of the inherited events.
enum Inheritance {
    /// They were not compared.
    Gap(ParentGap),
    /// They are the parent's, and judged there or not.
    Same { is_judged: bool },
    /// One of them is not the parent's.
    Differs(InheritedFault),
    /// One of the two logs could not be read once more.
    Unreadable(String),
}

/// The logs among the inputs that name a parent.
pub(super) fn forks<'a>(found: &'a [Found], answers: &'a [Answer]) -> Vec<Fork<'a>> {
    let paths = found.iter().map(|found| found.path.as_path());
    let kin = answers.iter().map(|answer| answer.kin.as_ref());
    let candidates = compare::candidates(&paths.zip(kin).collect::<Vec<_>>());
    let possible = |candidate: Candidate| {
        let kin = answers.get(candidate.at)?.kin.as_ref()?;
        let found = found.get(candidate.at)?;
        Some(Possible {
            candidate,
            found,
            kin,
        })
    };
    let inputs = found.iter().zip(answers).zip(candidates).enumerate();
    inputs
        .filter_map(|(at, ((found, answer), candidates))| {
            let kin = answer.kin.as_ref().filter(|kin| kin.parent.is_some())?;
            let is_judged = answer.standing == Standing::Readable;
            is_judged.then(|| Fork {
                at,
                found,
                kin,
                candidates: candidates.into_iter().filter_map(possible).collect(),
            })
        })
        .collect()
}

impl Fork<'_> {
    /// Finds its parent, and compares what it inherited. Reads both logs up to there.
    pub(super) fn descent(&self, reading: &Reading) -> Descent {
        let [likeliest, others @ ..] = &self.candidates[..] else {
            let is_itself = self.kin.parent.as_ref() == Some(&self.kin.id);
            return self.gap(match is_itself {
                true => ParentGap::Itself,
                false => ParentGap::NotAmongInputs,
            });
        };
        let first = self.compared(likeliest, reading);
        if others.is_empty() || !matches!(first.result, Inheritance::Differs(_)) {
            return first;
        }
        // The id is not one session's alone: then the parent is the log that holds what was inherited.
        let others = others.iter().take(MOST_TRIED);
        let mut others = others.map(|other| self.compared(other, reading));
        let fitting = others.find(|other| matches!(other.result, Inheritance::Same { .. }));
        match fitting {
            Some(fitting) => fitting,
            None if likeliest.candidate.is_near => first,
            None => self.gap(ParentGap::Ambiguous),
        }
    }

    fn gap(&self, gap: ParentGap) -> Descent {
        Descent {
            at: self.at,
            parent: None,
            result: Inheritance::Gap(gap),
        }
    }

    fn compared(&self, parent: &Possible<'_>, reading: &Reading) -> Descent {
        Descent {
            at: self.at,
            parent: Some(parent.candidate.at),
            result: self.inheritance(parent, reading),
        }
    }

    fn inheritance(&self, parent: &Possible<'_>, reading: &Reading) -> Inheritance {
        if self.kin.inherited_until.0 == 0 {
            return Inheritance::Same { is_judged: true };
        }
        let is_same = parent.kin.generation == self.kin.generation;
        if self.found.is_stdin() || (is_same && parent.found.is_stdin()) {
            return Inheritance::Gap(ParentGap::ReadOnce);
        }
        let version = self.kin.generation.version();
        let path = match is_same {
            true => Some(parent.found.path.clone()),
            // The parent was migrated since; what it was then may still stand beside it.
            false => generations::beside(&parent.found.path, version),
        };
        let Some(path) = path else {
            return Inheritance::Gap(ParentGap::OtherVersion(version));
        };
        match self.differs(&path, reading) {
            Ok(Some(fault)) => Inheritance::Differs(fault),
            Ok(None) => Inheritance::Same { is_judged: is_same },
            Err(error) => Inheritance::Unreadable(error),
        }
    }

    fn differs(&self, parent: &Path, reading: &Reading) -> Result<Option<InheritedFault>, String> {
        let own = reading::open_again(&self.found.path, reading)?;
        let theirs = reading::open_again(parent, reading)?;
        compare::inherited(&own, &theirs, self.kin.inherited_until)
            .map_err(|error| format!("cannot be compared with its parent: {error}"))
    }

    /// How much there is to read, roughly.
    pub(super) fn size(&self) -> u64 {
        self.found.size
    }
}

/// Changes the answers by what came of the forks. Gives the index of each input's parent among them, and why there is no complete
/// audit of those of which there is none.
pub(super) fn apply(
    descents: Vec<Descent>,
    answers: &mut [Answer],
    errors: &mut [Option<String>],
) -> Vec<Option<usize>> {
    let mut parents: Vec<Option<usize>> = vec![None; answers.len()];
    for descent in descents {
        let at = descent.at;
        // A session that descends from itself has no place in a tree.
        let parent = descent
            .parent
            .filter(|parent| !compare::descends(&parents, *parent, at));
        if let Some(slot) = parents.get_mut(at) {
            *slot = parent;
        }
        let (Some(answer), Some(error)) = (answers.get_mut(at), errors.get_mut(at)) else {
            continue;
        };
        apply_one(descent.result, answer, error);
    }
    parents
}

fn apply_one(result: Inheritance, answer: &mut Answer, error: &mut Option<String>) {
    let Some(kin) = &answer.kin else {
        return;
    };
    let parent = kin.parent.as_deref().unwrap_or_default();
    let finding = match result {
        Inheritance::Gap(gap) => rules::parent_not_found(parent, gap, answer.top.clone()),
        Inheritance::Differs(fault) => rules::inherited_differs(&fault, parent),
        Inheritance::Same { is_judged: false } => return,
        Inheritance::Same { is_judged: true } => {
            let until = kin.inherited_until;
            let findings = &mut answer.findings;
            return findings.retain(|finding| finding.at.seq.is_none_or(|seq| seq >= until));
        }
        Inheritance::Unreadable(why) => return *error = Some(why),
    };
    answer.findings.push(finding);
    rules::sort(&mut answer.findings);
}
