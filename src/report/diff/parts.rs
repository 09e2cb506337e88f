//! What a change is made of, part by part.
//!
//! **Takes** a [`HeaderChange`]. **Gives** its details in the columns there are. **Never** repeats what the row above it said.

use std::io::{self, Write};

use super::cells::{Blanks, Ink, fitted, harmless, plain};
use super::hunks::{Most, Sheet, value_rows};
use super::phrases::plus_minus;
use super::words::percent;
use crate::analyse::answer::{
    HeaderChange, MemberChange, Piece, PrefixChange, SectionFate, TextChange, ToolChange,
    ToolsChange, ValueChange, ValueFate,
};
use crate::report::paint::{Paint, Tone};
use crate::report::safe::Safe;
use crate::report::words::{count, grouped};

/// Columns of the names of parts.
const NAME: usize = 8;

/// Writes details.
pub(super) struct Parts {
    pub(super) paint: Paint,
    pub(super) width: usize,
    /// Columns that stay free on the left.
    pub(super) indent: usize,
    /// How much is shown.
    pub(super) most: Most,
}

impl Parts {
    /// Writes all parts of a change. Gives whether there is anything below its row.
    pub(super) fn change(&self, change: &HeaderChange, out: &mut dyn Write) -> io::Result<bool> {
        // One member stands in the row above.
        let has_config = change.config.len() > 1 || change.config_reordered;
        if has_config {
            self.config(change, out)?;
        }
        if let Some(text) = &change.system {
            self.system(text, out)?;
        }
        if let Some(tools) = &change.tools {
            self.tools(tools, out)?;
        }
        if let Some(prefix) = &change.prefix {
            self.prefix(prefix, out)?;
        }
        let others = [
            change.system.is_some(),
            change.tools.is_some(),
            change.prefix.is_some(),
        ];
        Ok(has_config || others.contains(&true))
    }

    fn sheet(&self) -> Sheet {
        Sheet {
            paint: self.paint,
            width: self.width,
            indent: self.indent + NAME + 2,
            most: self.most,
        }
    }

    /// Writes a line with the name of its part in front.
    fn line(&self, name: &str, inks: Vec<Ink>, out: &mut dyn Write) -> io::Result<()> {
        let name = Ink::of(format!("{name:<NAME$}  "), Some(Tone::Strong));
        let row: Vec<Ink> = std::iter::once(name).chain(inks).collect();
        let row = fitted(&row, self.width.saturating_sub(self.indent));
        let text = plain(&row, self.paint);
        writeln!(out, "{}{}", " ".repeat(self.indent), text.trim_end())
    }

    fn config(&self, change: &HeaderChange, out: &mut dyn Write) -> io::Result<()> {
        let widest = change
            .config
            .iter()
            .map(|member| Safe(&member.name).to_string().len())
            .max();
        let widest = widest.unwrap_or(0).min(24);
        for (at, member) in change.config.iter().enumerate() {
            let name = if at == 0 { "config" } else { "" };
            self.line(name, member_inks(member, widest), out)?;
        }
        if change.config_reordered {
            let name = if change.config.is_empty() {
                "config"
            } else {
                ""
            };
            let text = "its members stand in another order";
            self.line(name, vec![Ink::of(text, None)], out)?;
        }
        Ok(())
    }

    fn system(&self, text: &TextChange, out: &mut dyn Write) -> io::Result<()> {
        self.line("system", text_inks(text), out)?;
        let moved = text
            .sections
            .iter()
            .filter(|section| section.fate != SectionFate::Changed);
        let sections = moved.clone().count();
        for section in moved.take(self.most.things) {
            let (sign, tone) = match section.fate {
                SectionFate::Added => ("+", Tone::Came),
                SectionFate::Removed => ("-", Tone::Gone),
                _ => ("↕", Tone::Doubt),
            };
            let heading = harmless(&section.heading, 0, Blanks::Wide);
            let inks = vec![
                Ink::of(format!("{sign} {heading}"), Some(tone)),
                Ink::of(
                    format!(
                        "  section {}, {}",
                        section.fate.as_str(),
                        count(section.lines, "line")
                    ),
                    Some(Tone::Faint),
                ),
            ];
            self.line("", inks, out)?;
        }
        self.more(sections, "section", out)?;
        self.sheet().text(text, out)
    }

    /// Says how many things of a list are not shown.
    fn more(&self, number: usize, noun: &str, out: &mut dyn Write) -> io::Result<()> {
        if number <= self.most.things {
            return Ok(());
        }
        let left = (number - self.most.things) as u64;
        let left = count(left, &format!("further {noun}"));
        let text = format!("… {left} (--no-limit shows all)");
        self.line("", vec![Ink::of(text, Some(Tone::Faint))], out)
    }

    fn tools(&self, tools: &ToolsChange, out: &mut dyn Write) -> io::Result<()> {
        let counts = match tools.old == tools.new {
            true => count(tools.new, "tool"),
            false => format!("{} → {}", grouped(tools.old), count(tools.new, "tool")),
        };
        let start = stay(tools.same_start);
        let order = if tools.order_only {
            ", the same in another order"
        } else {
            ""
        };
        let inks = vec![
            Ink::of(format!("{counts}{order}"), None),
            Ink::of(start, Some(Tone::Faint)),
        ];
        self.line("tools", inks, out)?;
        for (sign, verb, tone, list) in [
            ("-", "was", Tone::Gone, &tools.removed),
            ("+", "is", Tone::Came, &tools.added),
        ] {
            for tool in list.iter().take(self.most.things) {
                let place = format!(
                    "  {verb} number {}, {} B",
                    tool.index + 1,
                    grouped(tool.bytes)
                );
                let inks = vec![
                    Ink::of(format!("{sign} {}", Safe(&tool.name)), Some(tone)),
                    Ink::of(place, Some(Tone::Faint)),
                ];
                self.line("", inks, out)?;
            }
            self.more(list.len(), "tool", out)?;
        }
        for tool in tools.moved.iter().take(self.most.things) {
            let inks = vec![
                Ink::of(format!("↕ {}", Safe(&tool.name)), Some(Tone::Doubt)),
                Ink::of(
                    format!("  number {} → {}", tool.from + 1, tool.to + 1),
                    Some(Tone::Faint),
                ),
            ];
            self.line("", inks, out)?;
        }
        self.more(tools.moved.len(), "tool", out)?;
        let mut changed = tools.changed.iter().take(self.most.things);
        changed.try_for_each(|tool| self.tool(tool, out))?;
        self.more(tools.changed.len(), "tool", out)
    }

    fn tool(&self, tool: &ToolChange, out: &mut dyn Write) -> io::Result<()> {
        let inks = vec![
            Ink::of(format!("~ {}", Safe(&tool.name)), Some(Tone::Doubt)),
            Ink::of(format!("  number {}", tool.index + 1), Some(Tone::Faint)),
        ];
        self.line("", inks, out)?;
        if let Some(text) = &tool.description {
            let name = Ink::of("  /description  ", Some(Tone::Calm));
            self.line(
                "",
                std::iter::once(name).chain(text_inks(text)).collect(),
                out,
            )?;
            let sheet = Sheet {
                indent: self.indent + NAME + 6,
                ..self.sheet()
            };
            sheet.text(text, out)?;
        }
        for value in tool.values.iter().take(self.most.things) {
            self.value(value, out)?;
        }
        self.more(tool.values.len(), "difference", out)?;
        if tool.left_out > 0 {
            let left = format!("  … {} not shown", count(tool.left_out, "difference"));
            self.line("", vec![Ink::of(left, Some(Tone::Faint))], out)?;
        }
        Ok(())
    }

    fn value(&self, value: &ValueChange, out: &mut dyn Write) -> io::Result<()> {
        let pointer = if value.pointer.is_empty() {
            "/"
        } else {
            &value.pointer
        };
        let pointer = Ink::of(format!("  {}  ", Safe(pointer)), Some(Tone::Calm));
        let columns = self.width.saturating_sub(self.indent + NAME + 6);
        let has_pair = value.fate == ValueFate::Changed;
        let side = |pieces: &Option<Vec<Piece>>, is_old: bool| -> Vec<Vec<Ink>> {
            let pieces = pieces.iter();
            pieces
                .flat_map(|pieces| value_rows(pieces, is_old, has_pair, columns))
                .collect()
        };
        let (old, new) = (side(&value.old, true), side(&value.new, false));
        let fate = match value.fate {
            ValueFate::Changed => "",
            fate => fate.as_str(),
        };
        // Two short values stand on one line.
        if let ([old], [new]) = (&old[..], &new[..]) {
            let arrow = Ink::of(" → ", Some(Tone::Faint));
            let note = Ink::of(format!("  {fate}"), Some(Tone::Faint));
            let head = vec![pointer.clone()];
            let row = [head, old.clone(), vec![arrow], new.clone(), vec![note]].concat();
            if row.iter().map(Ink::width).sum::<usize>() <= columns {
                return self.line("", row, out);
            }
        }
        self.line("", vec![pointer, Ink::of(fate, Some(Tone::Faint))], out)?;
        let margin = " ".repeat(self.indent + NAME + 6);
        for (rows, sign, tone) in [(old, "-", Tone::Gone), (new, "+", Tone::Came)] {
            for (at, row) in rows.iter().enumerate() {
                let sign = if at == 0 { sign } else { " " };
                let text = plain(row, self.paint);
                writeln!(out, "{margin}{} {text}", self.paint.tone(tone, sign))?;
            }
        }
        Ok(())
    }

    fn prefix(&self, prefix: &PrefixChange, out: &mut dyn Write) -> io::Result<()> {
        let counts = match prefix.old == prefix.new {
            true => count(prefix.new, "message"),
            false => format!("{} → {}", grouped(prefix.old), count(prefix.new, "message")),
        };
        let start = stay(prefix.same_start);
        let inks = vec![Ink::of(counts, None), Ink::of(start, Some(Tone::Faint))];
        self.line("prefix", inks, out)?;
        for message in &prefix.messages {
            let (sign, tone, at) = match (message.old, message.new) {
                (Some(at), None) => ("-", Tone::Gone, at),
                (None, at) => ("+", Tone::Came, at.unwrap_or(0)),
                (Some(_), Some(at)) => ("~", Tone::Doubt, at),
            };
            let mut inks = vec![
                Ink::of(format!("{sign} message {}", at + 1), Some(tone)),
                Ink::of(format!("  {}  ", Safe(&message.role)), Some(Tone::Faint)),
            ];
            inks.extend(message.text.iter().flat_map(text_inks));
            self.line("", inks, out)?;
            if let Some(text) = &message.text {
                self.sheet().text(text, out)?;
            }
            message
                .values
                .iter()
                .try_for_each(|value| self.value(value, out))?;
        }
        Ok(())
    }
}

fn member_inks(member: &MemberChange, widest: usize) -> Vec<Ink> {
    let side = |value: &Option<String>, is_default: bool, tone: Tone| {
        let text = value
            .as_deref()
            .map_or("–".to_string(), |value| Safe(value).to_string());
        let note = if is_default { " (adapter default)" } else { "" };
        [Ink::of(text, Some(tone)), Ink::of(note, Some(Tone::Faint))]
    };
    let name = Ink::of(
        format!("{:<widest$}  ", Safe(&member.name).to_string()),
        None,
    );
    let arrow = Ink::of(" → ", Some(Tone::Faint));
    let old = side(&member.old, member.old_is_default, Tone::Gone);
    let new = side(&member.new, member.new_is_default, Tone::Came);
    [vec![name], old.to_vec(), vec![arrow], new.to_vec()].concat()
}

/// How many things stay where they were.
fn stay(number: u64) -> String {
    match number {
        0 => " · from the first on".to_string(),
        1 => " · the first one stays".to_string(),
        number => format!(" · the first {} stay", grouped(number)),
    }
}

/// How much of a text differs, and where it begins to.
fn text_inks(text: &TextChange) -> Vec<Ink> {
    let size = match text.old.bytes == 0 || text.new.bytes == 0 {
        true => String::new(),
        false if text.same_start == text.old.bytes => " · begins with all of it".to_string(),
        false if text.same_start == text.new.bytes => " · cut at its end".to_string(),
        false => format!(
            " · the same up to byte {} ({})",
            grouped(text.same_start),
            percent(text.same_start, text.old.bytes)
        ),
    };
    let lines = format!(
        "{} of {}",
        plus_minus(text.added, text.removed),
        count(text.old.lines, "line")
    );
    let lines = match (text.old.bytes, text.new.bytes) {
        (0, _) => format!(
            "+{}, {} B: there was none",
            count(text.added, "line"),
            grouped(text.new.bytes)
        ),
        (_, 0) => format!(
            "−{}, {} B: there is none now",
            count(text.removed, "line"),
            grouped(text.old.bytes)
        ),
        _ => lines,
    };
    vec![Ink::of(lines, None), Ink::of(size, Some(Tone::Faint))]
}
