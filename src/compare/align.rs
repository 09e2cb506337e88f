//! Which of two sequences' elements belong together, where neither names its elements.
//!
//! **Takes** digests and sizes of both. **Gives** pairs in order; what has no partner stands alone.
//! **Never** crosses two pairs.

use std::collections::HashSet;
use std::hash::Hash;

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Two elements that belong together, or one without a partner: indices into the left and the right sequence.
pub(super) type Pair = (Option<usize>, Option<usize>);

/// What is known of an element: equal digests are equal elements, equal sizes are likely versions of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark<D> {
    pub(super) digest: D,
    pub(super) size: usize,
}

/// Pairs equal elements first; what stands between them is paired by size, then in order.
pub(super) fn align<D: Hash + Eq + Ord>(left: &[Mark<D>], right: &[Mark<D>]) -> Vec<Pair> {
    let on_left: HashSet<&D> = left.iter().map(|mark| &mark.digest).collect();
    if !right.iter().any(|mark| on_left.contains(&mark.digest)) {
        return by_size(left, right, 0, 0);
    }
    let digests: [Vec<&D>; 2] =
        [left, right].map(|marks| marks.iter().map(|mark| &mark.digest).collect());
    let [of_left, of_right] = &digests;
    let mut pairs = Vec::with_capacity(left.len().max(right.len()));
    for op in capture_diff_slices(Algorithm::Patience, of_left, of_right) {
        let (old, new) = (op.old_range(), op.new_range());
        match op.tag() {
            DiffTag::Equal => pairs.extend(old.zip(new).map(|(l, r)| (Some(l), Some(r)))),
            _ => {
                let (l, r) = (left.get(old.clone()), right.get(new.clone()));
                let (l, r) = (l.unwrap_or_default(), r.unwrap_or_default());
                pairs.extend(by_size(l, r, old.start, new.start));
            }
        }
    }
    pairs
}

/// Pairs elements of equal size, and in order what stands between them. Indices begin at `from_left` and `from_right`.
fn by_size<D>(
    left: &[Mark<D>],
    right: &[Mark<D>],
    from_left: usize,
    from_right: usize,
) -> Vec<Pair> {
    let sizes = |marks: &[Mark<D>]| marks.iter().map(|mark| mark.size).collect::<Vec<_>>();
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Patience, &sizes(left), &sizes(right)) {
        let old = op.old_range().map(|at| Some(at + from_left));
        let new = op.new_range().map(|at| Some(at + from_right));
        let shared = op.old_range().len().min(op.new_range().len());
        pairs.extend(old.clone().zip(new.clone()));
        pairs.extend(old.skip(shared).map(|at| (at, None)));
        pairs.extend(new.skip(shared).map(|at| (None, at)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(of: &[(char, usize)]) -> Vec<Mark<char>> {
        of.iter()
            .map(|&(digest, size)| Mark { digest, size })
            .collect()
    }

    fn pairs(left: &[(char, usize)], right: &[(char, usize)]) -> String {
        let name = |side: &[(char, usize)], at: Option<usize>| at.map_or('-', |at| side[at].0);
        let pairs = align(&marks(left), &marks(right));
        let names = pairs
            .iter()
            .map(|&(l, r)| format!("{}{}", name(left, l), name(right, r)));
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_equal_belongs_together() {
        let of = |text: &str| text.chars().zip(1..).collect::<Vec<_>>();
        assert_eq!(pairs(&of("abc"), &of("abc")), "aa bb cc");
        assert_eq!(pairs(&of("abc"), &of("bc")), "a- bb cc");
        assert_eq!(pairs(&of("bc"), &of("abcd")), "-a bb cc -d");
        assert_eq!(pairs(&of("abc"), &of("aXc")), "aa bX cc");
        assert_eq!(pairs(&of("abc"), &of("bcd")), "a- bb cc -d");
        assert_eq!(pairs(&[], &of("a")), "-a");
    }

    #[test]
    fn what_was_altered_is_found_by_its_size() {
        let left = [('a', 1), ('b', 2), ('c', 3), ('d', 4)];
        assert_eq!(pairs(&left, &[('a', 1), ('X', 3), ('d', 4)]), "aa b- cX dd");
        assert_eq!(
            pairs(&left, &[('W', 1), ('X', 2), ('Y', 3), ('Z', 4)]),
            "aW bX cY dZ"
        );
    }
}
