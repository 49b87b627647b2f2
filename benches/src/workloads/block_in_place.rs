//! One task runs 2 000 closures in place that return at once.
//!
//! What that costs on tokio depends on whether the task still has its worker. Handing it to a
//! thread of the blocking pool takes about 1.7 µs, but a thread that has to be started comes too
//! late and the task takes the worker back, so it pays for every closure ([`fresh`]); a thread that
//! is there comes in time, and a task that has lost its worker pays next to nothing until its poll
//! ends ([`warm`]). After a yield it has one again, after two thread switches ([`yielding`]). The
//! row with a goal is the first.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::rt::{InPlace, in_task};

pub(super) const CLOSURES: u32 = 2_000;

/// On a runtime that has just been started.
pub(super) fn fresh<R: InPlace>(rt: &R) -> Duration {
    let fresh = R::new(rt.procs()).expect("a second runtime starts as the first did");
    let elapsed = warm(&fresh);
    fresh.shutdown(Duration::from_secs(10));
    elapsed
}

/// On the runtime of all the other rounds.
pub(super) fn warm<R: InPlace>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for number in 0..CLOSURES {
            R::block_in_place(|| black_box(number));
        }
        start.elapsed()
    })
}

/// With a yield after every closure.
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
