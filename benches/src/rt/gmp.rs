//! gmp behind the trait: the text of `rt/tokio.rs` with another import. That it compiles is a part of what gmp claims.

use std::future::Future;
use std::io;
use std::time::Duration;

use gmp_exec::{runtime, task, time};

use super::{Blocking, InPlace, Rt, Timers};

/// A multi-thread runtime of gmp's.
#[derive(Debug)]
pub struct Gmp(runtime::Runtime);

impl Gmp {
    /// As [`Rt::new`], but without the monitor thread: no P is taken from a stuck task.
    ///
    /// # Errors
    ///
    /// A thread or the system's poller can't be had.
    pub fn without_sysmon(procs: usize) -> io::Result<Self> {
        builder(procs).sysmon(false).build().map(Gmp)
    }

    /// As [`Rt::new`], but at most `count` closures that may block run at a time.
    ///
    /// # Errors
    ///
    /// A thread or the system's poller can't be had.
    pub fn with_closures_at_once(procs: usize, count: usize) -> io::Result<Self> {
        builder(procs).max_blocking_threads(count).build().map(Gmp)
    }

    /// How many times a P was taken from a poll, or from a section that blocks.
    pub fn takes(&self) -> u64 {
        let metrics = self.0.metrics();
        let of = |p| metrics.worker_taken_from_blocked_count(p) + metrics.worker_taken_from_computing_count(p);
        (0..metrics.num_workers()).map(of).sum()
    }
}

impl Rt for Gmp {
    const NAME: &'static str = "gmp";

    type JoinError = task::JoinError;
    type JoinHandle<T: Send + 'static> = task::JoinHandle<T>;

    fn new(procs: usize) -> io::Result<Self> {
        builder(procs).build().map(Gmp)
    }

    fn procs(&self) -> usize {
        self.0.metrics().num_workers()
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    fn spawn_remote<F>(&self, future: F) -> Self::JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(future)
    }

    fn shutdown(self, limit: Duration) {
        self.0.shutdown_timeout(limit);
    }

    fn spawn<F>(future: F) -> Self::JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        task::spawn(future)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }
}

fn builder(procs: usize) -> runtime::Builder {
    let mut builder = runtime::Builder::new_multi_thread();
    builder.worker_threads(procs).enable_all();
    builder
}

impl Blocking for Gmp {
    fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T> {
        task::spawn_blocking(f)
    }
}

impl InPlace for Gmp {
    fn block_in_place<T>(f: impl FnOnce() -> T) -> T {
        task::block_in_place(f)
    }
}

impl Timers for Gmp {
    type Elapsed = time::error::Elapsed;

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        time::sleep(duration)
    }

    fn timeout<F: Future + Send>(
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send {
        time::timeout(limit, future)
    }
}
