//! `#[gmp_exec::test(seeds = 100)]`: a test under many seeds, each in a process of its own.
//!
//! The test program starts itself with `GMP_SEED` and the arguments that `cargo gmp test --seeds`
//! gives it, so that a run differs as little as possible between the two.

mod kept;
mod passed;
mod run;

pub use passed::Passed;

use run::Run;

use crate::sys::{environment, stderr};

/// Runs the test of that path, which begins with its crate, under so many seeds. `None`: this process
/// is one of these runs, so the test is to be run here.
///
/// # Panics
///
/// Panics if the test fails under a seed, or if a run can't be started.
#[track_caller]
pub fn each<T: Passed>(path: &str, seeds: u64) -> Option<T> {
    let (_, test) = path.split_once("::").expect("the path begins with the crate");
    if let Some(seed) = environment::var_os("GMP_SEED") {
        stderr::try_write(&begun(test, &seed.to_string_lossy()));
        return None;
    }
    let kept = kept::seeds(test).into_iter().map(|seed| (seed, "a kept seed".to_owned()));
    let others = (1..=seeds).map(|seed| (seed, format!("{seed} of {seeds}")));
    kept.chain(others).for_each(|(seed, number)| check(test, seed, &number));
    Some(T::passed())
}

#[track_caller]
fn check(test: &str, seed: u64, number: &str) {
    let run =
        Run::of(test, seed).unwrap_or_else(|error| panic!("the run under seed {seed:x} can't be started: {error}"));
    if let Some(problem) = run.problem(&begun(test, &format!("{seed:x}"))) {
        print!("{}", run.output);
        panic!("{test} at seed {seed:x} ({number}): {problem}\n  again:  {}", run::again(test, seed));
    }
}

/// What a run says when its test begins.
fn begun(test: &str, seed: &str) -> String {
    format!("gmp: {test} under seed {seed}\n")
}
