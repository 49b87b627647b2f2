//! The command line.

use std::path::PathBuf;

use clap::Parser;
use gmp_micro::paths::BATCH;

use crate::subject::Subject;

/// Counts the instructions that gmp's hot paths take per operation, under valgrind, and compares
/// them with instructions.toml.
///
/// Exit code 1: a path takes more than its figure and the margin. On another architecture or libc
/// than that of the figures, which instructions.toml names, the table is printed without a check;
/// only with --strict is that a failure.
#[derive(Debug, Default, Parser)]
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
    /// Count this path only; may be given several times
    #[arg(long, value_name = "PATH", value_parser = path)]
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
    pub(crate) fn run(&self) -> Option<Result<(Subject, usize), String>> {
        let [library, flavor, path, operations] = &self.run.as_ref()?[..] else { return None };
        let Some(subject) = Subject::named(library, flavor, path) else {
            let known: Vec<_> = Subject::all().iter().map(Subject::to_string).collect();
            let known = known.join(", ");
            return Some(Err(format!("--run can't be `{library} {flavor} {path}`: it must be one of {known}")));
        };
        Some(match operations.parse() {
            Ok(operations) if operations % BATCH == 0 => Ok((subject, operations)),
            _ => Err(format!("OPERATIONS can't be `{operations}`: it must be a multiple of {BATCH}")),
        })
    }
}

fn path(name: &str) -> Result<String, String> {
    let mut known: Vec<_> = Subject::all().iter().map(|subject| subject.path).collect();
    known.sort_unstable();
    known.dedup();
    if known.contains(&name) { Ok(name.to_owned()) } else { Err(format!("it must be one of {}", known.join(", "))) }
}
