//! Helpers for all tests: runtimes, waiting with a deadline, random numbers, child processes.
//!
//! The computer that runs the tests may be slow and busy, so no helper assumes that an event
//! happens soon, only that it happens. An event that does not happen within [`PATIENCE`] counts as
//! lost. A test that waits for a lost task can't end by itself, so the process is then aborted,
//! with the runtime's counters on stderr.

use std::any::Any;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{Builder, Handle, Runtime};
use gmp_exec::task::block_in_place;
use gmp_exec::time::sleep;
use rustix::pipe::pipe;
use rustix::process::{Pid, Signal, kill_process};
use rustix::stdio::dup2_stderr;

/// How long a test waits for an event before the event counts as lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than any test: for hogs and timers whose end must not end a test's wait.
pub(crate) const FOREVER: Duration = Duration::from_secs(3600);

pub(crate) fn multi(processors: usize) -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(processors).enable_all();
    builder
}

/// Machines run the blocking closures.
pub(crate) fn in_place(processors: usize) -> Builder {
    let mut builder = multi(processors);
    builder.closures_in_place(true);
    builder
}

pub(crate) fn current() -> Builder {
    let mut builder = Builder::new_current_thread();
    builder.enable_all();
    builder
}

/// A runtime of each kind, with one processor and with more.
pub(crate) fn every_runtime() -> Vec<Runtime> {
    [current(), multi(1), multi(2), multi(8), in_place(2)].map(|mut builder| builder.build().unwrap()).into()
}

/// Runs `future` as a task of `runtime`, so that on the multi-thread flavour the calling thread
/// does not run it.
pub(crate) fn run<T: Send + 'static>(runtime: &Runtime, future: impl Future<Output = T> + Send + 'static) -> T {
    let _watchdog = Watchdog::of(runtime);
    let task = runtime.spawn(future);
    runtime.block_on(task).unwrap()
}

/// Waits inside a poll, or on any other thread, until `condition` holds. Holds the thread all the
/// time.
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "what was waited for did not happen within {PATIENCE:?}");
        thread::sleep(Duration::from_micros(500));
    }
}

/// Like [`wait_until`], computing all the time.
pub(crate) fn busy_wait_until(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "what was waited for did not happen within {PATIENCE:?}");
        (0..100).for_each(|_| std::hint::spin_loop());
    }
}

/// A hog that computes.
pub(crate) fn compute_for(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        std::hint::spin_loop();
    }
}

/// Waits until every machine has parked, so that the next task must wake one.
pub(crate) fn wait_until_idle(runtime: &Runtime) {
    let metrics = runtime.metrics();
    wait_until(|| metrics.num_idle_workers() == metrics.max_procs() && metrics.num_spinning_machines() == 0);
}

pub(crate) async fn sleep_briefly() {
    sleep(Duration::from_micros(20)).await;
}

/// How a poll holds its thread.
#[derive(Clone, Copy)]
pub(crate) enum Hog {
    Blocks,
    Computes,
}

impl Hog {
    pub(crate) fn hold_on_until(self, condition: impl FnMut() -> bool) {
        match self {
            Hog::Blocks => wait_until(condition),
            Hog::Computes => busy_wait_until(condition),
        }
    }
}

/// The message of the panic of `f`.
pub(crate) fn panic_message<T>(f: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("it did not panic"),
        Err(payload) => message(&*payload),
    }
}

pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a panic with a message")
}

/// A latch for which any number of threads may wait.
#[derive(Clone, Default)]
pub(crate) struct Flag(Arc<Latch>);

#[derive(Default)]
struct Latch {
    is_set: AtomicBool,
    lock: Mutex<()>,
    set: Condvar,
}

impl Flag {
    pub(crate) fn new() -> Flag {
        Flag::default()
    }

    pub(crate) fn set(&self) {
        let _lock = self.0.lock.lock().unwrap();
        self.0.is_set.store(true, SeqCst);
        self.0.set.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(SeqCst)
    }

    /// Blocks the thread in the kernel.
    pub(crate) fn wait(&self) {
        assert!(self.wait_for(PATIENCE), "what was waited for did not happen within {PATIENCE:?}");
    }

    /// Blocks the thread in the kernel, but no longer than `limit`. Returns whether the flag is
    /// set.
    pub(crate) fn wait_for(&self, limit: Duration) -> bool {
        let lock = self.0.lock.lock().unwrap();
        let (_lock, late) = self.0.set.wait_timeout_while(lock, limit, |_| !self.is_set()).unwrap();
        !late.timed_out()
    }

    /// Blocks the thread by computing.
    pub(crate) fn busy_wait(&self) {
        busy_wait_until(|| self.is_set());
    }
}

/// Holds a processor in a declared blocking section while `f` runs on this thread.
pub(crate) fn blocked_until(runtime: &Runtime, f: impl FnOnce()) {
    let _watchdog = Watchdog::of(runtime);
    let (begun, end) = (Flag::new(), Flag::new());
    let blocked = {
        let (begun, end) = (begun.clone(), end.clone());
        runtime.spawn(async move {
            block_in_place(|| {
                begun.set();
                end.wait();
            })
        })
    };
    begun.wait();
    f();
    end.set();
    runtime.block_on(blocked).unwrap();
}

/// How many processors were taken from blocked and from computing polls.
pub(crate) fn taken(runtime: &Runtime) -> (u64, u64) {
    let metrics = runtime.metrics();
    let workers = 0..metrics.num_workers();
    let blocked = workers.clone().map(|worker| metrics.worker_taken_from_blocked_count(worker)).sum();
    (blocked, workers.map(|worker| metrics.worker_taken_from_computing_count(worker)).sum())
}

/// Aborts the process with a report if it is not dropped in time.
pub(crate) struct Watchdog {
    cancel: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watchdog {
    /// Watches a test of one runtime. The report has the runtime's counters.
    pub(crate) fn of(runtime: &Runtime) -> Watchdog {
        let handle = runtime.handle().clone();
        Watchdog::start(PATIENCE, move || report(&handle))
    }

    /// Watches a test with no runtime, or with several.
    pub(crate) fn new() -> Watchdog {
        Watchdog::start(PATIENCE, || "no runtime to report about")
    }

    pub(crate) fn start<R: Display>(limit: Duration, report: impl FnOnce() -> R + Send + 'static) -> Watchdog {
        let (cancel, cancelled) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let test = thread::current().name().unwrap_or("?").to_owned();
        let watch = move || {
            begin.send(()).unwrap();
            if cancelled.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                // Not `eprintln`, whose text is captured and would be lost with the process.
                let _ = writeln!(io::stderr(), "{test}: no progress for {limit:?}\n{}", report());
                std::process::abort();
            }
        };
        let thread = thread::spawn(watch);
        begun.recv().unwrap();
        Watchdog { cancel: Some(cancel), thread: Some(thread) }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.cancel.take());
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

pub(crate) fn report(handle: &Handle) -> String {
    handle.metrics().to_string()
}

/// xorshift64*: the same numbers for the same seed.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A seed that no other call in any process is likely to return.
    pub(crate) fn fresh_seed() -> u64 {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        time.as_nanos() as u64 ^ (u64::from(std::process::id()) << 40) ^ CALLS.fetch_add(1, SeqCst)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 33) % limit
    }
}

/// Prevents tests that read the state of the whole system, or load all of its cores, from running
/// at the same time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

const CHILD: &str = "GMP_TEST_CHILD";

/// Runs the calling test again in a child process, which executes `body`. The parent checks that
/// the child succeeded.
pub(crate) fn in_child(test: &str, body: impl FnOnce()) {
    in_children(test, 0..1, |_| body());
}

/// The same for several cases, each in its own process, so that no case depends on an earlier one.
pub(crate) fn in_children(test: &str, cases: std::ops::Range<usize>, body: impl FnOnce(usize)) {
    match std::env::var(CHILD) {
        Ok(case) => body(case.parse().unwrap()),
        Err(_) => cases.for_each(|case| check_child(test, case)),
    }
}

/// The same for one process that is to be aborted, with this text on standard error.
pub(crate) fn in_child_that_aborts(test: &str, case: usize, expected: &str, body: impl FnOnce()) {
    if std::env::var(CHILD).is_ok_and(|child| child == case.to_string()) {
        return body();
    }
    if std::env::var(CHILD).is_ok() {
        return;
    }
    let output = child_command(test, case).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    // Not always SIGABRT: where glibc is refused what it needs to send that signal, it crashes.
    assert!(output.status.signal().is_some(), "case {case}: {}\n{text}", output.status);
    assert!(text.contains(expected), "case {case}: {text}");
}

/// The lines that this process, which is a child, writes to standard error from now on. Panics are
/// reported on standard output instead, which the parent reads.
pub(crate) fn lines_of_stderr() -> impl Iterator<Item = String> + Send {
    std::panic::set_hook(Box::new(|panic| println!("{panic}")));
    let (reader, writer) = pipe().unwrap();
    dup2_stderr(&writer).unwrap();
    BufReader::new(File::from(reader)).lines().map_while(Result::ok)
}

/// The same in one process that is stopped for 60 of every 100 ms, as by a quota on its CPU time.
pub(crate) fn in_child_with_little_time(test: &str, body: impl FnOnce()) {
    if std::env::var(CHILD).is_ok() {
        return body();
    }
    let mut child = child_command(test, 0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = Pid::from_child(&child);
    // As long as this process has not waited for the child, the child's id is not reused.
    while child.try_wait().unwrap().is_none() {
        kill_process(process, Signal::STOP).unwrap();
        thread::sleep(Duration::from_millis(60));
        kill_process(process, Signal::CONT).unwrap();
        thread::sleep(Duration::from_millis(40));
    }
    check_output(test, &child.wait_with_output().unwrap());
}

fn check_child(test: &str, case: usize) {
    check_output(&format!("{test}, case {case}"), &child_command(test, case).output().unwrap());
}

fn check_output(test: &str, output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{test}: the child failed with {}:\n{text}", output.status);
    assert!(text.contains("1 passed"), "{test}: the child did not run the test:\n{text}");
}

fn child_command(test: &str, case: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, case.to_string());
    // Tests that want a number of processors set it.
    command.env_remove("GMP_MAXPROCS");
    command
}

/// Whether a process, or `self`, has a handler of this signal.
pub(crate) fn catches(process: &str, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap();
    u64::from_str_radix(mask, 16).unwrap() & 1 << (signal - 1) != 0
}
