//! Polls that are long only because the kernel gives their threads no core.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{BlockedCause, BlockedEntry, Runtime};
use gmp_exec::task::yield_now;
use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::measure::use_cpu;
use crate::support::{Flag, Watchdog, alone, multi, wait_until};

/// Less than the threshold of 10 ms: with a core, the poll is harmless.
const LITTLE: Duration = Duration::from_millis(4);

/// Longer than the threshold by far.
const LONG: Duration = Duration::from_millis(50);

/// Threads that compete with a poll for its core.
const COMPUTING: usize = 3;

/// The first core that this process may use.
fn one_core() -> CpuSet {
    let allowed = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|&core| allowed.is_set(core)).unwrap();
    let mut one = CpuSet::new();
    one.set(first);
    one
}

/// Threads that compute on a single core, which leave nearly nothing to a thread of low priority.
struct Neighbours {
    end: Flag,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Neighbours {
    fn new() -> Neighbours {
        let (end, begun) = (Flag::new(), Arc::new(Barrier::new(1 + COMPUTING)));
        let computing = |_| {
            let (end, begun) = (end.clone(), begun.clone());
            thread::spawn(move || {
                sched_setaffinity(None, &one_core()).unwrap();
                begun.wait();
                end.busy_wait();
            })
        };
        let threads = (0..COMPUTING).map(computing).collect();
        begun.wait();
        Neighbours { threads, end }
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.end.set();
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// The calling thread shares the neighbours' core from now on, with a low priority. Not the lowest:
/// on a crowded machine a test would take a minute.
fn become_starved() {
    sched_setaffinity(None, &one_core()).unwrap();
    setpriority_process(None, 15).unwrap();
}

/// Whether the calling thread, which is starved, has waited for its core for long. At first the
/// kernel may give it a whole tick, which can last for [`LITTLE`].
fn waits_for_its_core() -> bool {
    let begin = Instant::now();
    use_cpu(LITTLE);
    begin.elapsed() > LONG
}

fn entries_at(runtime: &Runtime, line: u32) -> Vec<BlockedEntry> {
    let entries = runtime.handle().blocked_report().entries;
    entries.into_iter().filter(|entry| entry.location.file() == file!() && entry.location.line() == line).collect()
}

/// sysmon sees that its thread is runnable and that its CPU clock stands still.
#[test]
fn a_poll_that_gets_no_core_is_reported_as_starved() {
    let (_alone, _watchdog) = (alone(), Watchdog::new());
    let _neighbours = Neighbours::new();
    let line = line!() + 4;
    // A runtime for each attempt: a poll that was not starved may have been reported as well.
    let runtime = loop {
        let runtime = multi(2).build().unwrap();
        let task = runtime.spawn(async {
            become_starved();
            waits_for_its_core()
        });
        if runtime.block_on(task).unwrap() {
            break runtime;
        }
    };
    wait_until(|| entries_at(&runtime, line).iter().any(|entry| entry.under_way == 0));
    let entries = entries_at(&runtime, line);
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!((entries[0].cause, entries[0].count), (BlockedCause::Starved, 1), "{entries:?}");
    assert!(entries[0].to_string().starts_with("starved 1x, "), "{}", entries[0]);
}

/// The poll of a task that is known as a hog is judged by its own machine.
#[test]
fn a_poll_of_a_known_hog_that_gets_no_core_is_reported_as_starved() {
    let _alone = alone();
    let runtime = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let line = line!() + 1;
    let task = runtime.spawn(async {
        // So it becomes a known hog.
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(50));
            yield_now().await;
        }
        let _neighbours = Neighbours::new();
        yield_now().await;
        loop {
            // Another thread may poll the task each time.
            become_starved();
            let was_starved = waits_for_its_core();
            yield_now().await;
            if was_starved {
                break;
            }
        }
    });
    runtime.block_on(task).unwrap();
    let starved = |entry: &BlockedEntry| entry.cause == BlockedCause::Starved && entry.under_way == 0;
    wait_until(|| entries_at(&runtime, line).iter().any(starved));
}

#[test]
fn a_poll_that_sleeps_again_and_again_is_not_starved() {
    let _alone = alone();
    let runtime = multi(2).build().unwrap();
    let line = line!() + 1;
    let task = runtime.spawn(async {
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(3));
        }
    });
    runtime.block_on(task).unwrap();
    wait_until(|| !entries_at(&runtime, line).is_empty());
    let entries = entries_at(&runtime, line);
    assert_eq!((entries.len(), entries[0].cause), (1, BlockedCause::Blocked), "{entries:?}");
}
