//! A poll that enters blocking sections is still one poll.

use std::time::{Duration, Instant};

use gmp_exec::task::blocking;

use super::measure::{longest_gap, mostly_below};
use crate::support::{Watchdog, alone, compute_for, multi};

const LONG: Duration = Duration::from_secs(1);

/// Like a task that sometimes writes to stdout. One millisecond is less than the time between two
/// looks of sysmon.
#[test]
fn empty_blocking_sections_do_not_hide_that_a_poll_computes() {
    let _alone = alone();
    for step in [Duration::from_millis(1), Duration::from_millis(4)] {
        mostly_below(LONG * 2 / 5, 3, || {
            let runtime = multi(1).build().unwrap();
            let _watchdog = Watchdog::of(&runtime);
            longest_gap(&runtime, || runtime.block_on(runtime.spawn(async move { compute_in_steps(step) })).unwrap())
        });
    }
}

fn compute_in_steps(step: Duration) {
    let start = Instant::now();
    while start.elapsed() < LONG {
        compute_for(step);
        blocking(|| ());
    }
}
