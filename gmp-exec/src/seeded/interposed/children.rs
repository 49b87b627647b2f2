//! Child processes. They are the outside, and their parent waits for them in real time.

use std::ffi::{c_char, c_int};

use crate::seeded::descriptors::wait_until_ready;
use crate::seeded::real;
use crate::seeded::state::with;

interposed! {
    fork() -> libc::pid_t = || {
        note();
        real::fork()
    };
    posix_spawnp(
        process: *mut libc::pid_t,
        program: *const c_char,
        actions: *const libc::posix_spawn_file_actions_t,
        attributes: *const libc::posix_spawnattr_t,
        arguments: *const *mut c_char,
        environment: *const *mut c_char
    ) -> c_int = |process, program, actions, attributes, arguments, environment| {
        note();
        real::posix_spawnp(process, program, actions, attributes, arguments, environment)
    };
    waitpid(process: libc::pid_t, status: *mut c_int, options: c_int) -> libc::pid_t = |process, status, options| {
        if process > 0 && options & libc::WNOHANG == 0 {
            wait_for_end(process);
        }
        real::waitpid(process, status, options)
    };
}

fn note() {
    with(|state| {
        state.has_had_children = true;
        state.note_outside("child process");
    });
}

fn wait_for_end(process: libc::pid_t) {
    let descriptor = real::open_process(process);
    if descriptor >= 0 {
        wait_until_ready(descriptor, libc::POLLIN);
        // SAFETY: the descriptor was opened above.
        unsafe { real::close(descriptor) };
    }
}
