//! Which busts are told each for itself, and what is said of the others.
//!
//! **Takes** busts in order of loss. **Gives** the first ones of each cause, and one sentence. **Never** drops one uncounted.

use std::collections::BTreeMap;

use crate::analyse::fleet::Bust;

use super::super::Look;
use super::super::words::grouped;
use super::story;

/// Busts of one cause that are told each for itself.
const OF_A_CAUSE: usize = 3;

/// Busts told and not told.
#[derive(Debug)]
pub(super) struct Picked<'b, 'r> {
    /// Those that are told, each with its place in the order of loss, from 1.
    pub(super) told: Vec<(usize, &'b Bust<'r>)>,
    /// `4 by system-text, 896 tokens; …`; absent where all are told.
    pub(super) others: Option<String>,
}

/// Picks as many as a person reads; all of them where that is asked for.
pub(super) fn pick<'b, 'r>(busts: &'b [Bust<'r>], look: Look) -> Picked<'b, 'r> {
    let of_a_cause = match look.of_a_code {
        usize::MAX => usize::MAX,
        _ => OF_A_CAUSE,
    };
    let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut others: Vec<(&'static str, u64, u64)> = Vec::new();
    let mut told = Vec::new();
    for (at, bust) in busts.iter().enumerate() {
        let cause = story::cause_word(bust.row);
        let of_this_cause = seen.entry(cause).or_default();
        *of_this_cause += 1;
        if told.len() < look.of_a_code && *of_this_cause <= of_a_cause {
            told.push((at + 1, bust));
            continue;
        }
        let lost = bust.row.lost.unwrap_or(0);
        match others.iter_mut().find(|(known, ..)| *known == cause) {
            Some((_, number, sum)) => (*number, *sum) = (*number + 1, sum.saturating_add(lost)),
            None => others.push((cause, 1, lost)),
        }
    }
    let parts: Vec<String> = others
        .into_iter()
        .map(|(cause, number, lost)| {
            format!("{} by {cause}, {} tokens", grouped(number), grouped(lost))
        })
        .collect();
    let others = (!parts.is_empty()).then(|| parts.join("; "));
    Picked { told, others }
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::look;
    use super::*;
    use crate::analyse::answer::{Cause, SegmentName, sample};
    use crate::analyse::fleet;

    #[test]
    fn three_of_a_cause_are_told_and_all_are_counted() {
        let broken = |step| {
            let row = sample::kept(1, step, 1, 9000 + 128 * step);
            sample::broken(row, 0, SegmentName::System, Cause::SystemText)
        };
        let report = sample::report("clock", (1..=7).map(broken).collect());
        let busts = fleet::busts(&[&report]);
        let picked = pick(&busts, look());
        let ranks: Vec<usize> = picked.told.iter().map(|(rank, _)| *rank).collect();
        assert_eq!(ranks, [1, 2, 3]);
        assert_eq!(
            picked.others.as_deref(),
            Some("4 by system-text, 36,096 tokens")
        );
        let all = Look {
            of_a_code: usize::MAX,
            ..look()
        };
        let picked = pick(&busts, all);
        assert_eq!((picked.told.len(), picked.others), (7, None));
    }
}
