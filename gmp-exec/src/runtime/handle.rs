//! `Handle`: refers to a runtime without owning it.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::{fmt, io};

use crate::blocked::BlockedReport;
use crate::context::{self, Entered, PopRuntime, TryCurrentError};
use crate::dump::{LostTasks, Tasks};
use crate::metrics::RuntimeMetrics;
use crate::netpoll::Netpoll;
use crate::sched::SchedulerRef;
use crate::sched::config::Flavor;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::{AtShutdown, JoinHandle, spawn_blocking_on, spawn_on, started};

/// A reference to a runtime. Cheap to clone; does not keep the runtime from shutting down.
///
/// # Examples
///
/// ```
/// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
/// let handle = runtime.handle().clone();
/// let sum = std::thread::spawn(move || handle.block_on(async { 1 + 1 })).join().unwrap();
/// assert_eq!(sum, 2);
/// ```
#[derive(Clone)]
pub struct Handle {
    scheduler: SchedulerRef,
}

/// The kinds of runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// One processor, held by the thread that is inside `block_on`.
    CurrentThread,
    /// Any number of processors, held by threads that the runtime starts.
    MultiThread,
}

/// The id of a runtime, unique in the process while the runtime lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(usize);

impl Id {
    /// The id of a runtime, or of another owner of tasks: its address.
    pub(crate) fn of<T>(owner: &T) -> Id {
        Id(std::ptr::from_ref(owner) as usize)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

const IO_DISABLED: &str = "A Tokio 1.x context was found, but IO is disabled. Call `enable_io` on the runtime builder \
                           to enable IO.";

impl Handle {
    pub(crate) fn of(scheduler: SchedulerRef) -> Handle {
        Handle { scheduler }
    }

    pub(crate) fn scheduler(&self) -> &SchedulerRef {
        &self.scheduler
    }

    /// Returns a handle of the current runtime.
    ///
    /// # Panics
    ///
    /// Panics if called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// use gmp_exec::runtime::Handle;
    ///
    /// // A thread of another library spawns tasks on this runtime.
    /// let handle = Handle::current();
    /// let task = std::thread::spawn(move || handle.spawn(async { 42 })).join().unwrap();
    /// assert_eq!(task.await.unwrap(), 42);
    /// # });
    /// ```
    #[track_caller]
    pub fn current() -> Handle {
        match Handle::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns a handle of the current runtime.
    ///
    /// # Errors
    ///
    /// Fails outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Handle, Runtime};
    ///
    /// assert!(Handle::try_current().is_err());
    /// let runtime = Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     assert!(Handle::try_current().is_ok());
    /// });
    /// ```
    #[inline]
    pub fn try_current() -> Result<Handle, TryCurrentError> {
        context::with_scheduler(|scheduler| Handle::of(scheduler.clone()))
    }

    /// Makes this runtime current on this thread until the guard is dropped: `spawn` and timers use
    /// it.
    ///
    /// Guards must be dropped in the reverse order of their creation.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let task = {
    ///     let _guard = runtime.handle().enter();
    ///     gmp_exec::spawn(async { 42 })
    /// };
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard { _pop: context::push_runtime(self.scheduler.clone()), _runtime: PhantomData, _thread: PhantomData }
    }

    /// Spawns a task on this runtime, from any thread.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let task = runtime.handle().spawn(async { 1 + 1 });
    /// assert_eq!(runtime.block_on(task).unwrap(), 2);
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_on(&self.scheduler, future, Location::caller())
    }

    /// Runs a closure that may block on this runtime; see
    /// [`task::spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Panics
    ///
    /// Panics if the system can't start a thread and no other thread for closures exists.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let closure = runtime.handle().spawn_blocking(|| (1..=10).product::<u32>());
    /// assert_eq!(runtime.block_on(closure).unwrap(), 3_628_800);
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.spawn_blocking_with(AtShutdown::Wait, f)
    }

    /// Runs a closure that may block on this runtime; see
    /// [`task::spawn_blocking_with`](crate::task::spawn_blocking_with).
    ///
    /// # Panics
    ///
    /// Panics if the system can't start a thread and no other thread for closures exists.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::AtShutdown;
    /// use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    ///
    /// static WRITTEN: AtomicBool = AtomicBool::new(false);
    ///
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let handle = runtime.handle();
    /// handle.spawn_blocking_with(AtShutdown::Finish, || WRITTEN.store(true, SeqCst));
    /// drop(runtime);
    /// assert!(WRITTEN.load(SeqCst), "the closure runs, even if it begins after the shutdown");
    /// ```
    #[track_caller]
    pub fn spawn_blocking_with<F, R>(&self, at_shutdown: AtShutdown, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        started(spawn_blocking_on(&self.scheduler, at_shutdown, None, f, Location::caller(), None))
    }

    /// Runs a future to its end on this thread, inside this runtime.
    ///
    /// On the current-thread flavour tasks run only while a thread is inside this function or
    /// [`Runtime::block_on`](super::Runtime::block_on).
    ///
    /// # Panics
    ///
    /// Panics if called inside a runtime, or if the future panics.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let handle = runtime.handle().clone();
    /// let sum = std::thread::spawn(move || {
    ///     handle.block_on(async { gmp_exec::spawn(async { 1 + 1 }).await.unwrap() })
    /// });
    /// assert_eq!(sum.join().unwrap(), 2);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        crate::runtime::block_on::block_on(self, Entered::Guest, future)
    }

    /// Returns whether the runtime has shut down, or begun to.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let handle = runtime.handle().clone();
    /// assert!(!handle.is_shut_down());
    /// drop(runtime);
    /// assert!(handle.is_shut_down());
    /// ```
    pub fn is_shut_down(&self) -> bool {
        self.scheduler.is_shutdown()
    }

    /// Returns the kind of the runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, RuntimeFlavor};
    ///
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// assert_eq!(runtime.handle().runtime_flavor(), RuntimeFlavor::CurrentThread);
    /// ```
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        match self.scheduler.config.flavor {
            Flavor::CurrentThread => RuntimeFlavor::CurrentThread,
            Flavor::MultiThread => RuntimeFlavor::MultiThread,
        }
    }

    /// Returns the id of the runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Runtime;
    ///
    /// let (one, other) = (Runtime::new().unwrap(), Runtime::new().unwrap());
    /// assert_ne!(one.handle().id(), other.handle().id());
    /// assert_eq!(one.handle().id(), one.handle().clone().id());
    /// ```
    pub fn id(&self) -> Id {
        Id::of(&**self.scheduler)
    }

    /// Returns the name that was set with [`Builder::name`](super::Builder::name).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().name("io").build().unwrap();
    /// assert_eq!(runtime.handle().name(), Some("io"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.scheduler.config.name.as_deref()
    }

    /// Returns how many ready descriptors a reactor may report in one poll: `.0` if the poll waits,
    /// `.1` if it does not.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .max_io_events_per_tick(256)
    ///     .max_io_events_per_busy_tick(16)
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(runtime.handle().max_io_events(), (256, 16));
    /// ```
    pub fn max_io_events(&self) -> (usize, usize) {
        let events = self.scheduler.config.io_events;
        (events.per_tick, events.per_busy_tick.unwrap_or(events.per_tick))
    }

    /// Returns the runtime's counters.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// assert_eq!(runtime.handle().metrics().num_workers(), 3);
    /// ```
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::of(self.scheduler.clone())
    }

    /// Says which tasks have held their threads for long, by blocking or by computing, and where
    /// they were spawned. A handler can serve its text.
    ///
    /// The report is made by a thread of its own, and may lack what has happened in the last few
    /// milliseconds. After the end of the runtime it stays as it is. `GMP_BLOCKED=print` prints a
    /// place when it is found for the first time, and then after 2, 4, 8, ... polls, or once a
    /// minute; `GMP_BLOCKED=summary` prints the whole report when the runtime ends. Both go to
    /// standard error. If that is a pipe that is full, the end of the runtime waits for its reader.
    ///
    /// With the feature `blocked-stacks`, on Linux on x86-64 and arm64, the report also names the line of the
    /// program that has called what blocks. The stack of a thread that sleeps is read through
    /// /proc: no signal is sent, and no privileges are needed. If the kernel refuses, the report
    /// says `no stack` and why. A program without line numbers gets the names of functions in the
    /// machine code, into which others may be inlined; `debug = "line-tables-only"` in a profile
    /// adds the lines. A task that computes has no stack in the report. Lines are looked up when a
    /// report asks for them: a report with a new stack reads the program's debugging information,
    /// which can take a few hundred milliseconds. Handlers call this function on a thread for
    /// blocking calls.
    ///
    /// With the feature `tracing`, such polls also make events of the crate `tracing`, with the
    /// target `gmp::blocked` and the level `WARN`, or `DEBUG` if a poll is starved: one when a poll
    /// is found, and one when it is over. They are as rare as the lines of `GMP_BLOCKED=print`. A
    /// poll that is over by the time that it is found has only the second. The thread of the report
    /// emits them, so the process's subscriber receives them
    /// (`tracing::subscriber::set_global_default`), and not one that is set for a single thread.
    /// Their fields:
    ///
    /// | field | value |
    /// |---|---|
    /// | `cause` | a [`BlockedCause`](super::BlockedCause) as text |
    /// | `is_over` | whether the poll is over |
    /// | `duration_ms` | how long the poll has lasted, in milliseconds |
    /// | `count` | its number among the polls of the same place and cause |
    /// | `task.id` | the task |
    /// | `spawn.file`, `spawn.line` | where the task was spawned, or `block_on` was called |
    /// | `is_root` | whether it is the future given to `block_on`, and no task |
    /// | `syscall` | the system call that the thread was seen in |
    /// | `fd`, `fd.target` | the descriptor in its first argument, and what it referred to |
    /// | `caller` | the function of the program that has called what blocks, and its line |
    /// | `no_stack` | why the caller is not known, if it was looked for |
    ///
    /// The last five are missing if they are not known.
    ///
    /// It is sysmon that finds such tasks: the report is empty where
    /// [`Builder::sysmon`](super::Builder::sysmon) has switched it off. The current-thread flavour
    /// has no sysmon, and a report only if it is watched
    /// ([`Builder::watch_current_thread`](super::Builder::watch_current_thread)). A
    /// task that is known to hold its thread is not watched: its next polls are reported when they
    /// are over, without their system calls and stacks.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// runtime.block_on(async { gmp_exec::spawn(async { 1 + 1 }).await.unwrap() });
    /// assert_eq!(runtime.handle().blocked_report().to_string(), "");
    /// ```
    pub fn blocked_report(&self) -> BlockedReport {
        self.scheduler.observers.blocked.report()
    }

    /// Returns every task of the runtime, with what it does and where it was spawned.
    ///
    /// The tasks are looked at while the iterator is used, 256 at a time, so the list of a million
    /// tasks needs little memory. No task is polled for it and no thread is stopped, and it works
    /// while every worker is stuck. Each task is returned once, and described as it was at the
    /// moment at which it was looked at.
    ///
    /// Missing are tasks that are queued on a worker for their first poll: a worker that has a free
    /// moment polls them at once. [`Tasks::unseen`] counts them. Tasks of a
    /// [`LocalSet`](crate::task::LocalSet) belong to the runtime in which the set was polled last.
    /// The future of [`block_on`](Self::block_on) is no task, and a task that has ended is gone,
    /// even if its output was not taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Handle;
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::spawn(async { Handle::current().tasks().next().unwrap() });
    /// let id = task.id();
    /// assert_eq!(task.await.unwrap().id, id); // it has seen itself
    /// # });
    /// ```
    pub fn tasks(&self) -> Tasks {
        Tasks::of(self.scheduler.clone())
    }

    /// Returns every task of the runtime, with the calls above the futures at which it waits
    /// (feature `taskdump`).
    ///
    /// Each task that waits is polled once more for it, on its own thread or worker. In that poll
    /// the futures of gmp and tokio note the stack and do nothing else; futures of other crates do
    /// what they always do. No worker is stopped. A task that holds its thread, or whose
    /// [`LocalSet`](crate::task::LocalSet) nobody polls, is returned without a stack, and delays
    /// the dump by two seconds at most: see [`Task::trace`](super::dump::Task::trace). Blocking
    /// closures and the future of [`block_on`](Self::block_on) are no tasks.
    ///
    /// A stack takes some microseconds for each frame, and its names, which are looked for when it
    /// is displayed, far longer. [`tasks`](Self::tasks) polls nothing, and says in a word what each
    /// task waits for.
    ///
    /// The dump may be awaited anywhere, also on another runtime. It is made on a thread of its
    /// own. If there can be no such thread, all tasks are returned without a stack.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the dump is made to its end and dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Handle, time::sleep};
    /// use std::time::Duration;
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// async fn waits_for_long() {
    ///     sleep(Duration::from_secs(60)).await;
    /// }
    /// gmp_exec::spawn(waits_for_long());
    /// let dump = loop {
    ///     let dump = Handle::current().dump().await;
    ///     if dump.tasks().iter().any(|task| !task.trace().resolve_backtraces().is_empty()) {
    ///         break dump;
    ///     }
    /// };
    /// for task in dump.tasks().iter() {
    ///     println!("TASK {}:\n{}", task.id(), task.trace());
    ///     assert!(task.trace().to_string().contains("waits_for_long"));
    /// }
    /// # });
    /// ```
    #[cfg(feature = "taskdump")]
    pub async fn dump(&self) -> super::Dump {
        crate::dump::dump(self.scheduler.clone()).await
    }

    /// Whether the poll under way on this thread is traced. Not a public interface: tokio's tests
    /// ask for it.
    #[cfg(feature = "taskdump")]
    #[doc(hidden)]
    pub fn is_tracing() -> bool {
        crate::task::is_tracing()
    }

    /// Returns the tasks that can never run again: each waits, and no waker of it is left.
    ///
    /// Such a task stays until it is aborted or the runtime ends. What is returned is certain. But
    /// not every task that hangs is found: one that keeps its own waker alive is not, such as a
    /// task that waits for a channel whose only sender it owns itself. Nor is a task that was
    /// spawned on a [`LocalSet`](crate::task::LocalSet) before the set was inside of the runtime.
    ///
    /// The wakers of tasks are counted only if [`Builder::leaks`](super::Builder::leaks) or
    /// `GMP_LEAKS` asks for it, as `#[gmp_exec::test]` does. Otherwise nothing is found.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, Leaks};
    ///
    /// let runtime = Builder::new_current_thread().leaks(Leaks::Warn).build().unwrap();
    /// runtime.block_on(async {
    ///     let lost = gmp_exec::spawn(std::future::pending::<()>());
    ///     gmp_exec::task::yield_now().await;
    ///     let found = gmp_exec::runtime::Handle::current().lost_tasks();
    ///     assert_eq!(found.tasks[0].id, lost.id());
    ///     // 1 task can never run again
    ///     //   task 1, spawned at src/main.rs:5: no waker is left after 1 poll
    ///     println!("{found}");
    /// });
    /// ```
    pub fn lost_tasks(&self) -> LostTasks {
        LostTasks::of(&self.scheduler)
    }

    /// Returns the runtime's netpoll. The first call makes it with `make` and installs it.
    ///
    /// # Errors
    ///
    /// Fails with the error of `make`; a later call tries again.
    ///
    /// # Panics
    ///
    /// Panics if I/O is not enabled on this runtime, or if another kind of netpoll is installed.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{netpoll::Netpoll, runtime::Builder};
    /// use std::{io, sync::Arc, sync::mpsc, time::Duration};
    ///
    /// /// Never reports readiness: it only waits.
    /// struct Timer(std::sync::Mutex<mpsc::Receiver<()>>, mpsc::Sender<()>);
    ///
    /// impl Netpoll for Timer {
    ///     fn poll(&self, timeout: Option<Duration>) -> io::Result<()> {
    ///         let wakes = self.0.lock().unwrap();
    ///         match timeout {
    ///             Some(limit) => drop(wakes.recv_timeout(limit)),
    ///             None => drop(wakes.recv()),
    ///         }
    ///         Ok(())
    ///     }
    ///
    ///     fn wake(&self) {
    ///         let _ = self.1.send(());
    ///     }
    /// }
    ///
    /// let runtime = Builder::new_current_thread().enable_io().build().unwrap();
    /// let make = || {
    ///     let (sender, receiver) = mpsc::channel();
    ///     Ok(Timer(receiver.into(), sender))
    /// };
    /// let installed = runtime.handle().netpoll(make).unwrap();
    /// let again = runtime.handle().netpoll(make).unwrap();
    /// assert!(Arc::ptr_eq(&installed, &again));
    /// ```
    #[track_caller]
    pub fn netpoll<N: Netpoll>(&self, make: impl FnOnce() -> io::Result<N>) -> io::Result<std::sync::Arc<N>> {
        assert!(self.scheduler.config.enable_io, "{IO_DISABLED}");
        let (netpoll, is_new) = self.scheduler.netpoll_gate.install(make)?;
        if is_new {
            if let Some(sleeper) = self.scheduler.idle.sleeper() {
                // It parked before the netpoll was installed.
                sleeper.unpark();
            }
            // If the shutdown looked for a netpoll before this one was installed, it will not look
            // again, and this thread ends the netpoll. Otherwise the shutdown finds it.
            fence(SeqCst);
            if self.scheduler.last_poll.is_over() {
                netpoll.shutdown();
            }
        }
        Ok(netpoll)
    }

    /// Returns whether I/O is enabled on this runtime. If not, [`netpoll`](Self::netpoll) panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_time().build().unwrap();
    /// assert!(!runtime.handle().is_io_enabled());
    /// ```
    pub fn is_io_enabled(&self) -> bool {
        self.scheduler.config.enable_io
    }
}

impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("id", &self.id()).field("flavor", &self.runtime_flavor()).finish()
    }
}

/// Keeps a runtime current on this thread; see [`Handle::enter`].
#[derive(Debug)]
#[must_use = "the runtime is current only until the guard is dropped"]
pub struct EnterGuard<'a> {
    _pop: PopRuntime,
    _runtime: PhantomData<&'a Handle>,
    /// Makes the guard `Sync` but not `Send`: it concerns this thread only.
    _thread: PhantomData<std::sync::MutexGuard<'static, ()>>,
}
