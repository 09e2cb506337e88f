//! What the environment says: the only place that asks it, and for the arguments.
//!
//! **Takes** variables and the standard streams. **Gives** [`Environment`]. **Never** changes either.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use crate::report::Paint;

use super::values::ColorArg;

/// The parts of the environment that matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// The harness's sessions: `$DSH_HOME/sessions`, by default `~/.dsh/sessions`.
    pub(crate) sessions: Option<PathBuf>,
    /// The working directory.
    pub(crate) directory: PathBuf,
    /// Where a job of GitHub Actions collects its summary.
    pub(crate) step_summary: Option<PathBuf>,
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Whether standard output is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub(crate) stderr_is_terminal: bool,
    colours: Colours,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Colours {
    #[default]
    OnTerminals,
    Forced,
    Unwanted,
}

/// Columns where nothing says how many there are.
const DEFAULT_WIDTH: usize = 100;

/// The arguments of the process, its own name first.
pub(super) fn arguments() -> impl Iterator<Item = OsString> {
    env::args_os()
}

impl Environment {
    /// Reads the environment.
    pub(crate) fn read() -> Environment {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let home = set("DSH_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(set("HOME")?).join(".dsh")));
        let columns = env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let colours = if set("NO_COLOR").is_some() {
            Colours::Unwanted
        } else if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
            Colours::Forced
        } else if set("TERM").is_some_and(|term| term == "dumb") {
            Colours::Unwanted
        } else {
            Colours::OnTerminals
        };
        Environment {
            sessions: home.map(|home| home.join("sessions")),
            directory: env::current_dir().unwrap_or_default(),
            step_summary: set("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            width: columns
                .or_else(measured)
                .unwrap_or(DEFAULT_WIDTH)
                .clamp(40, 240),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            colours,
        }
    }

    /// Whether text is painted that goes to a stream, which is a terminal or not.
    pub(crate) fn paint(&self, wish: ColorArg, stream_is_terminal: bool) -> Paint {
        let wanted = match (wish, self.colours) {
            (ColorArg::Always, _) => true,
            (ColorArg::Never, _) | (ColorArg::Auto, Colours::Unwanted) => false,
            (ColorArg::Auto, Colours::Forced) => true,
            (ColorArg::Auto, Colours::OnTerminals) => stream_is_terminal,
        };
        if wanted { Paint::Colour } else { Paint::Plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_environment_and_that_over_the_terminal() {
        let with = |colours| Environment {
            colours,
            ..Environment::default()
        };
        let paint = |colours, wish, terminal| with(colours).paint(wish, terminal);
        assert_eq!(
            paint(Colours::Unwanted, ColorArg::Always, false),
            Paint::Colour
        );
        assert_eq!(paint(Colours::Forced, ColorArg::Never, true), Paint::Plain);
        assert_eq!(paint(Colours::Unwanted, ColorArg::Auto, true), Paint::Plain);
        assert_eq!(paint(Colours::Forced, ColorArg::Auto, false), Paint::Colour);
        assert_eq!(
            paint(Colours::OnTerminals, ColorArg::Auto, true),
            Paint::Colour
        );
        assert_eq!(
            paint(Colours::OnTerminals, ColorArg::Auto, false),
            Paint::Plain
        );
    }
}
