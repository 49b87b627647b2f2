//! A task that is marked as a hog does not wait until the long polls of other hogs end, neither for
//! a short poll nor for an abort.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Runtime;
use gmp_exec::task::JoinHandle;
use tokio::sync::Notify;

use super::hold_on_until_others_ran;
use super::measure::mostly_below;
use crate::futures::join;
use crate::support::{Flag, Watchdog, alone, busy_wait_until, multi, taken, wait_until};

const LONG: Duration = Duration::from_secs(2);
const LIMIT: Duration = Duration::from_millis(700);

/// Nearly all systems have so many cores: the test is about waiting for permits, not about sharing
/// cores.
const MAX_HOGS: usize = 2;

/// First as many hogs as may compute without a processor, then one more for each processor.
const OTHERS: [usize; 2] = [MAX_HOGS, MAX_HOGS + 2];

struct Hog {
    wake: Arc<Notify>,
    task: JoinHandle<()>,
}

/// A task that is marked as computing and waits to be woken; `next` is its next poll.
fn marked_hog(runtime: &Runtime, next: impl Fn() + Send + Clone + 'static) -> Hog {
    loop {
        let before = taken(runtime).1;
        let (wake, known, next) = (Arc::new(Notify::new()), Flag::new(), next.clone());
        let (woken, learnt) = (wake.clone(), known.clone());
        let task = runtime.spawn(async move {
            hold_on_until_others_ran(Flag::busy_wait);
            learnt.set();
            woken.notified().await;
            next();
        });
        known.wait();
        if taken(runtime).1 > before {
            // The thread may still be in the last steps of the poll, in which it marks the task.
            wait_until(|| runtime.metrics().num_hogs() == 0);
            return Hog { wake, task };
        }
        task.abort();
    }
}

/// Calls `f` while other polls compute, which end when `f` returns or [`LONG`] is over. Returns how
/// long `f` took.
fn beside_long_polls(runtime: &Runtime, others: usize, f: impl FnOnce()) -> Duration {
    let (computing, end) = (Arc::new(AtomicUsize::new(0)), Flag::new());
    let start = Instant::now();
    let long_polls = (0..others).map(|_| {
        let (computing, end) = (computing.clone(), end.clone());
        runtime.spawn(async move {
            computing.fetch_add(1, SeqCst);
            busy_wait_until(|| end.is_set() || start.elapsed() > LONG);
        })
    });
    let long_polls = long_polls.collect();
    wait_until(|| computing.load(SeqCst) == others);
    let before = Instant::now();
    f();
    let waited = before.elapsed();
    end.set();
    runtime.block_on(join(long_polls));
    waited
}

fn runtime_with_watchdog() -> (Runtime, Watchdog) {
    let runtime = multi(2).max_hogs(MAX_HOGS).build().unwrap();
    let watchdog = Watchdog::of(&runtime);
    (runtime, watchdog)
}

#[test]
fn a_short_poll_of_a_marked_hog_does_not_wait_for_long_polls() {
    let _alone = alone();
    for others in OTHERS {
        mostly_below(LIMIT, 3, || {
            let (runtime, _watchdog) = runtime_with_watchdog();
            let hog = marked_hog(&runtime, || ());
            beside_long_polls(&runtime, others, || {
                hog.wake.notify_one();
                runtime.block_on(hog.task).unwrap();
            })
        });
    }
}

#[test]
fn a_marked_hog_that_is_aborted_does_not_wait_for_long_polls() {
    let _alone = alone();
    for others in OTHERS {
        mostly_below(LIMIT, 3, || {
            let (runtime, _watchdog) = runtime_with_watchdog();
            let hog = marked_hog(&runtime, || ());
            beside_long_polls(&runtime, others, || {
                hog.task.abort();
                assert!(runtime.block_on(hog.task).unwrap_err().is_cancelled());
            })
        });
    }
}

/// Some of the tasks may begin their long polls before they are aborted. The test does not wait for
/// those.
#[test]
fn marked_hogs_that_are_aborted_while_they_wait_leave_the_queue() {
    let _alone = alone();
    for others in OTHERS {
        mostly_below(LIMIT, 3, || {
            let (runtime, _watchdog) = runtime_with_watchdog();
            let (begun, end) = (Arc::new(AtomicUsize::new(0)), Flag::new());
            let next = {
                let (begun, end) = (begun.clone(), end.clone());
                move || {
                    begun.fetch_add(1, SeqCst);
                    end.busy_wait();
                }
            };
            let hogs: Vec<_> = (0..16).map(|_| marked_hog(&runtime, next.clone())).collect();
            let waited = beside_long_polls(&runtime, others, || {
                hogs.iter().for_each(|hog| hog.wake.notify_one());
                // Long enough to begin waiting for a permit, but not to get one.
                thread::sleep(Duration::from_millis(30));
                hogs.iter().for_each(|hog| hog.task.abort());
                let ended = || hogs.iter().filter(|hog| hog.task.is_finished()).count();
                wait_until(|| ended() + begun.load(SeqCst) == hogs.len());
            });
            end.set();
            let results = hogs.into_iter().map(|hog| runtime.block_on(hog.task));
            assert!(results.filter(|result| result.is_ok()).count() <= begun.load(SeqCst));
            waited
        });
    }
}
