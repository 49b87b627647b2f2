//! A known hog does not wait behind the long polls of others: neither to be polled briefly, nor to
//! be aborted.

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

/// No more of them than there are cores nearly everywhere: what is tested is the line, not how the
/// cores are shared.
const MAX_HOGS: usize = 2;

/// As many as may compute without a processor, and so many that every processor has one besides.
const OTHERS: [usize; 2] = [MAX_HOGS, MAX_HOGS + 2];

struct Hog {
    wake: Arc<Notify>,
    task: JoinHandle<()>,
}

/// A task that is known to compute and waits to be woken; `next` is its next poll.
fn known_hog(runtime: &Runtime, next: impl Fn() + Send + Clone + 'static) -> Hog {
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
            // The thread may still be in the last steps of the poll, in which it learns.
            wait_until(|| runtime.metrics().num_hogs() == 0);
            return Hog { wake, task };
        }
        task.abort();
    }
}

/// Calls `f` while so many others compute, until it returns or [`LONG`] is over. Returns how long
/// it took.
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
fn a_short_poll_of_a_known_hog_does_not_wait_for_long_ones() {
    let _alone = alone();
    for others in OTHERS {
        mostly_below(LIMIT, 3, || {
            let (runtime, _watchdog) = runtime_with_watchdog();
            let hog = known_hog(&runtime, || ());
            beside_long_polls(&runtime, others, || {
                hog.wake.notify_one();
                runtime.block_on(hog.task).unwrap();
            })
        });
    }
}

#[test]
fn a_known_hog_that_is_aborted_does_not_wait_for_long_polls() {
    let _alone = alone();
    for others in OTHERS {
        mostly_below(LIMIT, 3, || {
            let (runtime, _watchdog) = runtime_with_watchdog();
            let hog = known_hog(&runtime, || ());
            beside_long_polls(&runtime, others, || {
                hog.task.abort();
                assert!(runtime.block_on(hog.task).unwrap_err().is_cancelled());
            })
        });
    }
}

/// Each of them is about to compute for long, so some may begin before they are aborted: those are
/// not waited for.
#[test]
fn known_hogs_that_are_aborted_in_the_line_leave_it() {
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
            let hogs: Vec<_> = (0..16).map(|_| known_hog(&runtime, next.clone())).collect();
            let waited = beside_long_polls(&runtime, others, || {
                hogs.iter().for_each(|hog| hog.wake.notify_one());
                // For as long as it takes to get in line, but not to the end of it.
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
