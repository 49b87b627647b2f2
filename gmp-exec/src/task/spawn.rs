//! Making tasks: only this file calls async-task's constructor.
#![allow(unsafe_code, reason = "calls async-task's unchecked constructor")]

use std::future::Future;
use std::panic::Location;

use crate::context;
use crate::sched::SchedulerRef;
use crate::task::cell::future::TaskFuture;
use crate::task::cell::header::{Header, Kind, Runnable};
use crate::task::cell::home::Home;
use crate::task::console::span;
use crate::task::handle::join::JoinHandle;
use crate::task::watch;

/// Whether a future, or a closure, is boxed where a public function has taken it. Without optimisation
/// each call on the way to the task copies the future onto the stack, and futures of 80 KB overflowed the
/// 2 MiB of a thread. async-task boxes futures of this size anyway, so there is no further allocation.
pub(crate) const fn is_large<T>() -> bool {
    size_of::<T>() >= 2048
}

/// Spawns a task on the current runtime. The task starts at once, whether or not the handle is
/// awaited.
///
/// # Panics
///
/// Panics if called outside of a runtime.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let handle = gmp_exec::task::spawn(async { "done" });
/// assert_eq!(handle.await.unwrap(), "done");
/// # });
/// ```
#[track_caller]
#[inline]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let location = Location::caller();
    let given = size_of::<F>();
    if const { is_large::<F>() } {
        spawn_here(Box::pin(future), location, given)
    } else {
        spawn_here(future, location, given)
    }
}

#[track_caller]
#[inline]
fn spawn_here<F>(future: F, location: &'static Location<'static>, given: usize) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match context::current_runtime() {
        Ok(runtime) => runtime.with(|scheduler| start(scheduler, unnamed(scheduler, location), future, given)),
        Err(error) => panic!("{error}"),
    }
}

/// `location`: where the public function was called.
#[inline]
pub(crate) fn spawn_on<F>(
    scheduler: &SchedulerRef,
    future: F,
    location: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let header = unnamed(scheduler, location);
    if const { is_large::<F>() } {
        start(scheduler, header, Box::pin(future), size_of::<F>())
    } else {
        start(scheduler, header, future, size_of::<F>())
    }
}

#[inline]
fn unnamed(scheduler: &SchedulerRef, location: &'static Location<'static>) -> Header {
    Header::new(scheduler.home().clone(), Kind::Task(scheduler.config.observed), location)
}

/// The same for a task that may have a name.
pub(in crate::task) fn spawn_named_on<F>(
    scheduler: &SchedulerRef,
    future: F,
    location: &'static Location<'static>,
    name: Option<&str>,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let header = Header::named(scheduler.home().clone(), Kind::Task(scheduler.config.observed), location, name);
    if const { is_large::<F>() } {
        start(scheduler, header, Box::pin(future), size_of::<F>())
    } else {
        start(scheduler, header, future, size_of::<F>())
    }
}

/// `given`: the size of the future that was spawned, which may be in a box by now.
#[inline]
fn start<F>(scheduler: &SchedulerRef, mut header: Header, future: F, given: usize) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let future = span::of_task(&mut header, future, given);
    let (runnable, handle) = new_task(header, future);
    if runnable.metadata().is_watched() {
        start_watched(scheduler, runnable);
    } else {
        crate::sched::submit_new(scheduler, runnable);
    }
    handle
}

/// A task with a hook counts before the hook, whose panic ends the task.
#[cold]
fn start_watched(scheduler: &SchedulerRef, runnable: Runnable) {
    context::count(scheduler, |counters| &counters.spawned);
    watch::spawned(runnable).schedule();
}

/// The same for a task of a `LocalSet`, which is counted already.
#[inline]
pub(in crate::task) fn start_local(runnable: Runnable) {
    let is_watched = runnable.metadata().is_watched();
    crate::task::local_set::submit(if is_watched { watch::spawned(runnable) } else { runnable });
}

/// Makes a task that may move between threads.
#[inline]
pub(crate) fn new_task<F>(header: Header, future: F) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let builder = async_task::Builder::new().metadata(header);
    let wrap = |header: &'static Header| sendable(TaskFuture::new(future, header));
    // SAFETY: the future and its output are `Send` and `'static`; the wrapper borrows only the
    // metadata, which async-task keeps alive for longer than the future. The schedule function is a
    // plain function: `Send`, `Sync` and `'static`.
    let (runnable, task) = unsafe { builder.spawn_unchecked(wrap, async_task::WithInfo(schedule)) };
    (runnable, JoinHandle::new(task))
}

/// Lets the compiler check that the wrapped future is `Send`, which async-task's unchecked
/// constructor does not.
fn sendable<T: Send>(value: T) -> T {
    value
}

/// Makes a task that stays on this thread.
///
/// # Safety
///
/// The header's home must be that of a `LocalSet` of this thread.
pub(in crate::task) unsafe fn new_local_task<F>(header: Header, future: F) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + 'static,
    F::Output: 'static,
{
    let builder = async_task::Builder::new().metadata(header);
    let wrap = |header: &'static Header| TaskFuture::new(future, header);
    // SAFETY: the future needn't be `Send`, because its `Runnable` is used on the original thread
    // only: `schedule` hands it to the home, and a `LocalSet` runs and cancels its tasks on its own
    // thread, which by the contract is this one. The rest is as in `new_task`; if the output isn't
    // `Send`, the `JoinHandle` isn't either.
    let (runnable, task) = unsafe { builder.spawn_unchecked(wrap, async_task::WithInfo(schedule)) };
    (runnable, JoinHandle::new(task))
}

/// async-task calls this when a task becomes scheduled.
fn schedule(runnable: Runnable, info: async_task::ScheduleInfo) {
    runnable.metadata().progress.schedule();
    match *runnable.metadata().home {
        Home::Scheduler(_) => crate::sched::submit(runnable, info.woken_while_running),
        Home::Local(_) => crate::task::local_set::submit(runnable),
    }
}
