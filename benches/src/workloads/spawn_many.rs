//! 10 000 tasks that decrement a shared counter, spawned from inside and from outside.

use std::time::{Duration, Instant};

use super::countdown::Countdown;
use crate::rt::{Rt, in_task};

pub(super) const TASKS: u32 = 10_000;

/// One task spawns them all and waits for the last.
pub(super) fn local<R: Rt>(rt: &R) -> Duration {
    let countdown = Countdown::new(TASKS);
    in_task(rt, async move {
        let start = Instant::now();
        for _ in 0..TASKS {
            let countdown = countdown.clone();
            drop(R::spawn(async move { countdown.decrement() }));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

/// A thread outside of the runtime spawns them all and waits for the last.
pub(super) fn remote<R: Rt>(rt: &R) -> Duration {
    let countdown = Countdown::new(TASKS);
    let start = Instant::now();
    for _ in 0..TASKS {
        let countdown = countdown.clone();
        drop(rt.spawn_remote(async move { countdown.decrement() }));
    }
    rt.block_on(countdown.finished());
    start.elapsed()
}
