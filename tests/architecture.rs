//! The house rules as code: which room may name which, and what may stand where.
//!
//! The table is the one in the architecture's description. A new arrow changes it here, in the commit that needs it.

#![allow(missing_docs, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What each room may name. A room may always name itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("source", &["line"]),
    ("line", &["source"]),
    ("record", &["line"]),
    ("event", &["line", "record"]),
    // `settle` reads the fold's evidence at the log's end; the fold never names `dialect`, so the arrow closes no circle.
    ("dialect", &["line", "record", "event", "fold"]),
    ("fold", &["source", "line", "record", "event"]),
    (
        "request",
        &["source", "line", "record", "event", "dialect", "fold"],
    ),
    // `wire` finds messages by the fold's indexes, and writes them as the settled build did.
    (
        "wire",
        &["line", "record", "event", "dialect", "fold", "request"],
    ),
    (
        // `dialect` for how a request is derived: a change of it is a cause of its own.
        "analyse",
        &[
            "line", "record", "event", "dialect", "fold", "request", "wire",
        ],
    ),
    (
        "log",
        &[
            "source", "line", "record", "event", "dialect", "fold", "request", "wire", "analyse",
        ],
    ),
    (
        "compare",
        &[
            "source", "line", "record", "event", "dialect", "fold", "request", "wire", "analyse",
            "log",
        ],
    ),
    ("finding", &["line"]),
    (
        "rules",
        &[
            "source", "line", "record", "event", "dialect", "fold", "request", "wire", "analyse",
            "log", "compare", "finding",
        ],
    ),
    ("verdict", &["finding"]),
    ("report", &["line", "finding", "verdict", "analyse"]),
    (
        "cli",
        &[
            "source", "line", "record", "event", "dialect", "fold", "request", "wire", "analyse",
            "log", "compare", "finding", "rules", "verdict", "report",
        ],
    ),
];

/// Crates that only one room may name.
const CRATES: &[(&str, &str)] = &[
    ("miette", "report"),
    ("comfy_table", "report"),
    ("maud", "report"),
    ("clap", "cli"),
    ("clap_complete", "cli"),
    ("clap_mangen", "cli"),
    ("indicatif", "cli"),
    ("rayon", "cli"),
    ("memmap2", "source"),
    ("zstd", "source"),
];

/// Words that no code may hold, each with the rooms that are exempt and why.
const BANS: &[(&str, &[&str], &str)] = &[
    ("unsafe", &["source"], "only the mapping needs it"),
    (
        "serde_json::Value",
        &[],
        "a log's values are raw spans; a model of them loses bytes",
    ),
    ("std::net", &[], "no network, ever"),
    ("process::Command", &[], "no child process, ever"),
    (
        "SystemTime::now",
        &["cli"],
        "the same input gives the same output: no clock",
    ),
    (
        "Instant::now",
        &["cli"],
        "the same input gives the same output: no clock",
    ),
    (
        "std::env",
        &["cli"],
        "the environment is asked in one place",
    ),
    (
        "env::var",
        &["cli"],
        "the environment is asked in one place",
    ),
    (
        "process::exit",
        &[],
        "the exit code is decided in cli/exit.rs and returned",
    ),
];

struct SourceFile {
    room: String,
    path: PathBuf,
    /// Code without comments and without test modules; string literals are kept.
    code: String,
    /// The same without the insides of string literals.
    bare: String,
}

#[test]
fn rooms_name_only_the_rooms_they_may() {
    let mut wrong = Vec::new();
    for file in sources() {
        let Some((_, allowed)) = ROOMS.iter().find(|(room, _)| *room == file.room) else {
            if !["lib", "main"].contains(&file.room.as_str()) {
                wrong.push(format!(
                    "{}: a room that is not in the table",
                    file.path.display()
                ));
            }
            continue;
        };
        for named in rooms_named(&file.bare) {
            let is_room = ROOMS.iter().any(|(room, _)| *room == named);
            if is_room && named != file.room && !allowed.contains(&named.as_str()) {
                wrong.push(format!(
                    "{}: {} names {named}",
                    file.path.display(),
                    file.room
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_stay_in_their_room() {
    let mut wrong = Vec::new();
    for file in sources() {
        for (name, room) in CRATES {
            if file.room != *room && has_word(&file.bare, &format!("{name}::")) {
                wrong.push(format!("{}: {name} belongs to {room}", file.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_banned_stands_in_code() {
    let mut wrong = Vec::new();
    for file in sources() {
        for (word, exempt, why) in BANS {
            if !exempt.contains(&file.room.as_str()) && has_word(&file.bare, word) {
                wrong.push(format!("{}: {word} ({why})", file.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `unsafe` has one home inside `source`.
#[test]
fn unsafe_stands_in_the_mapping_only() {
    for file in sources()
        .iter()
        .filter(|file| has_word(&file.bare, "unsafe"))
    {
        assert!(
            file.path.ends_with("source/map.rs"),
            "{}: unsafe",
            file.path.display()
        );
    }
}

/// Only `dialect` knows event names; prose in `rules` quotes them.
#[test]
fn event_names_stand_in_dialect_only() {
    let mut wrong = Vec::new();
    for file in sources() {
        if ["dialect", "rules"].contains(&file.room.as_str()) {
            continue;
        }
        for literal in string_literals(&file.code) {
            if is_event_name(&literal) {
                wrong.push(format!("{}: \"{literal}\"", file.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_says_what_it_takes_gives_and_never_does() {
    let mut wrong = Vec::new();
    for path in rust_files(&root().join("src")) {
        let text = fs::read_to_string(&path).expect("a source file is readable");
        let is_entrance = ["main.rs", "lib.rs"]
            .iter()
            .any(|name| path.ends_with(name));
        let head: String = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .collect();
        let is_told = is_entrance
            || ["**Takes**", "**Gives**", "**Never**"]
                .iter()
                .all(|word| head.contains(word));
        if head.is_empty() || !is_told {
            wrong.push(path.display().to_string());
        }
    }
    assert!(
        wrong.is_empty(),
        "no Takes, Gives, Never:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_reader_of_this_test_sees_what_it_should() {
    let text = "use crate::{line::Seq, finding};\n// crate::rules\n/* crate::cli */\n\
        let s = \"crate::log // no comment\"; let c = '\"'; crate::record::Raw;\n\
        #[cfg(test)]\nmod tests { use crate::verdict; }\nfn f<'line>(x: &'line str) {}\n";
    let code = without_tests(&without_comments(text));
    let named = rooms_named(&without_strings(&code));
    let expected: BTreeSet<String> = ["line", "finding", "record"].map(String::from).into();
    assert_eq!(named, expected);
    assert_eq!(string_literals(&code), ["crate::log // no comment"]);
    assert!(is_event_name("assistant/chunk") && !is_event_name("a b/c") && !is_event_name("/x"));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<SourceFile> {
    let top = root().join("src");
    let mut files = Vec::new();
    for path in rust_files(&top) {
        let relative = path.strip_prefix(&top).expect("below src");
        let room = relative
            .iter()
            .next()
            .expect("a file has a name")
            .to_string_lossy();
        let room = room.trim_end_matches(".rs").to_string();
        let text = fs::read_to_string(&path).expect("a source file is readable");
        let code = without_tests(&without_comments(&text));
        let bare = without_strings(&code);
        files.push(SourceFile {
            room,
            path: relative.to_path_buf(),
            code,
            bare,
        });
    }
    assert!(files.len() > 10, "the sources were not found");
    files
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut tests = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        tests.extend(test_files(&directory));
        for child in fs::read_dir(&directory).expect("src is readable") {
            let path = child.expect("src is readable").path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.retain(|file| !tests.contains(file));
    files.sort();
    files
}

/// What follows `crate::`, also inside the braces of a `use`.
fn rooms_named(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => named.extend(first_words_of_group(group)),
            None => named.extend(first_word(rest)),
        }
    }
    named
}

fn first_word(text: &str) -> Option<String> {
    let word: String = text
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!word.is_empty()).then_some(word)
}

/// The first word of each part of `a, b::{c, d}, e}`.
fn first_words_of_group(group: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut depth = 0;
    let mut at_part = true;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => at_part = true,
            c if c.is_whitespace() => {}
            _ if at_part => {
                words.extend(first_word(&group[at..]));
                at_part = false;
            }
            _ => {}
        }
    }
    words
}

fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let open = word.ends_with(':');
        !before.is_some_and(is_part) && (open || !after.is_some_and(is_part))
    })
}

fn is_event_name(literal: &str) -> bool {
    const FAMILIES: &[&str] = &[
        "approval",
        "assistant",
        "bash",
        "command",
        "compact",
        "compaction",
        "context",
        "developer",
        "goal",
        "hook",
        "image",
        "llm",
        "mode",
        "permission",
        "prompt",
        "request",
        "sandbox",
        "session",
        "skill",
        "steering",
        "step",
        "system",
        "todo",
        "tool",
        "turn",
        "user",
        "workflow",
    ];
    match literal.split_once('/') {
        Some((family, name)) => {
            let is_kebab = |c: char| c.is_ascii_lowercase() || c == '-';
            FAMILIES.contains(&family) && !name.is_empty() && name.chars().all(is_kebab)
        }
        None => false,
    }
}

/// Walks Rust text and tells for each character whether it is code, comment or inside a literal.
fn classify(text: &str, mut each: impl FnMut(char, Part)) {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let end = match rest {
            ['/', '/', ..] => run(rest, &mut each, Part::Comment, |taken| {
                taken.ends_with(&['\n'])
            }),
            ['/', '*', ..] => run(rest, &mut each, Part::Comment, |taken| {
                taken.len() > 3 && taken.ends_with(&['*', '/'])
            }),
            ['r', '"', ..] | ['r', '#', '"' | '#', ..] if !ends_with_word(&chars[..at]) => {
                let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
                let close: Vec<char> = format!("\"{}", "#".repeat(hashes)).chars().collect();
                let open = hashes + 2;
                run(rest, &mut each, Part::Literal, |taken| {
                    taken.len() > open && taken.ends_with(&close)
                })
            }
            ['"', ..] => run(rest, &mut each, Part::Literal, |taken| {
                taken.len() > 1 && taken.ends_with(&['"']) && !is_escaped(taken)
            }),
            ['\'', '\\', ..] => run(rest, &mut each, Part::Character, |taken| {
                taken.len() > 3 && taken.ends_with(&['\''])
            }),
            ['\'', _, '\'', ..] => run(rest, &mut each, Part::Character, |taken| taken.len() == 3),
            _ => {
                each(rest[0], Part::Code);
                1
            }
        };
        at += end;
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Comment,
    Literal,
    Character,
}

fn run(
    rest: &[char],
    each: &mut impl FnMut(char, Part),
    part: Part,
    done: impl Fn(&[char]) -> bool,
) -> usize {
    for end in 1..=rest.len() {
        each(rest[end - 1], part);
        if done(&rest[..end]) {
            return end;
        }
    }
    rest.len()
}

fn ends_with_word(before: &[char]) -> bool {
    before
        .last()
        .is_some_and(|c| c.is_alphanumeric() || *c == '_')
}

fn is_escaped(taken: &[char]) -> bool {
    let before = &taken[..taken.len() - 1];
    before.iter().rev().take_while(|c| **c == '\\').count() % 2 == 1
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    classify(text, |c, part| match part {
        Part::Comment if c == '\n' => code.push('\n'),
        Part::Comment => {}
        _ => code.push(c),
    });
    code
}

fn without_strings(code: &str) -> String {
    let mut bare = String::new();
    classify(code, |c, part| {
        if matches!(part, Part::Code) {
            bare.push(c);
        }
    });
    bare
}

fn string_literals(code: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut was = Part::Code;
    classify(code, |c, part| {
        if part == Part::Literal {
            if was != Part::Literal {
                literals.push(String::new());
            }
            if let (Some(literal), false) = (literals.last_mut(), c == '"') {
                literal.push(c);
            }
        }
        was = part;
    });
    literals
}

/// Cuts test modules: inline ones are the last thing of a file, others are a line.
fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some((before, behind)) = rest.split_once(TEST_MODULE) {
        kept.push_str(before);
        match behind.find([';', '{']) {
            Some(end) if behind[end..].starts_with(';') => rest = &behind[end + 1..],
            _ => return kept,
        }
    }
    kept + rest
}

/// The files that `#[cfg(test)] mod name;` in a `mod.rs` brings in.
fn test_files(directory: &Path) -> Vec<PathBuf> {
    let Ok(text) = fs::read_to_string(directory.join("mod.rs")) else {
        return Vec::new();
    };
    let names = text
        .split(TEST_MODULE)
        .skip(1)
        .filter_map(|behind| behind.split_once(';'));
    names
        .map(|(name, _)| directory.join(format!("{name}.rs")))
        .collect()
}

/// How a test module begins.
const TEST_MODULE: &str = "#[cfg(test)]\nmod ";
