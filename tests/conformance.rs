//! Compares the program with what the harness itself did, where that is known.

use std::path::PathBuf;
use std::process::Command;

/// `.ci/run` does this itself, on the release build, and says so with `DSH_AUDIT_CONFORMANCE=off`.
#[test]
fn the_program_agrees_with_the_harness() {
    let check = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/check.py");
    let is_off = std::env::var("DSH_AUDIT_CONFORMANCE").is_ok_and(|value| value == "off");
    if is_off || !check.exists() {
        return;
    }
    let output = Command::new("python3")
        .arg(check)
        .args(["--bin", env!("CARGO_BIN_EXE_dsh-audit")])
        .output()
        .expect("python3 is there");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}
