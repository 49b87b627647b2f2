//! The scenarios that are counted. Each warms up, so that the count is that of the steady state.

mod each_machine;
mod one_machine;
mod outside;
mod wake;

use each_machine::{spawn_await, spawn_many, timeouts, yields};
use one_machine::{idle, steal};
use outside::{closures, spawn_outside};
use wake::{wake_machine, wake_outside};

use crate::Subject;
use crate::stage::Stage;

/// A program that is counted.
#[derive(Debug)]
pub struct Scenario<S> {
    pub(super) name: &'static str,
    /// How many runs with different seeds its number is the mean of.
    pub(super) seeds: u64,
    pub(super) run: fn(&Stage<S>),
}

/// The columns of the table.
pub(super) const PROCESSORS: [usize; 3] = [8, 16, 64];

/// As many as there are places in a line where an allocation can begin.
const SEEDS: u64 = 4;
/// For a scenario whose runs take 1 to 13 transfers an operation: the order of the first steps
/// decides whether the woken machines go on looking beside each other.
const MANY_SEEDS: u64 = 256;

/// The rows of the table.
pub(super) fn all<S: Subject>() -> [Scenario<S>; 12] {
    let row = |name, run| Scenario { name, seeds: SEEDS, run };
    [
        row("spawn_await", spawn_await),
        row("spawn_many", spawn_many),
        row("spawn_outside_1", |stage| spawn_outside(stage, 1)),
        row("spawn_outside_64", |stage| spawn_outside(stage, 64)),
        row("wake_machine", wake_machine),
        Scenario { seeds: MANY_SEEDS, ..row("wake_outside", wake_outside) },
        row("steal", steal),
        row("timeout", timeouts),
        row("yield", yields),
        row("closure_1", |stage| closures(stage, 1)),
        row("closure_16", |stage| closures(stage, 16)),
        row("idle", idle),
    ]
}

/// The scenario of that row.
///
/// # Panics
///
/// If there is none.
pub fn scenario<S: Subject>(name: &str) -> Scenario<S> {
    all().into_iter().find(|scenario| scenario.name == name).expect("a row's name")
}

/// Operations before the count, of each thread that counts.
const WARM_UP: usize = 16;
