//! The timer slack of a thread: how late the kernel may wake it from a sleep with a limit, unless a
//! timer descriptor ends that sleep. 50 µs by default. Threads and processes inherit it from the
//! thread that starts them.

use std::num::NonZeroU64;

use crate::sys::seccomp;

/// Nanoseconds. `None`: the kernel does not tell, or the thread is one of the realtime policies,
/// which have no slack. Such a slack is left as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerSlack(Option<NonZeroU64>);

impl TimerSlack {
    /// Left as it is: threads have the slack of those that start them.
    pub(crate) const INHERITED: TimerSlack = TimerSlack(None);

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

    /// Sets the calling thread's. If the kernel refuses, or a filter has come, timers are only less
    /// precise.
    pub(crate) fn set(self) {
        #[cfg(target_os = "linux")]
        if self.0.is_some() && !seccomp::has_come() {
            let _ = rustix::thread::set_current_timer_slack(self.0);
        }
    }

    /// Calls `sleep` with the least slack, on a thread that has this slack before and afterwards.
    pub(crate) fn sleep_precisely<R>(self, sleep: impl FnOnce() -> R) -> R {
        if self.0.is_none() {
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
    fn the_slack_is_restored_after_a_precise_sleep() {
        let usual = TimerSlack::current();
        let inside = usual.sleep_precisely(TimerSlack::current);
        assert_eq!(inside.0, TimerSlack::LEAST.0);
        assert_eq!(TimerSlack::current().0, usual.0);
        assert_ne!(usual.0, TimerSlack::LEAST.0);
    }
}
