//! A timer descriptor for deadlines.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use gmp_exec::bridge::filter_has_come;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// A deadline finer than epoll's own timeout.
///
/// `epoll_wait` counts in whole milliseconds, so a sleep of 50 µs would take twenty times as long.
/// A timer descriptor in the same epoll is precise, but arming it is a system call. So the timer is
/// armed only if it would fire too late otherwise: firing too early costs one look, and the
/// scheduler waits again.
///
/// A sandbox may forbid timer descriptors, which nothing else here needs. Then mio waits in
/// milliseconds: late sleeps are better than no I/O at all. A lack of descriptors stays an error,
/// because there would be none for a socket either. A filter of system calls that comes late may end
/// the process at these calls, so there mio waits, too.
///
/// Rejected: `epoll_pwait2`, which takes nanoseconds, because mio doesn't offer it and kernels
/// before 5.11 lack it.
#[derive(Debug)]
pub(crate) struct Deadline {
    /// `None`: the system forbids timer descriptors, or may.
    timer: Option<OwnedFd>,
    /// The time at or after which the timer fires. If in the past, it has fired or is about to.
    armed: Option<Instant>,
}

impl Deadline {
    pub(crate) fn new(registry: &Registry) -> io::Result<Self> {
        let make = || unless_forbidden(timerfd_create(TimerfdClockId::Monotonic, FLAGS));
        let timer = if filter_has_come() { None } else { make()? };
        if let Some(timer) = &timer {
            // Edge-triggered: each expiry is a new edge, so the timer never has to be read.
            registry.register(&mut SourceFd(&timer.as_raw_fd()), TOKEN, Interest::READABLE)?;
        }
        Ok(Deadline { timer, armed: None })
    }

    /// Makes a wait end after `timeout`, and returns the timeout that remains for mio.
    pub(crate) fn arm(&mut self, timeout: Option<Duration>) -> io::Result<Option<Duration>> {
        match (timeout, &self.timer) {
            (Some(Duration::ZERO), _) => Ok(timeout),
            (_, None) => Ok(timeout.map(|timeout| timeout.min(LONGEST))),
            (Some(timeout), Some(timer)) => fire_within(timer, &mut self.armed, timeout),
            (None, _) => Ok(None),
        }
    }
}

/// The longest timeout that fits into `epoll_wait`'s `int` of milliseconds. mio lets a longer one
/// become negative, which means no timeout.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);

const FLAGS: TimerfdFlags = TimerfdFlags::NONBLOCK.union(TimerfdFlags::CLOEXEC);

/// A system call filter usually returns `EPERM`, or claims that the call does not exist.
fn unless_forbidden<T>(made: rustix::io::Result<T>) -> io::Result<Option<T>> {
    match made {
        Ok(timer) => Ok(Some(timer)),
        Err(Errno::PERM | Errno::ACCESS | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Arms `timer`, unless it already fires in time. Returns the timeout that remains for mio.
fn fire_within(timer: &OwnedFd, armed: &mut Option<Instant>, timeout: Duration) -> io::Result<Option<Duration>> {
    let now = Instant::now();
    // A deadline beyond the clock's range never comes.
    let Some(deadline) = now.checked_add(timeout) else {
        return Ok(None);
    };
    if armed.is_some_and(|armed| now < armed && armed <= deadline) {
        return Ok(None);
    }
    if filter_has_come() {
        return Ok(Some(timeout.min(LONGEST)));
    }
    let spec = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: timespec(timeout) };
    timerfd_settime(timer, TimerfdTimerFlags::empty(), &spec)?;
    *armed = Some(deadline);
    Ok(None)
}

/// No source has this token: a slab never returns such a key.
const TOKEN: Token = Token(usize::MAX - 1);

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline() -> (mio::Poll, Deadline) {
        let poll = mio::Poll::new().expect("an epoll");
        let deadline = Deadline::new(poll.registry()).expect("a timer");
        (poll, deadline)
    }

    #[test]
    fn only_an_earlier_deadline_rearms() {
        let (_poll, mut deadline) = deadline();
        deadline.arm(Some(Duration::from_secs(100))).expect("armed");
        let first = deadline.armed;
        deadline.arm(Some(Duration::from_secs(200))).expect("armed");
        assert_eq!(deadline.armed, first, "a later deadline leaves the timer alone");
        deadline.arm(Some(Duration::from_secs(50))).expect("armed");
        assert!(deadline.armed < first, "an earlier one doesn't");
    }

    #[test]
    fn polling_and_waiting_without_a_timeout_leave_the_timer_alone() {
        let (_poll, mut deadline) = deadline();
        assert_eq!(deadline.arm(Some(Duration::ZERO)).expect("nothing to arm"), Some(Duration::ZERO));
        assert_eq!(deadline.arm(None).expect("nothing to arm"), None);
        assert_eq!(deadline.armed, None);
    }

    #[test]
    fn a_timer_that_has_fired_fires_again() {
        let (mut poll, mut deadline) = deadline();
        let mut events = mio::Events::with_capacity(8);
        for _ in 0..3 {
            let start = Instant::now();
            let timeout = deadline.arm(Some(Duration::from_micros(300))).expect("armed");
            assert_eq!(timeout, None);
            poll.poll(&mut events, None).expect("the timer ends the wait");
            assert!(start.elapsed() >= Duration::from_micros(300));
        }
    }

    #[test]
    fn without_a_timer_the_timeout_is_left_to_mio() {
        let mut deadline = Deadline { timer: None, armed: None };
        for timeout in [None, Some(Duration::ZERO), Some(Duration::from_micros(50)), Some(LONGEST)] {
            assert_eq!(deadline.arm(timeout).expect("nothing to arm"), timeout);
        }
        assert_eq!(deadline.arm(Some(Duration::MAX)).expect("nothing to arm"), Some(LONGEST));
        assert_eq!(deadline.armed, None);
    }

    #[test]
    fn only_what_is_forbidden_is_done_without() {
        for forbidden in [Errno::PERM, Errno::ACCESS, Errno::NOSYS] {
            assert_eq!(unless_forbidden::<()>(Err(forbidden)).expect("done without"), None);
        }
        for shortage in [Errno::MFILE, Errno::NFILE, Errno::NOMEM] {
            let error = unless_forbidden::<()>(Err(shortage)).expect_err("an error");
            assert_eq!(error.raw_os_error(), Some(shortage.raw_os_error()));
        }
    }
}
