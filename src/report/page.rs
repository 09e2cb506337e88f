//! A rule's page, as a terminal shows it.
//!
//! **Takes** the Markdown of a page: headings, paragraphs, lists, code blocks, inline code. **Gives** wrapped text.
//! **Never** meets text of a log: pages are ours.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::finding::{Level, Rule};

use super::paint::Tone;
use super::{Look, Paint};

/// Writes what `explain` shows: the rule, its level, and its page.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_page(rule: &Rule, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = look.paint;
    let tone = match rule.level {
        Level::Error => Tone::Bad,
        Level::Warning => Tone::Doubt,
        Level::Note => Tone::Calm,
    };
    writeln!(
        out,
        "{} {}  {}",
        paint.tone(tone, rule.id()),
        paint.tone(Tone::Strong, rule.name),
        paint.tone(tone, rule.level.as_str())
    )?;
    writeln!(out)?;
    write_wrapped(rule.summary, "", "", look, out)?;
    // The page's own first heading says what stands above already.
    let page = rule
        .page
        .strip_prefix("# ")
        .and_then(|page| page.split_once('\n'));
    write_markdown(page.map_or(rule.page, |(_, page)| page), look, out)
}

fn write_markdown(page: &str, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let mut paragraph = Paragraph::default();
    let mut in_code = false;
    for line in page.lines() {
        let trimmed = line.trim_end();
        if trimmed.starts_with("```") {
            paragraph.write(look, out)?;
            in_code = !in_code;
            if in_code {
                writeln!(out)?;
            }
        } else if in_code {
            writeln!(out, "    {}", look.paint.tone(Tone::Calm, trimmed))?;
        } else if let Some(heading) = trimmed.strip_prefix('#') {
            paragraph.write(look, out)?;
            let heading = heading.trim_start_matches('#').trim();
            writeln!(out, "\n{}", look.paint.tone(Tone::Strong, heading))?;
            paragraph.after_heading = true;
        } else if trimmed.is_empty() {
            paragraph.write(look, out)?;
        } else if let Some((bullet, text)) = bullet_of(trimmed) {
            paragraph.write(look, out)?;
            paragraph.bullet = Some(bullet.to_string());
            paragraph.text.push_str(text);
        } else {
            if !paragraph.text.is_empty() {
                paragraph.text.push(' ');
            }
            paragraph.text.push_str(trimmed.trim_start());
        }
    }
    paragraph.write(look, out)
}

/// `- text`, `* text` and `1. text`: the bullet and the text behind it.
fn bullet_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    if let Some(text) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return Some(("•", text));
    }
    let (number, text) = line.split_once(". ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((number, text))
}

#[derive(Default)]
struct Paragraph {
    text: String,
    bullet: Option<String>,
    after_heading: bool,
    after_bullet: bool,
}

impl Paragraph {
    fn write(&mut self, look: Look, out: &mut dyn Write) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let bullet = self.bullet.take();
        let is_in_list = self.after_bullet && bullet.is_some();
        if !(self.after_heading || is_in_list) {
            writeln!(out)?;
        }
        self.after_heading = false;
        self.after_bullet = bullet.is_some();
        match bullet {
            Some(bullet) => {
                let first = format!("  {bullet} ");
                let rest = " ".repeat(first.width());
                write_wrapped(&self.text, &first, &rest, look, out)?;
            }
            None => write_wrapped(&self.text, "  ", "  ", look, out)?,
        }
        self.text.clear();
        Ok(())
    }
}

/// Writes words up to the last column; inline code is painted, never broken inside a word.
fn write_wrapped(
    text: &str,
    first: &str,
    rest: &str,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = look.width.clamp(40, 100);
    let mut used = first.width();
    write!(out, "{first}")?;
    let mut in_code = false;
    let mut at_start = true;
    for word in text.split_whitespace() {
        let length = word
            .chars()
            .filter(|c| *c != '`')
            .collect::<String>()
            .width();
        if !at_start && used + 1 + length > columns {
            write!(out, "\n{rest}")?;
            used = rest.width();
        } else if !at_start {
            write!(out, " ")?;
            used += 1;
        }
        write_word(word, &mut in_code, look.paint, out)?;
        used += length;
        at_start = false;
    }
    writeln!(out)
}

fn write_word(word: &str, in_code: &mut bool, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    for (at, part) in word.split('`').enumerate() {
        if at > 0 {
            *in_code = !*in_code;
        }
        if part.is_empty() {
            continue;
        }
        if *in_code {
            // Without colours the ticks stay, so that code is still told apart.
            let tick = if paint == Paint::Plain { "`" } else { "" };
            write!(out, "{tick}{}{tick}", paint.tone(Tone::Calm, part))?;
        } else {
            write!(out, "{}", part.replace("**", ""))?;
        }
    }
    Ok(())
}

/// The page without markup, for readers that show text only.
pub(super) fn plain(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for line in page.lines().filter(|line| !line.starts_with("```")) {
        let line = line.trim_start_matches('#').trim();
        text.push_str(&line.replace(['`'], "").replace("**", ""));
        text.push('\n');
    }
    text.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Detail, Excerpts};

    const PLAIN: Look = Look {
        paint: Paint::Plain,
        width: 40,
        excerpt: Excerpts::Shown,
        of_a_code: 10,
        detail: Detail::Normal,
    };

    #[test]
    fn a_page_is_wrapped_and_keeps_its_code() {
        let page = "## Example\n\n```json\n{\"a\":  1}\n```\n\n## What to do\n\nOne two three four five six seven `eight nine`.\n\n- a\n- b\n";
        let mut out = Vec::new();
        write_markdown(page, PLAIN, &mut out).expect("a vector takes all");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(
            text,
            "\nExample\n\n    {\"a\":  1}\n\nWhat to do\n  One two three four five six seven\n  `eight` `nine`.\n\n  • a\n  • b\n"
        );
    }
}
