//! The command line, word for word: `tests/cmd/*.trycmd` and the README's `console` blocks.
//!
//! `TRYCMD=overwrite cargo test` rewrites them; read the difference before committing it.

#[test]
fn the_command_line_does_what_its_transcripts_say() {
    let cases = trycmd::TestCases::new();
    // What the environment says must not matter.
    for (name, value) in [
        ("COLUMNS", "100"),
        ("NO_COLOR", "1"),
        ("CLICOLOR_FORCE", ""),
        ("TERM", "dumb"),
        ("HOME", "/nowhere"),
        ("DSH_HOME", ""),
        ("GITHUB_STEP_SUMMARY", ""),
        ("LC_ALL", "C"),
    ] {
        cases.env(name, value);
    }
    cases.case("tests/cmd/*.trycmd").case("README.md");
}
