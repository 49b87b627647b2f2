//! smol behind the trait, assembled as the crate `smol` does it: async-executor runs the tasks,
//! each of its threads drives async-io's reactor while it is idle, and closures that may block go
//! to the crate blocking.
//!
//! Channels and `Notify` are tokio's, as in every other column: they need no runtime.
//! `block_in_place` is missing because smol doesn't have it; sockets and files are missing because
//! their traits differ from the workloads' `AsyncRead`.

use std::cell::OnceCell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{io, thread};

use ::tokio::sync::watch;
use async_executor::{Executor, Task};
use async_io::Timer;
use futures_lite::future;

use super::{Blocking, Rt, Timers};

thread_local! {
    /// The executor that the current thread belongs to.
    static CURRENT: OnceCell<Arc<Executor<'static>>> = const { OnceCell::new() };
}

/// One of smol's executors and its threads, which end when this value is dropped.
#[derive(Debug)]
pub struct Smol {
    executor: Arc<Executor<'static>>,
    procs: usize,
    /// Every thread has a receiver and stops when a message was sent or this sender is dropped.
    stop: watch::Sender<()>,
}

impl Rt for Smol {
    const NAME: &'static str = "smol";

    type JoinError = Infallible;
    type JoinHandle<T: Send + 'static> = Handle<T>;

    fn new(procs: usize) -> io::Result<Self> {
        let executor = Arc::new(Executor::new());
        let (stop, _) = watch::channel(());
        for number in 0..procs {
            let (executor, mut stop) = (executor.clone(), stop.subscribe());
            thread::Builder::new().name(format!("smol-{number}")).spawn(move || {
                CURRENT
                    .with(|current| current.set(executor.clone()).expect("the thread was started for this executor"));
                async_io::block_on(executor.run(stop.changed())).ok();
            })?;
        }
        Ok(Smol { executor, procs, stop })
    }

    fn procs(&self) -> usize {
        self.procs
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        async_io::block_on(future)
    }

    fn spawn_remote<F>(&self, future: F) -> Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Handle(Some(self.executor.spawn(future)))
    }

    fn shutdown(self, limit: Duration) {
        self.stop.send_replace(());
        // Both outcomes are what the caller asked for: the threads have stopped, or their time
        // limit has passed.
        async_io::block_on(Smol::timeout(limit, self.stop.closed())).unwrap_or_default();
    }

    fn spawn<F>(future: F) -> Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let spawn = |executor: &Arc<Executor<'static>>| executor.spawn(future);
        Handle(Some(CURRENT.with(|current| spawn(current.get().expect("a task spawns, on a thread of an executor")))))
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        future::yield_now()
    }
}

impl Blocking for Smol {
    fn spawn_blocking<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        Handle(Some(blocking::unblock(f)))
    }
}

impl Timers for Smol {
    type Elapsed = ();

    async fn sleep(duration: Duration) {
        Timer::after(duration).await;
    }

    async fn timeout<F: Future + Send>(limit: Duration, future: F) -> Result<F::Output, ()> {
        let elapsed = async {
            Timer::after(limit).await;
            Err(())
        };
        future::or(async { Ok(future.await) }, elapsed).await
    }
}

/// A task that continues when its handle is dropped, as on the other runtimes; smol's own task
/// would be cancelled.
#[derive(Debug)]
pub struct Handle<T>(Option<Task<T>>);

impl<T> Future for Handle<T> {
    type Output = Result<T, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let task = self.0.as_mut().expect("only a drop takes the task");
        Pin::new(task).poll(cx).map(Ok)
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.detach();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::rt::in_task;

    #[test]
    fn a_task_outlives_its_handle_and_a_timeout_passes_or_gives_the_output() {
        let rt = Smol::new(2).unwrap();
        let (sender, receiver) = ::tokio::sync::oneshot::channel();
        in_task(&rt, async {
            drop(Smol::spawn(async {
                Smol::yield_now().await;
                sender.send(7).unwrap();
            }));
        });
        assert_eq!(rt.block_on(receiver), Ok(7));
        assert_eq!(rt.block_on(Smol::timeout(Duration::from_millis(1), future::pending::<()>())), Err(()));
        assert_eq!(rt.block_on(Smol::timeout(Duration::from_secs(60), async { 3 })), Ok(3));
    }

    #[test]
    fn its_threads_end_with_it() {
        let rt = Smol::new(2).unwrap();
        let executor = rt.executor.clone();
        rt.shutdown(Duration::from_secs(60));
        // A thread drops its reference to the executor last.
        let deadline = Instant::now() + Duration::from_secs(60);
        while Arc::strong_count(&executor) > 1 {
            assert!(Instant::now() < deadline, "a thread goes on");
            thread::yield_now();
        }
    }
}
