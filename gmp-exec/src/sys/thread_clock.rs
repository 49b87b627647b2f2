//! The CPU clock of another thread, which tells whether a stuck thread sleeps in the kernel or
//! computes.
#![allow(unsafe_code, reason = "calls `clock_gettime` with another thread's clock")]

use std::time::Duration;

#[cfg(not(shuttle))]
use crate::sys::seccomp;

/// The CPU clock of one thread. Valid while the thread lives. A later reading gives `None` or
/// another thread's time, which leads to a wrong guess and has no other effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadClock(
    #[cfg_attr(shuttle, expect(dead_code, reason = "models have no clocks of threads"))] libc::clockid_t,
);

impl ThreadClock {
    /// The clock of the calling thread; `None` where the platform has none.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_current_thread() -> Option<ThreadClock> {
        // The kernel's encoding (include/linux/posix-timers.h): ~tid in the upper bits, "per
        // thread" and "scheduler clock" in the lower three. This is what glibc's
        // pthread_getcpuclockid computes.
        const PER_THREAD_SCHED: i32 = 4 | 2;
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        Some(ThreadClock((!tid << 3) | PER_THREAD_SCHED))
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_current_thread() -> Option<ThreadClock> {
        None
    }

    /// shuttle's threads share one real thread. A random choice decides whether a stuck thread has
    /// computed, more than a model lasts, so that models try both.
    #[cfg(shuttle)]
    pub(crate) fn read(self) -> Option<Duration> {
        use shuttle::rand::Rng;
        let computes = shuttle::rand::thread_rng().gen_bool(0.5);
        Some(if computes { Duration::from_secs(3_600) } else { Duration::ZERO })
    }

    /// The CPU time that the thread has used. `None` also if a filter has come that may forbid to
    /// ask: other clocks are read without a system call.
    #[cfg(not(shuttle))]
    pub(crate) fn read(self) -> Option<Duration> {
        if seccomp::has_come() {
            return None;
        }
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid, writable timespec; an id that names no thread is reported as
        // an error.
        let result = unsafe { libc::clock_gettime(self.0, &mut time) };
        (result == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }
}

#[cfg(all(test, target_os = "linux", not(shuttle)))]
mod tests {
    use std::time::{Duration, Instant};

    use super::ThreadClock;

    #[test]
    fn computing_advances_the_clock_of_the_thread() {
        let clock = ThreadClock::of_current_thread().unwrap();
        let before = clock.read().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while clock.read().unwrap() < before + Duration::from_millis(5) {
            assert!(Instant::now() < deadline, "the CPU clock does not advance");
        }
    }

    #[test]
    fn the_clock_of_another_thread_can_be_read() {
        let (send, receive) = std::sync::mpsc::channel();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            send.send(ThreadClock::of_current_thread().unwrap()).unwrap();
            let _ = stopped.recv();
        });
        assert!(receive.recv().unwrap().read().is_some());
        drop(stop);
        thread.join().unwrap();
    }
}
