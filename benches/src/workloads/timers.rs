//! 20 000 tasks sleep 1 to 50 ms.

use std::time::{Duration, Instant};

use super::countdown::Countdown;
use crate::rt::{Timers, in_task};

pub(super) const TASKS: u32 = 20_000;
const LONGEST_MS: u32 = 50;

/// Takes at least 50 ms; the rest is the runtime's cost.
pub(super) fn round<R: Timers>(rt: &R) -> Duration {
    let countdown = Countdown::new(TASKS);
    in_task(rt, async move {
        let start = Instant::now();
        for task in 0..TASKS {
            let countdown = countdown.clone();
            let duration = Duration::from_millis(u64::from(1 + task % LONGEST_MS));
            drop(R::spawn(async move {
                R::sleep(duration).await;
                countdown.decrement();
            }));
        }
        countdown.finished().await;
        start.elapsed()
    })
}
