//! What is read: paths, directories, globs and standard input become a list of inputs.
//!
//! **Takes** the PATHs of the command line. **Gives** one [`Found`] for each file, in a fixed order, and one for each PATH that
//! gave none. **Never** opens a file: a name chooses what a walk looks at, content decides what a file is.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};

use super::generations;

/// How a file came to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Its name was given.
    Named,
    /// A walk through a directory, or a glob, found it.
    Walked,
}

/// One input.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The path as given, or as the walk reached it; `-` is standard input.
    pub(crate) path: PathBuf,
    /// How it came to be read.
    pub(crate) how: How,
    /// Its length in bytes, 0 where unknown.
    pub(crate) size: u64,
    /// When it was last written to, where known.
    pub(crate) modified: Option<SystemTime>,
    /// Why it cannot be read, if that is known already.
    pub(crate) problem: Option<String>,
    /// Lower generations of the same session beside it that are left aside.
    pub(crate) older: Vec<PathBuf>,
    /// The highest generation of the same session beside it, if that is another file.
    pub(crate) newer: Option<PathBuf>,
}

impl Found {
    fn file(path: PathBuf, how: How, metadata: &fs::Metadata) -> Found {
        Found {
            path,
            how,
            size: metadata.len(),
            modified: metadata.modified().ok(),
            problem: None,
            older: Vec::new(),
            newer: None,
        }
    }

    fn problem(path: PathBuf, how: How, problem: String) -> Found {
        Found {
            path,
            how,
            size: 0,
            modified: None,
            problem: Some(problem),
            older: Vec::new(),
            newer: None,
        }
    }

    /// Whether it is standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }
}

/// What the PATHs gave.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    /// The inputs, in the order of PATHs, each walk in the order of names.
    pub(crate) found: Vec<Found>,
    /// What a walk left aside because it is no file: FIFOs, sockets, devices.
    pub(crate) special: Vec<PathBuf>,
}

/// Which generations of a session are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generations {
    /// The highest one of a directory.
    Highest,
    /// All of them.
    All,
}

/// Finds the inputs that `paths` name.
pub(crate) fn discover(paths: &[PathBuf], take: Generations) -> Discovery {
    let mut walk = Walk::default();
    for path in paths {
        walk.path(path);
    }
    let mut discovery = Discovery {
        found: walk.found,
        special: walk.special,
    };
    if take == Generations::Highest {
        discovery.found = generations::leave_lower_aside(discovery.found);
    }
    generations::note_newer(&mut discovery.found);
    discovery
}

#[derive(Default)]
struct Walk {
    found: Vec<Found>,
    special: Vec<PathBuf>,
    /// Files that a walk has reached, so that two PATHs or a glob do not give one twice.
    seen: BTreeSet<PathBuf>,
}

impl Walk {
    fn path(&mut self, path: &Path) {
        if path.as_os_str() == "-" {
            let mut stdin = Found::problem(path.to_path_buf(), How::Named, String::new());
            stdin.problem = None;
            self.found.push(stdin);
            return;
        }
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let before = self.found.len() + self.special.len();
                self.directory(path);
                if self.found.len() + self.special.len() == before {
                    self.problem(
                        path,
                        "no *.jsonl, *.jsonl.zstd or *.jsonl.zst below this directory",
                    );
                }
            }
            Ok(metadata) => self
                .found
                .push(Found::file(path.to_path_buf(), How::Named, &metadata)),
            Err(error) => match path.to_str() {
                Some(pattern) if error.kind() == io::ErrorKind::NotFound && is_glob(pattern) => {
                    self.glob(path, pattern);
                }
                _ => self.problem(path, cannot_read(&error)),
            },
        }
    }

    fn problem(&mut self, path: &Path, problem: impl Into<String>) {
        self.found.push(Found::problem(
            path.to_path_buf(),
            How::Named,
            problem.into(),
        ));
    }

    fn glob(&mut self, path: &Path, pattern: &str) {
        let matcher = match GlobBuilder::new(pattern).literal_separator(true).build() {
            Ok(glob) => glob.compile_matcher(),
            Err(error) => {
                self.problem(path, format!("no such file, and no glob: {}", error.kind()));
                return;
            }
        };
        let before = self.found.len();
        self.below(base_of(pattern), Some(&matcher));
        if self.found.len() == before {
            self.problem(path, "no file matches");
        }
    }

    fn directory(&mut self, path: &Path) {
        self.below(path, None);
    }

    /// Visits everything below `top`, directories in the order of names. With a matcher, files that match are taken and
    /// directories that match are walked; without one, files whose name says that they may be logs are taken.
    fn below(&mut self, top: &Path, matcher: Option<&GlobMatcher>) {
        let mut left = vec![(top.to_path_buf(), matcher)];
        while let Some((directory, matcher)) = left.pop() {
            let children = match children_of(&directory) {
                Ok(children) => children,
                Err(error) => {
                    let problem = format!("directory: {}", cannot_read(&error));
                    self.found
                        .push(Found::problem(directory, How::Walked, problem));
                    continue;
                }
            };
            let mut directories = Vec::new();
            for (child, kind) in children {
                let matches = matcher.is_some_and(|matcher| matcher.is_match(&child));
                if kind.is_dir() {
                    directories.push((child, if matches { None } else { matcher }));
                } else if matches || (matcher.is_none() && may_be_a_log(&child)) {
                    self.file(child);
                }
            }
            left.extend(directories.into_iter().rev());
        }
    }

    fn file(&mut self, path: PathBuf) {
        if !self.seen.insert(path.clone()) {
            return;
        }
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                self.found.push(Found::file(path, How::Walked, &metadata));
            }
            // A link to a directory is not followed: it would lead a walk in circles.
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => self.special.push(path),
            Err(error) => {
                let problem = cannot_read(&error);
                self.found.push(Found::problem(path, How::Walked, problem));
            }
        }
    }
}

/// The children of a directory in the order of names, with what each is before links are followed.
fn children_of(directory: &Path) -> io::Result<BTreeMap<PathBuf, fs::FileType>> {
    let here = directory.as_os_str().is_empty();
    let listing = fs::read_dir(if here { Path::new(".") } else { directory })?;
    listing
        .map(|child| {
            let child = child?;
            Ok((directory.join(child.file_name()), child.file_type()?))
        })
        .collect()
}

/// Whether a walk looks at a file of this name.
fn may_be_a_log(path: &Path) -> bool {
    let name = path.file_name().map_or(&b""[..], OsStr::as_encoded_bytes);
    [&b".jsonl"[..], b".jsonl.zstd", b".jsonl.zst"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{'])
}

/// The directory from which a glob's walk starts: everything before the first part with a special character.
fn base_of(pattern: &str) -> &Path {
    let special = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    let before = pattern.split_at(special).0;
    match before.rfind('/') {
        Some(0) => Path::new("/"),
        Some(end) => Path::new(before.split_at(end).0),
        None => Path::new(""),
    }
}

/// What the system says, without numbers.
pub(crate) fn cannot_read(error: &io::Error) -> String {
    let words = match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::IsADirectory => "is a directory",
        _ => return format!("cannot read: {error}"),
    };
    format!("cannot read: {words}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().expect("a directory");
        for file in [
            "b/session.jsonl",
            "b/session.v2.jsonl",
            "b/session.v10.jsonl.zstd",
            "a/x.jsonl",
            "a/y.txt",
        ] {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().expect("has one")).expect("created");
            fs::write(path, b"{}\n").expect("written");
        }
        tree
    }

    fn names(tree: &tempfile::TempDir, discovery: &Discovery) -> Vec<String> {
        let relative = |found: &Found| {
            let path = found
                .path
                .strip_prefix(tree.path())
                .expect("below the tree");
            path.to_string_lossy().into_owned()
        };
        discovery.found.iter().map(relative).collect()
    }

    #[test]
    fn a_walk_takes_logs_in_order_and_the_highest_generation() {
        let tree = tree();
        let discovery = discover(&[tree.path().to_path_buf()], Generations::Highest);
        assert_eq!(
            names(&tree, &discovery),
            ["a/x.jsonl", "b/session.v10.jsonl.zstd"]
        );
        assert_eq!(discovery.found[1].older.len(), 2);
        let discovery = discover(&[tree.path().to_path_buf()], Generations::All);
        assert_eq!(discovery.found.len(), 4);
        assert!(discovery.found[1].newer.is_some());
    }

    #[test]
    fn a_lower_generation_given_by_name_is_taken_and_told_of_the_higher() {
        let tree = tree();
        let discovery = discover(
            &[tree.path().join("b/session.v2.jsonl")],
            Generations::Highest,
        );
        assert_eq!(names(&tree, &discovery), ["b/session.v2.jsonl"]);
        assert_eq!(
            discovery.found[0].newer,
            Some(tree.path().join("b/session.v10.jsonl.zstd"))
        );
    }

    #[test]
    fn globs_match_files_and_directories() {
        let tree = tree();
        let glob = |pattern: &str| {
            discover(&[tree.path().join(pattern)], Generations::All)
                .found
                .len()
        };
        assert_eq!(glob("*/session*.jsonl"), 2);
        assert_eq!(glob("**/*.jsonl"), 3);
        assert_eq!(glob("[a]"), 1);
        assert_eq!(glob("a/*.txt"), 1);
        let nothing = discover(&[tree.path().join("*.nothing")], Generations::All);
        assert_eq!(nothing.found[0].problem.as_deref(), Some("no file matches"));
    }

    #[test]
    fn the_base_of_a_glob_has_no_special_part() {
        assert_eq!(base_of("a/b*/c"), Path::new("a"));
        assert_eq!(base_of("*.jsonl"), Path::new(""));
        assert_eq!(base_of("/x*"), Path::new("/"));
    }

    #[cfg(unix)]
    #[test]
    fn links_loops_and_special_files_do_no_harm() {
        use std::os::unix::fs::symlink;
        let tree = tree();
        symlink(tree.path(), tree.path().join("a/loop")).expect("linked");
        symlink(tree.path(), tree.path().join("a/loop.jsonl")).expect("linked");
        symlink(tree.path().join("gone"), tree.path().join("a/broken.jsonl")).expect("linked");
        let _socket =
            std::os::unix::net::UnixListener::bind(tree.path().join("a/s.jsonl")).expect("bound");
        let discovery = discover(&[tree.path().to_path_buf()], Generations::Highest);
        let expected = ["a/broken.jsonl", "a/x.jsonl", "b/session.v10.jsonl.zstd"];
        assert_eq!(names(&tree, &discovery), expected);
        assert!(discovery.found[0].problem.is_some());
        assert_eq!(discovery.special, [tree.path().join("a/s.jsonl")]);
    }

    #[test]
    fn an_empty_directory_and_a_missing_file_are_results() {
        let tree = tempfile::tempdir().expect("a directory");
        let paths = [tree.path().to_path_buf(), tree.path().join("gone.jsonl")];
        let discovery = discover(&paths, Generations::Highest);
        assert_eq!(
            discovery
                .found
                .iter()
                .filter(|found| found.problem.is_some())
                .count(),
            2
        );
    }
}
