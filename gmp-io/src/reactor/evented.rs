use std::fmt;
use std::io;
use std::os::fd::AsRawFd;

use super::Registration;

/// A descriptor together with its place in the reactor.
pub(crate) struct Evented<T> {
    // Before `io`, because fields are dropped in this order: a descriptor is deregistered first and closed second. The other
    // way round its number could already belong to somebody else, or, if it was duplicated, the kernel would go on
    // reporting events for it.
    registration: Registration,
    io: T,
}

impl<T: AsRawFd> Evented<T> {
    /// Registers `io`, which must be non-blocking, with the current runtime.
    #[track_caller]
    pub(crate) fn new(io: T) -> io::Result<Self> {
        Ok(Evented { registration: Registration::with_current_runtime(io.as_raw_fd())?, io })
    }
}

impl<T> Evented<T> {
    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }

    pub(crate) fn io(&self) -> &T {
        &self.io
    }

    /// Gives the place up and the descriptor back.
    pub(crate) fn into_io(self) -> io::Result<T> {
        self.registration.deregister()?;
        Ok(self.io)
    }
}

impl<T: fmt::Debug> fmt::Debug for Evented<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.io.fmt(f)
    }
}
