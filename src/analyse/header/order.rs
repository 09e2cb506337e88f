//! What moved among things that are the same.
//!
//! **Takes** earlier positions in the later order. **Gives** the fewest that must have moved. **Never** looks at the things.

/// For each position (all different), whether it stands outside the longest run that kept its order. O(n log n).
pub(super) fn moved(positions: &[usize]) -> Vec<bool> {
    // `ends[k]`: where the best run of length k + 1 ends; `before[i]`: the one before i in its run.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(positions.len());
    for (at, position) in positions.iter().enumerate() {
        let longer = ends.partition_point(|end| positions.get(*end) < Some(position));
        before.push(longer.checked_sub(1).and_then(|k| ends.get(k).copied()));
        match ends.get_mut(longer) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut moved = vec![true; positions.len()];
    let mut at = ends.last().copied();
    while let Some(kept) = at {
        if let Some(flag) = moved.get_mut(kept) {
            *flag = false;
        }
        at = before.get(kept).copied().flatten();
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_moves_are_found() {
        assert_eq!(moved(&[0, 1, 2]), [false; 3]);
        assert_eq!(moved(&[3, 0, 1, 2]), [true, false, false, false]);
        assert_eq!(moved(&[1, 0]).iter().filter(|moved| **moved).count(), 1);
        assert_eq!(moved(&[2, 1, 0]).iter().filter(|moved| **moved).count(), 2);
        assert!(moved(&[]).is_empty());
    }
}
