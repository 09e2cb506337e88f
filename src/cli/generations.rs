//! Several generations of one session in one directory: which is taken, and what is said of the others.
//!
//! **Takes** the inputs found. **Gives** the same without lower generations, and what stands beside each.
//! **Never** looks at content: a generation is named by `session[.vN].jsonl[.zstd]`.
//!
//! *Source*: format.md 0.1.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::discover::{Found, How};

/// The generation a canonical file name stands for, `None` for any other name.
pub(super) fn generation_of(path: &Path) -> Option<u64> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    let name = name.strip_suffix(".zstd").unwrap_or(name);
    let middle = name.strip_prefix("session")?.strip_suffix(".jsonl")?;
    if middle.is_empty() {
        return Some(0);
    }
    let digits = middle.strip_prefix(".v")?;
    if digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Leaves lower generations that a walk found aside; the highest one of a directory names them.
pub(super) fn leave_lower_aside(found: Vec<Found>) -> Vec<Found> {
    let mut highest: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for file in found.iter().filter(|file| file.how == How::Walked) {
        if let Some(generation) = generation_of(&file.path) {
            let known = highest
                .entry(directory_of(&file.path).to_path_buf())
                .or_default();
            *known = generation.max(*known);
        }
    }
    let is_lower = |file: &Found| {
        file.how == How::Walked
            && generation_of(&file.path)
                .zip(highest.get(directory_of(&file.path)))
                .is_some_and(|(generation, highest)| generation < *highest)
    };
    let (lower, mut taken): (Vec<Found>, Vec<Found>) = found.into_iter().partition(is_lower);
    let mut aside: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in lower {
        aside
            .entry(directory_of(&file.path).to_path_buf())
            .or_default()
            .push(file.path);
    }
    for file in taken.iter_mut().filter(|file| file.how == How::Walked) {
        if generation_of(&file.path).is_some() {
            file.older = aside.remove(directory_of(&file.path)).unwrap_or_default();
        }
    }
    taken
}

/// Tells each file of the highest generation that stands beside it, where it is lower itself.
pub(super) fn note_newer(found: &mut [Found]) {
    let mut highest: BTreeMap<PathBuf, Option<(u64, PathBuf)>> = BTreeMap::new();
    for file in found {
        let Some(generation) = generation_of(&file.path).filter(|_| file.problem.is_none()) else {
            continue;
        };
        let directory = directory_of(&file.path).to_path_buf();
        let known = highest
            .entry(directory)
            .or_insert_with_key(|directory| highest_in(directory));
        if let Some((newest, path)) = known
            && *newest > generation
        {
            file.newer = Some(path.clone());
        }
    }
}

/// The file of this generation of the same session beside a file, if it is there.
pub(super) fn beside(path: &Path, generation: u64) -> Option<PathBuf> {
    generation_of(path)?;
    let middle = match generation {
        0 => String::new(),
        _ => format!(".v{generation}"),
    };
    let names = [".jsonl", ".jsonl.zstd"].map(|end| format!("session{middle}{end}"));
    let paths = names.map(|name| directory_of(path).join(name));
    paths.into_iter().find(|path| path.is_file())
}

fn highest_in(directory: &Path) -> Option<(u64, PathBuf)> {
    let here = directory.as_os_str().is_empty();
    let children = fs::read_dir(if here { Path::new(".") } else { directory }).ok()?;
    let paths = children.filter_map(|child| Some(directory.join(child.ok()?.file_name())));
    paths
        .filter_map(|path| Some((generation_of(&path)?, path)))
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_names_are_generations() {
        let generation = |name: &str| generation_of(Path::new(name));
        assert_eq!(generation("session.jsonl"), Some(0));
        assert_eq!(generation("d/session.jsonl.zstd"), Some(0));
        assert_eq!(generation("session.v3.jsonl"), Some(3));
        assert_eq!(generation("session.v10.jsonl.zstd"), Some(10));
        for name in [
            "session.v0.jsonl",
            "session.v01.jsonl",
            "session.vx.jsonl",
            "session.v.jsonl",
            "x.jsonl",
        ] {
            assert_eq!(generation(name), None, "{name}");
        }
        assert_eq!(generation("session.v+3.jsonl"), None);
        assert_eq!(generation("session.v99999999999999999999.jsonl"), None);
    }
}
