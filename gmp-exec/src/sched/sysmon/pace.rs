//! How soon sysmon looks again: pure functions of what it has seen.

use std::time::Duration;

use crate::sched::state::sysmon::SOON;
use crate::sched::sysmon::budget::SHORTEST;

/// Looks per threshold: sysmon finds a stuck poll at most this fraction of the threshold late.
const LOOKS: u32 = 4;
/// Upper bound on the regular interval, whatever the threshold: work that starts to wait during a
/// blocking section is found only by a look. Thresholds above 2.5 s get `RARE` looks each.
const LONGEST: Duration = Duration::from_micros(2_500);
const RARE: u32 = 1_000;
/// Upper bound on the interval while processors are busy only now and then; one and a half
/// thresholds if that is shorter. At 10 ms a server of 820 requests a second had 6 % more context
/// switches than on tokio.
const SLOWEST: Duration = Duration::from_millis(15);
/// The interval of close looks.
const CLOSE: Duration = Duration::from_micros(500);

/// What decides how soon sysmon looks again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// `blocking_threshold`.
    pub(super) threshold: Duration,
    /// The next step of a series of looks (`budget`).
    pub(super) step: Option<Duration>,
    /// A section has begun lately and holds its processor.
    pub(super) has_new_section: bool,
    /// A poll has held its thread for long within the last second, while a processor was idle.
    pub(super) is_close: bool,
    /// The interval that has grown while nothing waited (`slower`); zero: something waits.
    pub(super) slow: Duration,
    /// Something waits, and the machine that got its processor last has held it for so long in one
    /// poll. `None`: nothing waits, or a processor is not held by a poll.
    pub(super) all_held: Option<Duration>,
}

pub(super) fn pace(facts: Facts) -> Duration {
    let regular = regular(facts.threshold).min(until_stall_limit(facts));
    if let Some(step) = facts.step {
        step.min(regular)
    } else if facts.has_new_section {
        regular.min(SOON)
    } else if facts.is_close {
        regular.min(CLOSE)
    } else {
        regular.max(facts.slow)
    }
}

/// How soon to look while a processor is busy and nothing was seen.
pub(super) fn regular(threshold: Duration) -> Duration {
    (threshold / LOOKS).min(LONGEST.max(threshold / RARE)).max(SHORTEST)
}

/// The interval after one more look at which nothing waited.
pub(super) fn slower(slow: Duration, threshold: Duration) -> Duration {
    (slow.max(regular(threshold)) * 2).min((threshold * 3 / 2).min(SLOWEST))
}

/// If no processor has had a turn for this long while something waits that any processor could
/// serve, sysmon takes the processor of a machine that computes.
pub(super) fn stall_limit(threshold: Duration) -> Duration {
    threshold / 5
}

/// When a processor may have to be taken because no processor has had a turn.
fn until_stall_limit(facts: Facts) -> Duration {
    let Some(held) = facts.all_held else { return Duration::MAX };
    let left = stall_limit(facts.threshold).saturating_sub(held);
    if left.is_zero() { Duration::MAX } else { left.max(SHORTEST) }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    const QUIET: Facts = Facts {
        threshold: us(10_000),
        step: None,
        has_new_section: false,
        is_close: false,
        slow: Duration::ZERO,
        all_held: None,
    };

    #[test]
    fn the_pace_for_each_fact() {
        let table = [
            ("nothing was seen", QUIET, 2_500),
            ("a short threshold", Facts { threshold: us(100), ..QUIET }, 25),
            ("a long threshold", Facts { threshold: us(1_000_000), ..QUIET }, 2_500),
            ("a very long threshold", Facts { threshold: us(60_000_000), ..QUIET }, 60_000),
            ("a series", Facts { step: Some(us(20)), ..QUIET }, 20),
            ("a series that has slowed down", Facts { step: Some(us(5_000)), ..QUIET }, 2_500),
            ("a series comes before a section", Facts { step: Some(us(40)), has_new_section: true, ..QUIET }, 40),
            ("a new section", Facts { has_new_section: true, ..QUIET }, 100),
            ("a long poll before", Facts { is_close: true, ..QUIET }, 500),
            ("a section comes before a long poll", Facts { has_new_section: true, is_close: true, ..QUIET }, 100),
            ("nothing waits", Facts { slow: us(15_000), ..QUIET }, 15_000),
            ("all processors are held", Facts { all_held: Some(us(500)), ..QUIET }, 1_500),
            ("the stall limit is near", Facts { all_held: Some(us(1_990)), ..QUIET }, 20),
            ("the stall limit has passed", Facts { all_held: Some(us(2_000)), ..QUIET }, 2_500),
        ];
        for (what, facts, expected) in table {
            assert_eq!(pace(facts), us(expected), "{what}");
        }
    }

    #[test]
    fn the_slow_pace_doubles_up_to_its_limit() {
        let mut slow = Duration::ZERO;
        let paces = [(); 5].map(|()| {
            slow = slower(slow, us(10_000));
            slow
        });
        assert_eq!(paces, [5_000, 10_000, 15_000, 15_000, 15_000].map(us));
        assert_eq!(slower(us(10_000), us(1_000)), us(1_500), "one and a half thresholds");
    }
}
