//! Children that are started when no descriptor is left.
//!
//! The tests keep their runtimes to the end: one that ends would free descriptors at the wrong time.
//! musl's `posix_spawn`, which the standard library calls, makes a pipe.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use gmp_exec::time::timeout;
use gmp_io::process::Command;
use gmp_io::signal::unix::{SignalKind, signal};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};

use crate::process::{forever, shell, start};
use crate::process_orphans::wait_until_reaped;
use crate::reactor_faults::NoDescriptors;
use crate::support::{current_thread, in_child, listen, multi_thread, within_deadline};

#[test]
fn without_descriptors_there_is_an_error_or_a_child_but_never_half_of_one() {
    in_child("process_descriptors::without_descriptors_there_is_an_error_or_a_child_but_never_half_of_one", || {
        for runtime in &[multi_thread(), current_thread()] {
            runtime.block_on(within_deadline(start_without_descriptors()));
        }
    });
}

async fn start_without_descriptors() {
    // From here on the runtime has the descriptors that it needs.
    assert!(Command::new("true").status().await.expect("run").success());
    let mut forever = forever();
    let mut none_left = NoDescriptors::left();
    // No descriptor for the process: its exit is noticed through SIGCHLD.
    let mut child = start(&mut forever);
    timeout(Duration::from_millis(10), child.wait()).await.expect_err("still running");
    child.start_kill().expect("killed");
    assert_eq!(child.wait().await.expect("waited").signal(), Some(9));
    assert_eq!(shell("exit 4").status().await.expect("run").code(), Some(4));
    // No descriptors for the pipes.
    none_left.take_rest();
    let error = Command::new("true").output().await.expect_err("no pipes");
    assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
    drop(none_left);
    assert!(Command::new("true").output().await.expect("run").status.success());
}

#[test]
fn the_first_child_and_the_first_signal_need_no_descriptors() {
    in_child("process_descriptors::the_first_child_and_the_first_signal_need_no_descriptors", || {
        multi_thread().block_on(within_deadline(async {
            // The reactor is there, as it is on tokio from the start.
            drop(listen().await);
            let mut forever = forever();
            let none_left = NoDescriptors::left();
            assert_eq!(Command::new("true").status().await.expect("run").code(), Some(0));
            let mut user_defined = signal(SignalKind::user_defined1()).expect("installed");
            kill_process(getpid(), Signal::USR1).expect("sent");
            user_defined.recv().await.expect("a signal");
            // Nothing notices the exit of a child that is dropped but a thread for it alone.
            let child = start(forever.kill_on_drop(true));
            let pid = child.id().expect("running");
            drop(child);
            drop(none_left);
            wait_until_reaped(pid);
        }));
    });
}
