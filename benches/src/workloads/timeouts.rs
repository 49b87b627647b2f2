//! 64 tasks wrap a short operation in a timeout that never passes, 2 000 times each.

use std::time::{Duration, Instant};

use super::countdown::Countdown;
use crate::rt::{Timers, in_task};

const TASKS: u32 = 64;
const TIMEOUTS_EACH: u32 = 2_000;
pub(super) const TIMEOUTS: u32 = TASKS * TIMEOUTS_EACH;
const LIMIT: Duration = Duration::from_secs(30);

pub(super) fn round<R: Timers>(rt: &R) -> Duration {
    let countdown = Countdown::new(TASKS);
    in_task(rt, async move {
        let start = Instant::now();
        for _ in 0..TASKS {
            drop(R::spawn(limit_often::<R>(countdown.clone())));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

async fn limit_often<R: Timers>(countdown: Countdown) {
    for _ in 0..TIMEOUTS_EACH {
        R::timeout(LIMIT, R::yield_now()).await.expect("a yield takes less than 30 s");
    }
    countdown.decrement();
}
