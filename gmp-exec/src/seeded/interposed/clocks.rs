//! Clocks and sleeps.

use std::ffi::c_int;

use crate::seeded::threads::Wait;
use crate::seeded::{time, turn};

interposed! {
    clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int = read;
    nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int = sleep;
    clock_nanosleep(clock: libc::clockid_t, flags: c_int, time: *const libc::timespec, rest: *mut libc::timespec)
        -> c_int = sleep_by_clock;
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
