//! `dsh-audit completions` and `man`: what a packager installs.
//!
//! **Takes** the definition of the command line. **Gives** text made from it. **Never** says anything that is not in it.

use clap::CommandFactory;

use crate::report;

use super::args::{Args, Completions, Man};
use super::exit::Status;
use super::job;
use super::output::Sink;
use super::suggest;

/// Prints completions for a shell.
///
/// # Errors
///
/// Standard output cannot be written.
pub(super) fn completions(args: &Completions) -> Result<Status, String> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "dsh-audit", &mut text);
    Sink::Stdout.write(|out| out.write_all(&text))?;
    Ok(Status::Passed)
}

/// Prints the manual page of the program, or of a command.
///
/// # Errors
///
/// A command that does not exist.
pub(super) fn man(args: &Man) -> Result<Status, String> {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => {
            let known: Vec<&str> = program
                .get_subcommands()
                .map(|known| known.get_name())
                .collect();
            let found = program
                .get_subcommands()
                .find(|known| known.get_name() == name);
            let found = found.ok_or_else(|| {
                let hint = suggest::closest(name, known).map_or(String::new(), |closest| {
                    format!("; did you mean `{closest}`?")
                });
                format!("no command `{name}`{hint}")
            })?;
            let title = format!("dsh-audit-{name}");
            found.clone().display_name(title)
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .date("")
        .render(&mut page)
        .map_err(|error| format!("cannot render the page: {error}"))?;
    // What stands behind the options of `--help` has a section of its own in a page.
    let page = String::from_utf8_lossy(&page)
        .replace(".SH EXTRA\nExit status:\n", ".SH \"EXIT STATUS\"\n");
    Sink::Stdout.write(|out| {
        out.write_all(page.as_bytes())?;
        match args.command.as_deref() {
            Some("explain") => report::write_rules_section(job::catalogue(), out),
            _ => Ok(()),
        }
    })?;
    Ok(Status::Passed)
}
