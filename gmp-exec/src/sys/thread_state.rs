//! The state of a thread according to the kernel: asleep, or runnable (computing or waiting for a
//! core).
//!
//! A CPU clock can't distinguish a thread that sleeps from a thread that gets no core: both clocks
//! stand still. The kernel's record of the thread's state can (field 3 of
//! `/proc/self/task/TID/stat`, proc_pid_stat(5)), and so can its record of how long a thread has
//! run and has waited for a core (fields 1 and 2 of `.../schedstat`,
//! Documentation/scheduler/sched-stats.rst). A reading takes 4 to 8 µs, nearly all of them for the
//! kernel's formatting of the other fields, and needs a free descriptor.

use std::time::Duration;

/// How long a thread has been runnable since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunnableTime {
    /// With a core.
    pub(crate) on_core: Duration,
    /// Without one: it has waited for its turn.
    pub(crate) waiting: Duration,
}

impl RunnableTime {
    pub(crate) fn total(self) -> Duration {
        self.on_core + self.waiting
    }

    pub(crate) fn since(self, earlier: RunnableTime) -> RunnableTime {
        RunnableTime {
            on_core: self.on_core.saturating_sub(earlier.on_core),
            waiting: self.waiting.saturating_sub(earlier.waiting),
        }
    }
}

/// The kernel's id of a thread. Valid while the thread lives. A later reading gives `None` or
/// another thread's state, which leads to a wrong guess and has no other effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadId(
    #[cfg_attr(any(loom, shuttle, not(target_os = "linux")), expect(dead_code, reason = "read on Linux only"))] i32,
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadState {
    /// Sleeps in a system call, or until a page has been read (S and D).
    Asleep,
    /// Computes, or waits for a core (R). A thread that was stopped counts as runnable, too: it
    /// does not wait for anything itself.
    Runnable,
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod imp {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;

    use super::{RunnableTime, ThreadId, ThreadState};
    use crate::sys::seccomp;

    impl ThreadId {
        pub(crate) fn of_current_thread() -> Option<ThreadId> {
            Some(ThreadId(rustix::thread::gettid().as_raw_nonzero().get()))
        }

        pub(crate) fn as_raw(self) -> i32 {
            self.0
        }

        /// `None` if the state is unknown: there is no /proc, no descriptor is free, the thread has
        /// ended, or a filter has come that may forbid to ask.
        pub(crate) fn state(self) -> Option<ThreadState> {
            // The process id, the name (at most 15 bytes, in parentheses) and the state need at
            // most 40 bytes.
            let mut text = [0; 64];
            super::parse_state(self.read("stat", &mut text).ok()?)
        }

        /// `None` as above, and if the kernel does not count it.
        pub(crate) fn runnable_time(self) -> Option<RunnableTime> {
            // Two numbers of at most 20 digits; the rest of the file is not needed.
            let mut text = [0; 64];
            super::parse_runnable(self.read("schedstat", &mut text).ok()?)
        }

        /// How often the thread has been given a core. `None` as above.
        pub(crate) fn runs(self) -> Option<u64> {
            // Three numbers of at most 20 digits.
            let mut text = [0; 64];
            super::parse_runs(self.read("schedstat", &mut text).ok()?)
        }

        pub(in crate::sys) fn read<'a>(self, file: &str, text: &'a mut [u8]) -> rustix::io::Result<&'a [u8]> {
            if seccomp::has_come() {
                return Err(Errno::ACCESS);
            }
            let path = format!("/proc/self/task/{}/{file}", self.0);
            let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let length = rustix::io::read(&file, &mut *text)?;
            Ok(&text[..length])
        }
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
mod imp {
    use super::{RunnableTime, ThreadId, ThreadState};

    impl ThreadId {
        pub(crate) fn of_current_thread() -> Option<ThreadId> {
            cfg!(any(loom, shuttle)).then_some(ThreadId(0))
        }

        /// The threads of a model share one real thread. The loom models that read a state are
        /// about threads that sleep. In shuttle models a random choice decides, so that both states
        /// are tried.
        pub(crate) fn state(self) -> Option<ThreadState> {
            #[cfg(loom)]
            return Some(ThreadState::Asleep);
            #[cfg(shuttle)]
            {
                use shuttle::rand::Rng;
                let sleeps = shuttle::rand::thread_rng().gen_bool(0.5);
                return Some(if sleeps { ThreadState::Asleep } else { ThreadState::Runnable });
            }
            #[cfg(not(any(loom, shuttle)))]
            None
        }

        pub(crate) fn runnable_time(self) -> Option<RunnableTime> {
            None
        }

        pub(crate) fn runs(self) -> Option<u64> {
            None
        }
    }
}

/// The name is the user's and may contain any character, parentheses included. Only the state and
/// numbers follow the name, so the last parenthesis ends it.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn parse_state(stat: &[u8]) -> Option<ThreadState> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    match stat.get(name_end + 2)? {
        b'S' | b'D' => Some(ThreadState::Asleep),
        _ => Some(ThreadState::Runnable),
    }
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn parse_runnable(schedstat: &[u8]) -> Option<RunnableTime> {
    let mut numbers = std::str::from_utf8(schedstat).ok()?.split_ascii_whitespace().map(str::parse);
    let (Some(Ok(on_core)), Some(Ok(waiting))) = (numbers.next(), numbers.next()) else { return None };
    Some(RunnableTime { on_core: Duration::from_nanos(on_core), waiting: Duration::from_nanos(waiting) })
}

/// A kernel that does not count writes zeros. The thread that asks, or is asked about, has run.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn parse_runs(schedstat: &[u8]) -> Option<u64> {
    let third = std::str::from_utf8(schedstat).ok()?.split_ascii_whitespace().nth(2)?;
    third.parse().ok().filter(|runs| *runs > 0)
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::{RunnableTime, ThreadId, ThreadState, parse_runnable, parse_state as parse};

    #[test]
    fn a_thread_that_asks_is_runnable() {
        assert_eq!(ThreadId::of_current_thread().unwrap().state(), Some(ThreadState::Runnable));
    }

    #[test]
    fn a_thread_that_waits_is_asleep_and_one_that_has_ended_has_no_state() {
        let (send, receive) = mpsc::channel();
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name(") R (a name".to_owned()).spawn(move || {
            send.send(ThreadId::of_current_thread().unwrap()).unwrap();
            let _ = stopped.recv();
        });
        let waiting = receive.recv().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while waiting.state() != Some(ThreadState::Asleep) {
            assert!(Instant::now() < deadline, "the thread does not go to sleep");
        }
        drop(stop);
        thread.unwrap().join().unwrap();
        while waiting.state().is_some() {
            assert!(Instant::now() < deadline, "the thread does not end");
        }
    }

    #[test]
    fn the_state_stands_behind_the_last_parenthesis() {
        assert_eq!(parse(b"12 (tokio) S 1 2"), Some(ThreadState::Asleep));
        assert_eq!(parse(b"12 (a) S) D 1 2"), Some(ThreadState::Asleep));
        assert_eq!(parse(b"12 (a) S) R 1 2"), Some(ThreadState::Runnable));
        assert_eq!(parse(b"12 (stopped) T 1"), Some(ThreadState::Runnable));
        assert_eq!(["", "12", "12 (cut of", "12 (cut)"].map(|text| parse(text.as_bytes())), [None; 4]);
    }

    #[test]
    fn a_thread_is_runnable_for_as_long_as_it_runs_and_waits_for_a_core() {
        let (on_core, waiting) = (Duration::from_nanos(1_000), Duration::from_nanos(200));
        assert_eq!(parse_runnable(b"1000 200 7\n"), Some(RunnableTime { on_core, waiting }));
        assert_eq!(["", "12", "a 12 3"].map(|text| parse_runnable(text.as_bytes())), [None; 3]);
        let this = ThreadId::of_current_thread().unwrap();
        // Not every kernel counts.
        let Some(before) = this.runnable_time() else { return };
        let deadline = Instant::now() + Duration::from_secs(60);
        while this.runnable_time().unwrap().since(before).total() < Duration::from_millis(2) {
            assert!(Instant::now() < deadline, "computing does not count");
        }
    }
}
