//! Spawning for hyper.

use std::future::Future;

use hyper::rt::Executor;

/// Spawns hyper's background tasks, which mostly HTTP/2 uses, on the current gmp runtime.
///
/// # Panics
///
/// Spawning panics if there is no current runtime.
///
/// # Examples
///
/// ```
/// use gmp_io::hyper::GmpExecutor;
/// use hyper::rt::Executor;
///
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// let (sender, receiver) = tokio::sync::oneshot::channel();
/// GmpExecutor::new().execute(async { sender.send("hello") });
/// assert_eq!(receiver.await, Ok("hello"));
/// # });
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct GmpExecutor;

impl GmpExecutor {
    /// Makes an executor, which has no state.
    pub fn new() -> Self {
        GmpExecutor
    }
}

impl<F> Executor<F> for GmpExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        gmp_exec::spawn(future);
    }
}
