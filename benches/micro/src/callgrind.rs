//! Runs subjects under callgrind.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::{env, thread};

use anyhow::{Context, Result};

use crate::Options;
use crate::subject::Subject;

/// Instructions per operation.
pub(crate) type Counts = BTreeMap<Subject, u64>;

/// Enough operations that a rare event, such as a growing table, has no weight; few enough to take
/// only a second or two.
const OPERATIONS: usize = 10_000;

/// Counts all subjects, as many at a time as there are cores.
pub(crate) fn count_all(subjects: &[Subject], options: &Options) -> Result<Counts> {
    if let Some(directory) = &options.keep {
        std::fs::create_dir_all(directory).with_context(|| format!("can't make {}", directory.display()))?;
    }
    let rest = Mutex::new(subjects.iter());
    let next = || rest.lock().expect("no closure panics under the lock").next();
    let worker =
        || std::iter::from_fn(next).map(|&it| Ok((it, per_operation(it, options)?))).collect::<Result<Vec<_>>>();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let counts = workers.into_iter().map(|worker| worker.join().expect("a worker does not panic"));
        counts.collect::<Result<Vec<_>>>().map(|counts| counts.into_iter().flatten().collect())
    })
}

fn per_operation(subject: Subject, options: &Options) -> Result<u64> {
    let once = count(subject, OPERATIONS, options.console, None)?;
    let twice = count(subject, 2 * OPERATIONS, options.console, options.keep.as_deref())?;
    let difference = twice.checked_sub(once).with_context(|| format!("{subject}: {once}, then {twice}"))?;
    Ok((difference as f64 / OPERATIONS as f64).round() as u64)
}

/// Counts the instructions of a whole process.
fn count(subject: Subject, operations: usize, console: bool, keep: Option<&Path>) -> Result<u64> {
    let file = format!("callgrind.{}", subject.words().join("."));
    let output = keep.map_or("/dev/null".into(), |directory| directory.join(file));
    let result = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", output.display()))
        .arg(env::current_exe()?)
        .args(console.then_some("--console"))
        .arg("--run")
        .args(subject.words())
        .arg(operations.to_string())
        // Only `PATH` is kept: no setting of a runtime, or other difference between two terminals,
        // may change a count.
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .output()
        .context("can't run valgrind, which counts the instructions")?;
    let said = String::from_utf8_lossy(&result.stderr);
    let count = collected(&said).filter(|_| result.status.success());
    count.with_context(|| format!("{subject} under valgrind: {}\n{said}", result.status))
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
