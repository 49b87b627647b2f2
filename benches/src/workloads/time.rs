//! Timers.

use std::time::{Duration, Instant};

use super::countdown::{Countdown, crowd};
use crate::process;
use crate::rt::{Rt, in_task};

pub(super) const TIMEOUTS: u32 = LIMITED * TIMEOUTS_EACH;
const LIMITED: u32 = 64;
const TIMEOUTS_EACH: u32 = 2_000;
pub(super) const SLEEPERS: u32 = 20_000;

pub(super) fn timeouts<R: Rt>(rt: &R) -> Duration {
    crowd(rt, LIMITED, |_, countdown| async move {
        for _ in 0..TIMEOUTS_EACH {
            R::timeout(Duration::from_secs(30), R::yield_now()).await.expect("a yield takes less than 30 s");
        }
        countdown.decrement();
    })
}

/// 20 000 tasks sleep 1 to 50 ms. That takes at least 50 ms; the rest is the runtime's cost.
pub(super) fn timers<R: Rt>(rt: &R) -> Duration {
    crowd(rt, SLEEPERS, |task, countdown| {
        let duration = Duration::from_millis(u64::from(1 + task % 50));
        async move {
            R::sleep(duration).await;
            countdown.decrement();
        }
    })
}

/// N tasks sleep 1 to 1 000 ms, once each: what does it cost to wake them?
///
/// The tasks take a second on every runtime, so this row measures the CPU time of the process: all
/// its threads, including their time in the kernel. The other runtimes of the table are idle during
/// the row, and an idle runtime needs no CPU time.
pub(super) fn company<R: Rt, const TASKS: u32>(rt: &R) -> Duration {
    let countdown = Countdown::new(TASKS);
    in_task(rt, async move {
        let before = process::cpu_time();
        for duration in durations().take(TASKS as usize) {
            let countdown = countdown.clone();
            drop(R::spawn(async move {
                R::sleep(duration).await;
                countdown.decrement();
            }));
        }
        countdown.finished().await;
        process::cpu_time().saturating_sub(before)
    })
}

/// The sleeps, the same in every round and on every side: unordered, and whole milliseconds.
fn durations() -> impl Iterator<Item = Duration> {
    let mut random = fastrand::Rng::with_seed(0x9E37_79B9_7F4A_7C15);
    std::iter::repeat_with(move || Duration::from_millis(random.u64(1..=1_000)))
}

/// One task sleeps 50 µs, 100 times, on an idle runtime: the median of how late it is woken.
pub(super) fn sleep<R: Rt>(rt: &R) -> Duration {
    const DURATION: Duration = Duration::from_micros(50);
    let mut lateness = Vec::with_capacity(100);
    in_task(rt, async move {
        for _ in 0..100 {
            let start = Instant::now();
            R::sleep(DURATION).await;
            lateness.push(start.elapsed().saturating_sub(DURATION));
        }
        lateness.sort();
        lateness[50]
    })
}
