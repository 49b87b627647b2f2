//! The traps that Go's scheduler has fallen into (the list ends section 9 of the notes on Go).
//!
//! Each test provokes one of them from outside. sysmon, which would make up for most of them some milliseconds later, is
//! switched off wherever it is not what the trap is about: then what is lost stays lost.
//!
//! Three are not here, because they can't be provoked on purpose. That a queue must never look empty while it holds a
//! task, and that a thief must not steal into a ring that is not empty, are for the models of the ring (`sched`,
//! `loom_local_queue`); the second one is also a `debug_assert` that a test in `timers` runs into often. That the array
//! of processors must be copied before one is released is about changing their number while running, and the number
//! does not change here.

mod handoff;
mod poller;
mod retiring;
mod sysmon;
mod timers;

use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::time::sleep;

use crate::support::wait_until;

/// Waits until every machine has retired: the next task must wake somebody.
fn wait_until_idle(runtime: &Runtime) {
    let metrics = runtime.metrics();
    wait_until(|| metrics.num_idle_workers() == metrics.num_workers() && metrics.num_spinning_machines() == 0);
}

async fn sleep_briefly() {
    sleep(Duration::from_micros(20)).await;
}

#[derive(Clone, Copy)]
enum Hog {
    Blocks,
    Computes,
}

impl Hog {
    fn hold_on_until(self, condition: impl FnMut() -> bool) {
        match self {
            Hog::Blocks => wait_until(condition),
            Hog::Computes => crate::support::busy_wait_until(condition),
        }
    }
}
