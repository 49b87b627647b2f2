//! Time slices of machines: short, so that the kernel lets a machine run soon after it wakes up,
//! and long while the machine computes without a processor (`sys::time_slice`). sysmon's is shorter
//! than both.
//!
//! The taker's and the machine's steps, and why their order matters: sched/README.md §7.

use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::ClaimResult;
use crate::sched::state::takeable::Note;
use crate::sys::thread_state::ThreadId;
use crate::sys::time_slice::TimeSlice;
use crate::task::StuckBy;

impl Scheduler {
    /// Takes the processor of a machine, which goes on with a long slice if it computes.
    pub(super) fn take_with_slice(&self, note: &Note) -> ClaimResult {
        if note.cause == StuckBy::Blocking {
            return self.take(note);
        }
        // Before the take: afterwards the machine may have shortened its slice already.
        self.set_time_slice(&note.machine, TimeSlice::Long);
        let result = self.take(note);
        if matches!(result, ClaimResult::Refused) {
            self.set_time_slice(&note.machine, TimeSlice::Short);
        }
        result
    }

    fn take(&self, note: &Note) -> ClaimResult {
        self.takeable.take(note, self.clock.running_ns())
    }

    pub(super) fn set_time_slice(&self, machine: &Machine, slice: TimeSlice) {
        if self.config.time_slices {
            machine.set_time_slice(slice);
        }
    }
}

/// sysmon's thread has just started. With a longer slice than a machine's, it would wait for its
/// core until a stuck machine there has been interrupted by the kernel's clock, up to 4 ms.
pub(super) fn shorten_for_sysmon(scheduler: &Scheduler) {
    if scheduler.config.time_slices
        && let Some(thread) = ThreadId::of_current_thread()
    {
        TimeSlice::Shortest.set_for(thread);
    }
}

/// The thread has just started, or no longer computes without a processor.
pub(super) fn shorten(local: &Local) {
    local.scheduler.set_time_slice(&local.machine, TimeSlice::Short);
}

/// The machine is about to compute without a processor.
pub(super) fn lengthen(local: &Local) {
    local.scheduler.set_time_slice(&local.machine, TimeSlice::Long);
}
