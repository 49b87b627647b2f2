//! Closures that return at once though they may block.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::rt::{Rt, Twin, in_task};

pub(super) const SPAWNED: u32 = 5_000;
pub(super) const IN_PLACE: u32 = 2_000;

pub(super) fn spawn_blocking<R: Rt>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for _ in 0..SPAWNED {
            R::spawn_blocking(|| ()).await.expect("an empty closure doesn't panic");
        }
        start.elapsed()
    })
}

/// One task runs 2 000 closures in place, on a runtime that has just been started.
///
/// On tokio the cost depends on whether the task still has its worker. A thread that has to be
/// started first comes too late for the worker, the task takes it back, and pays for every closure. A
/// thread that already exists comes in time, and a task that has lost its worker pays next to nothing
/// until its poll ends ([`warm`]). After a yield the task has a worker again ([`yielding`]).
pub(super) fn fresh<R: Twin>(rt: &R) -> Duration {
    let fresh = R::new(rt.procs()).expect("a second runtime starts as the first did");
    let elapsed = warm(&fresh);
    fresh.shutdown();
    elapsed
}

/// The same on the runtime of all the other rounds.
pub(super) fn warm<R: Twin>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for number in 0..IN_PLACE {
            R::block_in_place(|| black_box(number));
        }
        start.elapsed()
    })
}

pub(super) fn yielding<R: Twin>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for number in 0..IN_PLACE {
            R::block_in_place(|| black_box(number));
            R::yield_now().await;
        }
        start.elapsed()
    })
}
