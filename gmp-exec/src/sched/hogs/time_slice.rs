//! Time slices of machines (`sys::time_slice`). For a while after a long poll they are short, so that
//! the kernel lets a machine run soon after the machine wakes up. A machine that computes without a
//! processor has a long slice. sysmon's slice is the shortest.
//!
//! The taker's and the machine's steps, and why their order matters: sched/README.md §7.

use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::sysmon::Level;
use crate::sys::thread_state::ThreadId;
use crate::sys::time_slice::TimeSlice;

/// Long: the machine computes without a processor, or is about to. Short: no longer.
pub(in crate::sched) fn set(scheduler: &Scheduler, machine: &Machine, slice: TimeSlice) {
    if scheduler.config.time_slices.may_be_set() {
        machine.set_time_slice(slice);
    }
}

/// sysmon has something to look at for the first time. With a longer slice than a machine's, sysmon
/// would wait for its core until the kernel's clock interrupts a stuck machine there, up to 4 ms.
pub(in crate::sched) fn shorten_for_sysmon(scheduler: &Scheduler) {
    if scheduler.config.time_slices.may_be_set()
        && let Some(thread) = ThreadId::of_current_thread()
    {
        TimeSlice::Shortest.set_for(thread);
    }
}

/// The machine begins, perhaps with the slice of sysmon, which has started its thread; or the machine
/// is about to sleep.
pub(in crate::sched) fn adapt(local: &Local) {
    let scheduler = &local.scheduler;
    let slice = scheduler.config.time_slices.of_machines(|| scheduler.sysmon.expects(Level::Competition));
    if !local.machine.has_time_slice(slice) {
        set(scheduler, &local.machine, slice);
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::runtime::Builder;
    use crate::sys::time_slice::TimeSlices;
    use crate::sys::time_slice::tests::slice_of_this_thread;

    const SHORT: u64 = 200_000;

    /// Ticks, beside a task that blocks, until the slice of the machine that has woken up is short.
    #[test]
    fn slices_are_short_after_a_long_poll() {
        if TimeSlices::from_env().ok() != Some(TimeSlices::AfterLongPolls) || slice_of_this_thread().is_none() {
            return;
        }
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = is_over.clone();
        let blocks = runtime.spawn(async move {
            while !flag.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
                crate::task::yield_now().await;
            }
        });
        let deadline = Instant::now() + Duration::from_secs(60);
        let ticker = runtime.spawn(async move {
            let mut slice = None;
            while slice != Some(SHORT) && Instant::now() < deadline {
                crate::time::sleep(Duration::from_millis(5)).await;
                slice = slice_of_this_thread();
            }
            slice
        });
        assert_eq!(runtime.block_on(ticker).unwrap(), Some(SHORT));
        is_over.store(true, Relaxed);
        runtime.block_on(blocks).unwrap();
    }

    /// Whichever thread has set it.
    #[test]
    fn a_machine_knows_the_slice_that_was_set_last() {
        let Some(default) = slice_of_this_thread() else { return };
        std::thread::spawn(move || {
            let machine = Machine::new(0);
            machine.bind();
            for (slice, expected) in [(TimeSlice::Short, SHORT), (TimeSlice::Default, default)] {
                assert!(!machine.has_time_slice(slice));
                machine.set_time_slice(slice);
                assert!(machine.has_time_slice(slice));
                assert_eq!(slice_of_this_thread(), Some(expected));
            }
            std::thread::scope(|scope| scope.spawn(|| machine.set_time_slice(TimeSlice::Long)).join().unwrap());
            assert!(machine.has_time_slice(TimeSlice::Long));
            assert_eq!(slice_of_this_thread(), Some(100_000_000));
        })
        .join()
        .unwrap();
    }
}
