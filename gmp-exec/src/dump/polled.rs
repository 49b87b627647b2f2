//! The tasks that machines poll at a moment, and since when they are known to be stuck.

use std::collections::HashMap;
use std::panic::Location;
use std::time::{Duration, Instant};

use crate::sched::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::task::Id;

/// What the machine that polls a task says of it.
#[derive(Debug)]
pub(super) struct Polled {
    pub(super) location: &'static Location<'static>,
    pub(super) is_blocking: bool,
    pub(super) worker: Option<usize>,
    pub(super) stuck: Option<Duration>,
}

/// Every task that is being polled by a machine. A task of a `LocalSet` is polled within the poll
/// of another future, and is here only where the thread is watched (`sched::local_poll`).
pub(super) fn polled_by_machines(scheduler: &Scheduler) -> HashMap<Id, Polled> {
    let stuck = stuck(scheduler);
    let mut polled = HashMap::new();
    for machine in machines(scheduler) {
        let running = machine.running_in(machine.ownership.turn());
        let Some(running) = running.filter(|running| !running.is_root) else { continue };
        let what = Polled {
            location: running.location,
            is_blocking: running.is_closure,
            worker: machine.ownership.look().map(|seen| seen.processor),
            stuck: stuck.get(&running.task).copied(),
        };
        polled.insert(running.task, what);
    }
    polled
}

/// The thread inside `block_on` of the current-thread flavour is the holder of its processor, and
/// in no list.
fn machines(scheduler: &Scheduler) -> Vec<Arc<Machine>> {
    let mut machines = scheduler.all_machines.copy();
    for holder in scheduler.processors.iter().filter_map(|processor| processor.holder()) {
        if !machines.iter().any(|machine| Arc::ptr_eq(machine, &holder)) {
            machines.push(holder);
        }
    }
    machines
}

fn stuck(scheduler: &Scheduler) -> HashMap<Id, Duration> {
    let now = Instant::now();
    let since = scheduler.observers.blocked.under_way();
    since.into_iter().map(|(task, since)| (task, now.saturating_duration_since(since))).collect()
}
