//! What a packager installs is what the program prints: manual pages are current, completions exist.
//!
//! `TRYCMD=overwrite cargo test` rewrites the pages.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn dsh_audit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dsh-audit"))
        .args(args)
        .env_clear()
        .output()
        .expect("the program was built")
}

fn stdout(args: &[&str]) -> String {
    let output = dsh_audit(args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

fn commands() -> Vec<String> {
    let help = stdout(&["--help"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(String::from)
        .collect()
}

/// Of two programs `cargo run` runs neither, unless one is the default.
#[test]
fn cargo_run_runs_the_program() {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs the tests");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(metadata["packages"][0]["default_run"], "dsh-audit");
}

#[test]
fn manual_pages_are_current() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("man");
    let rewrite = std::env::var("TRYCMD").is_ok_and(|value| value == "overwrite");
    let mut expected = BTreeSet::from(["dsh-audit.1".to_string()]);
    let mut pages = vec![("dsh-audit.1".to_string(), stdout(&["man"]))];
    for command in commands() {
        let name = format!("dsh-audit-{command}.1");
        pages.push((name.clone(), stdout(&["man", &command])));
        expected.insert(name);
    }
    for (name, page) in pages {
        let path = directory.join(&name);
        if rewrite {
            fs::write(&path, page).expect("man is writable");
        } else {
            let known = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                known == page,
                "man/{name} is not what `dsh-audit man` prints"
            );
        }
    }
    let listing = fs::read_dir(&directory).expect("man is there");
    let found: BTreeSet<String> = listing
        .map(|file| {
            file.expect("listed")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
    }
}
