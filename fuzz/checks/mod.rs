//! What holds for any bytes: one check for each target of the fuzzer, which panics where it does not hold.
//!
//! The fuzzer makes the bytes. The tests run the same checks over the logs of `testdata`, and over what a fuzzer once found.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "a crate of the fuzzer, and a module of tests that take a part each"
)]

pub mod alike;
pub mod commands;
pub mod json;
pub mod line;
pub mod readers;
pub mod row;
pub mod zstd;

/// A target.
pub struct Check {
    /// Its name, which is also that of its directories of seeds and of findings.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Panics where something does not hold.
    pub run: fn(&[u8]),
}

/// What a check takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// One line of a log.
    Line,
    /// A log, or the first line of one and another.
    Log,
}

/// All targets.
pub const CHECKS: [Check; 7] = [
    Check {
        name: "line",
        takes: Takes::Log,
        run: line::check,
    },
    Check {
        name: "json",
        takes: Takes::Line,
        run: json::check,
    },
    Check {
        name: "record",
        takes: Takes::Log,
        run: alike::check_lines,
    },
    Check {
        name: "row",
        takes: Takes::Line,
        run: row::check,
    },
    Check {
        name: "zstd",
        takes: Takes::Log,
        run: zstd::check,
    },
    Check {
        name: "log",
        takes: Takes::Log,
        run: readers::check,
    },
    Check {
        name: "commands",
        takes: Takes::Log,
        run: commands::check,
    },
];
