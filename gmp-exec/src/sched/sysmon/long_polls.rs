//! After a poll that held its thread for long, machines expect more of them: for a while they keep
//! the netpoll watched (`park::send_successor`, [`Watch`](crate::sched::state::idle::Watch)) and
//! have short time slices (sched/README.md §6).

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::sysmon::CLOSE_FOR;
use crate::sched::sysmon::memory::{Memory, is_within};
use crate::sync::atomic::Ordering::Relaxed;

/// How many successors machines may wake in the second after a long poll. Each of them costs 5 to 10
/// µs, and 1 024 cost 5 to 10 ms in total. A program that needs more of them has so many events for
/// each long poll that a thread switch at each event is too high a price: connections that exchanged
/// messages without a pause were 1.3 times slower than on tokio for that second. An HTTP server with
/// 930 requests a second, of which 5 % compute, had the same p99 without this limit.
const SUCCESSORS: u16 = 1_024;
/// How long machines have short time slices after such a poll, or a known hog's. They cost less
/// than close looks, so they serve a program with rare long polls, too.
const SHORT_SLICES_FOR: Duration = Duration::from_secs(10);

impl Scheduler {
    /// Tells machines that leave the netpoll, or are about to sleep, whether to expect long polls.
    /// A processor may be taken before its poll has lasted for long. A poll that slept only for a
    /// moment says nothing about others. A hog's poll is not seen as long, but it takes a core, so
    /// slices stay short.
    pub(super) fn expect_long_polls(&self, memory: &mut Memory, has_slept_long: bool, now: Instant) {
        if self.sysmon.long_poll_was_taken.swap(false, Relaxed) || has_slept_long {
            memory.long_poll = Some(now);
        }
        if memory.long_poll == Some(now) {
            self.sysmon.successors.store(SUCCESSORS, Relaxed);
        } else if !is_within(CLOSE_FOR, memory.long_poll, now) {
            self.sysmon.successors.store(0, Relaxed);
        }
        if self.hogs.held() > 0 {
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
        assert!(!scheduler.sysmon.spend_successor(), "nothing was long yet");
        scheduler.expect_long_polls(&mut memory, true, now);
        (scheduler, memory, now)
    }

    #[test]
    fn machines_wake_successors_for_a_second() {
        let (scheduler, mut memory, now) = after_a_long_poll();
        for (after, expected) in [(0, true), (999, true), (1_000, false), (2_000, false)] {
            scheduler.expect_long_polls(&mut memory, false, now + Duration::from_millis(after));
            assert_eq!(scheduler.sysmon.spend_successor(), expected, "after {after} ms");
        }
    }

    /// Otherwise each event of a busy connection would cost two thread switches for that second.
    #[test]
    fn a_long_poll_pays_for_a_limited_number_of_successors() {
        let (scheduler, mut memory, now) = after_a_long_poll();
        let spend = || (0..2 * SUCCESSORS).filter(|_| scheduler.sysmon.spend_successor()).count();
        assert_eq!(spend(), SUCCESSORS as usize);
        scheduler.expect_long_polls(&mut memory, false, now + Duration::from_millis(1));
        assert_eq!(spend(), 0, "the same long poll pays only once");
        scheduler.expect_long_polls(&mut memory, true, now + Duration::from_millis(2));
        assert_eq!(spend(), SUCCESSORS as usize, "another long poll");
    }
}
