//! Rules' pages as a section of a manual page.
//!
//! **Takes** the rules. **Gives** roff. **Never** meets text of a log: pages are ours.

use std::io::{self, Write};

use crate::finding::Rule;

/// Writes a section with the page of every rule.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn write_rules_section(rules: &[&Rule], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, ".SH RULES")?;
    for rule in rules {
        writeln!(
            out,
            ".SS {} {} ({})",
            rule.id(),
            escaped(rule.name),
            rule.level.as_str()
        )?;
        write_line(rule.summary, out)?;
        write_markdown(rule.page, out)?;
    }
    Ok(())
}

fn write_markdown(page: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut in_code = false;
    // The first heading names the rule, as the subsection does already.
    for line in page.lines().skip_while(|line| line.starts_with("# ")) {
        if line.starts_with("```") {
            in_code = !in_code;
            writeln!(
                out,
                "{}",
                if in_code {
                    ".PP\n.RS 4\n.nf"
                } else {
                    ".fi\n.RE"
                }
            )?;
        } else if in_code {
            write_line(line, out)?;
        } else if let Some(heading) = line.strip_prefix("## ") {
            writeln!(out, ".PP\n.B {}\n.br", escaped(heading))?;
        } else if let Some(text) = line.strip_prefix("- ") {
            writeln!(out, ".IP \\(bu 2")?;
            write_line(&text.replace('`', ""), out)?;
        } else if line.trim().is_empty() {
            // Headings and blocks begin a paragraph themselves; a second blank request does no harm.
            writeln!(out, ".PP")?;
        } else {
            write_line(&line.trim().replace('`', ""), out)?;
        }
    }
    Ok(())
}

/// A line of text: what would be a request at its beginning is none.
fn write_line(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let guard = if text.starts_with(['.', '\'']) {
        "\\&"
    } else {
        ""
    };
    writeln!(out, "{guard}{}", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_escapes_in_a_page_are_text() {
        let page = "# DSH0001 x\n\n## Example\n\n.SH no `heading`\n\n```json\n'\\u00e9'\n```\n";
        let mut out = Vec::new();
        write_markdown(page, &mut out).expect("a vector takes all");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(
            text,
            ".PP\n.PP\n.B Example\n.br\n.PP\n\\&.SH no heading\n.PP\n.PP\n.RS 4\n.nf\n\\&'\\eu00e9'\n.fi\n.RE\n"
        );
    }
}
