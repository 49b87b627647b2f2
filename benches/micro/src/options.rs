//! The command line.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;
use clap::builder::PossibleValuesParser;
use gmp_micro::paths::BATCH;

use crate::subject::Subject;

/// Counts the instructions that gmp's hot paths take per operation, under valgrind, and compares
/// them with instructions.toml.
///
/// Exit code 1: a path takes more than its figure and the margin. On another architecture or libc
/// than that of the figures, which instructions.toml names, the table is printed without a check;
/// only with --strict is that a failure.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Exit with code 1 if the figures can't be checked because they belong to another machine
    #[arg(long)]
    pub(crate) strict: bool,
    /// Replace the figures by the new counts
    #[arg(long)]
    pub(crate) update: bool,
    /// Also count tokio's instructions, in a column beside gmp's
    #[arg(long)]
    tokio: bool,
    /// Count with console-subscriber's layer; needs a build with `--cfg tokio_unstable`, in which
    /// both libraries have their feature `tracing`
    #[arg(long)]
    pub(crate) console: bool,
    /// Count this path only; may be given several times
    #[arg(long, value_name = "PATH", value_parser = PossibleValuesParser::new(paths()))]
    only: Vec<String>,
    /// Leave callgrind's output in this directory, for callgrind_annotate
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Run one path in this process and count nothing: the command that runs under valgrind
    #[arg(long, num_args = 4, value_names = ["LIBRARY", "FLAVOUR", "PATH", "OPERATIONS"])]
    run: Option<Vec<String>>,
}

impl Options {
    pub(crate) fn subjects(&self) -> Vec<Subject> {
        let is_wanted = |it: &Subject| {
            (self.tokio || it.is_gmp()) && (self.is_everything() || self.only.iter().any(|path| path == it.path))
        };
        Subject::all().into_iter().filter(is_wanted).collect()
    }

    /// Whether all paths are counted.
    pub(crate) fn is_everything(&self) -> bool {
        self.only.is_empty()
    }

    /// The path to run in this process, if there is one, and the number of operations.
    pub(crate) fn run(&self) -> Result<Option<(Subject, usize)>> {
        let Some([words @ .., operations]) = self.run.as_deref() else { return Ok(None) };
        let subject = Subject::all().into_iter().find(|it| it.words()[..] == *words);
        let known = || Subject::all().iter().map(Subject::to_string).collect::<Vec<_>>().join(", ");
        let subject = subject.with_context(|| format!("{words:?} can't be run: it must be one of {}", known()))?;
        let count = operations.parse().ok().filter(|count| count % BATCH == 0);
        let count = count.with_context(|| format!("`{operations}` must be a multiple of {BATCH}"))?;
        Ok(Some((subject, count)))
    }
}

fn paths() -> Vec<&'static str> {
    let paths: BTreeSet<_> = Subject::all().iter().map(|subject| subject.path).collect();
    paths.into_iter().collect()
}
