//! Where files go when they may block.

use std::io;

use gmp_exec::runtime::Handle;
use gmp_exec::task::{AtShutdown, JoinError, JoinHandle};

/// Begins to run `f` where it may block.
///
/// What the end of the runtime means for it depends on what it does: opening and reading may wait for ever, for the other
/// end of a FIFO, and nobody else notices if they are left behind (`Abandon`). Data that was accepted must arrive
/// (`Finish`). All else takes its time and ends (`Wait`).
///
/// # Panics
///
/// Without a current runtime.
#[track_caller]
pub(super) fn start<R: Send + 'static>(
    at_shutdown: AtShutdown,
    f: impl FnOnce() -> R + Send + 'static,
) -> JoinHandle<R> {
    Handle::current().spawn_blocking_with(at_shutdown, f)
}

/// Runs `f` where it may block, and waits for it.
pub(super) async fn run<T: Send + 'static>(
    at_shutdown: AtShutdown,
    f: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    start(at_shutdown, f).await.unwrap_or_else(|error| Err(failed(error)))
}

/// The closure was dropped by the end of the runtime, or has panicked. With tokio's words, which say neither.
pub(super) fn failed(_: JoinError) -> io::Error {
    io::Error::other("background task failed")
}
