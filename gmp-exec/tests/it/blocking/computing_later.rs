//! Polls whose processor was taken while they slept, and that compute later: they count as
//! computing from then on. And the reverse: a poll that computed and now sleeps holds no permit.

use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{BlockedCause, BlockedEntry, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, block_in_place, yield_now};
use gmp_exec::time::sleep;

use crate::futures::join;
use crate::support::{Flag, Watchdog, alone, multi, taken, wait_until};

const MAX_HOGS: usize = 2;

/// A runtime that always has something to do, so that sysmon looks.
struct Busy {
    runtime: Runtime,
    end: Flag,
    ticker: Option<JoinHandle<()>>,
    _watchdog: Watchdog,
}

impl Busy {
    fn new() -> Busy {
        let runtime = multi(2).max_hogs(MAX_HOGS).build().unwrap();
        let end = Flag::new();
        let ticker = runtime.spawn({
            let end = end.clone();
            async move {
                while !end.is_set() {
                    sleep(Duration::from_millis(1)).await;
                }
            }
        });
        let _watchdog = Watchdog::of(&runtime);
        Busy { runtime, end, ticker: Some(ticker), _watchdog }
    }

    /// Waits until so many polls count as computing.
    fn wait_for_hogs(&self, count: usize) {
        wait_until(|| self.runtime.metrics().num_hogs() == count);
    }

    /// More tasks than processors, which are always ready.
    fn yield_until(&self, end: &Flag) -> Vec<JoinHandle<()>> {
        let yields = |end: Flag| async move {
            while !end.is_set() {
                yield_now().await;
            }
        };
        (0..3).map(|_| self.runtime.spawn(yields(end.clone()))).collect()
    }

    fn entry(&self, cause: BlockedCause) -> Option<BlockedEntry> {
        self.runtime.handle().blocked_report().entries.into_iter().find(|entry| entry.cause == cause)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.end.set();
        if let Some(ticker) = self.ticker.take() {
            self.runtime.block_on(ticker).unwrap();
        }
    }
}

#[test]
fn polls_that_compute_after_a_sleep_count_until_they_end() {
    const TASKS: usize = 6;
    let _alone = alone();
    let busy = Busy::new();
    let (compute, end) = (Flag::new(), Flag::new());
    let tasks = (0..TASKS).map(|_| {
        let (compute, end) = (compute.clone(), end.clone());
        busy.runtime.spawn(async move {
            compute.wait();
            end.busy_wait();
        })
    });
    let tasks = tasks.collect();
    let others = busy.yield_until(&end);
    // Something waits for each of their processors.
    wait_until(|| taken(&busy.runtime).0 as usize >= TASKS);
    assert_eq!(busy.runtime.metrics().num_hogs(), 0, "they sleep");
    compute.set();
    busy.wait_for_hogs(TASKS);
    end.set();
    busy.runtime.block_on(join(tasks));
    busy.runtime.block_on(join(others));
    busy.wait_for_hogs(0);
}

#[test]
fn a_poll_that_sleeps_after_it_has_computed_holds_no_permit_until_it_computes_again() {
    let _alone = alone();
    let busy = Busy::new();
    let [sleep, compute, end] = [(); 3].map(|()| Flag::new());
    let task = {
        let (sleep, compute, end) = (sleep.clone(), compute.clone(), end.clone());
        busy.runtime.spawn(async move {
            sleep.busy_wait();
            compute.wait();
            end.busy_wait();
        })
    };
    // A poll that computes loses its processor when something waits for it.
    let others = busy.yield_until(&sleep);
    busy.wait_for_hogs(1);
    sleep.set();
    busy.wait_for_hogs(0);
    compute.set();
    busy.wait_for_hogs(1);
    end.set();
    busy.runtime.block_on(task).unwrap();
    busy.runtime.block_on(join(others));
    busy.wait_for_hogs(0);
}

/// The task is known to sleep, so its machine hands off the processor before the poll.
#[test]
fn the_poll_of_a_task_that_is_known_to_sleep_counts_when_it_computes() {
    let _alone = alone();
    let busy = Busy::new();
    let end = Flag::new();
    let flag = end.clone();
    let task = busy.runtime.spawn(async move {
        // Each of these needs a processor that this task does not hold any more.
        for _ in 0..3 {
            let ran = Flag::new();
            let others: Vec<_> = (0..2).map(|_| ran.clone()).map(|ran| spawn(async move { ran.set() })).collect();
            ran.wait();
            thread::sleep(Duration::from_millis(20));
            join(others).await;
            yield_now().await;
        }
        flag.busy_wait();
    });
    busy.wait_for_hogs(1);
    end.set();
    busy.runtime.block_on(task).unwrap();
    busy.wait_for_hogs(0);
}

#[test]
fn a_poll_that_computes_after_a_section_counts() {
    let _alone = alone();
    let busy = Busy::new();
    let end = Flag::new();
    let flag = end.clone();
    let task = busy.runtime.spawn(async move {
        let ran = Flag::new();
        let other = ran.clone();
        drop(spawn(async move { other.set() }));
        block_in_place(|| {
            ran.wait();
            thread::sleep(Duration::from_millis(20));
        });
        flag.busy_wait();
    });
    busy.wait_for_hogs(1);
    end.set();
    busy.runtime.block_on(task).unwrap();
    busy.wait_for_hogs(0);
}

/// The time before belongs to the sleep, and the time after to the computation.
#[test]
fn the_report_says_of_such_a_poll_that_it_slept_and_that_it_computed() {
    let _alone = alone();
    let busy = Busy::new();
    let (compute, end) = (Flag::new(), Flag::new());
    let task = {
        let (compute, end) = (compute.clone(), end.clone());
        busy.runtime.spawn(async move {
            compute.wait();
            end.busy_wait();
        })
    };
    // A poll that sleeps loses its processor when something waits for it.
    let others = busy.yield_until(&compute);
    wait_until(|| busy.entry(BlockedCause::Blocked).is_some_and(|entry| entry.under_way == 1));
    compute.set();
    busy.wait_for_hogs(1);
    wait_until(|| busy.entry(BlockedCause::Computing).is_some());
    let slept = busy.entry(BlockedCause::Blocked).unwrap();
    assert_eq!((slept.count, slept.under_way, slept.task), (1, 0, task.id()), "{slept}");
    end.set();
    busy.runtime.block_on(join(others));
    let id = task.id();
    busy.runtime.block_on(task).unwrap();
    wait_until(|| busy.entry(BlockedCause::Computing).unwrap().under_way == 0);
    let computed = busy.entry(BlockedCause::Computing).unwrap();
    assert_eq!((computed.count, computed.task), (1, id), "{computed}");
    assert_eq!(busy.entry(BlockedCause::Blocked).unwrap().total, slept.total);
}
