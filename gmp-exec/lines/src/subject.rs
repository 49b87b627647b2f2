//! The executor whose transfers are counted.

use std::future::Future;

/// A runtime with as many worker threads as processors, without I/O, and with timers.
pub trait Subject: Clone + Send + Sync + 'static {
    /// Starts the runtime.
    fn new(processors: usize) -> Self;

    /// Spawns a task, from any thread.
    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static);

    /// Spawns a blocking closure, from any thread.
    fn spawn_closure(&self, closure: impl FnOnce() + Send + 'static);

    /// Spawns a task, in a task of the runtime.
    fn spawn_here(future: impl Future<Output = ()> + Send + 'static);

    /// Spawns a task that is over at once, and awaits it.
    fn spawn_await() -> impl Future<Output = ()> + Send;

    /// The same with a timeout of an hour.
    fn spawn_await_in_time() -> impl Future<Output = ()> + Send;

    /// Lets other tasks run.
    fn yield_now() -> impl Future<Output = ()> + Send;

    /// Shuts the runtime down, and waits until its threads have ended. No task is left.
    fn shut_down(&self);
}
