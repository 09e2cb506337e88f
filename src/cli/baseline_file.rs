//! The baseline as a file.
//!
//! **Takes** its text, or the findings of a run. **Gives** a [`Baseline`], or the text to write.
//! **Never** drops a reason that someone wrote.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use crate::report::FileReport;
use crate::verdict::{Accepted, Baseline, Fingerprint};

use super::discover::cannot_read;
use super::toml_reader::Reader;

/// The first key of the file.
const SCHEMA: &str = "dsh-audit/baseline/v1";

/// Reads a baseline.
///
/// # Errors
///
/// A file that cannot be read or is no baseline; the message is one line.
pub(super) fn load(path: &Path) -> Result<Baseline, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("{}: {}", path.display(), cannot_read(&error)))?;
    parse(&text).map_err(|error| format!("{}:{error}", path.display()))
}

/// Reads the baseline that is about to be replaced, for its reasons; there may be none yet.
///
/// # Errors
///
/// As [`load`], apart from a file that does not exist.
pub(super) fn load_if_there(path: &Path) -> Result<Baseline, String> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Baseline::default()),
        _ => load(path),
    }
}

fn parse(text: &str) -> Result<Baseline, String> {
    let reader = Reader::new(text);
    let mut top = reader.top()?;
    match top.text("schema")? {
        Some((schema, _)) if schema == SCHEMA => {}
        Some((_, spot)) => return Err(reader.wrong(spot, format!("expected \"{SCHEMA}\""))),
        None => return Err(reader.wrong(0..0, format!("expected schema = \"{SCHEMA}\""))),
    }
    let mut accepted = Vec::new();
    for mut table in top.tables("accept")? {
        let (digits, spot) = table
            .text("fingerprint")?
            .ok_or_else(|| reader.wrong(table.spot(), "[[accept]] needs `fingerprint`"))?;
        let fingerprint: Fingerprint = digits
            .parse()
            .map_err(|()| reader.wrong(spot, "expected 32 hexadecimal digits"))?;
        let mut text = |key| table.text(key).map(|found| found.map(|(text, _)| text));
        let what = Accepted {
            code: text("code")?.unwrap_or_default(),
            place: text("place")?.unwrap_or_default(),
            reason: text("reason")?,
        };
        table.finish()?;
        accepted.push((fingerprint, what));
    }
    top.finish()?;
    Ok(Baseline::new(accepted))
}

/// The text of a baseline that accepts every finding of a run: what `in_force` accepted already, and the rest, with the
/// reasons that stood in the file `before`.
pub(super) fn text_of(files: &[FileReport], in_force: &Baseline, before: &Baseline) -> String {
    let mut text = format!(
        "# Findings that are known and accepted. Give each a reason:\n\
         # reason = \"why this may stay\"\n\
         schema = \"{SCHEMA}\"\n"
    );
    let mut written = std::collections::BTreeSet::new();
    for file in files {
        let verdict = &file.verdict;
        for fingerprint in &verdict.accepted {
            if let Some(accepted) = in_force.get(*fingerprint)
                && written.insert(*fingerprint)
            {
                let reason = accepted.reason.as_deref();
                write_one(
                    &mut text,
                    *fingerprint,
                    &accepted.code,
                    &accepted.place,
                    reason,
                );
            }
        }
        for (finding, fingerprint) in verdict.findings.iter().zip(&verdict.fingerprints) {
            if !written.insert(*fingerprint) {
                continue;
            }
            let code = format!("{} {}", finding.rule.id(), finding.rule.name);
            let place = match finding.at.seq {
                Some(seq) => format!("{}, seq {seq}", file.path.to_string_lossy()),
                None => file.path.to_string_lossy().into_owned(),
            };
            let known = before
                .get(*fingerprint)
                .and_then(|accepted| accepted.reason.as_deref());
            write_one(&mut text, *fingerprint, &code, &place, known);
        }
    }
    text
}

fn write_one(
    text: &mut String,
    fingerprint: Fingerprint,
    code: &str,
    place: &str,
    reason: Option<&str>,
) {
    let quoted = |value: &str| toml::Value::String(value.to_string()).to_string();
    let _ = write!(
        text,
        "\n[[accept]]\nfingerprint = \"{fingerprint}\"\ncode = {}\nplace = {}\n",
        quoted(code),
        quoted(place)
    );
    if let Some(reason) = reason {
        let _ = writeln!(text, "reason = {}", quoted(reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "schema = \"dsh-audit/baseline/v1\"\n[[accept]]\n\
        fingerprint = \"00000000000000000000000000000007\"\ncode = \"DSH0302\"\nreason = \"old\"\n";

    #[test]
    fn a_baseline_is_read_with_its_reasons() {
        let baseline = parse(ONE).expect("a baseline");
        let seven = "00000000000000000000000000000007"
            .parse()
            .expect("a fingerprint");
        let accepted = baseline.get(seven).expect("it is accepted");
        assert_eq!(accepted.reason.as_deref(), Some("old"));
    }

    #[test]
    fn what_is_no_baseline_is_refused_with_its_line() {
        assert_eq!(
            parse("").err().as_deref(),
            Some("1: expected schema = \"dsh-audit/baseline/v1\"")
        );
        let slip = ONE.replace("reason", "raeson");
        let error = parse(&slip).expect_err("unknown key");
        assert_eq!(error, "5: unknown key `raeson`; did you mean `reason`?");
        let short = ONE.replace("00000007", "7");
        assert!(parse(&short).is_err_and(|error| error.starts_with("3: expected 32")));
    }
}
