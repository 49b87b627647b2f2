//! Code of gmp itself panics, outside of any task. What waits for the thread would wait for ever, so
//! the process is aborted, and says so. Each case is a child process.

use std::io;
use std::time::Duration;

use gmp_exec::netpoll::Netpoll;
use gmp_exec::runtime::Runtime;
use gmp_exec::time::sleep;

use crate::support::{FOREVER, Watchdog, current, in_child_that_aborts, multi};

/// A fault in code that the scheduler calls and does not expect to panic.
struct Faulty;

impl Netpoll for Faulty {
    fn poll(&self, _: Option<Duration>) -> io::Result<()> {
        panic!("planted");
    }

    fn wake(&self) {}
}

/// System calls fail with EPERM from now on, on this thread and on those that it starts.
fn refuse(system_call: libc::c_long) {
    const NUMBER: u32 = 0;
    let jump = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let mut filter = [
        jump((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, NUMBER, 0, 0),
        jump((libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, system_call as u32, 0, 1),
        jump((libc::BPF_RET | libc::BPF_K) as u16, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        jump((libc::BPF_RET | libc::BPF_K) as u16, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program outlives both calls, which copy it.
    let results = unsafe {
        [
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
        ]
    };
    assert_eq!(results, [0, 0], "{}", io::Error::last_os_error());
}

fn wait(runtime: &Runtime) {
    runtime.block_on(sleep(FOREVER));
}

/// Each of them ends the process, although one of its threads is still there.
#[test]
fn a_panic_of_gmp_aborts_the_process_and_says_so() {
    let with_fault = |runtime: Runtime| {
        runtime.handle().netpoll::<Faulty>(|| Ok(Faulty)).unwrap();
        wait(&runtime);
    };
    let cases: [fn(); 5] = [
        // A machine.
        || with_fault(multi(2).build().unwrap()),
        // The thread that drives the other flavour.
        || with_fault(current().build().unwrap()),
    ];
}
