//! Telling the executor that a closure will block.
//!
//! None of these functions is required: sysmon finds stuck threads by itself. But with them the
//! scheduler hands off the processor sooner, the task is not marked as a hog, and a task that
//! awaits `spawn_blocking` can do other work at the same time.

pub(in crate::task) mod at_shutdown;
pub(in crate::task) mod kept_thread;
pub(in crate::task) mod place;

use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::context::{self, Entered};
use crate::sched::closures::submit_closure;
use crate::sched::config::Flavor;
use crate::sched::handoff::section::{Section, blocking_section};
use crate::sched::state::all_machines::await_again;
use crate::sched::{Local, SchedulerRef};
use crate::task::blocking::at_shutdown::AtShutdown;
use crate::task::console::span;
use crate::task::{Header, JoinHandle, Kind, Place, coop, is_large, new_task};

/// Runs a closure that may block, as a task of its own, on a thread that runs such closures only.
///
/// At most `max_blocking_threads` such closures run at a time; further closures wait for a permit.
/// A closure can be aborted only before it has started. When the runtime shuts down, closures that
/// wait for a permit are cancelled; the others run to their end.
///
/// The closure may change what belongs to its thread: priority, affinity, signal mask, namespaces,
/// credentials. Tasks never run on that thread, but later closures may. A short closure that changes
/// nothing of the kind costs far less with [`spawn_blocking_in_place`].
///
/// # Panics
///
/// Panics if called outside of a runtime, or if the system can't start a thread and no other thread
/// for closures exists; [`task::Builder`](crate::task::Builder::spawn_blocking) returns an error
/// instead.
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
/// As [`spawn_blocking`].
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
    started(on_current(|scheduler| spawn_blocking_on(scheduler, at_shutdown, None, f, location, None)))
}

/// Runs a closure that may block and leaves its thread as it was, as a task of its own.
///
/// On the multi-thread flavour the thread that finds the closure runs it, as if it were the poll of
/// a task, so that a short closure costs no change of threads. If the closure lasts, other tasks
/// move to another thread. In all else this is [`spawn_blocking`].
///
/// The thread polls tasks afterwards. So the closure must not change what belongs to its thread,
/// such as its priority, its affinity, its signal mask, its namespaces or its credentials, unless
/// it changes all of that back.
/// [`Builder::closures_in_place`](crate::runtime::Builder::closures_in_place) chooses this for all
/// closures of a runtime.
///
/// # Panics
///
/// As [`spawn_blocking`].
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let exists = gmp_exec::task::spawn_blocking_in_place(|| std::path::Path::new("/").exists());
/// assert!(exists.await.unwrap());
/// # });
/// ```
#[track_caller]
pub fn spawn_blocking_in_place<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let location = Location::caller();
    let place = Some(Place::Machine);
    started(on_current(|scheduler| spawn_blocking_on(scheduler, AtShutdown::Wait, place, f, location, None)))
}

#[track_caller]
fn on_current<T>(f: impl FnOnce(&SchedulerRef) -> T) -> T {
    match context::current_runtime() {
        Ok(runtime) => runtime.with(f),
        Err(error) => panic!("{error}"),
    }
}

/// Panics with tokio's text if no thread could be started.
#[track_caller]
pub(crate) fn started<R>(handle: io::Result<JoinHandle<R>>) -> JoinHandle<R> {
    handle.unwrap_or_else(|error| panic!("OS can't spawn worker thread: {error}"))
}

/// `place`: `None` means that of the runtime's closures. `location`: where the public function was
/// called.
///
/// # Errors
///
/// The system can't start a thread, and the closure would never run. It was dropped.
pub(crate) fn spawn_blocking_on<F, R>(
    scheduler: &SchedulerRef,
    at_shutdown: AtShutdown,
    place: Option<Place>,
    f: F,
    location: &'static Location<'static>,
    name: Option<&str>,
) -> io::Result<JoinHandle<R>>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let kind = Kind::Closure(at_shutdown, place_on(scheduler, place));
    let header = Header::named(scheduler.home().clone(), kind, location, name);
    if const { is_large::<F>() } {
        start(scheduler, at_shutdown, header, Box::new(f), size_of::<F>())
    } else {
        start(scheduler, at_shutdown, header, f, size_of::<F>())
    }
}

/// `given`: the size of the closure that was spawned, which may be in a box by now.
fn start<F, R>(
    scheduler: &SchedulerRef,
    at_shutdown: AtShutdown,
    mut header: Header,
    f: F,
    given: usize,
) -> io::Result<JoinHandle<R>>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    if at_shutdown == AtShutdown::Wait && scheduler.is_shutdown() {
        header.set_aborted();
    }
    let future = span::of_closure(&mut header, Closure(Some(f)), given);
    let (runnable, handle) = new_task(header, future);
    context::count(scheduler, |counters| &counters.spawned);
    context::outside(scheduler).closures.add_shared(1);
    let header = runnable.metadata();
    if header.place() == Place::Pool && scheduler.closures.permits.held() >= scheduler.config.max_blocking_threads {
        header.progress.queue(scheduler.observers.measuring.now());
    }
    submit_closure(scheduler, runnable)?;
    Ok(handle)
}

fn place_on(scheduler: &SchedulerRef, wanted: Option<Place>) -> Place {
    match wanted {
        _ if scheduler.config.is_current_thread() => Place::Pool,
        Some(place) => place,
        None if scheduler.config.closures_in_place => Place::Machine,
        None => Place::Pool,
    }
}

/// A closure as a future: ready at its first poll, without a budget.
pub(in crate::task) struct Closure<F>(Option<F>);

impl<F> Unpin for Closure<F> {}

impl<F: FnOnce() -> R, R> Future for Closure<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let f = self.0.take().expect("a finished closure is not polled again");
        let _again = AwaitAgain;
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

/// The function has returned or panicked.
struct AwaitAgain;

impl Drop for AwaitAgain {
    fn drop(&mut self) {
        await_again();
    }
}

/// Whether this machine's processor would not be taken from the closure, because there is no
/// sysmon.
fn is_unwatched(local: &Local) -> bool {
    !local.is_current_thread && !local.scheduler.config.sysmon
}

/// Runs a closure that will block, on this thread. The thread hands off its processor first, and gets
/// one again when the poll has ended.
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
