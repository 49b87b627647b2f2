//! 200 tasks yield 1 000 times each.

use std::time::{Duration, Instant};

use super::countdown::Countdown;
use crate::rt::{Rt, in_task};

const TASKS: u32 = 200;
const YIELDS_EACH: u32 = 1_000;
pub(super) const YIELDS: u32 = TASKS * YIELDS_EACH;

pub(super) fn round<R: Rt>(rt: &R) -> Duration {
    let countdown = Countdown::new(TASKS);
    in_task(rt, async move {
        let start = Instant::now();
        for _ in 0..TASKS {
            drop(R::spawn(yield_often::<R>(countdown.clone())));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

async fn yield_often<R: Rt>(countdown: Countdown) {
    for _ in 0..YIELDS_EACH {
        R::yield_now().await;
    }
    countdown.decrement();
}
