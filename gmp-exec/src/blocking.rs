//! Telling the executor that something will block.
//!
//! Nobody has to: sysmon finds out by itself after `blocking_threshold`. Saying so gives the processor on sooner, keeps
//! the task from being known as a hog, and for `spawn_blocking` keeps the task that waits free to do something else.

use crate::runtime::context::{self, Entered};
use crate::runtime::{Handle, RuntimeFlavor};
use crate::sched::handoff::blocking_section;
use crate::task::{Header, Home, JoinHandle, Kind, coop, new_task};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs a closure that may block, as a task of its own.
///
/// At most `max_blocking_threads` such closures run at a time; more wait. A closure can be aborted only before it has
/// started. When the runtime shuts down, closures that have not started are cancelled.
///
/// # Panics
///
/// Panics if called outside of a runtime.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let text = gmp_exec::task::spawn_blocking(|| std::fs::read_to_string("/proc/self/comm")).await.unwrap();
/// # let _ = text;
/// # });
/// ```
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    Handle::current().spawn_blocking(f)
}

impl Handle {
    /// Runs a closure that may block on this runtime; see [`spawn_blocking`].
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let header = Header::new(Home::Scheduler(self.scheduler().clone()), Kind::Closure);
        let (runnable, handle) = new_task(header, Closure(Some(f)));
        context::count(self.scheduler(), |counters| &counters.spawned);
        match self.runtime_flavor() {
            RuntimeFlavor::MultiThread => runnable.schedule(),
            RuntimeFlavor::CurrentThread => self.scheduler().submit_to_pool(runnable),
        }
        handle
    }
}

/// A closure as a future: ready at its first poll, without a budget.
struct Closure<F>(Option<F>);

impl<F> Unpin for Closure<F> {}

impl<F: FnOnce() -> R, R> Future for Closure<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let _budget = coop::with_budget(None);
        let _entered = context::set_entered(Entered::Nothing);
        let f = self.0.take().expect("a finished closure is not polled again");
        Poll::Ready(f())
    }
}

/// Runs a closure that will block, here and now. The processor goes to another thread if anything waits for it.
///
/// Other futures of the *same* task wait until the closure returns.
///
/// # Panics
///
/// Panics on the current-thread flavour, whose only processor can't be given on, and inside of a
/// [`LocalSet`](crate::task::LocalSet), whose tasks can't go on elsewhere. Passes on panics of the closure.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let entries = gmp_exec::task::block_in_place(|| std::fs::read_dir("/").unwrap().count());
/// assert!(entries > 0);
/// # });
/// ```
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    assert!(may_block_in_place(), "can call blocking only when running on the multi-threaded runtime");
    section(f, true)
}

fn may_block_in_place() -> bool {
    match context::entered() {
        Entered::Nothing => true,
        Entered::LocalSet => false,
        Entered::Runtime => {
            context::with_current(|handle| handle.map(Handle::runtime_flavor)) != Some(RuntimeFlavor::CurrentThread)
        }
    }
}

/// Runs a closure that may block for a moment, here and now. The processor stays if the closure is short, and is taken
/// as soon as sysmon sees it in there with work waiting.
///
/// Does nothing special on the current-thread flavour, whose processor is never taken.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let exists = gmp_exec::task::blocking(|| std::path::Path::new("/").exists());
/// assert!(exists);
/// # });
/// ```
pub fn blocking<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    section(f, false)
}

fn section<R>(f: impl FnOnce() -> R, at_once: bool) -> R {
    let _entered = context::set_entered(Entered::Nothing);
    context::with_machine(|local| match local.filter(|local| !local.scheduler.config.is_current_thread()) {
        Some(local) => blocking_section(local, at_once, f),
        None => {
            let _budget = coop::with_budget(None);
            f()
        }
    })
}
