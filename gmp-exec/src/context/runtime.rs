//! The runtime that is current on this thread.

use std::cell::RefCell;
use std::fmt;

use super::entered::{Entered, ResetEntered, set_entered};
use super::{CURRENT, with_machine};
use crate::sched::SchedulerRef;
use crate::sync::thread_local;

thread_local! {
    /// The runtimes that this thread has entered, the innermost last.
    static RUNTIMES: RefCell<Vec<SchedulerRef>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with the scheduler of the current runtime, or with `None` outside of a runtime.
pub(crate) fn with_current<R>(f: impl FnOnce(Option<&SchedulerRef>) -> R) -> R {
    let mut f = Some(f);
    let result = RUNTIMES.try_with(|runtimes| {
        let current = runtimes.borrow().last().cloned();
        (f.take().expect("called once"))(current.as_ref())
    });
    result.unwrap_or_else(|_| (f.take().expect("not called before"))(None))
}

/// Calls `f` with the scheduler of the current runtime.
///
/// # Errors
///
/// Fails outside of a runtime.
#[inline]
pub(crate) fn with_scheduler<R>(f: impl FnOnce(&SchedulerRef) -> R) -> Result<R, TryCurrentError> {
    Ok(current_runtime()?.with(f))
}

/// The current runtime.
///
/// # Errors
///
/// Fails outside of a runtime.
#[inline]
pub(crate) fn current_runtime() -> Result<CurrentRuntime, TryCurrentError> {
    let is_own = CURRENT.try_with(|current| current.machine_is_current.get()).unwrap_or(false);
    if is_own { Ok(CurrentRuntime::OfMachine) } else { entered_runtime() }
}

#[cold]
fn entered_runtime() -> Result<CurrentRuntime, TryCurrentError> {
    let entered = with_current(|scheduler| scheduler.cloned()).ok_or_else(TryCurrentError::here)?;
    Ok(CurrentRuntime::Entered(entered))
}

/// The runtime that was current on this thread when it was asked for.
pub(crate) enum CurrentRuntime {
    /// The runtime whose machine this thread is. Valid only until another runtime is entered.
    OfMachine,
    Entered(SchedulerRef),
}

impl CurrentRuntime {
    /// Calls `f` with the scheduler, in a single place. With two calls `f` would not be inlined,
    /// and a future that `f` spawns would be copied once more.
    #[inline]
    pub(crate) fn with<R>(self, f: impl FnOnce(&SchedulerRef) -> R) -> R {
        with_machine(|local| {
            f(match &self {
                CurrentRuntime::OfMachine => &local.expect("set by `as_machine` only").scheduler,
                CurrentRuntime::Entered(scheduler) => scheduler,
            })
        })
    }
}

/// Whether this thread's context is gone because the thread is ending.
fn is_destroyed() -> bool {
    RUNTIMES.try_with(|_| ()).is_err()
}

/// Makes a runtime current until the guard is dropped.
pub(crate) fn push_runtime(scheduler: SchedulerRef) -> PopRuntime {
    let push = |runtimes: &RefCell<Vec<SchedulerRef>>| {
        let mut runtimes = runtimes.borrow_mut();
        runtimes.push(scheduler);
        runtimes.len()
    };
    // While the thread ends nothing can be made current any more, but a runtime may still be
    // dropped.
    let depth = RUNTIMES.try_with(push).ok();
    let machine_was_current = CURRENT.with(|current| current.machine_is_current.replace(false));
    PopRuntime { depth, machine_was_current }
}

#[must_use]
#[derive(Debug)]
pub(crate) struct PopRuntime {
    /// `None`: nothing was made current.
    depth: Option<usize>,
    machine_was_current: bool,
}

impl Drop for PopRuntime {
    fn drop(&mut self) {
        let popped = RUNTIMES.try_with(|runtimes| {
            let mut runtimes = runtimes.borrow_mut();
            (Some(runtimes.len()) == self.depth).then(|| runtimes.pop())
        });
        let _ = CURRENT.try_with(|current| current.machine_is_current.set(self.machine_was_current));
        // The reference is dropped here, after the borrow of the cell has ended: it may be the last
        // reference to its runtime.
        if matches!(popped, Ok(None)) && !std::thread::panicking() {
            panic!(
                "`EnterGuard` values dropped out of order. Guards returned by `tokio::runtime::Handle::enter()` must \
                 be dropped in the reverse order as they were acquired."
            );
        }
    }
}

/// For threads that run only blocking closures: the runtime is current, and the thread may block.
pub(crate) fn enter_blocking_thread(scheduler: SchedulerRef) -> (PopRuntime, ResetEntered) {
    (push_runtime(scheduler), set_entered(Entered::Nothing))
}

const NO_RUNTIME: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime";
const DESTROYED: &str = "The Tokio context thread-local variable has been destroyed.";
/// The error of [`Handle::try_current`](crate::runtime::Handle::try_current).
#[derive(Debug)]
pub struct TryCurrentError {
    is_destroyed: bool,
}

impl TryCurrentError {
    fn here() -> TryCurrentError {
        TryCurrentError { is_destroyed: is_destroyed() }
    }

    /// Whether no runtime is current on this thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Handle;
    ///
    /// let error = Handle::try_current().unwrap_err();
    /// assert!(error.is_missing_context());
    /// ```
    pub fn is_missing_context(&self) -> bool {
        !self.is_destroyed
    }

    /// Whether the thread is ending and its context has been destroyed.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Handle;
    ///
    /// let error = Handle::try_current().unwrap_err();
    /// assert!(!error.is_thread_local_destroyed(), "this thread is not ending");
    /// ```
    pub fn is_thread_local_destroyed(&self) -> bool {
        self.is_destroyed
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_destroyed { DESTROYED } else { NO_RUNTIME })
    }
}

impl std::error::Error for TryCurrentError {}
