//! The line at which a thread computes, and that a signal for one thread disturbs no other. The
//! variable is read once per runtime, so each case is a child process.

use std::hint::black_box;
use std::io;
use std::net::UdpSocket;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{BlockedCause, BlockedEntry, Builder, FrameOrigin, Runtime};

use crate::support::{caller, entry, runtime};

const CASE: &str = "GMP_TEST_CASE";

fn run_child(case: &str, setting: &str) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let test = format!("computing::{case}");
    child.args([&test, "--exact", "--nocapture", "--test-threads=1"]).env(CASE, "1").env("GMP_BLOCKED", setting);
    child.output().unwrap()
}

fn assert_passes(case: &str) {
    let output = run_child(case, "signal");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{text}");
}

fn is_child() -> bool {
    std::env::var_os(CASE).is_some()
}

/// Computes until the flag is set, in lines of this function alone: the loop calls nothing.
#[inline(never)]
fn computes(is_over: &AtomicBool) -> u64 {
    let mut sum = 0_u64;
    while !is_over.load(SeqCst) {
        sum = sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(black_box(1));
    }
    sum
}
const COMPUTES: std::ops::RangeInclusive<u32> = (line!() - 6)..=(line!() - 2);

/// The entry of a task that computes until a stack was looked for.
fn entry_of_computing(runtime: &Runtime) -> BlockedEntry {
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = is_over.clone();
    let line = line!() + 1;
    let task = runtime.spawn(async move { computes(&flag) });
    let entry = entry(runtime.handle(), line);
    is_over.store(true, SeqCst);
    runtime.block_on(task).unwrap();
    entry.expect("it is reported")
}

fn assert_computes(entry: &BlockedEntry) {
    assert_eq!(entry.cause, BlockedCause::Computing, "{entry}");
    let stack = entry.stacks.first().unwrap_or_else(|| panic!("no stack: {entry}"));
    let own = caller(stack);
    assert!(own.line.is_some_and(|line| COMPUTES.contains(&line)), "{entry}\n{stack:#}");
    assert!(own.function.as_ref().unwrap().ends_with("computes"), "{stack:#}");
    assert!(own.file.as_ref().unwrap().ends_with("tests/stacks/computing.rs"), "{entry}");
    // The task ends where the executor begins.
    let outermost = stack.frames().last().unwrap();
    assert_eq!(outermost.origin, FrameOrigin::Own, "{stack:#}");
    assert!(outermost.file.as_ref().unwrap().ends_with("tests/stacks/computing.rs"), "{stack:#}");
    assert_eq!(entry.calls, [], "{entry}");
}

#[test]
fn in_a_child_a_loop_is_found() {
    if is_child() {
        let runtime = runtime();
        assert_computes(&entry_of_computing(&runtime));
    }
}

#[test]
fn the_line_at_which_a_thread_computes_is_reported() {
    assert_passes("in_a_child_a_loop_is_found");
}

#[test]
fn in_a_child_on_one_thread() {
    if is_child() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let (handle, flag) = (runtime.handle().clone(), is_over.clone());
        let line = line!() + 3;
        let asks = std::thread::spawn(move || (entry(&handle, line), flag.store(true, SeqCst)).0);
        #[rustfmt::skip]
        runtime.block_on(async { computes(&is_over) });
        assert_computes(&asks.join().unwrap().expect("it is reported"));
    }
}

#[test]
fn the_future_of_a_current_thread_runtime_is_seen_too() {
    assert_passes("in_a_child_on_one_thread");
}

/// Time passes in the kernel's code that is mapped into each process.
#[test]
fn in_a_child_that_asks_for_the_time() {
    if is_child() {
        let runtime = runtime();
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = is_over.clone();
        let line = line!() + 2;
        #[rustfmt::skip]
        let task = runtime.spawn(async move { while !flag.load(SeqCst) { black_box(Instant::now()); } });
        let entry = entry(runtime.handle(), line);
        is_over.store(true, SeqCst);
        runtime.block_on(task).unwrap();
        let entry = entry.expect("it is reported");
        let stack = entry.stacks.first().unwrap_or_else(|| panic!("no stack: {entry}"));
        assert_eq!(caller(stack).line, Some(line), "{entry}\n{stack:#}");
    }
}

#[test]
fn a_thread_that_asks_for_the_time_is_seen() {
    assert_passes("in_a_child_that_asks_for_the_time");
}

/// A receive with a time limit is what a signal ends for sure. Its thread sleeps, and is not asked.
#[test]
fn in_a_child_that_receives() {
    if is_child() {
        let runtime = runtime();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let receives = runtime.spawn(async move { socket.recv(&mut [0]).unwrap_err().kind() });
        for _ in 0..3 {
            assert_computes(&entry_of_computing(&runtime));
        }
        assert_eq!(runtime.block_on(receives).unwrap(), io::ErrorKind::WouldBlock);
    }
}

#[test]
fn a_datagram_with_a_time_limit_beside_a_thread_that_computes_is_waited_for() {
    assert_passes("in_a_child_that_receives");
}

/// With a handler of the program's own there is no stack, and the handler is not called.
#[test]
fn in_a_child_with_a_handler() {
    if is_child() {
        let is_called = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(libc::SIGURG, is_called.clone()).unwrap();
        let runtime = runtime();
        let entry = entry_of_computing(&runtime);
        assert_eq!(entry.no_stack.as_deref(), Some("the program handles SIGURG itself"), "{entry}");
        assert!(entry.stacks.is_empty() && !is_called.load(SeqCst));
    }
}

#[test]
fn the_handler_of_the_program_is_left_alone() {
    assert_passes("in_a_child_with_a_handler");
}

/// Without the setting there is no handler, and no stack.
#[test]
fn in_a_child_without_signals() {
    if is_child() {
        let runtime = runtime();
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = is_over.clone();
        runtime.spawn(async move { computes(&flag) });
        let deadline = Instant::now() + Duration::from_secs(60);
        // On a busy computer the thread may be starved at first.
        let is_computing = |entry: &BlockedEntry| entry.cause == BlockedCause::Computing;
        let entry = || runtime.handle().blocked_report().entries.into_iter().find(is_computing);
        while entry().is_none() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        is_over.store(true, SeqCst);
        let entry = entry().expect("it is reported");
        assert!(entry.stacks.is_empty() && entry.no_stack.is_none(), "{entry}");
    }
}

#[test]
fn nothing_is_interrupted_unless_it_is_asked_for() {
    let output = run_child("in_a_child_without_signals", "summary");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("gmp: computed ") && !text.contains("computing at"), "{text}");
}
