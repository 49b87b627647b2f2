//! Runs all scenarios, on as many real threads as the machine has cores.

use std::sync::Mutex;
use std::thread;

use super::scenarios::{self, Scenario};
use super::stage::{Count, Stage};
use super::table::Row;
use super::{PROCESSORS, turns};
use crate::sync::Arc;

/// The mean transfers of an operation.
pub(super) fn run_all() -> Vec<Row> {
    let mut jobs: Vec<(usize, usize, u64)> = Vec::new();
    for (row, (_, seeds, _)) in scenarios::ALL.into_iter().enumerate() {
        for column in 0..PROCESSORS.len() {
            jobs.extend((1..=seeds).map(|seed| (row, column, seed)));
        }
    }
    let rows = Mutex::new(scenarios::ALL.map(|(name, ..)| Row::new(name)));
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().expect("not poisoned").pop();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                prepare();
                while let Some((row, column, seed)) = next() {
                    let (_, seeds, scenario) = scenarios::ALL[row];
                    let transfers = run(scenario, PROCESSORS[column], seed).each();
                    rows.lock().expect("not poisoned")[row].transfers[column] += transfers / seeds as f64;
                }
            });
        }
    });
    rows.into_inner().expect("not poisoned").into()
}

/// Makes the data that each real thread makes once, so that no counted run makes it.
pub(super) fn prepare() {
    run(scenarios::ALL[0].2, 2, 1);
}

/// One run.
pub(super) fn run(scenario: Scenario, processors: usize, seed: u64) -> Count {
    let count = Arc::new(Mutex::new(None));
    let counted = count.clone();
    turns::run(seed, move || {
        let stage = Stage::new(processors);
        scenario(&stage);
        *counted.lock().expect("not poisoned") = Some(stage.shut_down());
    });
    let count = count.lock().expect("not poisoned").take();
    count.expect("the body has run")
}
