//! Runs all scenarios, on as many real threads as the machine has cores.

use std::sync::{Arc, Mutex};
use std::thread;

use crate::scenarios::{self, PROCESSORS, Scenario};
use crate::stage::{Count, Stage};
use crate::table::Row;
use crate::{Subject, turns};

/// The mean transfers of an operation.
pub(super) fn run_all<S: Subject>() -> Vec<Row> {
    let mut jobs: Vec<(usize, usize, u64)> = Vec::new();
    for (row, scenario) in scenarios::all::<S>().iter().enumerate() {
        for column in 0..PROCESSORS.len() {
            jobs.extend((1..=scenario.seeds).map(|seed| (row, column, seed)));
        }
    }
    let rows = Mutex::new(scenarios::all::<S>().map(|scenario| Row::new(scenario.name)));
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().expect("not poisoned").pop();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                prepare::<S>();
                while let Some((row, column, seed)) = next() {
                    let scenario = &scenarios::all::<S>()[row];
                    let transfers = run(scenario, PROCESSORS[column], seed).each();
                    rows.lock().expect("not poisoned")[row].transfers[column] += transfers / scenario.seeds as f64;
                }
            });
        }
    });
    rows.into_inner().expect("not poisoned").into()
}

/// Makes the data that each real thread makes once, so that no counted run makes it.
pub fn prepare<S: Subject>() {
    run(&scenarios::all::<S>()[0], 2, 1);
}

/// One run.
pub fn run<S: Subject>(scenario: &Scenario<S>, processors: usize, seed: u64) -> Count {
    let count = Arc::new(Mutex::new(None));
    let (counted, run) = (count.clone(), scenario.run);
    turns::run(seed, move || {
        let stage = Stage::new(processors);
        run(&stage);
        *counted.lock().expect("not poisoned") = Some(stage.shut_down());
    });
    let count = count.lock().expect("not poisoned").take();
    count.expect("the body has run")
}
