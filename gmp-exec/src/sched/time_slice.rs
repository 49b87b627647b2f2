//! Time slices of machines (`sys::time_slice`). After a poll that has held its thread for long they
//! are short, so that the kernel lets a machine run soon after it wakes up. A machine that computes
//! without a processor has a long one. sysmon's is shorter than all.
//!
//! The taker's and the machine's steps, and why their order matters: sched/README.md §7.

use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::ClaimResult;
use crate::sched::state::takeable::Note;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sys::thread_state::ThreadId;
use crate::sys::time_slice::{TimeSlice, TimeSlices};
use crate::task::StuckBy;

impl Scheduler {
    /// Takes the processor of a machine, which goes on with a long slice if it computes.
    pub(super) fn take_with_slice(&self, note: &Note) -> ClaimResult {
        if note.cause == StuckBy::Blocking {
            return self.take(note);
        }
        // Before the take: afterwards the machine may have shortened its slice already.
        self.lengthen_slice(&note.machine);
        let result = self.take(note);
        if matches!(result, ClaimResult::Refused) {
            self.shorten_slice(&note.machine);
        }
        result
    }

    fn take(&self, note: &Note) -> ClaimResult {
        self.takeable.take(note, self.clock.running_ns())
    }

    /// Another thread's machine computes without a processor, or is about to.
    pub(super) fn lengthen_slice(&self, machine: &Machine) {
        self.set_slice(machine, TimeSlice::Long);
    }

    /// Another thread's machine no longer computes without a processor.
    pub(super) fn shorten_slice(&self, machine: &Machine) {
        self.set_slice(machine, TimeSlice::Short);
    }

    fn set_slice(&self, machine: &Machine, slice: TimeSlice) {
        if self.config.time_slices != TimeSlices::Off {
            machine.set_time_slice(slice);
        }
    }

    /// The slice that machines should wake up with.
    fn slice_of_wakers(&self) -> TimeSlice {
        let is_short = match self.config.time_slices {
            TimeSlices::Off => false,
            TimeSlices::AfterLongPolls => self.sysmon.shortens_slices.load(Relaxed),
            TimeSlices::On => true,
        };
        if is_short { TimeSlice::Short } else { TimeSlice::Default }
    }
}

/// sysmon's thread has just started. With a longer slice than a machine's, it would wait for its
/// core until a stuck machine there has been interrupted by the kernel's clock, up to 4 ms.
pub(super) fn shorten_for_sysmon(scheduler: &Scheduler) {
    if scheduler.config.time_slices != TimeSlices::Off
        && let Some(thread) = ThreadId::of_current_thread()
    {
        TimeSlice::Shortest.set_for(thread);
    }
}

/// The thread has just started, or is about to sleep.
pub(super) fn adapt(local: &Local) {
    let slice = local.scheduler.slice_of_wakers();
    if local.time_slice.get() != slice {
        set(local, slice);
    }
}

/// The machine no longer computes without a processor.
pub(super) fn shorten(local: &Local) {
    set(local, TimeSlice::Short);
}

/// The machine is about to compute without a processor.
pub(super) fn lengthen(local: &Local) {
    set(local, TimeSlice::Long);
}

fn set(local: &Local, slice: TimeSlice) {
    local.time_slice.set(slice);
    local.scheduler.set_slice(&local.machine, slice);
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::{Duration, Instant};

    use crate::runtime::{Builder, Runtime};
    use crate::sys::time_slice::TimeSlices;
    use crate::sys::time_slice::tests::slice_of_this_thread;

    const SHORT: u64 = 200_000;

    /// Ticks until the slice of a machine that has just woken up is this one.
    fn wait_for_slice(runtime: &Runtime, expected: u64) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let ticker = runtime.spawn(async move {
            let mut slice = 0;
            while slice != expected && Instant::now() < deadline {
                crate::time::sleep(Duration::from_millis(5)).await;
                slice = slice_of_this_thread().unwrap();
            }
            slice
        });
        assert_eq!(runtime.block_on(ticker).unwrap(), expected);
    }

    #[test]
    fn slices_are_short_for_some_time_after_a_long_poll() {
        let Some(default) = slice_of_this_thread() else { return };
        if TimeSlices::from_env().ok() != Some(TimeSlices::AfterLongPolls) {
            return;
        }
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        wait_for_slice(&runtime, default);
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = is_over.clone();
        let blocks = runtime.spawn(async move {
            while !flag.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                crate::task::yield_now().await;
            }
        });
        wait_for_slice(&runtime, SHORT);
        is_over.store(true, Relaxed);
        runtime.block_on(blocks).unwrap();
        wait_for_slice(&runtime, default);
    }
}
