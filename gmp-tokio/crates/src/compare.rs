//! Compares the outcomes of each test on tokio and on gmp.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use gmp_conformance::single::Outcome;

use crate::build::{Built, Executor, build};
use crate::list::Package;
use crate::results::{Difference, Row};
use crate::run::{Test, run, run_one, tests};
use crate::unpack::Unpacked;
use crate::work;

/// The number of times that each differing test is repeated on both.
const REPEATS: usize = 3;

pub(crate) fn compare(package: &Package, unpacked: &Unpacked) -> Result<Row, String> {
    let on_tokio = build(package, unpacked, Executor::Tokio)?;
    if on_tokio.binaries.is_empty() {
        log(package, &on_tokio.messages)?;
        if on_tokio.failed.is_empty() {
            return Err(format!("{}: cargo compiles nothing, see {}", package.name, log_file(package).display()));
        }
        return Row::without_tests(&unpacked.version, "its tests don't compile as published, on tokio either");
    }
    if !on_tokio.is_on(Executor::Tokio) {
        remove(&on_tokio);
        return Row::without_tests(&unpacked.version, "its tests don't use tokio 1, or another one beside it");
    }
    let tokio = tests(package, unpacked, &on_tokio)?;
    if tokio.is_empty() {
        remove(&on_tokio);
        return Row::without_tests(&unpacked.version, "the package has no tests");
    }
    let on_gmp = build(package, unpacked, Executor::Gmp)?;
    if !on_gmp.is_on(Executor::Gmp) {
        log(package, &on_gmp.messages)?;
        return Err(format!("{}: `cargo gmp` can't build it or has not built it on gmp", package.name));
    }
    let gmp = tests(package, unpacked, &on_gmp)?;
    let row = compare_tests(package, unpacked, &on_tokio, &tokio, &gmp)?;
    if on_gmp.binaries.keys().ne(on_tokio.binaries.keys()) {
        log(package, &on_gmp.messages)?;
    }
    remove(&on_tokio);
    remove(&on_gmp);
    Ok(row)
}

fn compare_tests(
    package: &Package,
    unpacked: &Unpacked,
    built: &Built,
    tokio: &BTreeMap<String, Test>,
    gmp: &BTreeMap<String, Test>,
) -> Result<Row, String> {
    println!("  {} {}: {} tests", package.name, unpacked.version, tokio.len());
    let on_tokio = run(package, &unpacked.folder, tokio);
    let on_gmp = run(package, &unpacked.folder, gmp);
    let mut row = Row::new(&unpacked.version, tokio.len())?;
    row.not_compiled = built.failed.iter().cloned().collect();
    for (name, outcome) in &on_tokio {
        let Some(other) = on_gmp.get(name) else {
            row.differences.push(Difference::not_compiled(name));
            continue;
        };
        if outcome.is_failure() != other.is_failure() {
            row.differences.extend(repeat(package, unpacked, name, &tokio[name], &gmp[name])?);
        } else if outcome.is_failure() {
            row.failing.push(name.clone());
        }
    }
    println!("  {} differences", row.differences.len());
    Ok(row)
}

/// Runs a test alone on both. `None` if the outcomes are then the same on both.
fn repeat(
    package: &Package,
    unpacked: &Unpacked,
    name: &str,
    tokio: &Test,
    gmp: &Test,
) -> Result<Option<Difference>, String> {
    let mut passed = [0; 2];
    for _ in 0..REPEATS {
        for (passed, test) in passed.iter_mut().zip([tokio, gmp]) {
            let outcome = run_one(package, &unpacked.folder, test);
            *passed += usize::from(!outcome.is_failure());
            if let Outcome::Failed(printed) = outcome {
                log(package, &printed)?;
            }
        }
    }
    println!("  {name}: alone it passes {} of {REPEATS} times on tokio, {} on gmp", passed[0], passed[1]);
    Ok((!is_same(passed)).then(|| Difference::new(name, REPEATS, passed)))
}

/// Whether all runs have passed on both, or all have failed on both.
fn is_same(passed: [usize; 2]) -> bool {
    passed == [REPEATS; 2] || passed == [0; 2]
}

/// Removes the test binaries, which are large and not needed again.
fn remove(built: &Built) {
    for binary in built.binaries.values() {
        let _ = fs::remove_file(binary);
    }
}

fn log_file(package: &Package) -> PathBuf {
    work().join(format!("{}.log", package.name))
}

/// Keeps the output, for a reader that looks for the cause.
fn log(package: &Package, text: &str) -> Result<(), String> {
    use std::io::Write as _;
    let path = log_file(package);
    let write = || fs::OpenOptions::new().create(true).append(true).open(&path)?.write_all(text.as_bytes());
    write().map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_now_and_then_is_a_difference() {
        assert!(is_same([3, 3]) && is_same([0, 0]));
        for passed in [[3, 0], [0, 3], [2, 2], [3, 2], [0, 1]] {
            assert!(!is_same(passed), "{passed:?}");
        }
    }
}
