//! Runs subjects of counting under callgrind.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};
use gmp_micro::paths;
use gmp_micro::rt::{Flavor, Gmp, Rt, Tokio, Twin};
use rayon::prelude::*;

use crate::Options;

/// One path on one flavour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    pub(crate) flavor: Flavor,
    pub(crate) path: &'static str,
}

impl Subject {
    pub(crate) fn all() -> Vec<Subject> {
        let on = |path: paths::Path<Gmp>| path.flavors.iter().map(move |&flavor| Subject { flavor, path: path.name });
        paths::all::<Gmp>().into_iter().flat_map(on).collect()
    }

    pub(crate) fn run_on<L: Twin>(&self, operations: usize) {
        let path = paths::all::<L>().into_iter().find(|path| path.name == self.path);
        path.expect("a subject is made of a path").run(&L::start(self.flavor), operations);
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.flavor.name(), self.path)
    }
}

pub(crate) type Counts = BTreeMap<Subject, Count>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) gmp: u64,
    pub(crate) tokio: Option<u64>,
}

/// So many that a rare event, such as a growing table, has no weight; a run takes a second or two.
const OPERATIONS: usize = 10_000;

/// Counts all subjects, as many at a time as there are cores.
pub(crate) fn count_all(subjects: &[Subject], options: &Options) -> Result<Counts> {
    if let Some(directory) = &options.keep {
        fs::create_dir_all(directory).with_context(|| format!("can't make {}", directory.display()))?;
    }
    let count = |subject: &Subject| {
        let tokio = options.tokio.then(|| per_operation(Tokio::NAME, subject, options)).transpose()?;
        Ok((*subject, Count { gmp: per_operation(Gmp::NAME, subject, options)?, tokio }))
    };
    subjects.par_iter().map(count).collect()
}

fn per_operation(library: &str, subject: &Subject, options: &Options) -> Result<u64> {
    let words = [library, subject.flavor.name(), subject.path];
    let once = count(words, OPERATIONS, options.console, None)?;
    let twice = count(words, 2 * OPERATIONS, options.console, options.keep.as_deref())?;
    let difference = twice.checked_sub(once).with_context(|| format!("{words:?}: {once}, then {twice}"))?;
    Ok((difference as f64 / OPERATIONS as f64).round() as u64)
}

/// Counts the instructions of a whole process.
fn count(words: [&str; 3], operations: usize, console: bool, keep: Option<&Path>) -> Result<u64> {
    let file = format!("callgrind.{}", words.join("."));
    let output = keep.map_or("/dev/null".into(), |directory| directory.join(file));
    let result = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", output.display()))
        .arg(env::current_exe()?)
        .args(console.then_some("--console"))
        .arg("--run")
        .args(words)
        .arg(operations.to_string())
        // No setting of a runtime, or other difference between two terminals, may change a count.
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .output()
        .context("can't run valgrind, which counts the instructions")?;
    let said = String::from_utf8_lossy(&result.stderr);
    let count = collected(&said).filter(|_| result.status.success());
    count.with_context(|| format!("{words:?} under valgrind: {}\n{said}", result.status))
}

/// Parses the sum that callgrind prints at the end: `==42== Collected : 9943073`.
fn collected(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found_among_what_else_is_said_and_without_a_total_there_is_no_count() {
        let said = "==42== Events    : Ir\n==42== Collected : 9943073\n==42== \n==42== I   refs:      9,943,073\n";
        assert_eq!(collected(said), Some(9_943_073));
        assert_eq!(["", "==42== Collected : \n", "==42== Collected : 1 2\n"].map(collected), [None; 3]);
    }
}
