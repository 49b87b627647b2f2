//! The runtime goes on however many polls are long, whether they compute or sleep.

use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{JoinHandle, spawn_blocking};

use super::measure::{longest_gap, mostly_below};
use crate::futures::join;
use crate::support::{Watchdog, alone, compute_for, multi};

const LONG: Duration = Duration::from_secs(1);

/// Processors and `max_hogs`. In the first pair, no more threads compute than nearly all systems
/// have cores.
const SETTINGS: [(usize, usize); 2] = [(1, 1), (2, 4)];

/// Two polls more than processors and `max_hogs` together, on a runtime with that many.
fn too_many_long_polls(runtime: &Runtime, (processors, max_hogs): (usize, usize), poll: fn()) -> Vec<JoinHandle<()>> {
    (0..processors + max_hogs + 2).map(|_| runtime.spawn(async move { poll() })).collect()
}

fn freeze_nothing(long_poll: fn()) {
    let _alone = alone();
    for setting in SETTINGS {
        mostly_below(LONG / 2, 3, || {
            let runtime = multi(setting.0).max_hogs(setting.1).build().unwrap();
            let _watchdog = Watchdog::of(&runtime);
            longest_gap(&runtime, || _ = runtime.block_on(join(too_many_long_polls(&runtime, setting, long_poll))))
        });
    }
}

#[test]
fn more_computing_polls_than_may_go_on_without_a_processor_freeze_nothing() {
    freeze_nothing(|| compute_for(LONG));
}

/// Like a client with some cryptography: it computes one millisecond in ten, so sysmon nearly
/// always finds its thread asleep.
#[test]
fn polls_that_compute_a_little_and_sleep_a_lot_freeze_nothing() {
    freeze_nothing(|| {
        for _ in 0..LONG.as_millis() / 10 {
            compute_for(Duration::from_millis(1));
            thread::sleep(Duration::from_millis(9));
        }
    });
}

/// The tasks and closures come from outside, so even their first step needs a processor.
#[test]
fn new_tasks_and_closures_run_beside_too_many_computing_polls() {
    let _alone = alone();
    let setting = SETTINGS[0];
    mostly_below(LONG / 2, 3, || {
        let runtime = multi(setting.0).max_hogs(setting.1).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let long_polls = too_many_long_polls(&runtime, setting, || compute_for(LONG));
        let longest = longest_wait_for_a_closure(&runtime);
        runtime.block_on(join(long_polls));
        longest
    });
}

fn longest_wait_for_a_closure(runtime: &Runtime) -> Duration {
    let (begin, mut longest) = (Instant::now(), Duration::ZERO);
    while begin.elapsed() < LONG / 2 {
        let before = Instant::now();
        runtime.block_on(runtime.spawn(async { spawn_blocking(|| ()).await.unwrap() })).unwrap();
        longest = longest.max(before.elapsed());
    }
    longest
}
