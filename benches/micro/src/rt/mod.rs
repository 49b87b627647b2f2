//! One trait for all runtimes.
//!
//! Every function here is a direct call into the runtime, gmp's and tokio's `JoinHandle` and
//! futures are passed on unwrapped, and the compiler makes one copy of each workload per runtime. A
//! `dyn` interface would box every future and so measure the boxes.
//!
//! [`Rt`] covers what every runtime of the table has, [`Twin`] what only gmp and tokio have: rows
//! that need the latter show a dash for the others. gmp-benches adds sockets and files.

mod twins;

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::twins::{Gmp, Tokio};

/// A runtime with several threads, its tasks and its timers.
///
/// The functions without `self` act on the runtime whose task calls them, and `spawn_remote` is for
/// threads outside of it.
pub trait Rt: Debug + Sized + Send + Sync + 'static {
    const NAME: &'static str;
    /// The error from awaiting a handle if the task panicked or was aborted.
    type JoinError: Debug + Send;
    type JoinHandle<T: Send + 'static>: Future<Output = Result<T, Self::JoinError>> + Send + 'static;

    /// Starts a runtime with `procs` Ps (gmp), workers (tokio) or threads (smol), and all features.
    fn new(procs: usize) -> io::Result<Self>;
    fn procs(&self) -> usize;

    /// Runs `future` on the calling thread while the runtime's tasks continue.
    fn block_on<F: Future>(&self, future: F) -> F::Output;

    fn spawn_remote<F: Work>(&self, future: F) -> Self::JoinHandle<F::Output>;
    fn spawn<F: Work>(future: F) -> Self::JoinHandle<F::Output>;
    fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T>;
    fn yield_now() -> impl Future<Output = ()> + Send;
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;
    fn timeout<F: Future + Send>(
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, impl Debug>> + Send;
}

pub trait Work: Future<Output: Send + 'static> + Send + 'static {}

impl<F: Future<Output: Send + 'static> + Send + 'static> Work for F {}

/// A runtime with tokio's functions: gmp or tokio itself.
pub trait Twin: Rt {
    /// Starts a runtime with timers and without I/O, whose instructions can be counted.
    fn start(flavor: Flavor) -> Self;

    /// Starts a runtime as `#[tokio::test]` does: current-thread, with everything enabled.
    fn start_for_test() -> Self;

    /// As [`Rt::new`], but runs at most `count` closures that may block at a time.
    fn with_closures_at_once(procs: usize, count: usize) -> io::Result<Self>;

    /// Stops the runtime, and waits at most 10 s for running polls and closures.
    fn shutdown(self);

    /// Runs a closure that leaves its thread as it was. tokio has no other way than for all closures.
    fn spawn_in_place<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T>;
    fn block_in_place<T>(f: impl FnOnce() -> T) -> T;
    fn abort<T: Send + 'static>(handle: &Self::JoinHandle<T>);

    /// Spawns so many empty tasks in a `JoinSet`, and awaits all of them.
    fn join_set(tasks: u32) -> impl Future<Output = ()> + Send;
}

/// How a runtime runs its tasks when instructions are counted. Both flavours run one at a time, so
/// that every run executes the same code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavor {
    /// On the thread inside `block_on`.
    CurrentThread,
    /// On one thread of the runtime.
    OneWorker,
}

impl Flavor {
    pub const fn name(self) -> &'static str {
        match self {
            Flavor::CurrentThread => "current_thread",
            Flavor::OneWorker => "one_worker",
        }
    }
}

/// Runs `future` as a task: on a P, not on the thread that waits for the result.
pub fn in_task<R: Rt, F: Work>(rt: &R, future: F) -> F::Output {
    rt.block_on(rt.spawn_remote(future)).expect("the task of a workload neither panics nor is it aborted")
}

pub async fn join_all<R: Rt>(tasks: Vec<R::JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("the task does not panic");
    }
}
