//! Reads cache reports again, as JSON or as rows, and puts the rows of each log together.
//!
//! **Takes** texts that this program wrote, or a job that passed its rows on. **Gives** [`CacheFile`]s whose sums are those of
//! one run over all logs. **Never** counts a row twice, and never passes over one it does not understand.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::analyse::answer::{CacheReport, CacheRow, OneShotRow};

use super::json::SCHEMA;
use super::row::{FlatRow, Told};
use super::{CacheFile, CacheSession};

/// Reports put together.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    logs: Vec<MergedLog>,
    by_name: BTreeMap<(String, String), usize>,
    /// Rows that stood there already.
    pub(crate) repeated: u64,
    /// The exit codes that reports of whole runs had.
    pub(crate) exit_codes: Vec<u8>,
}

#[derive(Debug)]
struct MergedLog {
    file: CacheFile,
    rows: BTreeMap<u64, CacheRow>,
    calls: BTreeMap<u64, OneShotRow>,
}

/// A report of a run, as far as it is read again.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    exit_code: u8,
    #[serde(borrow)]
    logs: Vec<Log<'r>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Log<'r> {
    path: String,
    session: Option<Session>,
    verdict: String,
    error: Option<String>,
    input_sha256: Option<String>,
    #[serde(borrow)]
    rows: Vec<&'r RawValue>,
}

#[derive(Deserialize)]
struct Session {
    id: String,
    version: Option<u64>,
    dialect: String,
}

/// What tells a report from a row.
#[derive(Deserialize)]
struct Probe {
    schema: Option<String>,
}

impl Merged {
    /// Adds a text: reports of runs, rows, or both, one behind the other. Holds one of them at a time.
    ///
    /// # Errors
    ///
    /// It is neither, or a row says something this build does not know, or contradicts one that was added before. The message
    /// says where, in one line.
    pub(crate) fn add(&mut self, text: impl Read) -> Result<(), String> {
        let values = serde_json::Deserializer::from_reader(text).into_iter::<Box<RawValue>>();
        for (number, value) in values.enumerate() {
            let value = value.map_err(|error| match error.is_io() {
                true => format!("cannot read: {error}"),
                false => format!("no JSON: {error}"),
            })?;
            self.add_value(&value)
                .map_err(|error| format!("value {}: {error}", number + 1))?;
        }
        Ok(())
    }

    fn add_value(&mut self, value: &RawValue) -> Result<(), String> {
        let probe: Probe = parse(value)?;
        match probe.schema.as_deref() {
            None => self.add_row(value),
            Some(SCHEMA) => {
                let run: Run<'_> = parse(value)?;
                self.exit_codes.push(run.exit_code);
                run.logs.into_iter().try_for_each(|log| self.add_log(log))
            }
            Some(other) => Err(format!("it is \"{other}\", and no {SCHEMA}")),
        }
    }

    fn add_log(&mut self, log: Log<'_>) -> Result<(), String> {
        let id = log.session.as_ref().map(|session| session.id.as_str());
        let known = self.log(&log.path, id.unwrap_or_default());
        known.file.session = log.session.map(|session| CacheSession {
            version: session.version,
            dialect: session.dialect,
        });
        known.file.outcome = log.verdict;
        known.file.error = log.error;
        known.file.digest = log.input_sha256;
        log.rows.into_iter().try_for_each(|row| self.add_row(row))
    }

    fn add_row(&mut self, value: &RawValue) -> Result<(), String> {
        let row: FlatRow<'_> = parse(value)?;
        if row.path.is_empty() || row.kind.is_empty() {
            return Err("it is no row of a cache report: `path` or `kind` is missing".into());
        }
        let told = row.told()?;
        let log = self.log(&row.path, &row.session_id);
        if let (None, Some(dialect)) = (&log.file.session, &row.dialect) {
            log.file.session = Some(CacheSession {
                version: row.version,
                dialect: dialect.to_string(),
            });
        }
        let is_new = match told {
            Told::Request(request, unit) => {
                log.file.report.unit = unit;
                keep(&mut log.rows, row.index, *request)
            }
            Told::Call(call) => keep(&mut log.calls, row.index, call),
        };
        match is_new {
            Some(true) => Ok(()),
            Some(false) => {
                self.repeated += 1;
                Ok(())
            }
            None => Err(format!(
                "row {} of {} was given before, and says something else",
                row.index, row.path
            )),
        }
    }

    fn log(&mut self, path: &str, session_id: &str) -> &mut MergedLog {
        let next = self.logs.len();
        let at = *self
            .by_name
            .entry((path.to_string(), session_id.to_string()))
            .or_insert(next);
        if at == next {
            self.logs.push(MergedLog::new(path, session_id));
        }
        // The index was made from the length, or stood in the map since then.
        let last = self.logs.len().saturating_sub(1);
        &mut self.logs[at.min(last)]
    }

    /// The logs, in the order in which they were named first, with their sums.
    pub(crate) fn finish(self) -> Vec<CacheFile> {
        let whole = |log: MergedLog| {
            let mut file = log.file;
            file.report.rows = log.rows.into_values().collect();
            file.report.one_shots = log.calls.into_values().collect();
            file.report.sum_up();
            file
        };
        self.logs.into_iter().map(whole).collect()
    }
}

impl MergedLog {
    fn new(path: &str, session_id: &str) -> MergedLog {
        MergedLog {
            file: CacheFile {
                path: PathBuf::from(path),
                session: None,
                outcome: "clean".into(),
                error: None,
                digest: None,
                report: CacheReport {
                    session_id: session_id.into(),
                    ..CacheReport::default()
                },
                misses: Vec::new(),
                changes: BTreeMap::new(),
            },
            rows: BTreeMap::new(),
            calls: BTreeMap::new(),
        }
    }
}

/// Keeps a row; whether it is new, or nothing if another one stands at its index.
fn keep<T: PartialEq>(rows: &mut BTreeMap<u64, T>, index: u64, row: T) -> Option<bool> {
    match rows.get(&index) {
        None => {
            rows.insert(index, row);
            Some(true)
        }
        Some(known) if *known == row => Some(false),
        Some(_) => None,
    }
}

fn parse<'r, T: Deserialize<'r>>(value: &'r RawValue) -> Result<T, String> {
    serde_json::from_str(value.get())
        .map_err(|error| format!("it is no row of a cache report, and no report: {error}"))
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::look;
    use super::super::{CacheFormat, Parts, sample, write_cache};
    use super::*;
    use crate::analyse::fleet;

    fn printed(files: &[CacheFile], format: CacheFormat) -> Vec<u8> {
        let mut out = Vec::new();
        let run = sample::run(files, Parts::default());
        write_cache(&run, format, look(), &mut out).expect("a vector takes all");
        out
    }

    fn merged(texts: &[&[u8]]) -> Vec<CacheFile> {
        let mut merged = Merged::default();
        for text in texts {
            merged.add(*text).expect("this build wrote it");
        }
        merged.finish()
    }

    #[test]
    fn reports_of_parts_add_up_to_the_report_of_the_whole() {
        let files = sample::files("\u{202e}x\n");
        let whole = printed(&files, CacheFormat::Json);
        let (front, back) = files.split_at(1);
        for format in [CacheFormat::Json, CacheFormat::Jsonl] {
            let parts = [printed(front, format), printed(back, format)];
            let merged = merged(&[&parts[0], &parts[1]]);
            let totals = |files: &[CacheFile]| fleet::totals(files.iter().map(|file| &file.report));
            assert_eq!(totals(&merged), totals(&files), "{format:?}");
            let calls =
                |files: &[CacheFile]| fleet::one_shots(files.iter().map(|file| &file.report));
            assert_eq!(calls(&merged), calls(&files), "{format:?}");
            let window = |files: &[CacheFile]| fleet::window(files.iter().map(|file| &file.report));
            assert_eq!(window(&merged), window(&files), "{format:?}");
        }
        let mut again = merged(&[&whole]);
        for (file, original) in again.iter_mut().zip(&files) {
            file.misses.clone_from(&original.misses);
        }
        assert_eq!(
            String::from_utf8(printed(&again, CacheFormat::Json)),
            String::from_utf8(whole)
        );
    }

    #[test]
    fn rows_may_come_in_any_order_and_twice() {
        let files = sample::files("");
        let text = printed(&files, CacheFormat::Jsonl);
        let text = String::from_utf8(text).expect("JSON is text");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.reverse();
        let shuffled = lines.join("\n") + "\n" + lines.first().copied().unwrap_or_default();
        let mut all = Merged::default();
        all.add(shuffled.as_bytes()).expect("rows");
        assert_eq!(all.repeated, 1);
        let mut all = all.finish();
        all.reverse();
        for (file, original) in all.iter().zip(&files) {
            assert_eq!(file.report.rows, original.report.rows);
        }
    }

    #[test]
    fn what_is_no_report_is_refused() {
        let refused = |text: &str| Merged::default().add(text.as_bytes()).expect_err("refused");
        assert!(refused("{\"a\":").starts_with("no JSON"));
        assert!(refused("[1]").contains("no row of a cache report"));
        assert!(refused("{\"path\":\"a\"}").contains("`path` or `kind`"));
        assert!(refused("{\"schema\":\"dsh-audit/verify/v1\"}").contains("verify"));
        let files = sample::files("");
        let text = String::from_utf8(printed(&files, CacheFormat::Jsonl)).expect("JSON is text");
        let first = text.lines().next().expect("a row");
        let other = first.replace("\"prompt\":5000", "\"prompt\":5001");
        assert_ne!(first, other);
        assert!(refused(&format!("{first}\n{other}")).contains("says something else"));
    }
}
