//! The timer slack of a thread: how late the kernel may wake it from a sleep with a limit. 50 µs by
//! default. Threads and processes inherit it from the thread that starts them.

use std::num::NonZeroU64;
use std::time::Duration;

/// Nanoseconds. `None`: the kernel does not tell, or the thread is one of the realtime policies,
/// which have no slack. Such a slack is left as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerSlack(Option<NonZeroU64>);

/// A longer sleep is not made precise: the usual slack is a two-thousandth of it, and two system
/// calls for each sleep would be felt by servers, whose sleeps have far limits.
const FAR: Duration = Duration::from_millis(100);

impl TimerSlack {
    /// The least that there is.
    pub(crate) const LEAST: TimerSlack = TimerSlack(NonZeroU64::new(1));

    /// The calling thread's.
    pub(crate) fn current() -> TimerSlack {
        #[cfg(target_os = "linux")]
        let nanoseconds = rustix::thread::current_timer_slack().ok();
        #[cfg(not(target_os = "linux"))]
        let nanoseconds = None;
        TimerSlack(nanoseconds.and_then(NonZeroU64::new))
    }

    /// Sets the calling thread's. If the kernel refuses, timers are only less precise.
    pub(crate) fn set(self) {
        #[cfg(target_os = "linux")]
        if self.0.is_some() {
            let _ = rustix::thread::set_current_timer_slack(self.0);
        }
    }

    /// Calls `sleep`, which sleeps for `limit` at most, on a thread that has this slack before and
    /// afterwards. The sleep ends on time unless it is long.
    pub(crate) fn sleep_precisely<R>(self, limit: Duration, sleep: impl FnOnce() -> R) -> R {
        if self.0.is_none() || limit.is_zero() || limit >= FAR {
            return sleep();
        }
        TimerSlack::LEAST.set();
        let result = sleep();
        self.set();
        result
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn only_a_short_sleep_is_precise_and_the_slack_is_restored() {
        let usual = TimerSlack::current();
        for (limit, is_precise) in [(0, false), (1, true), (99, true), (100, false)] {
            let inside = usual.sleep_precisely(Duration::from_millis(limit), TimerSlack::current);
            assert_eq!(inside.0 == TimerSlack::LEAST.0, is_precise, "{limit} ms");
            assert_eq!(TimerSlack::current().0, usual.0);
        }
    }
}
