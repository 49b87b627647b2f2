//! The time slice of a thread: how long the kernel lets it run while other threads want its core.
//!
//! With more threads that compute than cores, a thread that wakes up competes with them. Linux's
//! scheduler (EEVDF) prefers the thread with the earlier deadline, which is the one with the
//! shorter slice, and a waking thread may preempt a thread with a longer slice at once. Each thread
//! still gets the same share of the cores. So machines ask for a short slice while they may have to
//! compete with threads that compute, and for a long one while they compute without a processor.
//! sysmon asks for a shorter one than any machine: of two equal slices, the one that has begun is
//! not interrupted before its end, and where the kernel's clock ticks 250 times a second that end
//! may be noticed 4 ms late. Neither needs privileges.
//!
//! A slice is the `sched_runtime` of sched_setattr(2) for a thread of the ordinary policy, from
//! 0.1 to 100 ms, since Linux 6.12 (kernel/sched/fair.c, `__setparam_fair`). Older kernels ignore
//! the value. Measured on two cores, p99 of a 1 ms ticker beside 2 and 8 tasks that compute: 0.9
//! and 2.2 ms without slices, 0.05 and 0.2 ms with them.
//!
//! A short slice is no gain where nobody competes. A thread of another process that connects to a
//! server on the same computer is then interrupted at once, before it has sent its request, and the
//! server's first read finds nothing: with 820 new connections a second, 3.0 switches of threads a
//! request instead of 2.1.
//!
//! Rejected: nice values and `SCHED_IDLE`, which a thread can't leave again without privileges.
#![cfg_attr(
    all(target_os = "linux", not(any(loom, shuttle))),
    allow(unsafe_code, reason = "sched_getattr and sched_setattr have no safe wrapper")
)]

use std::io;

use crate::sys::thread_state::ThreadId;
use crate::sys::{environment, seccomp};

const VARIABLE: &str = "GMP_TIME_SLICES";

/// Whether a runtime sets the slices of its threads, from `GMP_TIME_SLICES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeSlices {
    Off,
    /// Machines have short slices after a poll has held its thread for long.
    AfterLongPolls,
    /// Machines always have short slices.
    Always,
}

impl TimeSlices {
    /// As `GMP_TIME_SLICES` says. Unless it says something, no slices are set under a system call
    /// filter: a filter may end the process at an unexpected call, and systemd's `~@resources` does
    /// so at sched_setattr.
    ///
    /// # Errors
    ///
    /// The variable is set, but neither `on` nor `off`.
    pub(crate) fn from_env() -> io::Result<TimeSlices> {
        match environment::var_os(VARIABLE) {
            None if seccomp::is_filtered() => Ok(TimeSlices::Off),
            None => Ok(TimeSlices::AfterLongPolls),
            Some(text) if text == "on" => Ok(TimeSlices::Always),
            Some(text) if text == "off" => Ok(TimeSlices::Off),
            Some(text) => {
                let error = format!("{VARIABLE}: unknown setting {text:?}; allowed are on and off");
                Err(io::Error::new(io::ErrorKind::InvalidInput, error))
            }
        }
    }

    /// Whether slices may be set now: a filter may have come meanwhile.
    pub(crate) fn may_be_set(self) -> bool {
        match self {
            TimeSlices::Off => false,
            TimeSlices::AfterLongPolls => !seccomp::has_come(),
            TimeSlices::Always => true,
        }
    }

    /// The slice with which machines wake up. `is_after_long_poll`: whether some poll has lately held
    /// its thread for long.
    pub(crate) fn of_machines(self, is_after_long_poll: impl Fn() -> bool) -> TimeSlice {
        match self {
            TimeSlices::AfterLongPolls if is_after_long_poll() => TimeSlice::Short,
            TimeSlices::Always => TimeSlice::Short,
            TimeSlices::Off | TimeSlices::AfterLongPolls => TimeSlice::Default,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TimeSlice {
    /// The kernel's.
    Default = 1,
    /// For sysmon, which must not wait for the machines that it watches. The shortest slice there
    /// is.
    Shortest,
    /// For a thread that should run soon after it wakes up.
    Short,
    /// For a thread that computes, and that others should not wait for.
    Long,
}

impl TimeSlice {
    /// Sets the slice of a thread of this process. If the kernel refuses, threads wait for their
    /// cores as long as any other thread.
    #[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
    pub(crate) fn set_for(self, thread: ThreadId) {
        let Some(mut attributes) = imp::get(thread) else { return };
        attributes.runtime = match self {
            TimeSlice::Default => 0,
            TimeSlice::Shortest => 100_000,
            TimeSlice::Short => 200_000,
            TimeSlice::Long => 100_000_000,
        };
        imp::set(thread, &mut attributes);
    }

    #[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
    pub(crate) fn set_for(self, _: ThreadId) {}
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod imp {
    use crate::sys::thread_state::ThreadId;

    /// The first version of the kernel's `struct sched_attr` (sched_setattr(2)), which all kernels
    /// accept.
    #[repr(C)]
    #[derive(Debug, Default)]
    pub(super) struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        /// For the ordinary policy: the slice in nanoseconds.
        pub(super) runtime: u64,
        deadline: u64,
        period: u64,
    }

    const SIZE: u32 = size_of::<Attributes>() as u32;

    /// `None`: the thread has ended, the kernel refuses, or the user has chosen another policy.
    pub(super) fn get(thread: ThreadId) -> Option<Attributes> {
        let mut attributes = Attributes::default();
        // SAFETY: the kernel writes at most `SIZE` bytes to `attributes`, which has that size and
        // consists of integers.
        let result = unsafe { libc::syscall(libc::SYS_sched_getattr, thread.as_raw(), &raw mut attributes, SIZE, 0) };
        (result == 0 && attributes.policy == libc::SCHED_OTHER as u32).then_some(attributes)
    }

    /// Processes and threads that the thread starts inherit the slice. `SCHED_FLAG_RESET_ON_FORK`
    /// would prevent that, but a program without privileges can't clear that flag, and so could no
    /// longer choose another policy for the thread.
    pub(super) fn set(thread: ThreadId, attributes: &mut Attributes) {
        attributes.size = SIZE;
        // SAFETY: the kernel reads `attributes.size` bytes, which is the size of `attributes`.
        unsafe { libc::syscall(libc::SYS_sched_setattr, thread.as_raw(), &raw const *attributes, 0) };
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
pub(crate) mod tests {
    use super::*;

    /// In nanoseconds. `None`: this kernel has no slices, or does not tell.
    pub(crate) fn slice_of_this_thread() -> Option<u64> {
        let attributes = imp::get(ThreadId::of_current_thread()?)?;
        Some(attributes.runtime).filter(|slice| *slice > 0)
    }

    #[test]
    fn a_thread_gets_its_slice() {
        let Some(default) = slice_of_this_thread() else { return };
        let this = ThreadId::of_current_thread().unwrap();
        for (slice, expected) in [
            (TimeSlice::Shortest, 100_000),
            (TimeSlice::Short, 200_000),
            (TimeSlice::Long, 100_000_000),
            (TimeSlice::Default, default),
        ] {
            slice.set_for(this);
            assert_eq!(slice_of_this_thread(), Some(expected), "{slice:?}");
        }
    }

    #[test]
    fn slices_are_short_always_or_after_long_polls() {
        let slices = |setting: TimeSlices| [false, true].map(|is_after| setting.of_machines(|| is_after));
        assert_eq!(slices(TimeSlices::Off), [TimeSlice::Default; 2]);
        assert_eq!(slices(TimeSlices::AfterLongPolls), [TimeSlice::Default, TimeSlice::Short]);
        assert_eq!(slices(TimeSlices::Always), [TimeSlice::Short; 2]);
    }
}
