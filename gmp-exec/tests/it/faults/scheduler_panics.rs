//! Code of gmp itself panics, outside of any task. What waits for the thread would wait for ever, so
//! the process is aborted, and says so. Each case is a child process.

use std::io;
use std::time::Duration;

use gmp_exec::netpoll::Netpoll;
use gmp_exec::runtime::Builder;
use gmp_exec::task::spawn_blocking;
use gmp_exec::time::sleep;

use crate::filter::refuse;
use crate::support::{FOREVER, Watchdog, current, in_child_that_aborts, multi};

/// A fault in code that the scheduler calls and does not expect to panic.
struct Faulty;

impl Netpoll for Faulty {
    fn poll(&self, _: Option<Duration>) -> io::Result<()> {
        panic!("planted");
    }

    fn wake(&self) {}
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
            refuse(&[libc::SYS_gettid]);
            wait_for_ever(multi(2));
        },
        || {
            refuse(&[libc::SYS_gettid]);
            wait_for_ever(current());
        },
        // The thread of a closure.
        || {
            let runtime = current().build().unwrap();
            runtime.block_on(async {
                refuse(&[libc::SYS_gettid]);
                spawn_blocking(|| ()).await.unwrap();
            });
        },
    ];
    for (case, fault) in faults.into_iter().enumerate() {
        in_child_that_aborts(name, case, "has panicked outside of any task; aborting the process", fault);
    }
}
