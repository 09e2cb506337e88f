//! Where the harness keeps a session, and whether a path says the same as the header.
//!
//! **Takes** a path, a session id and a working directory. **Gives** what of the path does not fit.
//! **Never** touches the file system, and never judges a path that has not the harness's layout.
//!
//! Source: format reference, section A.8 (paths).

use std::path::Path;

use crate::request::hex;
use sha2::{Digest, Sha256};

/// What of a path does not fit the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// The session's directory, or in the oldest layout its file, is another session's.
    Session {
        /// What the path has.
        found: String,
        /// What the header gives.
        expected: String,
    },
    /// The project's directory is another project's.
    Project {
        /// What the path has.
        found: String,
        /// What the header gives.
        expected: String,
    },
}

/// The directory of sessions without a working directory.
const NO_CWD: &str = "_no-cwd";

/// Compares a path that has one of the harness's layouts with what the header gives.
///
/// Layouts: `<project>/<session>/session[.vN].jsonl[.zstd]` and before 2026-07-25 `cwd-<digest>/<session>.jsonl[.zstd]`. A working
/// directory that is a fixture's placeholder is not compared.
pub fn misplaced(path: &Path, id: &str, cwd: Option<&str>) -> Vec<Misplaced> {
    let mut names = path.iter().rev().map(|name| name.to_string_lossy());
    let (Some(file), Some(first)) = (names.next(), names.next()) else {
        return Vec::new();
    };
    let stem = file.strip_suffix(".zstd").unwrap_or(&file);
    let Some(stem) = stem.strip_suffix(".jsonl") else {
        return Vec::new();
    };
    let second = names.next().unwrap_or_default();
    let is_canonical = stem == "session" || stem.starts_with("session.v");
    let (session, project, expected) = if is_canonical && is_project(&second) {
        (
            &*first,
            &*second,
            cwd.map_or_else(|| NO_CWD.to_owned(), project_key),
        )
    } else if is_digest(&first) {
        (
            stem,
            &*first,
            cwd.map_or_else(|| NO_CWD.to_owned(), digest_key),
        )
    } else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let encoded = encoded(id);
    if session != encoded {
        found.push(Misplaced::Session {
            found: session.to_owned(),
            expected: encoded,
        });
    }
    let is_placeholder = cwd.is_some_and(|cwd| cwd.contains("{{"));
    if project != expected && !is_placeholder {
        found.push(Misplaced::Project {
            found: project.to_owned(),
            expected,
        });
    }
    found
}

fn is_project(name: &str) -> bool {
    name == NO_CWD || (name.len() > 4 && name.starts_with("--") && name.ends_with("--"))
}

fn is_digest(name: &str) -> bool {
    let digest = name.strip_prefix("cwd-");
    name == NO_CWD
        || digest.is_some_and(|digest| {
            let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            digest.len() == 12 && digest.bytes().all(is_hex)
        })
}

/// A session's directory: every UTF-16 unit that is not safe as `~` and four upper hex digits.
fn encoded(id: &str) -> String {
    match id {
        "." => "~002E".to_owned(),
        ".." => "~002E~002E".to_owned(),
        _ => id.encode_utf16().map(safe).collect(),
    }
}

fn safe(unit: u16) -> String {
    match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) => {
            char::from(byte).to_string()
        }
        _ => format!("~{unit:04X}"),
    }
}

/// A project's directory from 2026-07-25 on.
fn project_key(cwd: &str) -> String {
    const MOST: usize = 251;
    let mut key = String::new();
    let mut in_run = false;
    for unit in cwd.encode_utf16() {
        let is_separator = [b'/', b'\\', b':'].map(u16::from).contains(&unit);
        match (is_separator, in_run) {
            (true, true) => {}
            (true, false) => key.push('-'),
            (false, _) => key.push_str(&safe(unit)),
        }
        in_run = is_separator;
    }
    let key = key.trim_start_matches('-');
    let key = if key.is_empty() { "root" } else { key };
    // All of it is ASCII by now.
    format!("--{}--", key.get(..MOST).unwrap_or(key))
}

/// A project's directory before 2026-07-25.
fn digest_key(cwd: &str) -> String {
    let digest = hex(&Sha256::digest(cwd.as_bytes()));
    format!("cwd-{}", digest.get(..12).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, id: &str, cwd: Option<&str>) -> Vec<Misplaced> {
        misplaced(Path::new(path), id, cwd)
    }

    #[test]
    fn names_are_encoded_as_the_harness_does() {
        assert_eq!(encoded("a b/ü.😀"), "a~0020b~002F~00FC.~D83D~DE00");
        assert_eq!(
            [encoded("."), encoded(".."), encoded("...")],
            ["~002E", "~002E~002E", "..."]
        );
        assert_eq!(
            project_key("/home/me/my project"),
            "--home-me-my~0020project--"
        );
        assert_eq!(project_key("C:\\Users\\me"), "--C-Users-me--");
        assert_eq!(project_key("/"), "--root--");
        assert_eq!(project_key(&format!("/{}", "x".repeat(300))).len(), 255);
    }

    #[test]
    fn a_path_that_fits_is_silent_and_another_layout_too() {
        assert!(found("r/--repo--/s-1/session.v4.jsonl.zstd", "s-1", Some("/repo")).is_empty());
        assert!(found("r/_no-cwd/s-1/session.jsonl", "s-1", None).is_empty());
        assert!(found("r/_no-cwd/s-1.jsonl", "s-1", None).is_empty());
        let old = format!("{}/s-1.jsonl", digest_key("/repo"));
        assert!(found(&old, "s-1", Some("/repo")).is_empty());
        for path in [
            "session.jsonl",
            "x/session.jsonl",
            "logs/x/session.jsonl",
            "cwd-12/x.jsonl",
            "--a--/x/y.jsonl",
        ] {
            assert!(found(path, "s-1", Some("/repo")).is_empty(), "{path}");
        }
        assert!(found("--x--/s-1/session.jsonl", "s-1", Some("{{cwd}}")).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let misplaced = found("--other--/s-8/session.jsonl", "s-7", Some("/repo"));
        assert_eq!(
            misplaced,
            [
                Misplaced::Session {
                    found: "s-8".into(),
                    expected: "s-7".into()
                },
                Misplaced::Project {
                    found: "--other--".into(),
                    expected: "--repo--".into()
                },
            ]
        );
        let misplaced = found("cwd-0123456789ab/s-8.jsonl", "s-8", Some("/repo"));
        assert!(matches!(&misplaced[..], [Misplaced::Project { .. }]));
    }
}
