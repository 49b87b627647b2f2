//! Clocks and sleeps.

use std::ffi::c_int;

use super::set_errno;
use crate::seeded::threads::Wait;
use crate::seeded::{time, turn};

interposed! {
    clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int = read;
    nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int = sleep;
    clock_nanosleep(clock: libc::clockid_t, flags: c_int, time: *const libc::timespec, rest: *mut libc::timespec)
        -> c_int = sleep_by_clock;
    timerfd_create(clock: c_int, flags: c_int) -> c_int = refuse_timer;
}

/// The kernel's timers go by real time. Callers have another way for kernels that refuse them.
unsafe fn refuse_timer(_: c_int, _: c_int) -> c_int {
    set_errno(libc::ENOSYS);
    -1
}

unsafe fn read(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    let now = time::read(clock);
    // SAFETY: the caller vouches for the pointer.
    unsafe { time.write(now) };
    0
}

unsafe fn sleep(time: *const libc::timespec, _: *mut libc::timespec) -> c_int {
    // SAFETY: the caller vouches for the pointer.
    turn::wait(Wait::Sleep { deadline: time::after(unsafe { &*time }) });
    0
}

unsafe fn sleep_by_clock(
    clock: libc::clockid_t,
    flags: c_int,
    time: *const libc::timespec,
    _: *mut libc::timespec,
) -> c_int {
    // SAFETY: the caller vouches for the pointer.
    let time = unsafe { &*time };
    let is_absolute = flags & libc::TIMER_ABSTIME != 0;
    turn::wait(Wait::Sleep { deadline: if is_absolute { time::at(clock, time) } else { time::after(time) } });
    0
}
