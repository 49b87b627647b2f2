//! tokio's multi-thread runtime.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gmp_lines::Subject;
use tokio::runtime::{Builder, Handle, Runtime};

#[derive(Clone)]
pub(super) struct Tokio {
    handle: Handle,
    /// `None` after the shutdown.
    runtime: Arc<Mutex<Option<Runtime>>>,
}

impl Subject for Tokio {
    fn new(processors: usize) -> Tokio {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(processors).enable_time().thread_keep_alive(Duration::MAX);
        // Otherwise tokio derives it from real time. The same as gmp's.
        builder.global_queue_interval(61);
        let runtime = builder.build().expect("threads");
        Tokio { handle: runtime.handle().clone(), runtime: Arc::new(Mutex::new(Some(runtime))) }
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(future));
    }

    fn spawn_closure(&self, closure: impl FnOnce() + Send + 'static) {
        drop(self.handle.spawn_blocking(closure));
    }

    fn spawn_here(future: impl Future<Output = ()> + Send + 'static) {
        drop(tokio::spawn(future));
    }

    async fn spawn_await() {
        tokio::spawn(async {}).await.expect("it does not panic");
    }

    async fn spawn_await_in_time() {
        let child = tokio::time::timeout(Duration::from_secs(3600), tokio::spawn(async {})).await;
        child.expect("an hour does not pass").expect("it does not panic");
    }

    async fn yield_now() {
        tokio::task::yield_now().await;
    }

    fn shut_down(&self) {
        drop(self.runtime.lock().expect("not poisoned").take());
    }
}
