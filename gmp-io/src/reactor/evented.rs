use std::os::fd::AsRawFd;
use std::{fmt, io};

use super::Registration;
use crate::io::{Interest, Ready};

/// A descriptor together with its place in the reactor.
pub(crate) struct Evented<T> {
    // Before `io`, because fields are dropped in this order: a descriptor is deregistered first and closed second. The other
    // way round its number could already belong to somebody else, or, if it was duplicated, the kernel would go on
    // reporting events for it.
    registration: Registration,
    io: T,
}

impl<T: AsRawFd> Evented<T> {
    /// Registers `io`, which must be non-blocking, with the current runtime, for reading and writing.
    #[track_caller]
    pub(crate) fn new(io: T) -> io::Result<Self> {
        Evented::with_interest(io, Interest::READABLE | Interest::WRITABLE).map_err(|(error, _)| error)
    }

    /// As `new`, for a socket that sends datagrams. There an error is about one datagram and passes, but the system reports it
    /// as it reports that nobody reads any more. So `WouldBlock` takes "write closed" away: the socket takes datagrams again,
    /// and whoever waits for room would be told for ever that there is some. What has been shut down in truth answers with an
    /// error, never with `WouldBlock`.
    ///
    /// "Read closed" stays: no error sets it, only a shutdown of one's own.
    #[track_caller]
    pub(crate) fn datagrams(io: T) -> io::Result<Self> {
        let mut evented = Evented::new(io)?;
        evented.registration.lasting = Ready::READ_CLOSED;
        Ok(evented)
    }

    /// Registers `io`, which must be non-blocking, with the current runtime. An error brings `io` back.
    #[track_caller]
    pub(crate) fn with_interest(io: T, interest: Interest) -> Result<Self, (io::Error, T)> {
        match Registration::with_current_runtime(io.as_raw_fd(), interest) {
            Ok(registration) => Ok(Evented { registration, io }),
            Err(error) => Err((error, io)),
        }
    }
}

impl<T> Evented<T> {
    /// For what can be opened anew by the other side after it was closed: a FIFO. An operation that finds `WouldBlock` then
    /// takes "closed" away as well; the next time it is closed comes with an edge of its own. Otherwise whoever reads on
    /// after the first end of the stream would be told again and again that it is ready.
    ///
    /// Everything else stays closed, and an operation on both directions at once may find `WouldBlock` in one of them while
    /// the other is closed.
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

    /// Both at once, for an operation that needs `&mut T`.
    pub(crate) fn parts_mut(&mut self) -> (&Registration, &mut T) {
        (&self.registration, &mut self.io)
    }

    /// Gives the place up and the descriptor back.
    pub(crate) fn into_io(self) -> io::Result<T> {
        let (io, deregistered) = self.release();
        deregistered.map(|()| io)
    }

    /// Gives the place up and the descriptor back, also if the system doesn't know it any more.
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
