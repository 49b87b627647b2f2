//! An idle runtime makes no wake-up, even with open connections, children and listeners for
//! signals.

use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use gmp_io::process::Command;
use gmp_io::signal::unix::{SignalKind, signal};

use crate::support::{in_child, multi_thread, pair};

/// Between two readings of the kernel's counters no thread of the runtime has run, although a
/// connection is open: neither the thread that sleeps in the reactor nor any other has a reason to
/// wake up.
#[test]
#[cfg(target_os = "linux")]
fn an_idle_runtime_with_a_connection_makes_no_wake_up() {
    in_child("reactor_idle::an_idle_runtime_with_a_connection_makes_no_wake_up", || {
        let runtime = multi_thread();
        let _connection = runtime.block_on(pair());
        assert_quiet();
    });
}

/// The same while a task listens for signals, a child runs, and another child has been dropped.
#[test]
#[cfg(target_os = "linux")]
fn an_idle_runtime_with_children_and_signals_makes_no_wake_up() {
    in_child("reactor_idle::an_idle_runtime_with_children_and_signals_makes_no_wake_up", || {
        let runtime = multi_thread();
        let _guard = runtime.enter();
        let mut hangup = signal(SignalKind::hangup()).expect("listening");
        runtime.spawn(async move { hangup.recv().await });
        let cat = || Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("started");
        let (mut child, mut dropped) = (cat(), cat());
        // They end with this process.
        let _pipes = (child.stdin.take(), dropped.stdin.take());
        runtime.spawn(async move { child.wait().await });
        drop(dropped);
        assert_quiet();
    });
}

/// Asserts that all threads but this one become idle.
pub(crate) fn assert_quiet() {
    // The time until the runtime is idle is not tested: one quiet second is.
    let quiet = (0..30).any(|_| {
        let before = wake_ups();
        thread::sleep(Duration::from_secs(1));
        wake_ups() == before
    });
    assert!(quiet, "something woke up in each of 30 seconds");
}

/// How often each thread but this one has been put to sleep, by thread.
fn wake_ups() -> Vec<(u32, String)> {
    let own = rustix::thread::gettid().as_raw_nonzero().get().to_string();
    let threads = fs::read_dir("/proc/self/task").expect("Linux").map(|entry| entry.expect("a thread").path());
    let others = threads.filter(|path| !path.ends_with(&own));
    let mut counts: Vec<_> = others
        .map(|path| {
            let status = fs::read_to_string(path.join("status")).unwrap_or_default();
            let count = |line: &&str| line.starts_with("voluntary_ctxt_switches");
            let thread = path.file_name().and_then(|name| name.to_str()?.parse().ok());
            (thread.expect("a number"), status.lines().find(count).unwrap_or_default().to_owned())
        })
        .collect();
    counts.sort();
    counts
}
