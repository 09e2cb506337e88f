//! Findings that a project has looked at and lives with.
//!
//! **Takes** fingerprints with the reason someone gave. **Gives** which findings are accepted and which lines of the
//! baseline nothing matches any more. **Never** reads or writes the file itself.

use std::collections::BTreeMap;

use super::Fingerprint;

/// What a baseline says of one accepted finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// The printed code, for the reader of the file.
    pub(crate) code: String,
    /// Where it was when it was accepted, for the reader of the file.
    pub(crate) place: String,
    /// Why it is accepted, if someone said so.
    pub(crate) reason: Option<String>,
}

/// The accepted findings of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Baseline {
    accepted: BTreeMap<Fingerprint, Accepted>,
}

impl Baseline {
    /// A baseline of these.
    pub(crate) fn new(accepted: impl IntoIterator<Item = (Fingerprint, Accepted)>) -> Baseline {
        Baseline {
            accepted: accepted.into_iter().collect(),
        }
    }

    /// Whether a finding is accepted.
    pub(crate) fn accepts(&self, fingerprint: Fingerprint) -> bool {
        self.accepted.contains_key(&fingerprint)
    }

    /// What it says of a finding.
    pub(crate) fn get(&self, fingerprint: Fingerprint) -> Option<&Accepted> {
        self.accepted.get(&fingerprint)
    }

    /// The part of it that none of `used` matches.
    pub(crate) fn unused(
        &self,
        used: impl IntoIterator<Item = Fingerprint>,
    ) -> Vec<(Fingerprint, Accepted)> {
        let mut left = self.accepted.clone();
        for fingerprint in used {
            left.remove(&fingerprint);
        }
        left.into_iter().collect()
    }
}
