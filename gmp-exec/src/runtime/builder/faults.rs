//! The settings that decide what a panic, a leak or a deadlock does.

use std::time::Duration;

use crate::lost::Leaks;
use crate::runtime::Builder;
use crate::sched::config::Flavor;
use crate::task::UnhandledPanic;

/// # Panics, leaks and deadlocks
impl Builder {
    /// Sets what happens when a task panics. Default: the task's
    /// [`JoinHandle`](crate::task::JoinHandle) returns the panic, and nothing else.
    ///
    /// With [`UnhandledPanic::ShutdownRuntime`], all tasks are dropped, tasks that are spawned
    /// later are dropped at once, and `block_on` panics, now and in later calls. Blocking closures
    /// don't count.
    ///
    /// # Panics
    ///
    /// Panics if this is a builder of a multi-thread runtime and the runtime shall be shut down.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use gmp_exec::runtime::{Builder, UnhandledPanic};
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .unhandled_panic(UnhandledPanic::ShutdownRuntime)
    ///     .build()
    ///     .unwrap();
    /// runtime.spawn(async { panic!("boom") });
    /// runtime.block_on(std::future::pending::<()>());
    /// ```
    #[track_caller]
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        assert!(
            self.flavor == Flavor::CurrentThread || !behavior.shuts_down(),
            "UnhandledPanic::ShutdownRuntime is only supported in current thread runtime"
        );
        self.unhandled_panic = behavior;
        self
    }

    /// Sets what the runtime does at its end with tasks that can never run again.
    ///
    /// Such a task waits, and no waker of it is left: nothing can wake it, but it may be aborted.
    /// See [`Handle::lost_tasks`](crate::runtime::Handle::lost_tasks), which finds them at any time
    /// unless this is [`Leaks::Off`]. The runtime looks for them when it is dropped or shut down,
    /// before it drops its tasks.
    ///
    /// By default the variable `GMP_LEAKS` (`off`, `warn` or `deny`) says what happens, and without
    /// it nothing does. In a `#[gmp_exec::test]` the default is [`Leaks::Warn`].
    ///
    /// The wakers of the tasks are counted for that: a clone of a waker takes about 10 ns more, and
    /// so does its end.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, Leaks};
    ///
    /// let runtime = Builder::new_current_thread().leaks(Leaks::Warn).build().unwrap();
    /// runtime.block_on(async {
    ///     gmp_exec::spawn(std::future::pending::<()>());
    ///     gmp_exec::task::yield_now().await;
    /// });
    /// drop(runtime); // prints the task
    /// ```
    pub fn leaks(&mut self, leaks: Leaks) -> &mut Self {
        self.leaks = Some(leaks);
        self
    }

    /// Sets whether [`Runtime::block_on`](crate::runtime::Runtime::block_on) panics in a deadlock
    /// instead of waiting without end.
    ///
    /// That is: no waker is left of the future, nor of any task, as
    /// [`Handle::lost_tasks`](crate::runtime::Handle::lost_tasks) finds it. So the panic is never
    /// wrong, but not every deadlock is found: a task that keeps its own waker alive prevents it.
    /// Nor is there a panic if a task ever had an [`AbortHandle`](crate::task::AbortHandle), by
    /// which another thread may end it. Only the current-thread flavour looks for deadlocks,
    /// whenever the thread has nothing to do. It counts the wakers of the tasks for that; see
    /// [`leaks`](Self::leaks).
    ///
    /// By default it does so with [`Leaks::Deny`], and in a `#[gmp_exec::test]` unless leaks are
    /// off.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().panic_on_deadlock(true).build().unwrap();
    /// // Nothing can wake the task.
    /// let output = runtime.block_on(async { gmp_exec::spawn(std::future::pending::<()>()).await });
    /// output.unwrap();
    /// ```
    pub fn panic_on_deadlock(&mut self, on: bool) -> &mut Self {
        self.panic_on_deadlock = Some(on);
        self
    }

    /// Sets after which time without any event
    /// [`Runtime::block_on`](crate::runtime::Runtime::block_on) panics instead of waiting on. The
    /// message lists the tasks.
    ///
    /// No event means: no task is polled or queued, no blocking closure runs, and the runtime has
    /// no timer, no descriptor and no listener for signals. Then all tasks wait for each other, or
    /// for a thread that is none of the runtime's. Nobody can tell the two apart, so set a limit
    /// that no such thread needs. Zero: there is no limit.
    ///
    /// [`panic_on_deadlock`](Self::panic_on_deadlock) finds some deadlocks of the current-thread
    /// flavour at once and for sure. This setting finds more, on both flavours: two tasks that each
    /// wait for a lock that the other one holds, say. It may take twice the limit. A thread inside
    /// of `block_on` wakes up once in that time.
    ///
    /// By default the variable `GMP_DEADLOCK_AFTER` (seconds, or `off`) says it, and without it
    /// there is no limit, but 60 seconds in a `#[gmp_exec::test]` unless leaks are off.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let mut builder = Builder::new_multi_thread();
    /// let runtime = builder.deadlock_after(Duration::from_millis(100)).build().unwrap();
    /// runtime.block_on(std::future::pending::<()>());
    /// ```
    pub fn deadlock_after(&mut self, limit: Duration) -> &mut Self {
        self.deadlock_after = Some(limit);
        self
    }

    /// The runtime is that of a `#[gmp_exec::test]`.
    #[doc(hidden)]
    pub fn for_test(&mut self) -> &mut Self {
        self.is_test = true;
        self
    }
}
