//! How long a processor was held by machines, readable while it is held.

use std::time::Duration;

use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::atomic::{AtomicI64, AtomicU64};

/// The sum of all times in which a machine held the processor.
#[derive(Default)]
pub(crate) struct BusyTime {
    /// While no machine holds the processor, the sum in nanoseconds. While one does, the sum minus
    /// the moment at which the machine acquired the processor. That is negative, because the clock
    /// began before the first acquisition, at 0, and the processor was held at most since then. In
    /// one word, so that a reader never sees half of a change. Only the holder of the token writes.
    word: AtomicI64,
    /// The largest sum that was read. A reader's moment may be before an acquisition that the
    /// reader sees, or after a release that the reader does not see yet. So its result may be less
    /// than that of an earlier reader. Only readers write.
    read: AtomicU64,
}

impl BusyTime {
    /// A machine acquires the processor, or has acquired it from another one.
    pub(in crate::sched) fn begin(&self, now: u64) {
        let sum = self.word.load(Relaxed);
        if sum >= 0 {
            // At least 1, so that a processor that is acquired at moment 0 is seen to be held.
            self.word.store(sum - (now as i64).max(sum + 1), Relaxed);
        }
    }

    /// The processor goes to the idle list, or is not needed any more.
    pub(in crate::sched) fn end(&self, now: u64) {
        let held = self.word.load(Relaxed);
        if held < 0 {
            self.word.store((held + now as i64).max(0), Relaxed);
        }
    }

    /// Whether a machine holds the processor.
    pub(in crate::sched) fn is_counting(&self) -> bool {
        self.word.load(Relaxed) < 0
    }

    /// The sum at the moment `now`. Never less than an earlier call has returned.
    pub(crate) fn at(&self, now: u64) -> Duration {
        let word = self.word.load(Relaxed);
        let sum = if word < 0 { word + now as i64 } else { word };
        let sum = sum.max(0) as u64;
        Duration::from_nanos(self.read.fetch_max(sum, Relaxed).max(sum))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn ns(nanoseconds: u64) -> Duration {
        Duration::from_nanos(nanoseconds)
    }

    #[test]
    fn time_is_counted_while_the_processor_is_held_and_afterwards() {
        let busy = BusyTime::default();
        assert_eq!(busy.at(50), ns(0));
        busy.begin(100);
        assert_eq!(busy.at(130), ns(30));
        busy.begin(140);
        assert_eq!(busy.at(150), ns(50), "from one machine to another");
        busy.end(160);
        busy.end(170);
        assert_eq!(busy.at(1_000), ns(60));
        busy.begin(1_000);
        assert_eq!(busy.at(1_001), ns(61));
    }

    #[test]
    fn a_processor_that_was_held_all_the_time_is_seen_to_be_held() {
        let busy = BusyTime::default();
        busy.begin(0);
        busy.end(10);
        busy.begin(10);
        assert_eq!(busy.at(15), ns(14), "one nanosecond short, because the moment 0 counts as 1");
    }

    #[test]
    fn a_reader_that_is_late_or_early_never_reads_less() {
        let busy = BusyTime::default();
        busy.begin(100);
        assert_eq!(busy.at(160), ns(60), "the machine has released the processor at 150 and not said so yet");
        busy.end(150);
        assert_eq!(busy.at(170), ns(60));
        busy.begin(200);
        assert_eq!(busy.at(190), ns(60), "the clock was read before the acquisition");
        assert_eq!(busy.at(230), ns(80));
    }
}
