//! `programs.json`: the results of each program.

use serde::{Deserialize, Serialize};

use super::unpack::Unpacked;
use crate::results::today;
use crate::rows::{Recorded, Rows};

/// What was run, by program.
pub(crate) type Results = Rows<Row>;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) version: String,
    /// The day of the run.
    pub(crate) date: String,
    /// The version of tokio in the program's own lock file.
    pub(crate) tokio: String,
    /// The packages that `cargo gmp` moved in the lock file, except tokio.
    pub(crate) moved: Vec<String>,
    pub(crate) built: bool,
    pub(crate) help: bool,
    pub(crate) used: bool,
    /// If a step fails on gmp: whether all steps work on tokio.
    pub(crate) on_tokio: Option<bool>,
}

impl Recorded for Row {
    const FILE: &str = "programs.json";
}

impl Row {
    pub(crate) fn new(unpacked: &Unpacked) -> Result<Row, String> {
        let (version, tokio) = (unpacked.version.clone(), unpacked.tokio.clone());
        Ok(Row { version, tokio, date: today()?, ..Row::default() })
    }

    /// Whether all steps work.
    pub(crate) fn is_right(&self) -> bool {
        self.built && self.help && self.used
    }

    /// Whether a step fails on gmp that works on tokio.
    pub(crate) fn is_fault(&self) -> bool {
        self.on_tokio == Some(true)
    }

    pub(crate) fn summary(&self) -> String {
        let word = |is_right| if is_right { "ok" } else { "failed" };
        let on_tokio = self.on_tokio.map(|is_right| format!("; on tokio: {}", word(is_right))).unwrap_or_default();
        format!("build {}, help {}, use {}{on_tokio}", word(self.built), word(self.help), word(self.used))
    }
}
