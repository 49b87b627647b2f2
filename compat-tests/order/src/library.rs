//! gmp and tokio behind one trait.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// How awaiting a handle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Ended {
    Well,
    Cancelled,
    Panicked,
}

type Unsent<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// gmp or tokio. All functions but the first three act on the runtime whose task calls them.
pub trait Library: Sized + Send + Sync + 'static {
    /// The library's name in reports.
    const NAME: &'static str;
    /// A runtime.
    type Runtime;
    /// Its handle.
    type Handle: Clone + Send + Sync;
    /// Awaits a task.
    type JoinHandle: Future<Output = Ended> + Send + Unpin + 'static;
    /// Aborts a task.
    type AbortHandle: Send + Sync + 'static;

    /// Creates a current-thread runtime whose clock is paused.
    fn current_thread(event_interval: u32, global_queue_interval: u32) -> Self::Runtime;
    /// Creates a multi-thread runtime with one worker.
    fn one_worker() -> Self::Runtime;
    /// Runs `future` and the tasks.
    fn block_on<T>(runtime: &Self::Runtime, future: impl Future<Output = T>) -> T;
    /// The runtime's handle.
    fn handle_of(runtime: &Self::Runtime) -> Self::Handle;
    /// The handle of the runtime that runs the caller.
    fn current() -> Self::Handle;
    /// Spawns from any thread.
    fn spawn_on(handle: &Self::Handle, future: impl Future<Output = ()> + Send + 'static) -> Self::JoinHandle;
    /// Runs `future` and the tasks of a new `LocalSet`.
    fn in_local_set<'a, T: 'a>(future: impl Future<Output = T> + 'a) -> Unsent<'a, T>;
    /// Spawns.
    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Self::JoinHandle;
    /// Spawns on the current `LocalSet`.
    fn spawn_local(future: impl Future<Output = ()> + 'static) -> Self::JoinHandle;
    /// Another handle of the task.
    fn abort_handle(handle: &Self::JoinHandle) -> Self::AbortHandle;
    /// Aborts the task.
    fn abort(handle: &Self::AbortHandle);
    /// Whether the task has ended.
    fn is_finished(handle: &Self::AbortHandle) -> bool;
    /// Yields.
    fn yield_now() -> impl Future<Output = ()> + Send;
    /// Uses a unit of the budget.
    fn consume_budget() -> impl Future<Output = ()> + Send;
    /// Makes an operation of `tokio::sync` use the budget. On tokio it does so by itself.
    fn cooperative<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send;
    /// The same for operations that use a unit once they have succeeded.
    fn cooperative_at_end<F: Future<Output: Send> + Send>(future: F) -> impl Future<Output = F::Output> + Send;
    /// Sleeps.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;
    /// Advances the clock.
    fn advance(duration: Duration) -> impl Future<Output = ()> + Send;
    /// The clock's reading, counted from a fixed moment.
    fn now() -> Duration;
}

macro_rules! library {
    ($(#[$doc:meta])* $Name:ident, $Handle:ident, $krate:ident, $origin:ident, |$op:ident| $cooperative:expr, $at_end:expr, $prepare:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Name;

        /// Wraps a handle so that its output says how the task ended.
        #[derive(Debug)]
        pub struct $Handle($krate::task::JoinHandle<()>);

        impl Future for $Handle {
            type Output = Ended;

            fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<Ended> {
                Pin::new(&mut self.0).poll(cx).map(|ended| match ended {
                    Ok(()) => Ended::Well,
                    Err(error) if error.is_cancelled() => Ended::Cancelled,
                    Err(_) => Ended::Panicked,
                })
            }
        }

        thread_local! {
            static $origin: std::cell::Cell<Option<$krate::time::Instant>> = const { std::cell::Cell::new(None) };
        }

        impl Library for $Name {
            const NAME: &'static str = stringify!($krate);
            type Runtime = $krate::runtime::Runtime;
            type Handle = $krate::runtime::Handle;
            type JoinHandle = $Handle;
            type AbortHandle = $krate::task::AbortHandle;

            fn current_thread(event_interval: u32, global_queue_interval: u32) -> Self::Runtime {
                let mut builder = $krate::runtime::Builder::new_current_thread();
                builder.event_interval(event_interval).global_queue_interval(global_queue_interval);
                let runtime = builder.enable_time().start_paused(true).build().expect("no thread is needed");
                let _current = runtime.enter();
                $origin.set(Some($krate::time::Instant::now()));
                drop(_current);
                runtime
            }

            fn one_worker() -> Self::Runtime {
                let mut builder = $krate::runtime::Builder::new_multi_thread();
                let prepare: fn(&mut $krate::runtime::Builder) = $prepare;
                prepare(&mut builder);
                builder.worker_threads(1).build().expect("a thread can be started")
            }

            fn block_on<T>(runtime: &Self::Runtime, future: impl Future<Output = T>) -> T {
                runtime.block_on(future)
            }

            fn handle_of(runtime: &Self::Runtime) -> Self::Handle {
                runtime.handle().clone()
            }

            fn current() -> Self::Handle {
                $krate::runtime::Handle::current()
            }

            fn spawn_on(handle: &Self::Handle, future: impl Future<Output = ()> + Send + 'static) -> Self::JoinHandle {
                $Handle(handle.spawn(future))
            }

            fn in_local_set<'a, T: 'a>(future: impl Future<Output = T> + 'a) -> Unsent<'a, T> {
                Box::pin(async { $krate::task::LocalSet::new().run_until(future).await })
            }

            fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Self::JoinHandle {
                $Handle($krate::task::spawn(future))
            }

            fn spawn_local(future: impl Future<Output = ()> + 'static) -> Self::JoinHandle {
                $Handle($krate::task::spawn_local(future))
            }

            fn abort_handle(handle: &Self::JoinHandle) -> Self::AbortHandle {
                handle.0.abort_handle()
            }

            fn abort(handle: &Self::AbortHandle) {
                handle.abort();
            }

            fn is_finished(handle: &Self::AbortHandle) -> bool {
                handle.is_finished()
            }

            fn yield_now() -> impl Future<Output = ()> + Send {
                $krate::task::yield_now()
            }

            fn consume_budget() -> impl Future<Output = ()> + Send {
                $krate::task::coop::consume_budget()
            }

            fn cooperative<F: Future + Send>($op: F) -> impl Future<Output = F::Output> + Send {
                $cooperative
            }

            fn cooperative_at_end<F: Future<Output: Send> + Send>($op: F) -> impl Future<Output = F::Output> + Send {
                $at_end
            }

            fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
                $krate::time::sleep(duration)
            }

            fn advance(duration: Duration) -> impl Future<Output = ()> + Send {
                $krate::time::advance(duration)
            }

            fn now() -> Duration {
                $origin.get().map_or(Duration::ZERO, |origin| origin.elapsed())
            }
        }
    };
}

library!(
    /// tokio.
    Tokio, TokioHandle, tokio, TOKIO_ORIGIN, |op| op, op, |_| ()
);
library!(
    /// gmp, without sysmon where there is one: sysmon takes the processor from a thread that
    /// sleeps, for which waiting for a lock of this crate is enough, and no order is fixed around a
    /// take.
    Gmp, GmpHandle, gmp_exec, GMP_ORIGIN, |op| gmp_exec::task::coop::cooperative(op), consume_at_end(op),
    |builder| _ = builder.sysmon(false)
);

async fn consume_at_end<F: Future<Output: Send> + Send>(future: F) -> F::Output {
    let output = future.await;
    gmp_exec::task::coop::consume_budget().await;
    output
}
