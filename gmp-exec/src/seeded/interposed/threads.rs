//! Threads.

use std::ffi::{c_int, c_void};

use crate::seeded::threads::{Wait, create, wait_for_end};
use crate::seeded::{real, turn};

interposed! {
    pthread_create(
        handle: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        body: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void
    ) -> c_int = create;
    pthread_join(handle: libc::pthread_t, result: *mut *mut c_void) -> c_int = join;
    sched_yield() -> c_int = let_others_go;
}

unsafe fn join(handle: libc::pthread_t, result: *mut *mut c_void) -> c_int {
    wait_for_end(handle);
    // SAFETY: the caller vouches for the arguments. The thread needs no turn to end now.
    unsafe { real::pthread_join(handle, result) }
}

unsafe fn let_others_go() -> c_int {
    turn::pause();
    turn::wait(Wait::Nothing);
    0
}
