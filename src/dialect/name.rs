//! One word for what a log is, for reports.
//!
//! **Takes** a generation, a settlement and the session. **Gives** `seed`, `between`, `released`, `mixed`, `v1` … `v4`.
//! **Never** decides how anything is read.

use super::{Derivation, Era, Generation, Settlement};
use crate::fold::Session;

impl Settlement {
    /// The word for the builds that wrote a log: of version 0 by the requests they sent, of others by the version.
    pub fn dialect_name(&self, generation: Generation, session: &Session<'_>) -> &'static str {
        match generation {
            Generation::V0 => self.name_of_version_0(session),
            Generation::V1 => "v1",
            Generation::V2 => "v2",
            Generation::V3 => "v3",
            Generation::V4 => "v4",
        }
    }

    fn name_of_version_0(&self, session: &Session<'_>) -> &'static str {
        let of_requests = self.requests.iter().map(|request| {
            let turn = session
                .steps
                .get(request.step.get())
                .map_or(0, |step| step.turn.0);
            match (self.era(turn), request.derivation) {
                (Era::Released, _) => "released",
                (_, Derivation::Plain) => "seed",
                (_, Derivation::Provenance | Derivation::Identified) => "between",
            }
        });
        let of_turns = self
            .eras
            .iter()
            .chain(&self.default_era)
            .map(|era| match era {
                Era::Released => "released",
                Era::Old => "seed",
                Era::Upgraded => "between",
            });
        // A turn without a request shows less of its build than a request does.
        one_word(of_requests)
            .or_else(|| one_word(of_turns))
            .unwrap_or("released")
    }
}

/// The word that all have in common, `mixed` where they differ, `None` where there is none.
fn one_word(mut words: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let first = words.next()?;
    Some(if words.all(|word| word == first) {
        first
    } else {
        "mixed"
    })
}

#[cfg(test)]
mod tests {
    use super::one_word;

    #[test]
    fn words_that_differ_are_mixed() {
        assert_eq!(one_word(["seed", "seed"].into_iter()), Some("seed"));
        assert_eq!(one_word(["seed", "released"].into_iter()), Some("mixed"));
        assert_eq!(one_word([].into_iter()), None);
    }
}
