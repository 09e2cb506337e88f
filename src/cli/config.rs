//! The configuration file, `dsh-audit.toml`.
//!
//! **Takes** its text. **Gives** [`Config`]; from it, the [`Policy`] of a path.
//! **Never** passes over a key it does not know: that is an error, with the key that was probably meant.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::analyse::answer::Budgets;
use crate::finding::Level;
use crate::verdict::{FailOn, Policy, Setting};

use super::discover::cannot_read;
use super::job;
use super::toml_reader::{Reader, Spot, Table};

/// What a configuration says.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// Where it was read from.
    pub(crate) path: Option<PathBuf>,
    fail_on: Option<FailOn>,
    settings: Settings,
    /// The baseline it names, resolved against its own directory.
    pub(crate) baseline: Option<PathBuf>,
    /// Limits on what the cache may lose.
    pub(crate) budgets: BudgetSettings,
    overrides: Vec<Override>,
}

/// Limits on what the cache may lose; absent means not set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BudgetSettings {
    /// Least share of prompt tokens read from the cache, 0 to 1, first requests excluded.
    pub(crate) min_hit_rate: Option<f64>,
    /// Fewest requests over which a rate is judged.
    pub(crate) min_requests: Option<u64>,
    /// Most headers that differ from their predecessor.
    pub(crate) max_header_changes: Option<u64>,
    /// Most tokens lost to broken prefixes.
    pub(crate) max_lost_tokens: Option<u64>,
    /// Whether every request after the first must read from the cache.
    pub(crate) require_cache_read: Option<bool>,
}

impl BudgetSettings {
    /// These settings where they are set, else those of `others`.
    pub(crate) fn or(self, others: BudgetSettings) -> BudgetSettings {
        BudgetSettings {
            min_hit_rate: self.min_hit_rate.or(others.min_hit_rate),
            min_requests: self.min_requests.or(others.min_requests),
            max_header_changes: self.max_header_changes.or(others.max_header_changes),
            max_lost_tokens: self.max_lost_tokens.or(others.max_lost_tokens),
            require_cache_read: self.require_cache_read.or(others.require_cache_read),
        }
    }

    /// As the analysis takes them.
    pub(crate) fn budgets(self) -> Budgets {
        Budgets {
            min_hit_rate: self.min_hit_rate,
            min_requests: self.min_requests.unwrap_or(Budgets::MIN_REQUESTS),
            max_lost_tokens: self.max_lost_tokens,
            max_header_changes: self.max_header_changes,
            require_cache_read: self.require_cache_read.unwrap_or(false),
        }
    }
}

#[derive(Debug, Default)]
struct Settings {
    levels: BTreeMap<u16, Setting>,
    event_types: Vec<GlobMatcher>,
}

/// Settings for the paths that a glob matches, relative to the configuration's directory.
#[derive(Debug)]
struct Override {
    paths: Vec<GlobMatcher>,
    settings: Settings,
}

/// Where a configuration is taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Nowhere.
    Nothing,
    /// This file.
    File(PathBuf),
    /// `dsh-audit.toml` in this directory or the nearest one above it.
    Above(PathBuf),
}

/// The configuration's file name.
const NAME: &str = "dsh-audit.toml";

impl Config {
    /// Reads the configuration.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is no TOML, or has a key or value that is not known; the message is one line.
    pub(crate) fn load(from: &From) -> Result<Config, String> {
        let path = match from {
            From::Nothing => return Ok(Config::default()),
            From::File(path) => path.clone(),
            From::Above(directory) => {
                let candidates = directory.ancestors().map(|above| above.join(NAME));
                match candidates.into_iter().find(|candidate| candidate.is_file()) {
                    Some(path) => path,
                    None => return Ok(Config::default()),
                }
            }
        };
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("{}: {}", path.display(), cannot_read(&error)))?;
        let mut config =
            Config::parse(&text).map_err(|error| format!("{}:{error}", path.display()))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        config.baseline = config.baseline.map(|baseline| directory.join(baseline));
        config.path = Some(path);
        Ok(config)
    }

    fn parse(text: &str) -> Result<Config, String> {
        let reader = Reader::new(text);
        let mut top = reader.top()?;
        let mut config = Config::default();
        if let Some((word, spot)) = top.text("fail-on")? {
            config.fail_on = Some(fail_on_of(&word).ok_or_else(|| {
                reader.wrong(
                    spot,
                    "expected \"error\", \"warning\", \"note\" or \"never\"",
                )
            })?);
        }
        config.baseline = top.text("baseline")?.map(|(path, _)| PathBuf::from(path));
        config.settings = Settings::take(&reader, &mut top)?;
        if let Some(mut budgets) = top.table("budgets")? {
            config.budgets = BudgetSettings {
                min_hit_rate: budgets.share("min-hit-rate")?,
                min_requests: budgets.number("min-requests")?,
                max_header_changes: budgets.number("max-header-changes")?,
                max_lost_tokens: budgets.number("max-lost-tokens")?,
                require_cache_read: budgets.truth("require-cache-read")?,
            };
            budgets.finish()?;
        }
        for mut table in top.tables("paths")? {
            let paths = table.texts("match")?.ok_or_else(|| {
                reader.wrong(table.spot(), "[[paths]] needs `match`, a list of globs")
            })?;
            let paths = matchers(&reader, paths)?;
            config.overrides.push(Override {
                paths,
                settings: Settings::take(&reader, &mut table)?,
            });
            table.finish()?;
        }
        top.finish()?;
        Ok(config)
    }

    /// The policy that holds for a path. `fail_on` is the command line's, which wins.
    pub(crate) fn policy_for(&self, path: &Path, fail_on: Option<FailOn>) -> Policy {
        let mut policy = Policy {
            fail_on: fail_on.or(self.fail_on).unwrap_or_default(),
            levels: self.settings.levels.clone(),
        };
        for settings in self.overrides_for(path) {
            policy
                .levels
                .extend(settings.levels.iter().map(|(code, level)| (*code, *level)));
        }
        policy
    }

    /// Whether an event type is allowed in the log at a path although no build of the harness knows it.
    pub(crate) fn allows_event_type(&self, path: &Path, event_type: &str) -> bool {
        let allows = |settings: &Settings| {
            settings
                .event_types
                .iter()
                .any(|glob| glob.is_match(event_type))
        };
        allows(&self.settings) || self.overrides_for(path).any(allows)
    }

    fn overrides_for(&self, path: &Path) -> impl Iterator<Item = &Settings> {
        let relative = self.relative(path);
        self.overrides
            .iter()
            .filter(move |part| part.paths.iter().any(|glob| glob.is_match(&relative)))
            .map(|part| &part.settings)
    }

    /// The path as seen from the configuration's directory, where it lies below it.
    fn relative(&self, path: &Path) -> PathBuf {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let directory = self
            .path
            .as_deref()
            .and_then(Path::parent)
            .unwrap_or(Path::new(""));
        let directory =
            std::path::absolute(directory.join(".")).unwrap_or_else(|_| directory.to_path_buf());
        match absolute.strip_prefix(&directory) {
            Ok(relative) => relative.to_path_buf(),
            Err(_) => path.to_path_buf(),
        }
    }
}

impl Settings {
    fn take(reader: &Reader<'_>, table: &mut Table<'_, '_>) -> Result<Settings, String> {
        let mut settings = Settings::default();
        if let Some(levels) = table.table("levels")? {
            for (name, spot) in levels.keys() {
                let rule = job::find_rule(&name).ok_or_else(|| {
                    let known = job::catalogue().iter().map(|rule| rule.name);
                    reader.unknown(spot, "rule", &name, known)
                })?;
                let (word, spot) = levels.word(&name)?;
                let setting = setting_of(&word).ok_or_else(|| {
                    reader.wrong(spot, "expected \"error\", \"warning\", \"note\" or \"off\"")
                })?;
                settings.levels.insert(rule.code, setting);
            }
        }
        if let Some(globs) = table.texts("allow-event-types")? {
            settings.event_types = matchers(reader, globs)?;
        }
        Ok(settings)
    }
}

fn matchers(reader: &Reader<'_>, globs: Vec<(String, Spot)>) -> Result<Vec<GlobMatcher>, String> {
    let compile = |(glob, spot): (String, Spot)| {
        let built = GlobBuilder::new(&glob).literal_separator(true).build();
        built
            .map(|glob| glob.compile_matcher())
            .map_err(|error| reader.wrong(spot, error.kind()))
    };
    globs.into_iter().map(compile).collect()
}

fn fail_on_of(word: &str) -> Option<FailOn> {
    match word {
        "never" => Some(FailOn::Never),
        word => level_of(word).map(FailOn::Level),
    }
}

fn setting_of(word: &str) -> Option<Setting> {
    match word {
        "off" => Some(Setting::Off),
        word => level_of(word).map(Setting::At),
    }
}

fn level_of(word: &str) -> Option<Level> {
    [Level::Note, Level::Warning, Level::Error]
        .into_iter()
        .find(|level| level.as_str() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Config {
        Config::parse(text).expect("a configuration")
    }

    #[test]
    fn levels_are_given_by_name_or_code_and_overridden_per_path() {
        let config = parsed(
            "fail-on = \"warning\"\nallow-event-types = [\"mine/*\"]\n\
             [levels]\nopen-turn = \"error\"\nDSH0310 = \"off\"\n\
             [[paths]]\nmatch = [\"old/**\"]\nlevels = { open-turn = \"note\" }\n",
        );
        let policy = config.policy_for(Path::new("new/x.jsonl"), None);
        assert_eq!(policy.fail_on, FailOn::Level(Level::Warning));
        assert_eq!(policy.levels[&607], Setting::At(Level::Error));
        assert_eq!(policy.levels[&310], Setting::Off);
        let policy = config.policy_for(Path::new("old/x.jsonl"), Some(FailOn::Never));
        assert_eq!(policy.fail_on, FailOn::Never);
        assert_eq!(policy.levels[&607], Setting::At(Level::Note));
        assert!(config.allows_event_type(Path::new("x"), "mine/event"));
        assert!(!config.allows_event_type(Path::new("x"), "other/event"));
    }

    #[test]
    fn what_is_not_known_is_an_error_with_a_suggestion() {
        let error = |text: &str| Config::parse(text).expect_err("refused");
        assert_eq!(
            error("\nfail_on = \"error\"\n"),
            "2: unknown key `fail_on`; did you mean `fail-on`?"
        );
        assert_eq!(
            error("[levels]\nopen-trun = \"off\"\n"),
            "2: unknown rule `open-trun`; did you mean `open-turn`?"
        );
        assert!(error("fail-on = \"loud\"").starts_with("1: expected \"error\""));
        assert!(
            error("[budgets]\nmin-hit-rate = 2\n").starts_with("2: expected a number from 0 to 1")
        );
        assert!(
            error("[budgets]\nmax-lost-tokens = -2\n").starts_with("2: expected a whole number")
        );
        assert!(error("[[paths]]\nlevels = {}\n").contains("needs `match`"));
        assert!(error("a = \n").starts_with("1: "));
    }

    #[test]
    fn budgets_are_read() {
        let budgets = parsed("[budgets]\nmin-hit-rate = 0.9\nmax-header-changes = 3\n").budgets;
        assert_eq!(budgets.min_hit_rate, Some(0.9));
        assert_eq!(budgets.max_header_changes, Some(3));
        assert_eq!(budgets.max_lost_tokens, None);
    }
}
