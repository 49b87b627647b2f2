//! One trait for all runtimes.
//!
//! The workloads need the functions that the runtimes have in common, at no cost: every function
//! here is a direct call into the runtime, gmp's and tokio's `JoinHandle` and futures are passed on
//! unwrapped, and the compiler makes one copy of each workload per runtime. A `dyn` interface would
//! box every future and so measure the boxes.
//!
//! A runtime implements only the traits for features that it has; rows that need another one show a
//! dash. [`Rt`] covers tasks and nothing else; [`Blocking`], [`InPlace`] and [`Timers`] are optional.
//! gmp-benches adds another one for sockets and files.

mod twins;

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

pub use self::twins::{Gmp, Tokio};

/// A runtime with several threads, and its tasks.
///
/// The functions without `self` act on the runtime whose task calls them.
pub trait Rt: Debug + Sized + Send + Sync + 'static {
    /// The runtime's name in tables.
    const NAME: &'static str;

    /// The error from awaiting a handle if the task panicked or was aborted.
    type JoinError: Debug + Send;
    /// Awaits a task's output.
    type JoinHandle<T: Send + 'static>: Future<Output = Result<T, Self::JoinError>> + Send + 'static;

    /// Starts a runtime with `procs` Ps (gmp), workers (tokio) or threads (smol), with all features
    /// enabled.
    fn new(procs: usize) -> std::io::Result<Self>;

    /// The number of Ps, workers or threads that the runtime was started with.
    fn procs(&self) -> usize;

    /// Runs `future` on the calling thread while the runtime's tasks continue.
    fn block_on<F: Future>(&self, future: F) -> F::Output;

    /// Spawns from outside of the runtime.
    fn spawn_remote<F>(&self, future: F) -> Self::JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Stops the runtime, and waits at most `limit` for running polls and closures.
    fn shutdown(self, limit: Duration);

    /// Spawns from inside a task.
    fn spawn<F>(future: F) -> Self::JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Lets other tasks run.
    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// A runtime with threads for closures that may block.
pub trait Blocking: Rt {
    /// Runs a closure that may block.
    fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T>;
}

/// A runtime whose tasks may block.
pub trait InPlace: Rt {
    /// Runs a closure that may block inside the calling task.
    fn block_in_place<T>(f: impl FnOnce() -> T) -> T;
}

/// A runtime with a clock.
pub trait Timers: Rt {
    /// The error of a timeout that has passed.
    type Elapsed: Debug + Send;

    /// Waits.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;

    /// Awaits `future` for at most `limit`.
    fn timeout<F: Future + Send>(
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, Self::Elapsed>> + Send;
}

/// How a runtime runs its tasks when instructions are counted. Both flavours run one at a time, so
/// that every run executes the same code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flavor {
    /// On the thread inside `block_on`.
    CurrentThread,
    /// On one thread of the runtime.
    OneWorker,
}

impl Flavor {
    /// The flavour's name in tables and in the file of figures.
    pub const fn name(self) -> &'static str {
        match self {
            Flavor::CurrentThread => "current_thread",
            Flavor::OneWorker => "one_worker",
        }
    }
}

/// A runtime whose instructions are counted.
pub trait Counted: Blocking + InPlace + Timers {
    /// Starts a runtime with timers and without I/O.
    fn start(flavor: Flavor) -> Self;
}

/// Runs `future` as a task: on a P, not on the thread that waits for the result.
pub fn in_task<R: Rt, F>(rt: &R, future: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    rt.block_on(rt.spawn_remote(future)).expect("the task of a workload neither panics nor is it aborted")
}
