//! A report for tests: every outcome, every level, and text that attacks what prints it.
//!
//! **Takes** nothing. **Gives** results as `cli` would build them. **Never** exists outside tests.

use std::path::PathBuf;

use crate::finding::{Bytes, Excerpt, Finding, Level, Place};
use crate::line::{LineNo, Seq, Span};
use crate::rules;
use crate::verdict::{Accepted, Baseline, Fingerprint, Policy, Standing, Verdict, decide};

use super::{
    Detail, Excerpts, FileReport, Inherited, Look, LostRequest, MigrationFacts, Paint, Report,
    SessionFacts, Setting,
};

/// What a log would hold to attack a terminal, a workflow command, Markdown, and a table.
pub(super) const HOSTILE: &str =
    "\u{1b}]8;;http://evil/\u{7}\u{1b}[2J\u{9b}31m\r\n::error::x%0A\u{202e}|`<img src=x>` @team #1";

pub(super) fn look() -> Look {
    Look {
        paint: Paint::Plain,
        width: 80,
        excerpt: Excerpts::Shown,
        of_a_code: 10,
        detail: Detail::Normal,
    }
}

fn place(line: &[u8], mark: std::ops::Range<usize>, number: u64) -> Place {
    Place {
        line: Some(LineNo(number)),
        bytes: Some(Bytes::Decoded(Span::at(
            number * 100 + mark.start as u64,
            mark.len(),
        ))),
        seq: Some(Seq(number + 4)),
        turn: Some(2),
        step: Some(3),
        pointer: Some("/data/content/0/text".into()),
        excerpt: Some(Excerpt::around(line, mark)),
    }
}

fn finding(code: &str, message: &str, at: Place) -> Finding {
    let rule = rules::find(code).expect("a rule of the catalogue");
    Finding::new(rule, message, at, message.as_bytes())
}

fn file(path: &str, standing: Standing, findings: Vec<Finding>) -> FileReport {
    let verdict = judged(standing, findings);
    let session = matches!(standing, Standing::Readable | Standing::Rejected);
    FileReport {
        path: PathBuf::from(path),
        session: session.then(|| SessionFacts {
            id: format!("session-{HOSTILE}"),
            version: Some(0),
            dialect: "released",
            events: 1234,
            turns: 2,
            steps: 1,
            requests: 3,
            parent: Some(format!("parent-{HOSTILE}")),
            inherited: Some(Inherited {
                events: 20,
                turns: 1,
                steps: 1,
                requests: 1,
            }),
        }),
        verdict,
        error: (standing == Standing::Unreadable)
            .then(|| "cannot read: permission denied".to_string()),
        digest: None,
        older: Vec::new(),
        parent: None,
        migration: None,
    }
}

fn judged(standing: Standing, findings: Vec<Finding>) -> Verdict {
    decide(
        findings,
        standing,
        "session",
        &Policy::default(),
        &Baseline::default(),
        100,
    )
}

/// One file of each outcome; the second one has a finding of each level.
pub(super) fn files() -> Vec<FileReport> {
    let line = format!(r#"{{"type":"user/message","seq":14,"text":"{HOSTILE}"}}"#);
    let delta = br#"{"type":"request/header-delta","seq":26,"time":1783000000000,"data":{"system":{"keepStart":1,"keepEnd":0,"insert":["b"]}}}"#;
    let findings = vec![
        finding(
            "0310",
            "the header has no delegationDepth",
            Place::default(),
        )
        .level(Level::Note),
        finding(
            "0402",
            "seq 14 stands twice",
            place(line.as_bytes(), 23..31, 12),
        )
        .related("seq 14 stood here first", place(line.as_bytes(), 0..4, 9))
        .help("two processes wrote this file; keep one branch"),
        finding(
            "0208",
            &format!("a lone surrogate in \"{HOSTILE}\""),
            place(line.as_bytes(), 40..60, 13),
        )
        .level(Level::Warning),
    ];
    let rejected = (0..12).map(|at| {
        let message =
            format!("unsupported legacy request/header-delta at seq {at} (system): log rejected");
        finding("0302", &message, place(delta, 0..31, 20 + at))
    });
    let mut clean = file("logs/clean.jsonl", Standing::Readable, Vec::new());
    clean.parent = Some(PathBuf::from(format!("logs/{HOSTILE}")));
    clean.migration = Some(MigrationFacts {
        from: PathBuf::from(format!("logs/session-{HOSTILE}.jsonl")),
        version: 3,
        requests: 2,
        kept: 1,
        new: 1,
        changes: vec![(("ids", "ids changed"), 1)],
        lost: vec![LostRequest {
            turn: 1,
            step: 1,
            attempt: 1,
            pointer: Some(format!("/messages/{HOSTILE}")),
        }],
    });
    vec![
        clean,
        file("logs/two,writers: 50%.jsonl", Standing::Readable, findings),
        file("logs/delta.jsonl", Standing::Rejected, rejected.collect()),
        file("logs/unsupported.jsonl", Standing::Unsupported, Vec::new()),
        file("-", Standing::Foreign, Vec::new()),
        file(&format!("logs/{HOSTILE}"), Standing::Unreadable, Vec::new()),
    ]
}

/// Something unused in a baseline.
pub(super) fn unused() -> Vec<(Fingerprint, Accepted)> {
    let accepted = Accepted {
        code: "DSH0607 open-turn".into(),
        place: HOSTILE.into(),
        reason: None,
    };
    let fingerprint = "00000000000000000000000000000007"
        .parse()
        .expect("a fingerprint");
    vec![(fingerprint, accepted)]
}

/// The report over all of it.
pub(super) fn report<'r>(
    files: &'r [FileReport],
    passed_over: &'r [PathBuf],
    unused: &'r [(Fingerprint, Accepted)],
) -> Report<'r> {
    Report {
        command: "verify",
        exit_code: 2,
        setting: Setting::List,
        files,
        passed_over,
        unused,
        catalogue: rules::CATALOGUE,
    }
}
