//! A finding's identity across runs: what a baseline names and what SARIF consumers match by.
//!
//! **Takes** a finding and the session it belongs to. **Gives** a [`Fingerprint`].
//! **Never** depends on the file's path, the line, the wording, or the level.

use std::fmt;
use std::str::FromStr;

use crate::finding::Finding;

/// 128 bits over rule code, session id, seq and the finding's own evidence. Printed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of a finding in the session `identity`.
    pub(crate) fn of(finding: &Finding, identity: &str) -> Fingerprint {
        let seq = finding.at.seq.map_or(u64::MAX, |seq| seq.0);
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        hasher.update(&finding.rule.code.to_le_bytes());
        hasher.update(&seq.to_le_bytes());
        hasher.update(&finding.evidence.to_le_bytes());
        hasher.update(identity.as_bytes());
        Fingerprint(hasher.digest128())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = ();

    /// Reads 32 hexadecimal digits.
    fn from_str(text: &str) -> Result<Fingerprint, ()> {
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(());
        }
        u128::from_str_radix(text, 16)
            .map(Fingerprint)
            .map_err(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Level, Place, Rule};
    use crate::line::{LineNo, Seq};

    static RULE: Rule = Rule {
        code: 302,
        name: "legacy-header-delta",
        level: Level::Error,
        summary: "",
        page: "",
    };

    #[test]
    fn wording_line_and_level_do_not_matter_and_session_seq_and_evidence_do() {
        let at = Place {
            seq: Some(Seq(6)),
            ..Place::default()
        };
        let a = Finding::new(&RULE, "one wording", at.clone(), b"tools");
        let mut b = Finding::new(&RULE, "another", at, b"tools").level(Level::Note);
        b.at.line = Some(LineNo(9));
        assert_eq!(Fingerprint::of(&a, "s"), Fingerprint::of(&b, "s"));
        assert_ne!(Fingerprint::of(&a, "s"), Fingerprint::of(&a, "t"));
        b.evidence += 1;
        assert_ne!(Fingerprint::of(&a, "s"), Fingerprint::of(&b, "s"));
        b.evidence -= 1;
        b.at.seq = None;
        assert_ne!(Fingerprint::of(&a, "s"), Fingerprint::of(&b, "s"));
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let fingerprint = Fingerprint(7);
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        assert_eq!("7".parse::<Fingerprint>(), Err(()));
        assert_eq!(format!("+{:031x}", 7).parse::<Fingerprint>(), Err(()));
    }
}
