//! Waiting for Ctrl-C.

use std::io;

use super::unix::{SignalKind, signal};

/// Waits for the next Ctrl-C (SIGINT).
///
/// The first poll installs a handler, which stays: from then on Ctrl-C no longer ends the process
/// by itself, even if no task waits. To notice every Ctrl-C, keep a [`Signal`](super::unix::Signal)
/// of kind [`interrupt`](super::unix::SignalKind::interrupt) instead: between two calls of this
/// function no listener exists.
///
/// # Errors
///
/// The system refuses the handler, or has no descriptors left.
///
/// # Panics
///
/// If there is no current runtime, or if its I/O is not enabled.
///
/// # Cancel safety
///
/// A Ctrl-C that comes after the first poll and before the future is dropped may be lost.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # gmp_exec::spawn(async {
/// #     gmp_exec::task::yield_now().await;
/// #     use gmp_io::signal::unix::{SignalKind, signal};
/// #     use rustix::process::{Signal, getpid, kill_process};
/// #     let _ = signal(SignalKind::interrupt()).unwrap();
/// #     loop {
/// #         kill_process(getpid(), Signal::INT).unwrap();
/// #         gmp_exec::time::sleep(std::time::Duration::from_millis(10)).await;
/// #     }
/// # });
/// gmp_io::signal::ctrl_c().await?;
/// println!("shutting down");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[doc(alias("SIGINT", "Notify"))]
pub async fn ctrl_c() -> io::Result<()> {
    signal(SignalKind::interrupt())?.recv().await;
    Ok(())
}
