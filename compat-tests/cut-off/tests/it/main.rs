//! Random programs whose runtime ends at a random moment, on gmp and on tokio.
//!
//! For both libraries and every way to end a runtime: the end comes although tasks continue after
//! every error, no task sees that the runtime ends, and all futures are dropped. `CUT_OFF_PROGRAMS`
//! sets the number of programs, `CUT_OFF_SEED` the first one.

#![expect(clippy::duplicate_mod, reason = "the same source runs on both")]

mod on_gmp;
mod on_tokio;
mod random;
mod record;

use random::Random;
use record::{Record, Watchdog};

#[test]
fn on_tokio_no_task_sees_the_end() {
    try_many("tokio", on_tokio::programs::run);
}

#[test]
fn on_gmp_no_task_sees_the_end() {
    try_many("gmp", on_gmp::programs::run);
}

fn try_many(name: &'static str, program: fn(Random, &Record)) {
    let (first, count) = (number("CUT_OFF_SEED", 0), number("CUT_OFF_PROGRAMS", 200));
    let mut faults = Vec::new();
    for seed in first..first + count {
        let _watchdog = Watchdog::start(name, seed);
        let record = Record::default();
        program(Random::new(seed), &record);
        record.wait_until_dropped();
        faults.extend(record.faults().into_iter().map(|fault| format!("program {seed}: {fault}")));
    }
    assert!(faults.is_empty(), "{} faults, the first ones: {:#?}", faults.len(), &faults[..faults.len().min(10)]);
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}
