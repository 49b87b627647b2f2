//! Tasks that hold their thread: found by sysmon, marked as hogs, or in declared sections.

mod changed_threads;
mod closures;
mod closures_at_shutdown;
#[cfg(feature = "tracing")]
mod events;
mod handed_off;
mod hidden_computing;
mod judgement;
mod limits;
mod long_polls;
mod marked_hogs;
mod measure;
mod new_tasks;
mod preemption;
mod report;
mod sections;
mod silence;
mod starved;
mod surplus;
mod sysmon;
mod taken;
mod time_not_turns;
mod turns_of_closures;
mod unmarking;
mod waiting_for_permits;
mod watching;

use std::time::Duration;

use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;

use crate::support::{Flag, multi};

fn every_setting() -> Vec<Runtime> {
    let mut runtimes = Vec::new();
    for processors in [1, 2] {
        for has_sysmon in [true, false] {
            for in_place in [true, false] {
                runtimes.push(multi(processors).sysmon(has_sysmon).closures_in_place(in_place).build().unwrap());
            }
        }
    }
    runtimes
}

/// Called in a poll. Returns only after a task that it spawns has run.
fn hold_on_until_others_ran(wait: fn(&Flag)) {
    let flag = Flag::new();
    let other = flag.clone();
    spawn(async move { other.set() });
    wait(&flag);
}

/// Blocks the thread on tasks, timers and a yield of the current runtime.
fn use_the_runtime() {
    Handle::current().block_on(async {
        let nested = spawn(async { spawn(async { 42 }).await.unwrap() });
        sleep(Duration::from_micros(10)).await;
        yield_now().await;
        assert_eq!(nested.await.unwrap(), 42);
    });
}
