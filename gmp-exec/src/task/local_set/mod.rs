//! `LocalSet`: tasks that stay on one thread, so their futures needn't be `Send`.
//!
//! Any thread may wake a task of a set, but only one thread polls and drops it. So a set has two
//! parts. Its tasks refer to `home`, which any thread may access: a queue under a lock, and the
//! waker of the set. `context` belongs to the set's thread: a queue without a lock for wake-ups by
//! the set's own tasks. Its type can't leave the thread, which is also the proof that a `!Send`
//! future is safe here; see `context`.
//!
//! A set has no thread of its own. It is a future, and its tasks run when the set is polled, inside
//! of `block_on`. A poll of the set runs at most [`MOST_POLLS`](context::MOST_POLLS) tasks, so that
//! other futures are polled, too.
//!
//! When a set is dropped, its tasks end on its thread. Another thread may be waking a task at that
//! moment, and hold the scheduled task; the drop waits for the few instructions until the task
//! arrives. The other thread must not drop the task as its last owner.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use context::{LocalContext, ResetCurrent};
use pin_project_lite::pin_project;

use super::{JoinHandle, UnhandledPanic};
use crate::context::enter_local_set;
use crate::runtime::{Id, Runtime};
use crate::sched::config::Config;

mod all;
mod context;
mod home;
mod of_runtimes;
mod polled;

#[cfg(all(test, loom))]
mod loom_end;

pub(crate) use all::{local_sets_of, set_of_local_runtime};
pub(super) use context::submit;
use home::Drives;
pub(crate) use home::LocalHome;
pub(crate) use of_runtimes::{add_runtime, remove_runtime};
#[cfg(all(test, loom))]
pub(crate) use polled::PolledTask;

/// A set of tasks that all run on one thread, whose futures therefore needn't be [`Send`].
///
/// The tasks run on the thread that made the set, whenever the set is polled: inside of
/// [`run_until`](Self::run_until), or where the set itself is awaited, which waits until all of its
/// tasks have ended. Both must happen directly inside of [`Runtime::block_on`] (or
/// `#[gmp_exec::main]`, `#[gmp_exec::test]`): a set can't be sent into a spawned task.
///
/// [`spawn`](crate::spawn) inside of a set spawns on the runtime, as everywhere;
/// [`spawn_local`](crate::task::spawn_local) spawns on the set.
///
/// Dropping the set drops all of its tasks, on this thread.
///
/// # Examples
///
/// ```
/// use gmp_exec::task::{LocalSet, spawn_local};
/// use std::{cell::Cell, rc::Rc};
///
/// # #[gmp_exec::main]
/// # async fn main() {
/// let count = Rc::new(Cell::new(0));
/// let set = LocalSet::new();
/// for _ in 0..3 {
///     let count = count.clone();
///     set.spawn_local(async move {
///         let nested = spawn_local(async move { count.set(count.get() + 1) });
///         nested.await.unwrap();
///     });
/// }
/// set.await;
/// assert_eq!(count.get(), 3);
/// # }
/// ```
///
/// A future that isn't `Send` can't be spawned in any other way:
///
/// ```compile_fail,E0277
/// # #[gmp_exec::main]
/// # async fn main() {
/// let rc = std::rc::Rc::new(1);
/// gmp_exec::spawn(async move { println!("{rc}") });
/// # }
/// ```
///
/// And the set stays on its thread:
///
/// ```compile_fail,E0277
/// let set = gmp_exec::task::LocalSet::new();
/// std::thread::spawn(move || drop(set));
/// ```
pub struct LocalSet {
    context: Rc<LocalContext>,
}

impl LocalSet {
    /// Makes an empty set. Its tasks will run on this thread.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let set = gmp_exec::task::LocalSet::new();
    /// set.await; // has no tasks, so it is ready at once
    /// # }
    /// ```
    pub fn new() -> LocalSet {
        LocalSet { context: LocalContext::new(LocalHome::default()) }
    }

    /// Spawns a task on the set. The task begins when the set is next polled.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Runtime, task::LocalSet};
    /// use std::rc::Rc;
    ///
    /// let set = LocalSet::new();
    /// let rc = Rc::new(5);
    /// let task = set.spawn_local(async move { *rc + 1 });
    /// let sum = set.block_on(&Runtime::new().unwrap(), task).unwrap();
    /// assert_eq!(sum, 6);
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.context.spawn(future, None)
    }

    #[track_caller]
    pub(super) fn spawn_named<F>(&self, future: F, name: Option<&str>) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.context.spawn(future, name)
    }

    /// The set of a local runtime with these settings.
    pub(crate) fn of_runtime(config: &Config) -> LocalSet {
        LocalSet { context: LocalContext::new(LocalHome::of_runtime(config)) }
    }

    /// Sets what a panic of a task does to the set. With
    /// [`UnhandledPanic::ShutdownRuntime`], the tasks of the set are dropped when one of them
    /// panics, tasks that are spawned later are dropped at once, and the futures that poll the set
    /// panic: [`run_until`](Self::run_until), [`block_on`](Self::block_on), and the set itself.
    ///
    /// # Panics
    ///
    /// Panics if the set has tasks already.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use gmp_exec::runtime::{Runtime, UnhandledPanic};
    /// use gmp_exec::task::LocalSet;
    ///
    /// let mut set = LocalSet::new();
    /// set.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    /// set.spawn_local(async { panic!("boom") });
    /// set.block_on(&Runtime::new().unwrap(), std::future::pending::<()>());
    /// ```
    #[track_caller]
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        assert!(self.context.home().is_empty(), "Unhandled Panic behavior modified after starting LocalSet");
        self.context.home().on_panic.set(&behavior);
        self
    }

    /// Runs `future` to its end on `runtime`, and the tasks of the set with it.
    ///
    /// Tasks that haven't ended when this function returns stay in the set until it is polled again
    /// or dropped.
    ///
    /// # Panics
    ///
    /// Panics if called inside of a runtime, or if the future panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, task};
    ///
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// let set = task::LocalSet::new();
    /// let answer = set.block_on(&runtime, async {
    ///     task::spawn_local(async { 42 }).await.unwrap()
    /// });
    /// assert_eq!(answer, 42);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(self.run_until(future))
    }

    /// Runs `future` to its end, and the tasks of the set with it. Inside of `future` this set is
    /// the current one, on which [`spawn_local`](crate::task::spawn_local) spawns.
    ///
    /// Tasks that haven't ended with `future` stay in the set until it is polled again or dropped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the returned future drops `future`. The tasks stay in the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::{LocalSet, spawn_local};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let rc = std::rc::Rc::new("not Send");
    /// let set = LocalSet::new();
    /// let text = set.run_until(async move { spawn_local(async move { *rc }).await.unwrap() });
    /// assert_eq!(text.await, "not Send");
    /// # }
    /// ```
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        RunUntil { set: self, future }.await
    }

    /// Makes this set the current one of the thread until the guard is dropped, without polling the
    /// set: [`spawn_local`](crate::task::spawn_local) spawns on it.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Runtime, task};
    ///
    /// let set = task::LocalSet::new();
    /// let task = {
    ///     let _guard = set.enter();
    ///     task::spawn_local(async { 42 })
    /// };
    /// assert_eq!(set.block_on(&Runtime::new().unwrap(), task).unwrap(), 42);
    /// ```
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard { _reset: self.context.make_current() }
    }

    /// Returns the id of the set. While the set lives, no other set or runtime has the same id.
    ///
    /// # Examples
    ///
    /// ```
    /// let (one, other) = (gmp_exec::task::LocalSet::new(), gmp_exec::task::LocalSet::new());
    /// assert_ne!(one.id(), other.id());
    /// ```
    pub fn id(&self) -> Id {
        Id::of(&**self.context.home())
    }
}

/// Spawns a task on the current [`LocalSet`]: the set that polls the caller, or that was
/// [entered](LocalSet::enter). The task runs on this thread, so its future needn't be [`Send`].
///
/// A task of [`spawn`](crate::spawn) has no current set, even if it was spawned inside of one.
///
/// If the current runtime is a [`LocalRuntime`](crate::runtime::LocalRuntime), the task is spawned on the
/// runtime instead, also inside of a set.
///
/// # Panics
///
/// Panics if called outside of a `LocalSet` and of a `LocalRuntime`, and if the current runtime is a
/// `LocalRuntime` of another thread.
///
/// # Examples
///
/// ```
/// use gmp_exec::task;
/// use std::rc::Rc;
///
/// # #[gmp_exec::main]
/// # async fn main() {
/// let shared = Rc::new(String::from("on one thread"));
/// let set = task::LocalSet::new();
/// let length = set.run_until(async {
///     let shared = shared.clone();
///     task::spawn_local(async move { shared.len() }).await.unwrap()
/// });
/// assert_eq!(length.await, shared.len());
/// # }
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    spawn_local_named(future, None)
}

#[track_caller]
pub(super) fn spawn_local_named<F>(future: F, name: Option<&str>) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    match current_set() {
        Ok(context) => context.spawn(future, name),
        Err(message) => panic!("{message}"),
    }
}

/// Where `spawn_local` spawns. As on tokio, the current runtime comes first if it is a local one, also in
/// a `LocalSet`, and a local runtime that is not current is not asked, also in its tasks.
fn current_set() -> Result<Rc<LocalContext>, &'static str> {
    crate::context::with_current(|scheduler| match scheduler.filter(|scheduler| scheduler.config.is_local) {
        Some(scheduler) => of_runtimes::set_of(Id::of(&***scheduler)).map(|set| set.context.clone()).ok_or(ELSEWHERE),
        None => LocalContext::current().filter(|context| !context.home().is_of_runtime()).ok_or(OUTSIDE),
    })
}

const OUTSIDE: &str = "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`";
const ELSEWHERE: &str = "Local tasks can only be spawned on a LocalRuntime from the thread the runtime was created on";

/// Ready when the set has no task left.
impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _no_block_in_place = enter_local_set();
        let polling = self.context.begin_poll(cx.waker(), Drives::TheSet);
        if polling.run_tasks() {
            cx.waker().wake_by_ref();
        } else if self.context.home().is_empty() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

pin_project! {
    /// The future of [`LocalSet::run_until`].
    struct RunUntil<'a, F> {
        set: &'a LocalSet,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for RunUntil<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _no_block_in_place = enter_local_set();
        let polling = this.set.context.begin_poll(cx.waker(), Drives::Another);
        if let Poll::Ready(output) = this.future.poll(cx) {
            return Poll::Ready(output);
        }
        if polling.run_tasks() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl LocalSet {
    /// Ends all tasks of the set, and those that are spawned from now on.
    pub(crate) fn end(&self) {
        let _no_block_in_place = enter_local_set();
        self.context.end();
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        self.end();
    }
}

impl Default for LocalSet {
    fn default() -> LocalSet {
        LocalSet::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet").field("tasks", &self.context.home().len()).finish()
    }
}

/// Keeps a [`LocalSet`] current on this thread; see [`LocalSet::enter`].
#[derive(Debug)]
#[must_use = "the set is current only until the guard is dropped"]
pub struct LocalEnterGuard {
    _reset: ResetCurrent,
}
