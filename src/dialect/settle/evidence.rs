//! Which build ran each step: what the step shows itself, or the nearest step of its loop instance.
//!
//! **Takes** the facts of steps, answers and tool results. **Gives** a derivation per step, and whether it is a guess.
//! **Never** decides a boundary.
//!
//! Source: format reference, section 0.3.

use std::collections::HashMap;

use super::{Derivation, Era, Settlement};
use crate::dialect::SessionHeader;
use crate::fold::{Answer, AttemptFact, AttemptIx, Finish, Session, Shape, StepFact, StepIx};

/// What the steps of a log show.
pub(super) struct Evidence<'s, 'log> {
    header: &'s SessionHeader<'s>,
    session: &'s Session<'log>,
    settlement: &'s Settlement,
    attempts: HashMap<StepIx, Vec<AttemptIx>>,
    derivations: Vec<(Derivation, bool)>,
}

impl<'s, 'log> Evidence<'s, 'log> {
    pub(super) fn of(
        header: &'s SessionHeader<'s>,
        session: &'s Session<'log>,
        settlement: &'s Settlement,
    ) -> Evidence<'s, 'log> {
        let mut attempts: HashMap<StepIx, Vec<AttemptIx>> = HashMap::new();
        for (at, attempt) in session.attempts.iter().enumerate() {
            attempts
                .entry(attempt.step)
                .or_default()
                .push(AttemptIx(at as u32));
        }
        let mut evidence = Evidence {
            header,
            session,
            settlement,
            attempts,
            derivations: Vec::new(),
        };
        evidence.derivations = evidence.derive_steps();
        evidence
    }

    /// How a step's requests are derived, and whether that is a guess.
    pub(super) fn derivation(&self, step: StepIx) -> Option<(Derivation, bool)> {
        self.derivations.get(step.get()).copied()
    }

    /// The attempts of a step, in order.
    pub(super) fn attempts_of(
        &self,
        step: StepIx,
    ) -> impl Iterator<Item = (AttemptIx, &'s AttemptFact)> + '_ {
        let indexes = self
            .attempts
            .get(&step)
            .map(Vec::as_slice)
            .unwrap_or_default();
        indexes
            .iter()
            .filter_map(|&ix| Some((ix, self.session.attempts.get(ix.get())?)))
    }

    pub(super) fn era_of(&self, step: &StepFact) -> Era {
        self.settlement.era(step.turn.0)
    }

    fn derive_steps(&self) -> Vec<(Derivation, bool)> {
        let own: Vec<Option<Derivation>> = (0..self.session.steps.len())
            .map(|at| self.evidence(StepIx(at as u32)))
            .collect();
        let later = neighbours(self.session, &own, true);
        let earlier = neighbours(self.session, &own, false);
        let all = self.session.steps.iter().enumerate().map(|(at, step)| {
            let pick = |from: &[Option<Derivation>]| from.get(at).copied().flatten();
            match pick(&own).or(pick(&earlier)).or(pick(&later)) {
                Some(derivation) => (derivation, false),
                None => (
                    self.by_header(step),
                    self.header_of(step).is_some_and(|provider| provider),
                ),
            }
        });
        all.collect()
    }

    /// What a step itself shows of the build that ran it (section 0.3, points 1 to 5).
    fn evidence(&self, index: StepIx) -> Option<Derivation> {
        if !self.header.generation.facts().has_old_turns {
            return Some(Derivation::Identified);
        }
        let step = self.session.steps.get(index.get())?;
        let turn = self.session.turns.get(step.turn.get())?;
        if let Some(answer) = self
            .attempts_of(index)
            .find_map(|(_, attempt)| attempt.answer)
        {
            return Some(by_answer(answer));
        }
        if self.era_of(step) == Era::Released {
            return Some(Derivation::Identified);
        }
        match step.result.or(turn.evidence.input) {
            Some(Shape::Identified) => return Some(Derivation::Identified),
            Some(Shape::Parts | Shape::Upgraded) => return Some(self.by_header(step)),
            None => {}
        }
        let early = self
            .attempts_of(index)
            .any(|(_, attempt)| attempt.finish == Finish::Failed { early: true });
        (early || turn.evidence.early_end).then(|| self.by_header(step))
    }

    /// Whether the header in force names a provider.
    fn header_of(&self, step: &StepFact) -> Option<bool> {
        let header = self.session.headers.get(step.header?.get())?;
        Some(
            header
                .raw
                .get("config")
                .is_some_and(|config| config.get("provider").is_some()),
        )
    }

    fn by_header(&self, step: &StepFact) -> Derivation {
        match self.header_of(step) {
            Some(true) => Derivation::Provenance,
            _ => Derivation::Plain,
        }
    }
}

fn by_answer(answer: Answer) -> Derivation {
    match (answer.shape, answer.has_provenance) {
        (Shape::Identified, _) => Derivation::Identified,
        (Shape::Upgraded, _) | (Shape::Parts, true) => Derivation::Provenance,
        (Shape::Parts, false) => Derivation::Plain,
    }
}

/// For each step, the derivation of the nearest earlier or later step of its loop instance that shows its own.
fn neighbours(
    session: &Session<'_>,
    own: &[Option<Derivation>],
    later: bool,
) -> Vec<Option<Derivation>> {
    let mut found = vec![None; own.len()];
    let mut last: Option<(u32, Derivation)> = None;
    let mut visit = |at: usize| {
        let (Some(step), Some(own)) = (session.steps.get(at), own.get(at)) else {
            return;
        };
        if let Some(slot) = found.get_mut(at) {
            *slot = last
                .filter(|(instance, _)| *instance == step.instance)
                .map(|(_, derivation)| derivation);
        }
        if let Some(derivation) = own {
            last = Some((step.instance, *derivation));
        }
    };
    match later {
        true => (0..own.len()).rev().for_each(&mut visit),
        false => (0..own.len()).for_each(&mut visit),
    }
    found
}
