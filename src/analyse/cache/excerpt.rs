//! What changed, in one line.
//!
//! **Takes** two texts. **Gives** the bounded surroundings of their first difference. **Never** keeps more.

/// Bytes kept before the first difference, and from it on.
const BEFORE: usize = 24;
const BEHIND: usize = 72;

/// The first byte in which two texts differ.
pub(super) fn first_difference(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The surroundings of a byte, on one line.
pub(super) fn around(text: &[u8], at: usize) -> String {
    let from = at.saturating_sub(BEFORE);
    let to = (at + BEHIND).min(text.len());
    let piece = text.get(from.min(to)..to).unwrap_or_default();
    let shown = String::from_utf8_lossy(piece).replace(['\n', '\r'], "⏎");
    let head = if from > 0 { "…" } else { "" };
    let tail = if to < text.len() { "…" } else { "" };
    format!("{head}{shown}{tail}")
}

/// Both texts around their first difference.
pub(super) fn both(a: &[u8], b: &[u8]) -> (String, String) {
    let at = first_difference(a, b);
    (around(a, at), around(b, at))
}
