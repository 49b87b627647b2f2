//! A descriptor that is registered with a reactor, and the operations on it.
//!
//! A socket or a pipe has a field of this type, and its public methods call it. The code behind a
//! public `try_read`, `poll_write` or `readable` is here, in [`wait`] and in [`transfer`]. Macros
//! in `net/transfer.rs` and `net/readiness.rs` define these public methods.
//!
//! `poll_read` and `poll_write` reach the system through [`ByteSource`] and [`ByteSink`], which the
//! files of the sockets and pipes implement. `try_read` and `try_write` call the standard library.

mod transfer;
mod wait;

use std::os::fd::AsRawFd;
use std::{fmt, io};

pub(crate) use transfer::{ByteSink, ByteSource, less_than_asked};

use super::Registration;
use crate::io::{Interest, Ready};

/// A descriptor and its registration.
#[doc(alias = "PollEvented")]
pub(crate) struct Evented<T> {
    // Declared before `io`, because fields are dropped in this order: the descriptor is
    // deregistered first and closed second. In the other order the kernel could have given its
    // number to another descriptor by then, or, if it was duplicated, would go on reporting events
    // for it.
    registration: Registration,
    io: T,
}

impl<T: AsRawFd> Evented<T> {
    /// Registers `io`, which must be non-blocking, with the current runtime, for reading and
    /// writing.
    #[track_caller]
    pub(crate) fn new(io: T) -> io::Result<Self> {
        Evented::with_interest(io, Interest::READABLE | Interest::WRITABLE).map_err(|(error, _)| error)
    }

    /// As `new`, for a socket that sends datagrams: `WouldBlock` also takes "write closed" away.
    ///
    /// An error of such a socket is about one datagram and passes, but the system reports it as it
    /// reports a closed socket. If "write closed" stayed, a task that waits for room would be told
    /// again and again that there is some. A socket that was really shut down answers with an
    /// error, never with `WouldBlock`.
    ///
    /// "Read closed" stays: no error sets it, only a shutdown by this process.
    #[track_caller]
    pub(crate) fn datagrams(io: T) -> io::Result<Self> {
        let mut evented = Evented::new(io)?;
        evented.registration.lasting = Ready::READ_CLOSED;
        Ok(evented)
    }

    /// Registers `io`, which must be non-blocking, with the current runtime. An error returns `io`.
    #[track_caller]
    pub(crate) fn with_interest(io: T, interest: Interest) -> Result<Self, (io::Error, T)> {
        match Registration::with_current_runtime(io.as_raw_fd(), interest) {
            Ok(registration) => Ok(Evented { registration, io }),
            Err(error) => Err((error, io)),
        }
    }
}

impl<T> Evented<T> {
    /// For a FIFO, which a peer can open again after it was closed: `WouldBlock` takes "closed"
    /// away as well. The next time it is closed, the system reports a new edge. If "closed" stayed,
    /// a task that reads on after the first end of the stream would find the FIFO ready again and
    /// again.
    ///
    /// An operation on both directions at once may find `WouldBlock` in one of them while the other
    /// is closed, so everything but a FIFO stays closed.
    pub(crate) fn reopening(mut self) -> Self {
        self.registration.lasting = Ready::EMPTY;
        self
    }

    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    pub(crate) fn io(&self) -> &T {
        &self.io
    }

    /// Both parts, for an operation that needs `&mut T`.
    pub(crate) fn parts_mut(&mut self) -> (&Registration, &mut T) {
        (&self.registration, &mut self.io)
    }

    /// Deregisters the descriptor and returns it.
    pub(crate) fn into_io(self) -> io::Result<T> {
        let (io, deregistered) = self.release();
        deregistered.map(|()| io)
    }

    /// Deregisters the descriptor and returns it, even if the system refuses.
    pub(crate) fn release(self) -> (T, io::Result<()>) {
        let deregistered = self.registration.deregister();
        (self.io, deregistered)
    }
}

impl<T: fmt::Debug> fmt::Debug for Evented<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.io.fmt(f)
    }
}
