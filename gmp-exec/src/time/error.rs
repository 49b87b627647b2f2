//! The errors of `time`: a [`timeout`](super::timeout()) has elapsed.

use std::{fmt, io};

/// The future was not finished at its deadline; returned by [`Timeout`](super::Timeout).
///
/// Converts into an [`io::Error`] of kind [`TimedOut`](io::ErrorKind::TimedOut), so `?` works in
/// functions that do I/O.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{Duration, timeout};
/// use std::{future::pending, io};
///
/// # #[gmp_exec::main(flavor = "current_thread")]
/// # async fn main() {
/// let elapsed = timeout(Duration::from_millis(1), pending::<()>()).await.unwrap_err();
/// assert_eq!(elapsed.to_string(), "deadline has elapsed");
/// assert_eq!(io::Error::from(elapsed).kind(), io::ErrorKind::TimedOut);
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl Elapsed {
    pub(super) fn new() -> Elapsed {
        Elapsed(())
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(_: Elapsed) -> io::Error {
        io::ErrorKind::TimedOut.into()
    }
}
