//! Runs subjects under callgrind.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::{env, thread};

use crate::subject::Subject;

/// Instructions per operation.
pub(crate) type Counts = BTreeMap<Subject, u64>;

/// Enough operations that a rare event, such as a growing table, has no weight; few enough to take
/// only a second or two.
const OPERATIONS: usize = 10_000;

/// Counts all of `subjects`, as many at a time as there are cores. If there is a `keep`,
/// callgrind's output stays in that directory.
pub(crate) fn count_all(subjects: &[Subject], keep: Option<&Path>) -> Result<Counts, String> {
    if let Some(directory) = keep {
        std::fs::create_dir_all(directory).map_err(|error| format!("can't make {}: {error}", directory.display()))?;
    }
    let rest = Mutex::new(subjects.iter());
    let next = || rest.lock().expect("no closure panics under the lock").next();
    let worker = || -> Result<Counts, String> {
        std::iter::from_fn(next).map(|&subject| Ok((subject, per_operation(subject, keep)?))).collect()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let counts = workers.into_iter().map(|worker| worker.join().expect("a worker does not panic"));
        counts.collect::<Result<Vec<_>, _>>().map(|counts| counts.into_iter().flatten().collect())
    })
}

fn per_operation(subject: Subject, keep: Option<&Path>) -> Result<u64, String> {
    let once = count(subject, OPERATIONS, None)?;
    let twice = count(subject, 2 * OPERATIONS, keep)?;
    let difference = twice.checked_sub(once).ok_or_else(|| format!("{subject}: {once} instructions, then {twice}"))?;
    Ok((difference as f64 / OPERATIONS as f64).round() as u64)
}

/// Counts the instructions of a whole process.
fn count(subject: Subject, operations: usize, keep: Option<&Path>) -> Result<u64, String> {
    let program = env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    let output = keep.map_or("/dev/null".into(), |directory| directory.join(subject.file_name()));
    let result = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", output.display()))
        .arg(program)
        .arg("--run")
        .args(subject.arguments())
        .arg(operations.to_string())
        // Only `PATH` is kept: no setting of a runtime, or other difference between two terminals,
        // may change a count.
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .output()
        .map_err(|error| format!("can't run valgrind, which counts the instructions: {error}"))?;
    let said = String::from_utf8_lossy(&result.stderr);
    match (result.status.success(), collected(&said)) {
        (true, Some(count)) => Ok(count),
        _ => Err(format!("{subject} under valgrind: {}\n{said}", result.status)),
    }
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
