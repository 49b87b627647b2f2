//! One trait for both libraries: each function is a direct call into the library.
//!
//! It is smaller than `Rt` of gmp-benches, and knows the current-thread flavour. With `Rt`, each
//! count of instructions would have to build an HTTP server first.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

/// How a runtime runs its tasks. Both flavours run one at a time, so that every run executes the
/// same code.
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

/// gmp or tokio. The functions without a runtime act on the one whose task calls them.
pub trait Library: Sized + 'static {
    /// The library's name in tables.
    const NAME: &'static str;

    /// A runtime with timers and without I/O.
    type Runtime;
    /// The error from awaiting a handle if the task panicked or was aborted.
    type JoinError: Debug + Send;
    /// Awaits a task's output.
    type JoinHandle<T: Send + 'static>: Future<Output = Result<T, Self::JoinError>> + Send + 'static;

    /// Starts a runtime.
    fn start(flavor: Flavor) -> Self::Runtime;

    /// Runs `future` on the calling thread.
    fn block_on<F: Future>(runtime: &Self::Runtime, future: F) -> F::Output;

    /// Spawns a task.
    fn spawn<F>(future: F) -> Self::JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Runs a closure that may block, as a task of its own.
    fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T>;

    /// Runs a closure that may block, inside the calling task.
    fn block_in_place<T>(f: impl FnOnce() -> T) -> T;

    /// Lets other tasks run.
    fn yield_now() -> impl Future<Output = ()> + Send;

    /// Waits.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;

    /// Awaits `future` for at most `limit`. Returns whether it was ready in time.
    fn timeout<F: Future + Send>(limit: Duration, future: F) -> impl Future<Output = bool> + Send;
}

/// gmp.
#[derive(Debug)]
pub struct Gmp;

/// tokio, the registry's.
#[derive(Debug)]
pub struct Tokio;

macro_rules! library {
    ($library:ident, $crate_name:ident, $name:literal, $setup:expr) => {
        impl Library for $library {
            const NAME: &'static str = $name;

            type Runtime = ::$crate_name::runtime::Runtime;
            type JoinError = ::$crate_name::task::JoinError;
            type JoinHandle<T: Send + 'static> = ::$crate_name::task::JoinHandle<T>;

            fn start(flavor: Flavor) -> Self::Runtime {
                let mut builder = match flavor {
                    Flavor::CurrentThread => ::$crate_name::runtime::Builder::new_current_thread(),
                    Flavor::OneWorker => ::$crate_name::runtime::Builder::new_multi_thread(),
                };
                let setup: fn(&mut ::$crate_name::runtime::Builder) = $setup;
                setup(builder.worker_threads(1).enable_time());
                builder.build().expect("a runtime needs one thread at most")
            }

            fn block_on<F: Future>(runtime: &Self::Runtime, future: F) -> F::Output {
                runtime.block_on(future)
            }

            fn spawn<F>(future: F) -> Self::JoinHandle<F::Output>
            where
                F: Future + Send + 'static,
                F::Output: Send + 'static,
            {
                ::$crate_name::task::spawn(future)
            }

            fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T> {
                ::$crate_name::task::spawn_blocking(f)
            }

            fn block_in_place<T>(f: impl FnOnce() -> T) -> T {
                ::$crate_name::task::block_in_place(f)
            }

            fn yield_now() -> impl Future<Output = ()> + Send {
                ::$crate_name::task::yield_now()
            }

            fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
                ::$crate_name::time::sleep(duration)
            }

            async fn timeout<F: Future + Send>(limit: Duration, future: F) -> bool {
                ::$crate_name::time::timeout(limit, future).await.is_ok()
            }
        }
    };
}

// Under callgrind everything takes fifty times as long: sysmon, which measures in milliseconds,
// must not intervene.
library!(Gmp, gmp_exec, "gmp", |builder| {
    builder.blocking_threshold(Duration::from_secs(3600));
});
library!(Tokio, tokio, "tokio", |_| {});
