//! `crates.json`: the results of each package.

use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::rows::{Recorded, Rows};

/// What was run, by package.
pub(crate) type Results = Rows<Row>;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) version: String,
    /// The day of the run.
    pub(crate) date: String,
    /// The reason why no test was run, or an empty text.
    pub(crate) reason: String,
    /// The number of tests on tokio, without tests that their authors ignore.
    pub(crate) tests: usize,
    /// The tests that fail on both.
    pub(crate) failing: Vec<String>,
    /// Test files that don't compile as published, on tokio either.
    pub(crate) not_compiled: Vec<String>,
    pub(crate) differences: Vec<Difference>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Difference {
    pub(crate) test: String,
    /// The number of passes alone, on tokio and on gmp. `None` if the test doesn't compile on gmp.
    pub(crate) passed: Option<[usize; 2]>,
    pub(crate) runs: usize,
}

impl Recorded for Row {
    const FILE: &str = "crates.json";
}

impl Row {
    pub(crate) fn new(version: &str, tests: usize) -> Result<Row, String> {
        Ok(Row { version: version.to_owned(), date: today()?, tests, ..Row::default() })
    }

    pub(crate) fn without_tests(version: &str, reason: &str) -> Result<Row, String> {
        Ok(Row { reason: reason.to_owned(), ..Row::new(version, 0)? })
    }

    /// The number of tests with the same outcome on both.
    pub(crate) fn same(&self) -> usize {
        self.tests - self.differences.len()
    }
}

impl Difference {
    pub(crate) fn new(test: &str, runs: usize, passed: [usize; 2]) -> Difference {
        Difference { test: test.to_owned(), passed: Some(passed), runs }
    }

    pub(crate) fn not_compiled(test: &str) -> Difference {
        Difference { test: test.to_owned(), passed: None, runs: 0 }
    }
}

pub(crate) fn today() -> Result<String, String> {
    let output = Command::new("date").args(["-u", "+%F"]).output().map_err(|error| format!("date: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
