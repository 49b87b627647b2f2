//! One task sleeps 50 µs on an idle runtime: how late is it woken?

use std::time::{Duration, Instant};

use crate::rt::{Timers, in_task};

const SLEEPS: usize = 100;
const DURATION: Duration = Duration::from_micros(50);

/// The median lateness.
pub(super) fn round<R: Timers>(rt: &R) -> Duration {
    let mut lateness = Vec::with_capacity(SLEEPS);
    in_task(rt, async move {
        for _ in 0..SLEEPS {
            let start = Instant::now();
            R::sleep(DURATION).await;
            lateness.push(start.elapsed().saturating_sub(DURATION));
        }
        lateness.sort();
        lateness[SLEEPS / 2]
    })
}
