//! Telling the executor that a closure will block.
//!
//! None of these functions is required: sysmon finds stuck threads by itself. But with them the
//! scheduler hands off the processor sooner, the task is not marked as a hog, and a task that
//! awaits `spawn_blocking` can do other work at the same time.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::context::{self, Entered};
use crate::sched::config::Flavor;
use crate::sched::handoff::section::{Section, blocking_section};
use crate::sched::{Local, SchedulerRef};
use crate::task::at_shutdown::AtShutdown;
use crate::task::{Header, JoinHandle, Kind, coop, new_task, span};

/// Runs a closure that may block, as a task of its own.
///
/// At most `max_blocking_threads` such closures run at a time; further closures wait for a permit.
/// A closure can be aborted only before it has started. When the runtime shuts down, closures that
/// wait for a permit are cancelled; the others run to their end.
///
/// # Panics
///
/// Panics if called outside of a runtime.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let entries = gmp_exec::task::spawn_blocking(|| std::fs::read_dir("/").unwrap().count());
/// assert!(entries.await.unwrap() > 0);
/// # });
/// ```
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    spawn_blocking_with(AtShutdown::Wait, f)
}

/// Runs a closure that may block, as a task of its own, and chooses what happens to it when the
/// runtime shuts down.
///
/// With [`AtShutdown::Wait`] this is the same as [`spawn_blocking`].
///
/// # Panics
///
/// Panics if called outside of a runtime.
///
/// # Examples
///
/// ```
/// use gmp_exec::task::{AtShutdown, spawn_blocking_with};
///
/// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
/// let (sender, receiver) = std::sync::mpsc::channel::<()>();
/// let _guard = runtime.enter();
/// spawn_blocking_with(AtShutdown::Abandon, move || receiver.recv());
/// # drop(_guard);
/// drop(runtime); // returns, although nothing was ever sent
/// # drop(sender);
/// ```
#[track_caller]
pub fn spawn_blocking_with<F, R>(at_shutdown: AtShutdown, f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let location = Location::caller();
    match context::current_runtime() {
        Ok(runtime) => runtime.with(|scheduler| spawn_blocking_on(scheduler, at_shutdown, f, location, None)),
        Err(error) => panic!("{error}"),
    }
}

/// `location`: where the public function was called.
pub(crate) fn spawn_blocking_on<F, R>(
    scheduler: &SchedulerRef,
    at_shutdown: AtShutdown,
    f: F,
    location: &'static Location<'static>,
    name: Option<&str>,
) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let mut header = Header::named(scheduler.home().clone(), Kind::Closure(at_shutdown), location, name);
    if at_shutdown == AtShutdown::Wait && scheduler.is_shutdown() {
        header.set_aborted();
    }
    let future = span::of_closure(&mut header, Closure(Some(f)));
    let (runnable, handle) = new_task(header, future);
    context::count(scheduler, |counters| &counters.spawned);
    context::outside(scheduler).closures.add_shared(1);
    match scheduler.config.flavor {
        Flavor::MultiThread => scheduler.submit_closure(runnable),
        Flavor::CurrentThread => scheduler.submit_to_pool(runnable),
    }
    handle
}

/// A closure as a future: ready at its first poll, without a budget.
pub(super) struct Closure<F>(Option<F>);

impl<F> Unpin for Closure<F> {}

impl<F: FnOnce() -> R, R> Future for Closure<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let f = self.0.take().expect("a finished closure is not polled again");
        let _entered = context::set_entered(Entered::Nothing);
        Poll::Ready(context::with_machine(|local| match local.filter(|local| is_unwatched(local)) {
            Some(local) => blocking_section(local, Section::MayBlock, f),
            None => {
                let _budget = coop::with_budget(None);
                f()
            }
        }))
    }
}

/// Whether this machine's processor would not be taken from the closure, because there is no
/// sysmon.
fn is_unwatched(local: &Local) -> bool {
    !local.is_current_thread && !local.scheduler.config.sysmon
}

/// Runs a closure that will block, on this thread. The scheduler hands off the processor to another
/// thread as soon as any work waits for it.
///
/// Other futures of the *same* task wait until the closure returns.
///
/// # Panics
///
/// Panics on the current-thread flavour, whose only processor can't be handed off, and inside of a
/// [`LocalSet`](crate::task::LocalSet), whose tasks can't run on another thread. A panic of the
/// closure propagates to the caller.
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
    let _entered = context::set_entered(Entered::Nothing);
    section(f, Section::WillBlock)
}

fn may_block_in_place() -> bool {
    match context::entered() {
        Entered::Nothing | Entered::Guest(_) => true,
        Entered::LocalSet(_) => false,
        Entered::Runtime(flavor) => flavor == Flavor::MultiThread,
    }
}

/// Runs a closure that may block for a moment, on this thread. If the closure is short, the thread
/// keeps its processor. Otherwise the scheduler takes the processor as soon as sysmon sees the
/// thread in the closure while work waits for the processor.
///
/// On the current-thread flavour the closure is only called, since the processor is never taken
/// there. Like the task itself, the closure may not call
/// [`block_on`](crate::runtime::Handle::block_on) there.
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
    let _entered = context::enter_blocking_section();
    section(f, Section::MayBlock)
}

fn section<R>(f: impl FnOnce() -> R, section: Section) -> R {
    context::with_machine(|local| match local.filter(|local| !local.scheduler.config.is_current_thread()) {
        Some(local) => blocking_section(local, section, f),
        None => {
            let _budget = coop::with_budget(None);
            f()
        }
    })
}
