//! What becomes of a run whose output cannot be written: the exit code, and what is left behind.

use std::fs;
use std::io::Read;
use std::process::{Command, Output, Stdio};

use super::common::{dsh_audit, root, run};
use super::{on_samples, strs};

/// Reads `most` bytes of what a command writes, and goes away.
fn read_some(args: &[&str], most: usize) -> Output {
    let mut child = dsh_audit(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let stdout = child.stdout.take().expect("piped");
    let mut read = Vec::new();
    let taken = stdout.take(most as u64).read_to_end(&mut read);
    assert_eq!(taken.ok(), Some(most), "{args:?}");
    child.wait_with_output().expect("ended")
}

#[test]
fn a_reader_may_go_away_behind_any_byte() {
    let folder = tempfile::tempdir().expect("a directory");
    for line in on_samples(folder.path()) {
        let args = strs(&line);
        let whole = run(&args);
        let len = whole.stdout.len();
        let mut places = vec![0, 1, len / 3, len.saturating_sub(1), len];
        places.extend([4096, 1 << 16].iter().filter(|place| **place < len));
        for most in places {
            let output = read_some(&args, most);
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), whole.status.code(), "{args:?} {most}");
            assert!(
                !stderr.contains("panicked") && !stderr.contains("pipe"),
                "{args:?} {most}: {stderr}"
            );
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_an_error() {
    let folder = tempfile::tempdir().expect("a directory");
    for line in on_samples(folder.path()) {
        let args = strs(&line);
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let output = dsh_audit(&args)
            .stdout(full.expect("Linux has one"))
            .stderr(Stdio::piped())
            .output()
            .expect("started");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(
            stderr.contains("error: cannot write standard output: "),
            "{args:?}: {stderr}"
        );
    }
}

/// Runs a command that may write files of 512 bytes: a disk that is full behind that.
#[cfg(unix)]
fn on_a_full_disk(args: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_dsh-audit"))
        .args(args)
        .current_dir(root())
        .env_remove("GITHUB_STEP_SUMMARY")
        .stdin(Stdio::null())
        .output()
        .expect("every system has a shell")
}

#[test]
#[cfg(unix)]
fn what_cannot_be_written_whole_leaves_what_was_there() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (old, new) = (at("old"), at("new"));
    // What a baseline must be, and what nobody else minds.
    let before = "schema = \"dsh-audit/baseline/v1\"\n";
    for args in [
        &["verify", "--format=json", "-o"][..],
        &["verify", "--format=sarif", "-o"],
        &["verify", "--quiet", "--write-baseline"],
        &["diff-headers", "--stat", "--write-lock"],
        &["diff-headers", "--format=json", "-o"],
        &["cache-report", "--format=html", "-o"],
        &["reconstruct", "-o"],
    ] {
        fs::write(&old, before).expect("written");
        for target in [&old, &new] {
            let output = on_a_full_disk(&[args, &[target, "testdata/logs/clock"]].concat());
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
            let error = format!("error: cannot write {target}: ");
            assert!(stderr.contains(&error), "{args:?}: {stderr}");
        }
        let left: Vec<_> = fs::read_dir(folder.path()).expect("readable").collect();
        assert_eq!(left.len(), 1, "{args:?} left {left:?}");
        assert_eq!(fs::read_to_string(&old).ok().as_deref(), Some(before));
    }
    let summary = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_dsh-audit"))
        .args(["verify", "--format=github", "testdata/logs/clock"])
        .current_dir(root())
        .env("GITHUB_STEP_SUMMARY", &old)
        .output()
        .expect("every system has a shell");
    assert_eq!(summary.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&old).ok().as_deref(), Some(before));
}

#[test]
#[cfg(unix)]
fn a_file_is_replaced_through_links_and_keeps_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::write(at("file"), "old").expect("written");
    fs::set_permissions(at("file"), PermissionsExt::from_mode(0o640)).expect("set");
    symlink("file", at("link")).expect("linked");
    symlink("new", at("to-nothing")).expect("linked");
    for target in ["link", "to-nothing"] {
        let output = run(&["verify", "-o", &at(target), "testdata/logs/fork-parent"]);
        assert_eq!(output.status.code(), Some(0), "{target}");
    }
    let metadata = fs::metadata(at("file")).expect("there");
    assert!(metadata.len() > 10 && metadata.permissions().mode() & 0o777 == 0o640);
    assert!(folder.path().join("link").is_symlink());
    assert!(folder.path().join("to-nothing").is_symlink());
    assert!(!folder.path().join("new").is_symlink() && folder.path().join("new").is_file());
}
