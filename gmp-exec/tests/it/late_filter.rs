//! A program that installs a system call filter after its start, as sandboxed services do. The filter
//! knows nothing of calls that gmp makes and tokio doesn't, and ends the process at one of them. So
//! gmp makes none.

use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{Builder, Runtime, RuntimeFlavor};
use gmp_exec::task::{block_in_place, spawn_blocking, yield_now};
use gmp_exec::time::sleep;
use rustix::thread::{SecureComputingMode, no_new_privs, secure_computing_mode};

use crate::filter::{install_as_container, kill_at};
use crate::support::{Watchdog, compute_for, current, in_children};

const UNEXPECTED: &[libc::c_long] = &[
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_membarrier,
    libc::SYS_openat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_prlimit64,
    libc::SYS_sched_getattr,
    libc::SYS_sched_setattr,
];

const LONG: Duration = Duration::from_millis(100);

#[test]
fn a_filter_that_kills_meets_no_call_that_it_does_not_expect() {
    let name = "late_filter::a_filter_that_kills_meets_no_call_that_it_does_not_expect";
    in_children(name, 0..4, |case| {
        let in_container = case >= 2;
        if in_container && !install_as_container() {
            return;
        }
        // Where this was set before a second filter comes, gmp does not notice that one.
        let is_filtered = secure_computing_mode().unwrap() != SecureComputingMode::Disabled;
        if is_filtered && no_new_privs().unwrap() {
            return;
        }
        // The number of processors follows the system, which would be asked once a second.
        let runtime = [Builder::new_multi_thread().enable_all(), &mut current()][case % 2].build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        work(&runtime, Duration::from_millis(1));
        kill_at(UNEXPECTED);
        work(&runtime, LONG);
        runtime.block_on(async { sleep(Duration::from_millis(1_100)).await });
        work(&runtime, LONG);
    });
}

/// Tasks that block, compute and do neither, and closures.
fn work(runtime: &Runtime, long: Duration) {
    let is_multi_thread = runtime.handle().runtime_flavor() == RuntimeFlavor::MultiThread;
    let blocks = (0..4).map(|_| runtime.spawn(async move { thread::sleep(long) }));
    let computes = (0..4).map(|_| runtime.spawn(async move { compute_for(long) }));
    let sleeps = (0..4).map(|_| runtime.spawn(async move { sleep(long / 2).await }));
    // Others run meanwhile, on a machine that may be one more than there are processors.
    let sections = (0..if is_multi_thread { 4 } else { 0 })
        .map(|_| runtime.spawn(async move { block_in_place(|| thread::sleep(long)) }));
    let yields = (0..4).map(|_| runtime.spawn(async { yield_now().await }));
    let tasks: Vec<_> = blocks.chain(computes).chain(sleeps).chain(sections).chain(yields).collect();
    runtime.block_on(async {
        let closures: Vec<_> = (0..4).map(|_| spawn_blocking(move || thread::sleep(long))).collect();
        for task in tasks.into_iter().chain(closures) {
            task.await.unwrap();
        }
    });
}
