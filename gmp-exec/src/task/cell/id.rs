//! Task ids: unique in the process, never reused.

use std::fmt;
use std::num::NonZeroU64;

/// The id of a task. Opaque; unique in the process, and never reused.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let handle = gmp_exec::spawn(async { gmp_exec::task::id() });
/// let id = handle.id();
/// assert_eq!(handle.await.unwrap(), id);
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU64);

impl Id {
    /// Returns the next id. Threads reserve ids in blocks, so that they do not all write one cache
    /// line at each spawn.
    pub(crate) fn next() -> Id {
        const BLOCK: u64 = 64;

        let id = crate::context::next_id(|| reserve(BLOCK), BLOCK);
        Id(NonZeroU64::new(id).expect("blocks of ids start at 1"))
    }

    pub(crate) fn from_u64(id: u64) -> Option<Id> {
        NonZeroU64::new(id).map(Id)
    }

    pub(crate) fn as_u64(self) -> u64 {
        self.0.get()
    }
}

#[cfg(not(gmp_lines))]
fn reserve(ids: u64) -> u64 {
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(ids, Relaxed)
}

#[cfg(gmp_lines)]
use gmp_lines::ids::reserve;

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the id of the task that is being polled on this thread.
///
/// # Panics
///
/// Panics when called outside of a task.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let task = gmp_exec::spawn(async { gmp_exec::task::id() });
/// let id = task.id();
/// assert_eq!(task.await.unwrap(), id);
/// # });
/// ```
#[track_caller]
pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

/// Returns the id of the task that is being polled on this thread, or `None` outside of a task.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// assert_eq!(gmp_exec::task::try_id(), None); // the future of `block_on` is no task
/// let task = gmp_exec::spawn(async { gmp_exec::task::try_id() });
/// let id = task.id();
/// assert_eq!(task.await.unwrap(), Some(id));
/// # });
/// ```
pub fn try_id() -> Option<Id> {
    Id::from_u64(crate::context::current_task_id())
}
