//! The behaviour of an interval after missed ticks.

use std::time::Duration;

use super::Instant;

/// The behaviour of an [`Interval`](super::Interval) after missed ticks.
///
/// A tick is missed when the program takes it more than 5 ms after its time, because the program
/// was busy. With a period of 50 ms and a first tick at 0, ticks are due at 50, 100, 150, 200.
/// Suppose the one due at 50 is taken at 170:
///
/// | behaviour | the following ticks come at |
/// |---|---|
/// | `Burst` | 170, 170, 200, 250 (the missed ones at once, then on the old schedule) |
/// | `Delay` | 220, 270, 320 (one period after the late one, a new schedule) |
/// | `Skip`  | 200, 250, 300 (the missed ones never, the old schedule) |
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{self, Duration, Instant, MissedTickBehavior};
///
/// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let start = Instant::now();
/// let mut interval = time::interval(Duration::from_millis(50));
/// interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
/// interval.tick().await; // at 0
/// time::sleep(Duration::from_millis(170)).await;
/// interval.tick().await; // due at 50, taken at 170
/// interval.tick().await;
/// assert_eq!(start.elapsed(), Duration::from_millis(200));
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// Returns all missed ticks at once, one after the other, and then keeps to the old schedule.
    /// In the long run the number of ticks is right.
    #[default]
    Burst,

    /// Starts a new schedule with the late tick: the next tick comes a full period after it.
    Delay,

    /// Leaves the missed ticks out and keeps to the old schedule: the next tick is due at the first
    /// moment in the future that is a multiple of the period after the first tick.
    Skip,
}

impl MissedTickBehavior {
    /// The moment of the next tick, if the tick that was due at `due` is taken late, at `now`.
    pub(super) fn next_tick(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            MissedTickBehavior::Burst => due + period,
            MissedTickBehavior::Delay => now + period,
            MissedTickBehavior::Skip => now + (period - past_the_beat(now - due, period)),
        }
    }
}

/// The part of the current period that is over: `late` modulo `period`. The result is less than a
/// period, which is at most 30 years, so its nanoseconds fit 64 bits.
fn past_the_beat(late: Duration, period: Duration) -> Duration {
    Duration::from_nanos((late.as_nanos() % period.as_nanos()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(behavior: MissedTickBehavior, late: u64) -> Duration {
        let due = Instant::from_std(std::time::Instant::now());
        behavior.next_tick(due, due + Duration::from_millis(late), Duration::from_millis(50)) - due
    }

    #[test]
    fn each_behaviour_chooses_its_next_tick() {
        assert_eq!(next(MissedTickBehavior::Burst, 120), Duration::from_millis(50));
        assert_eq!(next(MissedTickBehavior::Delay, 120), Duration::from_millis(170));
        assert_eq!(next(MissedTickBehavior::Skip, 120), Duration::from_millis(150));
    }

    #[test]
    fn a_tick_skipped_to_lies_always_in_the_future() {
        assert_eq!(next(MissedTickBehavior::Skip, 100), Duration::from_millis(150));
        assert_eq!(next(MissedTickBehavior::Skip, 99), Duration::from_millis(100));
    }
}
