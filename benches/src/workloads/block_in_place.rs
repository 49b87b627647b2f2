//! One task runs 2 000 closures in place that return at once.
//!
//! On tokio the cost depends on whether the task still has its worker. Moving the worker to a
//! thread of the blocking pool takes about 1.7 µs, but a thread that has to be started first comes
//! too late and the task takes the worker back, so it pays for every closure ([`fresh`]). A thread
//! that already exists comes in time, and a task that has lost its worker pays next to nothing
//! until its poll ends ([`warm`]). After a yield the task has a worker again, after two thread
//! switches ([`yielding`]). The row with a goal is the first.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::rt::{InPlace, in_task};

pub(super) const CLOSURES: u32 = 2_000;

/// Runs on a runtime that has just been started.
pub(super) fn fresh<R: InPlace>(rt: &R) -> Duration {
    let fresh = R::new(rt.procs()).expect("a second runtime starts as the first did");
    let elapsed = warm(&fresh);
    fresh.shutdown(Duration::from_secs(10));
    elapsed
}

/// Runs on the runtime of all the other rounds.
pub(super) fn warm<R: InPlace>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for number in 0..CLOSURES {
            R::block_in_place(|| black_box(number));
        }
        start.elapsed()
    })
}

/// Yields after every closure.
pub(super) fn yielding<R: InPlace>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for number in 0..CLOSURES {
            R::block_in_place(|| black_box(number));
            R::yield_now().await;
        }
        start.elapsed()
    })
}
