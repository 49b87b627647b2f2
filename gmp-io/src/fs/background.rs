//! File operations that may block: they run in blocking closures. None of them changes what belongs
//! to its thread.

use std::io;

use gmp_exec::bridge::spawn_in_place;
use gmp_exec::task::{AtShutdown, JoinError, JoinHandle};

/// Starts to run `f` in the background.
///
/// `at_shutdown` depends on the operation. Opening and reading may wait without limit for the other
/// end of a FIFO, and can be left behind (`Abandon`). Accepted data must be written (`Finish`).
/// Other operations end by themselves (`Wait`).
///
/// # Errors
///
/// The system can't start a thread that the operation needs.
///
/// # Panics
///
/// If called outside of a runtime.
#[track_caller]
pub(super) fn start<R: Send + 'static>(
    at_shutdown: AtShutdown,
    f: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    spawn_in_place(at_shutdown, f)
}

/// Runs `f` in the background, and waits for the result.
pub(super) async fn run<T: Send + 'static>(
    at_shutdown: AtShutdown,
    f: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    start(at_shutdown, f)?.await.unwrap_or_else(|error| Err(failed(error)))
}

/// The error for a closure that was dropped by the end of the runtime or has panicked. tokio's
/// message, which says neither.
pub(super) fn failed(_: JoinError) -> io::Error {
    io::Error::other("background task failed")
}
