//! The random model: random programs on runtimes with random settings, which often end in the
//! middle of the program. Whatever the limits are, nothing hangs, every handle reports how its task
//! ended, and each future, closure, output and payload is dropped once.
//!
//! The programs wait for each other by blocking their thread only where the settings leave threads
//! for that. Runs as long as `GMP_FUZZ_SECS` says, three seconds by default. On failure the seed of
//! the program is printed; with `GMP_FUZZ_SEED` it is run again and again.

mod actor;
mod beside;
mod blocking;
mod case;
mod cell;
mod cells;
mod channels;
mod child;
mod children;
mod closures;
mod keeper;
mod local;
mod marked;
mod nested;
mod outsider;
mod planted;
mod program;
mod settings;
mod steps;
mod tally;
mod thread_state;

use std::time::{Duration, Instant};

use self::tally::Tally;
use crate::support::{Random, alone};

#[test]
fn no_program_hangs_or_loses_anything() {
    static TALLY: Tally = Tally::new();

    let _alone = alone();
    let given = variable("GMP_FUZZ_SEED");
    let end = Instant::now() + Duration::from_secs(variable("GMP_FUZZ_SECS").unwrap_or(3));
    let mut programs = 0;
    while Instant::now() < end {
        case::run(given.unwrap_or_else(Random::fresh_seed), &TALLY);
        programs += 1;
    }
    println!("{programs} programs");
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}
