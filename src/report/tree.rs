//! Sessions as a tree: forks and subagents under the session that they come from.
//!
//! **Takes** a [`Report`]. **Gives** one line per session in the columns of its depth.
//! **Never** recurses on the depth of a lineage, and never shows a finding.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::human::mark;
use super::paint::Tone;
use super::safe::{Safe, SafePath};
use super::{FileReport, Look, Report, SessionFacts, words};

/// A line that is still to be written.
struct Node<'r> {
    what: What<'r>,
    /// What stands before it on the lines below it.
    indent: String,
    /// Whether another child of the same parent follows; absent for roots.
    is_followed: Option<bool>,
}

/// What a line is of.
#[derive(Clone, Copy)]
enum What<'r> {
    File(usize),
    /// A session that is named as a parent, and is not there.
    Missing(&'r str),
}

/// Who stands under whom, in input order.
#[derive(Default)]
struct Children<'r> {
    roots: Vec<What<'r>>,
    of_file: BTreeMap<usize, Vec<usize>>,
    of_missing: BTreeMap<&'r str, Vec<usize>>,
}

impl<'r> Children<'r> {
    fn of(files: &'r [FileReport]) -> Children<'r> {
        let paths = files.iter().enumerate();
        let at: BTreeMap<&Path, usize> = paths.map(|(at, file)| (&*file.path, at)).collect();
        let mut children = Children::default();
        for (own, file) in files.iter().enumerate() {
            let parent = file.parent.as_deref().and_then(|path| at.get(path));
            let named = file
                .session
                .as_ref()
                .and_then(|facts| facts.parent.as_deref());
            match (parent, named) {
                (Some(parent), _) => children.of_file.entry(*parent).or_default().push(own),
                (None, Some(id)) => {
                    let siblings = children.of_missing.entry(id).or_default();
                    if siblings.is_empty() {
                        children.roots.push(What::Missing(id));
                    }
                    siblings.push(own);
                }
                (None, None) => children.roots.push(What::File(own)),
            }
        }
        children
    }

    fn below(&self, what: What<'r>) -> &[usize] {
        let found = match what {
            What::File(at) => self.of_file.get(&at),
            What::Missing(id) => self.of_missing.get(id),
        };
        found.map_or(&[], Vec::as_slice)
    }
}

/// Writes the tree.
pub(super) fn write(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let children = Children::of(report.files);
    let roots = children.roots.iter().rev().map(|what| Node {
        what: *what,
        indent: String::new(),
        is_followed: None,
    });
    let mut left: Vec<Node<'_>> = roots.collect();
    while let Some(node) = left.pop() {
        let (branch, under) = match node.is_followed {
            None => ("", ""),
            Some(true) => ("├─ ", "│  "),
            Some(false) => ("└─ ", "   "),
        };
        write!(out, "{}{branch}", node.indent)?;
        match node.what {
            What::File(at) => match report.files.get(at) {
                Some(file) => write_session(file, look, out)?,
                None => continue,
            },
            What::Missing(id) => {
                let note = look.paint.tone(Tone::Faint, "not among the inputs");
                writeln!(
                    out,
                    "{} {}  {note}",
                    look.paint.tone(Tone::Doubt, "?"),
                    Safe(id)
                )?;
            }
        }
        let below = children.below(node.what);
        let indent = format!("{}{under}", node.indent);
        left.extend(below.iter().enumerate().rev().map(|(place, at)| Node {
            what: What::File(*at),
            indent: indent.clone(),
            is_followed: Some(place + 1 < below.len()),
        }));
    }
    Ok(())
}

fn write_session(file: &FileReport, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let (mark, tone) = mark(file);
    let path = look.paint.tone(Tone::Faint, SafePath(&file.path));
    let outcome = look.paint.tone(tone, words::outcome(file));
    let mark = look.paint.tone(tone, mark);
    let Some(facts) = &file.session else {
        return writeln!(out, "{mark} {}  {outcome}", SafePath(&file.path));
    };
    let id = look.paint.tone(Tone::Strong, Safe(&facts.id));
    writeln!(out, "{mark} {id}  {outcome}  {}  {path}", numbers(facts))
}

fn numbers(facts: &SessionFacts) -> String {
    let inherited = facts.inherited.unwrap_or_default();
    let version = facts
        .version
        .map_or("no version".to_owned(), |version| format!("v{version}"));
    format!(
        "{version}, {}, {}",
        words::shared(facts.turns, "turn", inherited.turns),
        words::shared(facts.requests, "request", inherited.requests)
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::report::sample;

    fn shown(sessions: &[(&str, Option<&str>, Option<&str>)]) -> String {
        let template = sample::files().remove(0);
        let files: Vec<FileReport> = sessions
            .iter()
            .map(|(id, parent, path)| {
                let mut file = template.clone();
                file.path = PathBuf::from(id);
                file.parent = path.map(PathBuf::from);
                if let Some(facts) = &mut file.session {
                    facts.id = (*id).to_owned();
                    facts.parent = parent.map(str::to_owned);
                    facts.inherited = None;
                }
                file
            })
            .collect();
        let mut out = Vec::new();
        write(&sample::report(&files, &[], &[]), sample::look(), &mut out)
            .expect("a vector takes all");
        String::from_utf8(out)
            .expect("text")
            .replace("  clean  v0, 2 turns, 3 requests", "")
    }

    #[test]
    fn children_stand_under_their_parents() {
        let tree = shown(&[
            ("child", Some("root"), Some("root")),
            ("root", None, None),
            ("grandchild", Some("child"), Some("child")),
            ("second", Some("root"), Some("root")),
            ("orphan", Some("\u{1b}gone"), None),
        ]);
        let expected = "✓ root  root\n├─ ✓ child  child\n│  └─ ✓ grandchild  grandchild\n└─ ✓ second  second\n\
            ? \\x1bgone  not among the inputs\n└─ ✓ orphan  orphan\n";
        assert_eq!(tree, expected);
    }

    #[test]
    fn a_long_lineage_is_shown() {
        let names: Vec<String> = (0..2_000).map(|at| at.to_string()).collect();
        let parent = |at: usize| {
            at.checked_sub(1)
                .and_then(|at| names.get(at))
                .map(String::as_str)
        };
        let sessions: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(at, id)| (&**id, parent(at), parent(at)))
            .collect();
        assert_eq!(shown(&sessions).lines().count(), 2_000);
    }
}
