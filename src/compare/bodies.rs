//! Provider bodies, as far as a log decides them.
//!
//! **Takes** bodies. **Gives** them without what only the deployment knows. **Never** guesses it.

use std::borrow::Cow;

use crate::record::{Raw, print_str};
use crate::request::digest_of_bytes;
use crate::wire::Omitted;

/// Members that the deployment may decide.
pub(super) const UNHELD: [&str; 3] = ["thinking", "reasoning_effort", "max_tokens"];

/// Begins the names of members that extensions of the harness add.
const EXTENSION: &str = "dsh_";

/// The text of a captured body: a string holds it, or it stands there itself.
pub(super) fn text_of(body: Raw<'_>) -> Cow<'_, [u8]> {
    match body.text() {
        Some(text) => Cow::Owned(text.bytes().to_vec()),
        None => Cow::Borrowed(body.bytes()),
    }
}

/// Whether a member is left out where the log leaves this open.
pub(super) fn is_left_out(name: &str, omitted: Omitted) -> bool {
    match name {
        "thinking" | "reasoning_effort" => omitted.thinking,
        "max_tokens" => omitted.max_tokens,
        _ => name.starts_with(EXTENSION),
    }
}

/// A body without some of its own members, printed as the engine does. What is no object becomes an empty one.
pub(super) fn without(body: &[u8], is_left_out: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut out = vec![b'{'];
    let members = Raw::parse(body).ok().into_iter().flat_map(Raw::members);
    for (key, value) in members {
        let name = key
            .text()
            .map(|name| name.to_lossy().into_owned())
            .unwrap_or_default();
        if is_left_out(&name) {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        // Writing to memory does not fail.
        let _ = print_str(&name, &mut out);
        out.push(b':');
        let _ = value.print(&mut out);
    }
    out.push(b'}');
    out
}

/// A digest that is equal for bodies that differ at most in what the deployment may decide.
pub(super) fn digest(body: &[u8]) -> String {
    let is_left_out = |name: &str| UNHELD.contains(&name) || name.starts_with(EXTENSION);
    digest_of_bytes(&without(body, is_left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_deployment_decides_is_told_apart_from_the_rest() {
        let one =
            br#"{"model":"m","thinking":{"type":"enabled"},"dsh_session_log":[1],"messages":[]}"#;
        let other = br#"{"model": "m","messages":[],"max_tokens":7}"#;
        assert_eq!(digest(one), digest(other));
        assert_ne!(digest(one), digest(br#"{"model":"m","messages":[1]}"#));
        let thinking = Omitted {
            thinking: true,
            ..Omitted::default()
        };
        assert!(is_left_out("reasoning_effort", thinking) && !is_left_out("max_tokens", thinking));
        assert_eq!(
            without(one, |name| is_left_out(name, Omitted::default())),
            br#"{"model":"m","thinking":{"type":"enabled"},"messages":[]}"#
        );
        assert_eq!(without(b"[1]", |_| false), b"{}");
    }
}
