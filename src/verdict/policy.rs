//! What weighs how much: the levels in force and the level at which a run fails.
//!
//! **Takes** settings that `cli` read from the command line and the configuration. **Gives** findings at their final
//! level. **Never** reads a file.

use std::collections::BTreeMap;

use crate::finding::{Finding, Level};

/// The level from which on a finding fails the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FailOn {
    /// This level and above.
    Level(Level),
    /// Errors only.
    #[default]
    Default,
    /// Nothing fails the run.
    Never,
}

impl FailOn {
    /// Whether a finding of this level fails the run.
    pub(crate) fn is_reached_by(self, level: Level) -> bool {
        match self {
            FailOn::Level(least) => level >= least,
            FailOn::Default => level >= Level::Error,
            FailOn::Never => false,
        }
    }
}

/// What the configuration says of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Its findings are dropped.
    Off,
    /// Its findings have this level.
    At(Level),
}

/// The policy that holds for one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    /// Where a run begins to fail.
    pub(crate) fail_on: FailOn,
    /// Levels by rule code; rules not named keep their own.
    pub(crate) levels: BTreeMap<u16, Setting>,
}

impl Policy {
    /// The finding at its final level, or `None` if its rule is off.
    pub(crate) fn apply(&self, finding: Finding) -> Option<Finding> {
        match self.levels.get(&finding.rule.code) {
            None => Some(finding),
            Some(Setting::Off) => None,
            Some(Setting::At(level)) => Some(finding.level(*level)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_for_failing() {
        assert!(FailOn::Default.is_reached_by(Level::Error));
        assert!(!FailOn::Default.is_reached_by(Level::Warning));
        assert!(FailOn::Level(Level::Note).is_reached_by(Level::Note));
        assert!(!FailOn::Never.is_reached_by(Level::Error));
    }
}
