//! "Did you mean": the known word most like an unknown one.
//!
//! **Takes** a word and the known ones. **Gives** the closest, if it is close. **Never** replaces the word by itself.

/// The known word most like `word`, if it is close enough to be meant. Case is ignored.
pub(super) fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = word.to_ascii_lowercase();
    let scored = known.into_iter().map(|candidate| {
        let likeness = strsim::jaro_winkler(&word, &candidate.to_ascii_lowercase());
        (likeness, candidate)
    });
    let best = scored.fold(None::<(f64, &str)>, |best, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.filter(|(likeness, _)| *likeness > 0.8)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["levels", "baseline", "fail-on"];
        assert_eq!(closest("levls", known), Some("levels"));
        assert_eq!(closest("Base-line", known), Some("baseline"));
        assert_eq!(closest("colour", known), None);
        assert_eq!(closest("x", []), None);
    }
}
