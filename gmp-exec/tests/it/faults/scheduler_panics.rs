//! Code of gmp itself panics, outside of any task. What waits for the thread would wait for ever, so
//! the process is aborted, and says so. Each case is a child process.

use std::io;
use std::time::Duration;

use gmp_exec::netpoll::Netpoll;
use gmp_exec::runtime::Builder;
use gmp_exec::task::spawn_blocking;
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

/// This system call fails with EPERM from now on, on this thread and on threads that it starts.
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
    // SAFETY: touches no memory.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: the program outlives the call, which copies it.
    let result = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

fn wait_for_ever(mut builder: Builder) {
    let runtime = builder.build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    runtime.block_on(async { sleep(FOREVER).await });
}

fn wait_with_faulty_netpoll(mut builder: Builder) {
    let runtime = builder.build().unwrap();
    runtime.handle().netpoll(|| Ok(Faulty)).unwrap();
    runtime.block_on(async { sleep(FOREVER).await });
}

#[test]
fn a_panic_of_gmp_aborts_the_process_and_says_so() {
    let name = "faults::scheduler_panics::a_panic_of_gmp_aborts_the_process_and_says_so";
    let faults: [fn(); 2] = [
        // In a machine, and in the thread that drives the other flavour.
        || wait_with_faulty_netpoll(multi(2)),
        || wait_with_faulty_netpoll(current()),
    ];
    for (case, fault) in faults.into_iter().enumerate() {
        in_child_that_aborts(name, case, "has panicked outside of any task; aborting the process", fault);
    }
}

/// The beginning of a thread, and of a call of `block_on`. Without debug assertions, the number that
/// the system refuses to give is a wrong one, and harmless.
#[test]
#[cfg(debug_assertions)]
fn a_panic_of_gmp_at_the_beginning_of_a_thread_aborts_the_process_and_says_so() {
    let name = "faults::scheduler_panics::a_panic_of_gmp_at_the_beginning_of_a_thread_aborts_the_process_and_says_so";
    let faults: [fn(); 3] = [
        || {
            refuse(libc::SYS_gettid);
            wait_for_ever(multi(2));
        },
        || {
            refuse(libc::SYS_gettid);
            wait_for_ever(current());
        },
        // The thread of a closure.
        || {
            let runtime = current().build().unwrap();
            runtime.block_on(async {
                refuse(libc::SYS_gettid);
                spawn_blocking(|| ()).await.unwrap();
            });
        },
    ];
    for (case, fault) in faults.into_iter().enumerate() {
        in_child_that_aborts(name, case, "has panicked outside of any task; aborting the process", fault);
    }
}
