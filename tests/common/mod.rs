//! Runs the program as a test would from outside: an empty environment, fixed columns.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program with arguments, in the project's directory.
pub(crate) fn dsh_audit(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dsh-audit"));
    command
        .args(args)
        .current_dir(root())
        .env_clear()
        .env("COLUMNS", "100")
        .env("HOME", "/nowhere")
        .stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub(crate) fn run(args: &[&str]) -> Output {
    dsh_audit(args).output().expect("the program was built")
}

/// Its standard output, which must be text.
pub(crate) fn stdout(args: &[&str]) -> String {
    String::from_utf8(run(args).stdout).expect("text")
}

/// Its exit code.
pub(crate) fn code(args: &[&str]) -> Option<i32> {
    run(args).status.code()
}

/// The project's directory.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory, in the order of names.
pub(crate) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        for child in std::fs::read_dir(&directory).expect("a readable directory") {
            let path = child.expect("a readable directory").path();
            if path.is_dir() {
                left.push(path)
            } else {
                files.push(path)
            }
        }
    }
    files.sort();
    files
}
