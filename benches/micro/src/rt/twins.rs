//! gmp and the registry's tokio behind the traits: the same source, compiled against both. gmp
//! claims that such a source compiles.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::time::Duration;

use super::{Flavor, Rt, Twin, Work};

#[derive(Debug)]
pub struct Gmp(gmp_exec::runtime::Runtime);

#[derive(Debug)]
pub struct Tokio(tokio::runtime::Runtime);

impl Gmp {
    /// As [`Rt::new`], but without the monitor thread: no P is taken from a stuck task.
    pub fn without_sysmon(procs: usize) -> io::Result<Self> {
        Gmp::builder(procs).sysmon(false).build().map(Gmp)
    }

    /// How many times a P was taken from a poll, or from a section that blocks.
    pub fn takes(&self) -> u64 {
        let metrics = self.0.metrics();
        let of = |p| metrics.worker_taken_from_blocked_count(p) + metrics.worker_taken_from_computing_count(p);
        (0..metrics.num_workers()).map(of).sum()
    }
}

macro_rules! runtime {
    ($runtime:ident, $name:literal, $library:ident, $spawn_in_place:path, $setup:expr) => {
        impl $runtime {
            fn builder(procs: usize) -> $library::runtime::Builder {
                let mut builder = $library::runtime::Builder::new_multi_thread();
                builder.worker_threads(procs).enable_all();
                builder
            }
        }

        impl Rt for $runtime {
            const NAME: &'static str = $name;

            type JoinError = $library::task::JoinError;
            type JoinHandle<T: Send + 'static> = $library::task::JoinHandle<T>;

            fn new(procs: usize) -> io::Result<Self> {
                Self::builder(procs).build().map($runtime)
            }

            fn procs(&self) -> usize {
                self.0.metrics().num_workers()
            }

            fn block_on<F: Future>(&self, future: F) -> F::Output {
                self.0.block_on(future)
            }

            fn spawn_remote<F: Work>(&self, future: F) -> Self::JoinHandle<F::Output> {
                self.0.spawn(future)
            }

            fn spawn<F: Work>(future: F) -> Self::JoinHandle<F::Output> {
                $library::task::spawn(future)
            }

            #[inline]
            fn yield_now() -> impl Future<Output = ()> + Send {
                $library::task::yield_now()
            }

            fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T> {
                $library::task::spawn_blocking(f)
            }

            #[inline]
            fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
                $library::time::sleep(duration)
            }

            fn timeout<F: Future + Send>(
                limit: Duration,
                future: F,
            ) -> impl Future<Output = Result<F::Output, impl Debug>> + Send {
                $library::time::timeout(limit, future)
            }
        }

        impl Twin for $runtime {
            fn start(flavor: Flavor) -> Self {
                let mut builder = match flavor {
                    Flavor::CurrentThread => $library::runtime::Builder::new_current_thread(),
                    Flavor::OneWorker => $library::runtime::Builder::new_multi_thread(),
                };
                let setup: fn(&mut $library::runtime::Builder) = $setup;
                setup(builder.worker_threads(1).enable_time());
                builder.build().map($runtime).expect("a runtime needs one thread at most")
            }

            fn start_for_test() -> Self {
                let runtime = $library::runtime::Builder::new_current_thread().enable_all().build();
                runtime.map($runtime).expect("one descriptor or two are left")
            }

            fn with_closures_at_once(procs: usize, count: usize) -> io::Result<Self> {
                Self::builder(procs).max_blocking_threads(count).build().map($runtime)
            }

            fn shutdown(self) {
                self.0.shutdown_timeout(Duration::from_secs(10));
            }

            fn spawn_in_place<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T> {
                $spawn_in_place(f)
            }

            fn block_in_place<T>(f: impl FnOnce() -> T) -> T {
                $library::task::block_in_place(f)
            }

            fn abort<T: Send + 'static>(handle: &Self::JoinHandle<T>) {
                handle.abort();
            }

            async fn join_set(tasks: u32) {
                let mut set: $library::task::JoinSet<()> = (0..tasks).map(|_| async {}).collect();
                while let Some(joined) = set.join_next().await {
                    joined.expect("an empty task doesn't panic");
                }
            }
        }
    };
}

// Everything takes fifty times as long under callgrind: sysmon must not intervene.
runtime!(Gmp, "gmp", gmp_exec, gmp_exec::task::spawn_blocking_in_place, |builder| {
    builder.blocking_threshold(Duration::from_secs(3600));
});
runtime!(Tokio, "tokio", tokio, tokio::task::spawn_blocking, |_| {});
