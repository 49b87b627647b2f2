//! N tasks sleep 1 to 1 000 ms, once each: what does it cost to wake them?
//!
//! The tasks take a second on every runtime, so this row measures the CPU time of the process: all
//! its threads, including their time in the kernel. The other runtimes of the table are idle during
//! the row, and an idle runtime needs no CPU time.

use std::time::Duration;

use super::countdown::Countdown;
use crate::process;
use crate::rt::{Timers, in_task};

const LONGEST_MS: u64 = 1_000;

pub(super) fn round<R: Timers, const TASKS: u32>(rt: &R) -> Duration {
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

/// The sleeps, the same in every round and on every side: unordered, and whole milliseconds, as
/// programs choose them.
fn durations() -> impl Iterator<Item = Duration> {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    std::iter::repeat_with(move || {
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        Duration::from_millis(1 + random % LONGEST_MS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_about_equally_often() {
        let mut times = [0; LONGEST_MS as usize + 1];
        durations().take(100_000).for_each(|duration| times[duration.as_millis() as usize] += 1);
        assert_eq!(times[0], 0);
        assert!(times[1..].iter().all(|times| (50..200).contains(times)));
    }
}
