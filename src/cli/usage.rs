//! What the parser of the command line has to say: help, the version, wrong usage.
//!
//! **Takes** what it says. **Gives** it to the stream where it belongs.
//! **Never** repeats an argument raw: a shell may have made it of the name of a file.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use crate::report::{Paint, Safe};

use super::environment::Environment;
use super::exit::Status;
use super::output::{self, Sink};
use super::values::ColorArg;

/// Says it.
///
/// # Errors
///
/// Help cannot be written.
pub(super) fn tell(mut error: Error, environment: &Environment) -> Result<Status, String> {
    let is_wrong = error.use_stderr();
    let is_terminal = match is_wrong {
        true => environment.stderr_is_terminal,
        false => environment.stdout_is_terminal,
    };
    if is_wrong {
        make_harmless(&mut error);
    }
    let text = match environment.paint(ColorArg::Auto, is_terminal) {
        Paint::Colour => error.render().ansi().to_string(),
        Paint::Plain => error.render().to_string(),
    };
    if is_wrong {
        output::on_stderr(|out| out.write_all(text.as_bytes()));
        return Ok(Status::NotComplete);
    }
    Sink::Stdout.write(|out| out.write_all(text.as_bytes()))?;
    Ok(Status::Passed)
}

/// Escapes what arguments brought along.
fn make_harmless(error: &mut Error) {
    let safe = |text: &String| Safe(text).to_string();
    let plain = |text: &StyledStr| StyledStr::from(Safe(&text.to_string()).to_string());
    let values: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| {
            let value = match value {
                // Made of the definition alone, on several lines.
                _ if kind == ContextKind::Usage => return None,
                ContextValue::String(text) => ContextValue::String(safe(text)),
                ContextValue::Strings(texts) => {
                    ContextValue::Strings(texts.iter().map(safe).collect())
                }
                ContextValue::StyledStr(text) => ContextValue::StyledStr(plain(text)),
                ContextValue::StyledStrs(texts) => {
                    ContextValue::StyledStrs(texts.iter().map(plain).collect())
                }
                _ => return None,
            };
            Some((kind, value))
        })
        .collect();
    for (kind, value) in values {
        error.insert(kind, value);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::args::Args;
    use super::*;

    #[test]
    fn an_argument_is_not_repeated_raw() {
        let hostile = "--x\n::error::y\u{1b}[31m\u{202e}";
        for args in [
            &["dsh-audit", "verify", hostile][..],
            &["dsh-audit", hostile],
            &["dsh-audit", "verify", "--format", hostile],
            &["dsh-audit", "verify", "--jobs", hostile],
            &["dsh-audit", "reconstruct", "--step", hostile],
            &["dsh-audit", "verify", "--quiet=\n::error::y\u{1b}[31m"],
        ] {
            let mut error = Args::try_parse_from(args).expect_err("wrong usage");
            make_harmless(&mut error);
            let text = error.render().ansi().to_string();
            assert!(text.contains("\\n::error::y\\x1b[31m"), "{text:?}");
            assert!(!text.contains("\n::error"), "{text:?}");
            assert!(!text.contains('\u{202e}'), "{text:?}");
        }
    }
}
