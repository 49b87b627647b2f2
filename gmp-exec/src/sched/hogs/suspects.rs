//! Suspects: new tasks that are likely to compute for too long, because others that were spawned at
//! the same place have done so.
//!
//! Only sysmon finds the first long poll of a task, and until then the task holds a processor. When
//! a hundred tasks arrive that all compute, each of them would hold one for a part of the
//! threshold, and if no permit is left, until its poll ends. So while all permits of hogs are held,
//! a suspect's first poll is treated as a known hog's: it waits for a permit. (120 tasks that
//! compute for 20 ms, p99 of a ticker beside them: 7.5 ms without suspects.)
//!
//! A wrong suspicion delays one poll. When that poll turns out to be short, the place is no longer
//! suspect, and the task is like any other.

use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::unusual::CROWDED;
use crate::task::Header;

/// A processor was taken from a poll that computes, or the poll computes without one.
pub(in crate::sched) fn suspect_place_of(scheduler: &Scheduler, machine: &Machine, turn: u64) {
    if let Some(running) = machine.running_in(turn) {
        scheduler.suspects.add(running.location);
    }
}

/// The machine is about to poll a task, and there are suspects. Marks the task as a hog if it is
/// one of them.
pub(in crate::sched) fn mark(local: &Local, task: &Header) {
    let scheduler = &local.scheduler;
    let is_crowded = scheduler.suspects.is_any() && scheduler.hogs.is_exhausted();
    local.unusual.set(CROWDED, is_crowded);
    if is_crowded && !task.is_listed() && scheduler.suspects.contains(task.location) {
        task.mark_suspect();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::SeqCst;
    use std::time::{Duration, Instant};

    use crate::runtime::{Builder, Handle};

    fn wait_until(condition: impl Fn() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < Duration::from_secs(60), "the condition does not come true");
            std::thread::yield_now();
        }
    }

    /// More than can begin while sysmon lets in one after the other.
    const TASKS: usize = 100;
    const WAITING: usize = 80;

    #[test]
    fn new_tasks_of_a_place_whose_tasks_compute_wait_for_a_permit_until_one_has_a_short_poll() {
        let runtime = Builder::new_multi_thread().worker_threads(2).max_hogs(2).build().unwrap();
        let scheduler = runtime.handle().scheduler();
        let end = Arc::new(AtomicBool::new(false));
        let spawn = |handle: &Handle| {
            let end = end.clone();
            handle.spawn(async move {
                while !end.load(SeqCst) {
                    std::hint::spin_loop();
                }
            })
        };
        let tasks: Vec<_> = (0..TASKS).map(|_| spawn(runtime.handle())).collect();
        // None of these has been polled: the polls that have begun last until `end`.
        wait_until(|| scheduler.hogs.waiting() >= WAITING);
        assert!(scheduler.suspects.is_any());
        end.store(true, SeqCst);
        tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
        assert!(!scheduler.suspects.is_any(), "the polls of those that waited were short");
    }
}
