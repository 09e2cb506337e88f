//! The exit codes: the only place that knows their numbers.
//!
//! **Takes** what happened, once it is decided. **Gives** an [`ExitCode`].
//! **Never** depends on a format, on an output flag, or on whether the reader is still there.

use std::process::ExitCode;

use crate::verdict::{Outcome, Verdict};

/// What a run, or one file of it, amounts to. Ordered by precedence: the greatest one decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Everything was checked, and nothing reaches `--fail-on`.
    #[default]
    Passed,
    /// Findings reach `--fail-on`.
    Failed,
    /// A file is of a generation that is not supported, or no session log of this harness.
    NotSupported,
    /// No complete audit: wrong usage, an unreadable file, no file matched.
    NotComplete,
}

impl Status {
    /// What one file's verdict amounts to.
    pub(crate) fn of(verdict: &Verdict) -> Status {
        match verdict.outcome {
            Outcome::Unreadable => Status::NotComplete,
            Outcome::Unsupported | Outcome::Foreign => Status::NotSupported,
            Outcome::Clean | Outcome::Findings | Outcome::Rejected if verdict.fails => {
                Status::Failed
            }
            Outcome::Clean | Outcome::Findings | Outcome::Rejected => Status::Passed,
        }
    }

    /// The one of two that decides.
    pub(crate) fn and(self, other: Status) -> Status {
        self.max(other)
    }

    /// The same under `--exit-zero`, which forgives findings and nothing else.
    pub(crate) fn forgiving_findings(self) -> Status {
        if self == Status::Failed {
            Status::Passed
        } else {
            self
        }
    }

    /// What a report's number stands for.
    pub(crate) fn from_code(code: u8) -> Option<Status> {
        [
            Status::Passed,
            Status::Failed,
            Status::NotComplete,
            Status::NotSupported,
        ]
        .into_iter()
        .find(|status| status.code() == code)
    }

    /// The number that stands in reports.
    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Passed => 0,
            Status::Failed => 1,
            Status::NotComplete => 2,
            Status::NotSupported => 3,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_is_two_three_one_zero() {
        let falling = [
            Status::NotComplete,
            Status::NotSupported,
            Status::Failed,
            Status::Passed,
        ];
        assert_eq!(falling.map(Status::code), [2, 3, 1, 0]);
        assert!(falling.is_sorted_by(|a, b| a.and(*b) == *a && a > b));
    }

    #[test]
    fn exit_zero_forgives_findings_only() {
        assert_eq!(Status::Failed.forgiving_findings(), Status::Passed);
        assert_eq!(
            Status::NotComplete.forgiving_findings(),
            Status::NotComplete
        );
        assert_eq!(
            Status::NotSupported.forgiving_findings(),
            Status::NotSupported
        );
    }
}
