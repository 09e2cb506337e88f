//! Headers of two origins, side by side.
//!
//! **Takes** two lists of headers. **Gives** which stand for each other, and what differs between them. **Never** pairs a header twice.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::change::compare;
use super::limits::Limits;
use super::states::HeaderState;
use crate::analyse::answer::{HeaderChange, HeaderPair, Part};

/// Pairs two lists: headers that are equal first, those between them in their order.
pub fn pair(old: &[HeaderState], new: &[HeaderState], limits: &Limits) -> Vec<HeaderPair> {
    let digests = |states: &[HeaderState]| -> Vec<[u128; 4]> {
        states.iter().map(HeaderState::digests).collect()
    };
    let ops = capture_diff_slices(Algorithm::Myers, &digests(old), &digests(new));
    let mut pairs = Vec::new();
    for op in ops {
        let (olds, news) = (op.old_range(), op.new_range());
        let is_equal = matches!(op, DiffOp::Equal { .. });
        for at in 0..olds.len().max(news.len()) {
            let get = |states, range: &std::ops::Range<usize>| -> Option<&HeaderState> {
                <[HeaderState]>::get(states, range.start + at).filter(|_| at < range.len())
            };
            pairs.push(pair_of(get(old, &olds), get(new, &news), is_equal, limits));
        }
    }
    pairs
}

/// Two headers that stand for each other; one of them may be missing.
pub fn pair_of(
    old: Option<&HeaderState>,
    new: Option<&HeaderState>,
    is_equal: bool,
    limits: &Limits,
) -> HeaderPair {
    let change = match (old, new) {
        (Some(old), Some(new)) if !is_equal => compare(&old.view(), &new.view(), limits),
        _ => HeaderChange::default(),
    };
    let redacted = Part::ALL.into_iter().filter(|part| {
        let both = old.into_iter().chain(new);
        both.map(HeaderState::view)
            .any(|view| view.is_redacted(*part))
    });
    HeaderPair {
        old: old.map(|state| state.spot),
        new: new.map(|state| state.spot),
        redacted: redacted.collect(),
        change,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Seq;

    fn state(seq: u64, system: &str) -> HeaderState {
        let mut state = HeaderState {
            system: system.as_bytes().into(),
            ..HeaderState::default()
        };
        state.spot.seq = Seq(seq);
        state
    }

    fn drawn(old: &[&str], new: &[&str]) -> Vec<(Option<u64>, Option<u64>, bool)> {
        let states = |texts: &[&str]| -> Vec<HeaderState> {
            let numbered = texts.iter().enumerate();
            numbered.map(|(at, text)| state(at as u64, text)).collect()
        };
        let seq = |spot: Option<crate::analyse::answer::HeaderSpot>| spot.map(|spot| spot.seq.0);
        pair(&states(old), &states(new), &Limits::default())
            .iter()
            .map(|pair| (seq(pair.old), seq(pair.new), pair.change.is_empty()))
            .collect()
    }

    #[test]
    fn equal_headers_stand_for_each_other() {
        assert_eq!(
            drawn(&["a", "b"], &["a", "x", "b"]),
            [
                (Some(0), Some(0), true),
                (None, Some(1), true),
                (Some(1), Some(2), true)
            ]
        );
    }

    #[test]
    fn what_is_not_equal_is_compared_in_order() {
        assert_eq!(
            drawn(&["a", "b"], &["c"]),
            [(Some(0), Some(0), false), (Some(1), None, true)]
        );
    }
}
