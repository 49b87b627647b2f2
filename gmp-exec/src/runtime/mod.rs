//! Runtimes: configuring, entering and shutting down.

mod block_on;
mod builder;
#[cfg(feature = "taskdump")]
pub mod dump;
mod handle;
mod leaks;
mod local_runtime;
mod max_procs;
#[allow(clippy::module_inception, reason = "the type has its own file, as every other type")]
mod runtime;

pub use builder::Builder;
#[cfg(feature = "taskdump")]
#[doc(no_inline)]
pub use dump::Dump;
pub use handle::{EnterGuard, Handle, Id, RuntimeFlavor};
pub use local_runtime::{LocalOptions, LocalRuntime};
pub use max_procs::MaxProcsError;
pub use runtime::Runtime;

pub use crate::blocked::{
    BlockedCall, BlockedCause, BlockedEntry, BlockedFrame, BlockedReport, BlockedStack, FrameOrigin,
};
use crate::context;
pub use crate::context::{RngSeed, TryCurrentError};
pub use crate::dump::{
    Descriptor, LostTask, LostTasks, TaskGroup, TaskGroups, TaskInfo, TaskJson, TaskState, TaskTree, Tasks, WaitsFor,
};
pub use crate::lost::Leaks;
pub use crate::metrics::{
    HistogramConfiguration, HistogramScale, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
    RuntimeMetrics,
};
pub use crate::task::{Resource, TaskMeta, UnhandledPanic};

/// Returns the index of the processor that runs the caller: less than
/// [`RuntimeMetrics::num_workers`].
///
/// `None` outside of the current runtime's tasks: in the future of a multi-thread runtime's
/// `block_on`, in a blocking closure, on a thread that is not the runtime's. A task may be on
/// another processor after each `.await`.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::{Builder, worker_index};
/// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// runtime.block_on(async {
///     assert_eq!(worker_index(), None);
///     assert_eq!(gmp_exec::spawn(async { worker_index() }).await.unwrap(), Some(0));
/// });
/// ```
pub fn worker_index() -> Option<usize> {
    let is_asked_by_task = !matches!(context::entered(), context::Entered::Nothing | context::Entered::Guest(_));
    context::with_scheduler(|scheduler| context::processor_of(scheduler)).ok().flatten().filter(|_| is_asked_by_task)
}

/// Returns whether an I/O operation failed because its runtime has shut down.
///
/// # Examples
///
/// ```
/// let error = std::io::Error::other("something else");
/// assert!(!gmp_exec::runtime::is_rt_shutdown_err(&error));
/// ```
pub fn is_rt_shutdown_err(error: &std::io::Error) -> bool {
    let is_ours =
        |inner: &(dyn std::error::Error + Send + Sync)| inner.source().is_none() && inner.to_string() == SHUTTING_DOWN;
    error.kind() == std::io::ErrorKind::Other && error.get_ref().is_some_and(is_ours)
}

/// The message with which operations fail on a runtime that has shut down, in an
/// [`io::Error`](std::io::Error) or a panic.
const SHUTTING_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";
