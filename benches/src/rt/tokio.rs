//! tokio, the registry's, behind the trait.

use std::future::Future;
use std::io;
use std::time::Duration;

use ::tokio::{runtime, task, time};

use super::{Blocking, InPlace, Rt, Timers};

/// A multi-thread runtime of tokio's.
#[derive(Debug)]
pub struct Tokio(runtime::Runtime);

impl Tokio {
    /// As [`Rt::new`], but at most `count` closures that may block run at a time.
    ///
    /// # Errors
    ///
    /// A thread or the system's poller can't be had.
    pub fn with_closures_at_once(procs: usize, count: usize) -> io::Result<Self> {
        builder(procs).max_blocking_threads(count).build().map(Tokio)
    }
}

impl Rt for Tokio {
    const NAME: &'static str = "tokio";

    type JoinError = task::JoinError;
    type JoinHandle<T: Send + 'static> = task::JoinHandle<T>;

    fn new(procs: usize) -> io::Result<Self> {
        builder(procs).build().map(Tokio)
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

impl Blocking for Tokio {
    fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T> {
        task::spawn_blocking(f)
    }
}

impl InPlace for Tokio {
    fn block_in_place<T>(f: impl FnOnce() -> T) -> T {
        task::block_in_place(f)
    }
}

impl Timers for Tokio {
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
