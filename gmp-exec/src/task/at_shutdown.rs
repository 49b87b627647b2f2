//! What the end of a runtime means for a blocking closure.

/// What the end of the runtime means for a closure of [`spawn_blocking_with`](super::spawn_blocking_with).
///
/// A closure can't be interrupted, so a runtime that ends has to decide between waiting for it and leaving its thread
/// behind. Only the author of the closure knows which of the two is harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtShutdown {
    /// Waited for once it runs, and run if there is a place for it; cancelled if it waits behind `max_blocking_threads`
    /// others. What [`spawn_blocking`](super::spawn_blocking) does, as on tokio.
    Wait,
    /// Run to its end in either case, and waited for. For writes that somebody was told are accepted.
    Finish,
    /// Cancelled if it has not begun, and not waited for if it has: its thread is left behind. For what may never
    /// return, such as reading from a terminal, and whose result nobody will ask for.
    Abandon,
}
