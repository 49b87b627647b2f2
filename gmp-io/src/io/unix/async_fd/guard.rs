//! The guards that a task gets when a descriptor is ready, and that make it decide whether the
//! readiness is used up.

use std::os::fd::AsRawFd;
use std::{fmt, io};

use super::AsyncFd;
use crate::io::Ready;
use crate::reactor::ReadyEvent;

/// The descriptor is ready, or was a moment ago.
///
/// If the operation that follows returns `WouldBlock`, call
/// [`clear_ready`](AsyncFdReadyGuard::clear_ready). Otherwise do nothing, or call
/// [`retain_ready`](AsyncFdReadyGuard::retain_ready) to say so.
/// [`try_io`](AsyncFdReadyGuard::try_io) does this by itself. The guard remembers which event it
/// saw: clearing never erases a newer one.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// # use std::io::{ErrorKind, Write};
/// # use std::os::unix::net::UnixStream;
/// use std::io::Read;
///
/// use gmp_io::io::unix::AsyncFd;
///
/// # let (ours, mut theirs) = UnixStream::pair()?;
/// # ours.set_nonblocking(true)?;
/// # theirs.write_all(b"ping")?;
/// # // SAFETY: the socket keeps its descriptor open.
/// # let fd = unsafe { AsyncFd::register(ours) }?;
/// let mut received = [0; 16];
/// let n = loop {
///     let mut guard = fd.readable().await?;
///     match guard.get_inner().read(&mut received) {
///         Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
///         result => break result?,
///     }
/// };
/// assert_eq!(&received[..n], b"ping");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[must_use = "call a method of the guard to declare whether the descriptor is still ready"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    fd: &'a AsyncFd<T>,
    /// `None`: everything has been cleared.
    event: Option<ReadyEvent>,
}

/// As [`AsyncFdReadyGuard`], and lends out `&mut T`.
#[must_use = "call a method of the guard to declare whether the descriptor is still ready"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    fd: &'a mut AsyncFd<T>,
    /// `None`: everything has been cleared.
    event: Option<ReadyEvent>,
}

/// The operation returned `WouldBlock`, and the readiness has been cleared: wait again.
#[derive(Debug)]
pub struct TryIoError(());

/// The methods of both guards. One contains `&AsyncFd`, the other `&mut AsyncFd`, and no trait
/// covers both.
macro_rules! guard {
    ($guard:ident, $name:literal, $fd:ty, $lent:ty) => {
        impl<'a, T: AsRawFd> $guard<'a, T> {
            pub(super) fn new(fd: $fd, event: ReadyEvent) -> Self {
                $guard { fd, event: Some(event) }
            }

            /// Declares that the descriptor is not ready: the next wait waits for the next event. A
            /// direction that the other side has closed stays ready.
            ///
            /// # Examples
            ///
            /// ```
            /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
            /// # use std::os::unix::net::UnixDatagram;
            /// # let (ours, theirs) = UnixDatagram::pair()?;
            /// # ours.set_nonblocking(true)?;
            /// # // SAFETY: the socket keeps its descriptor open.
            /// # let ours = unsafe { gmp_io::io::unix::AsyncFd::register(ours) }?;
            /// use gmp_io::io::Ready;
            ///
            /// let mut guard = ours.writable().await?;
            /// guard.clear_ready();
            /// assert_eq!(guard.ready(), Ready::EMPTY);
            /// # std::io::Result::Ok(())
            /// # })?;
            /// # std::io::Result::Ok(())
            /// ```
            pub fn clear_ready(&mut self) {
                self.clear_ready_matching(Ready::ALL);
            }

            /// Declares that the descriptor is not ready for `ready`, and leaves the other flags
            /// that the guard has seen.
            pub fn clear_ready_matching(&mut self, ready: Ready) {
                if let Some(event) = self.event.take() {
                    self.fd.io.registration().clear(event.masked(ready));
                    let rest = event.masked(Ready::ALL - ready);
                    self.event = (!rest.ready.is_empty()).then_some(rest);
                }
            }

            /// Declares that the descriptor is still ready. Does nothing, except to make that
            /// visible in the code.
            pub fn retain_ready(&mut self) {}

            /// The flags that the guard has seen, without those that were cleared through this
            /// guard.
            pub fn ready(&self) -> Ready {
                self.event.map_or(Ready::EMPTY, |event| event.ready)
            }

            /// Runs `f`, and clears the readiness if it returns `WouldBlock`.
            ///
            /// `f` must not block, and must return `WouldBlock` if and only if the descriptor was
            /// not ready.
            ///
            /// # Errors
            ///
            /// [`TryIoError`] stands for `WouldBlock`. All other results of `f` are in the `Ok`.
            pub fn try_io<R>(&mut self, f: impl FnOnce($lent) -> io::Result<R>) -> Result<io::Result<R>, TryIoError> {
                match f(self.fd) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.clear_ready();
                        Err(TryIoError(()))
                    }
                    result => Ok(result),
                }
            }
        }

        impl<T: AsRawFd + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).field("async_fd", &self.fd).finish()
            }
        }
    };
}

guard!(AsyncFdReadyGuard, "ReadyGuard", &'a AsyncFd<T>, &'a AsyncFd<T>);
guard!(AsyncFdReadyMutGuard, "MutReadyGuard", &'a mut AsyncFd<T>, &mut AsyncFd<T>);

impl<'a, T: AsRawFd> AsyncFdReadyGuard<'a, T> {
    /// The `AsyncFd` of the guard.
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        self.fd
    }

    /// The value that owns the descriptor.
    pub fn get_inner(&self) -> &'a T {
        self.fd.get_ref()
    }
}

impl<T: AsRawFd> AsyncFdReadyMutGuard<'_, T> {
    /// The `AsyncFd` of the guard.
    pub fn get_ref(&self) -> &AsyncFd<T> {
        self.fd
    }

    /// The `AsyncFd` of the guard.
    pub fn get_mut(&mut self) -> &mut AsyncFd<T> {
        self.fd
    }

    /// The value that owns the descriptor.
    pub fn get_inner(&self) -> &T {
        self.fd.get_ref()
    }

    /// The value that owns the descriptor. Do not replace it with another one.
    pub fn get_inner_mut(&mut self) -> &mut T {
        self.fd.get_mut()
    }
}
