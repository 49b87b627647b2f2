//! After a poll that held its thread for long, machines expect more of them: for a while they keep
//! a machine in the netpoll (`park::send_successor`) and have short time slices (sched/README.md §6).
//!
//! Rejected: a poll beside the sleeper is not long. An axum server whose handlers compute for 3.4 ms
//! then had a p90 of 4.6 to 4.8 instead of 3.6 to 3.9 ms.

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::sysmon::CLOSE_FOR;
use crate::sched::sysmon::memory::{Memory, is_within};
use crate::sync::atomic::Ordering::Relaxed;

/// How long machines have short time slices after such a poll, or a known hog's. They cost less
/// than close looks, so they serve a program with rare long polls, too.
const SHORT_SLICES_FOR: Duration = Duration::from_secs(10);

impl Scheduler {
    /// Tells machines that leave the netpoll whether to expect long polls. A hog's poll is not seen
    /// as long, but it takes a core, so slices stay short.
    pub(super) fn expect_long_polls(&self, memory: &mut Memory, now: Instant) {
        if self.sysmon.long_poll_was_taken.swap(false, Relaxed) {
            memory.long_poll = Some(now);
        }
        self.sysmon.expects_long_polls.store(is_within(CLOSE_FOR, memory.long_poll, now), Relaxed);
        if self.computing.count(&self.hogs) > 0 {
            memory.computing_hog = Some(now);
        }
        let any_competes =
            [memory.long_poll, memory.computing_hog].into_iter().any(|at| is_within(SHORT_SLICES_FOR, at, now));
        self.sysmon.shortens_slices.store(any_competes, Relaxed);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::runtime::Builder;
    use crate::sync::Arc;

    /// A scheduler that has just learnt of a long poll, the memory of its sysmon, and when that was.
    fn after_a_long_poll() -> (Arc<Scheduler>, Memory, Instant) {
        let scheduler = Scheduler::new(Builder::new_multi_thread().sysmon(false).config(false).unwrap());
        let (mut memory, now) = (Memory::default(), Instant::now());
        assert!(!scheduler.sysmon.expects_long_polls.load(Relaxed), "nothing was long yet");
        scheduler.sysmon.long_poll_was_taken.store(true, Relaxed);
        scheduler.expect_long_polls(&mut memory, now);
        (scheduler, memory, now)
    }

    #[test]
    fn long_polls_are_expected_for_a_second() {
        let (scheduler, mut memory, now) = after_a_long_poll();
        for (after, expected) in [(0, true), (999, true), (1_000, false), (2_000, false)] {
            scheduler.expect_long_polls(&mut memory, now + Duration::from_millis(after));
            assert_eq!(scheduler.sysmon.expects_long_polls.load(Relaxed), expected, "after {after} ms");
        }
    }
}
