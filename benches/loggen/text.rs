//! Text that looks like an agent's work: prose, code, terminal output, other scripts.
//!
//! **Takes** a generator of numbers and a wished length. **Gives** strings of about that many bytes, and the places where a
//! provider would cut them into deltas. **Never** splits a character.

use super::rng::Rng;

const WORDS: [&str; 96] = [
    "the",
    "a",
    "of",
    "to",
    "and",
    "in",
    "that",
    "is",
    "it",
    "for",
    "with",
    "this",
    "we",
    "be",
    "not",
    "on",
    "as",
    "so",
    "but",
    "if",
    "test",
    "file",
    "line",
    "parser",
    "buffer",
    "request",
    "header",
    "cache",
    "prefix",
    "token",
    "first",
    "next",
    "read",
    "write",
    "check",
    "fails",
    "passes",
    "because",
    "before",
    "after",
    "function",
    "module",
    "value",
    "error",
    "length",
    "offset",
    "branch",
    "commit",
    "change",
    "config",
    "default",
    "option",
    "result",
    "should",
    "needs",
    "already",
    "only",
    "then",
    "look",
    "at",
    "where",
    "which",
    "caller",
    "return",
    "empty",
    "missing",
    "update",
    "build",
    "lint",
    "warning",
    "timeout",
    "retry",
    "order",
    "invoice",
    "customer",
    "basket",
    "price",
    "stock",
    "rounding",
    "currency",
    "session",
    "handler",
    "route",
    "query",
    "index",
    "table",
    "migration",
    "schema",
    "column",
    "worker",
    "queue",
    "deploy",
    "staging",
    "rollback",
    "metric",
    "log",
];

const CJK: [&str; 24] = [
    "先看",
    "一下",
    "测试",
    "为什么",
    "失败",
    "。",
    "缓存",
    "前缀",
    "没有",
    "变化",
    ",",
    "需要",
    "修改",
    "这个",
    "函数",
    "的",
    "返回值",
    "検索",
    "結果を",
    "確認する",
    "次に",
    "파일을",
    "읽고",
    "수정한다",
];

const EMOJI: [&str; 8] = ["✅", "🚀", "👩‍💻", "🧪", "⚠️", "😀", "🇪🇺", "𝒻"];

const IDENTIFIERS: [&str; 20] = [
    "basket", "total", "price", "line", "offset", "cursor", "buffer", "count", "index", "row",
    "customer", "order", "rate", "cents", "items", "limit", "header", "value", "state", "queue",
];

const PATHS: [&str; 12] = [
    "src/basket.rs",
    "src/price/mod.rs",
    "src/price/rounding.rs",
    "src/http/routes.rs",
    "tests/checkout.rs",
    "web/src/App.tsx",
    "web/src/käufer.ts",
    "docs/README.md",
    "Cargo.toml",
    "migrations/0007_orders.sql",
    "scripts/release.sh",
    "src/库存.rs",
];

/// What a text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Sentences, some with other scripts and emoji.
    Prose,
    /// Lines of a program.
    Code,
    /// What a command prints: tabs, colours, long lines.
    Terminal,
}

/// Writes text, with or without characters beyond ASCII.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// Other scripts and emoji are mixed in.
    pub unicode: bool,
}

impl Writer {
    /// About `length` bytes of `flavour`, never empty.
    pub fn write(self, rng: &mut Rng, flavour: Flavour, length: usize) -> String {
        let mut text = String::with_capacity(length + 96);
        while text.len() < length.max(1) {
            match flavour {
                Flavour::Prose => self.sentence(rng, &mut text),
                Flavour::Code => self.code_line(rng, &mut text),
                Flavour::Terminal => self.terminal_line(rng, &mut text),
            }
        }
        cut_to(&mut text, length.max(1));
        text
    }

    /// A file's path inside the project.
    pub fn path(self, rng: &mut Rng) -> &'static str {
        let ascii = |path: &&&str| self.unicode || path.is_ascii();
        let choices: Vec<&'static str> = PATHS.iter().filter(ascii).copied().collect();
        rng.pick(&choices)
    }

    fn sentence(self, rng: &mut Rng, text: &mut String) {
        if self.unicode && rng.one_in(6) {
            for _ in 0..rng.between(4, 14) {
                text.push_str(rng.pick(&CJK));
            }
            text.push('\n');
            return;
        }
        for at in 0..rng.between(4, 18) {
            if at > 0 {
                text.push(' ');
            }
            let word = rng.pick(&WORDS);
            match rng.below(24) {
                0 => text.extend(["`", word, "`"]),
                1 => text.extend(["\"", word, "\""]),
                _ => text.push_str(word),
            }
        }
        match rng.below(10) {
            0 => text.push_str(":\n\n- "),
            1 => text.push_str(".\n\n"),
            2 if self.unicode => text.extend([" ", rng.pick(&EMOJI), " "]),
            3 if self.unicode => text.push_str(" — "),
            _ => text.push_str(". "),
        }
    }

    fn code_line(self, rng: &mut Rng, text: &mut String) {
        let (name, other) = (rng.pick(&IDENTIFIERS), rng.pick(&IDENTIFIERS));
        let number = rng.below(10_000);
        let line = match rng.below(8) {
            0 => format!("    let {name} = {other}.get({number}).copied().unwrap_or_default();\n"),
            1 => format!("    assert_eq!({name}, {number}, \"{other} is \\\"off\\\" by one\");\n"),
            2 => format!(
                "    if {name} > {number} {{\n        return Err({other}.into());\n    }}\n"
            ),
            3 => format!("/// Gives the {name} of a {other}, in cents.\n"),
            4 => format!(
                "fn {name}_{other}_{number}({name}: u64) -> u64 {{\n\t{name} * {number}\n}}\n\n"
            ),
            5 => format!("    println!(\"{{}}\\t{{}}\\n\", {name}, {other}); // C:\\tmp\\{name}\n"),
            6 if self.unicode => format!("    // {}: {} ≥ {number}\n", rng.pick(&CJK), name),
            _ => format!("    {name}.{other}(&mut {other}, {number});\n"),
        };
        text.push_str(&line);
    }

    fn terminal_line(self, rng: &mut Rng, text: &mut String) {
        let (word, number) = (rng.pick(&WORDS), rng.below(900));
        let path = self.path(rng);
        let line = match rng.below(8) {
            0 => format!(
                "{path}:{number}:{}: warning: {word} is never used\n",
                number % 80
            ),
            1 => format!("test {word}::{}_{number} ... ok\n", rng.pick(&WORDS)),
            2 => format!("\u{1b}[32m{word}\u{1b}[0m\t{number}\t{path}\r\n"),
            3 => format!("drwxr-xr-x  {} dev dev {number} {path}\n", number % 9),
            4 => format!(
                "{number:>6}\t{word} {} {}\n",
                rng.pick(&WORDS),
                rng.pick(&WORDS)
            ),
            5 => format!("{{\"level\":\"info\",\"at\":{number},\"msg\":\"{word}\"}}\n"),
            6 if self.unicode => format!("{} {word} {}\n", rng.pick(&EMOJI), rng.pick(&CJK)),
            _ => format!("+    {word}({number});\n"),
        };
        text.push_str(&line);
    }
}

/// Shortens `text` to at most `length` bytes, at a character's edge, but keeps its first character.
fn cut_to(text: &mut String, length: usize) {
    if text.len() <= length {
        return;
    }
    let mut end = length;
    while end > 0 && !text.is_char_boundary(end) {
        end -= 1;
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.truncate(end.max(first));
}

/// The first `head` and the last `tail` bytes of `text`, moved inwards to characters' edges.
pub fn ends(text: &str, head: usize, tail: usize) -> (&str, &str) {
    let mut first = head.min(text.len());
    while !text.is_char_boundary(first) {
        first -= 1;
    }
    let mut last = text.len().saturating_sub(tail).max(first);
    while !text.is_char_boundary(last) {
        last += 1;
    }
    (&text[..first], &text[last..])
}

/// Where a provider cuts `text` into deltas: the end of each, ascending, the last one the text's length.
///
/// Deltas have one to twenty bytes, about five on average, and never split a character.
pub fn cuts(rng: &mut Rng, text: &str) -> Vec<u32> {
    const LENGTHS: [u8; 32] = [
        1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 7, 7, 8, 8, 9, 10, 12,
        15, 20,
    ];
    let mut ends = Vec::with_capacity(text.len() / 5 + 1);
    let mut at = 0;
    while at < text.len() {
        at += usize::from(LENGTHS[rng.below(32) as usize]);
        while at < text.len() && !text.is_char_boundary(at) {
            at += 1;
        }
        at = at.min(text.len());
        ends.push(at as u32);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_about_the_wished_length() {
        let mut rng = Rng::new(3);
        for flavour in [Flavour::Prose, Flavour::Code, Flavour::Terminal] {
            for length in [1, 7, 300, 5000] {
                let text = Writer { unicode: true }.write(&mut rng, flavour, length);
                assert!(
                    !text.is_empty() && text.len() <= length.max(4),
                    "{length} gave {}",
                    text.len()
                );
            }
        }
    }

    #[test]
    fn cuts_cover_the_text() {
        let mut rng = Rng::new(5);
        let text = Writer { unicode: true }.write(&mut rng, Flavour::Prose, 4000);
        let ends = cuts(&mut rng, &text);
        assert_eq!(ends.last().copied(), Some(text.len() as u32));
        assert!(
            ends.windows(2)
                .all(|pair| pair[0] < pair[1] && text.is_char_boundary(pair[0] as usize))
        );
    }

    #[test]
    fn ends_never_split_a_character() {
        assert_eq!(ends("é😀é", 1, 1), ("", ""));
        assert_eq!(ends("ab😀cd", 2, 2), ("ab", "cd"));
    }
}
