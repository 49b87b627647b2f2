//! How a runtime that shuts down treats a blocking closure.

/// How a runtime that shuts down treats a closure of
/// [`spawn_blocking_with`](crate::task::spawn_blocking_with).
///
/// A closure can't be interrupted, so the runtime must either wait for the closure or leave its
/// thread behind. Only the author of the closure knows which of the two is harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtShutdown {
    /// The runtime waits for a closure that is running, and still runs a closure that has a permit.
    /// It cancels closures that wait because `max_blocking_threads` others are running. This is the
    /// behaviour of [`spawn_blocking`](crate::task::spawn_blocking), as on tokio.
    Wait,
    /// The runtime runs the closure to its end in every case, and waits for it. For writes that the
    /// program has already reported as accepted.
    Finish,
    /// The runtime cancels a closure that has not begun, and leaves the thread of a running one
    /// behind. For operations that may never return, such as reading from a terminal, and whose
    /// result is not needed after the shutdown.
    Abandon,
}
