//! How a runtime hears of signals: the hook of [`signal`](crate::signal) in the reactor.
//!
//! All reactors watch the same descriptor, which is never closed: an epoll (or kqueue) has its own opinion of which edges it
//! has reported.

use std::os::fd::AsRawFd;
use std::task::Waker;
use std::{io, mem};

use mio::unix::SourceFd;
use mio::{Interest, Token};

use super::Reactor;
use crate::lock::lock;
use crate::signal::registry::Registry;

/// No source has this token, nor has a deadline: it is not a key that a slab hands out.
pub(super) const SIGNALS: Token = Token(usize::MAX - 2);

/// Whether a reactor watches the pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reception {
    /// Nobody in its runtime has asked for signals.
    #[default]
    Off,
    On,
    /// The reactor has been shut down.
    Over,
}

impl Reactor {
    /// Makes sure that this reactor watches the pipe.
    ///
    /// # Errors
    ///
    /// The reactor has been shut down, or the system has no descriptors or memory left.
    pub(crate) fn receive_signals(&self) -> io::Result<()> {
        let mut reception = lock(&self.reception);
        match *reception {
            Reception::On => return Ok(()),
            Reception::Over => return Err(io::Error::other("signal driver gone")),
            Reception::Off => {}
        }
        let pipe = Registry::get()?.receiver().as_raw_fd();
        self.registry.register(&mut SourceFd(&pipe), SIGNALS, Interest::READABLE)?;
        *reception = Reception::On;
        Ok(())
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        *lock(&self.reception) == Reception::Over
    }

    /// The pipe is readable, or was until another reactor came first.
    pub(super) fn collect_signalled(woken: &mut Vec<Waker>) {
        if let Some(signals) = Registry::existing() {
            signals.empty_pipe();
            signals.deliver(woken);
        }
    }

    /// Signals won't be heard of through this reactor any more. Those who counted on it are made to look for another one.
    pub(super) fn end_reception(&self, woken: &mut Vec<Waker>) {
        let before = mem::replace(&mut *lock(&self.reception), Reception::Over);
        if let (Reception::On, Some(signals)) = (before, Registry::existing()) {
            // It can't fail, as the descriptor is registered; and who would be told?
            let _ = self.registry.deregister(&mut SourceFd(&signals.receiver().as_raw_fd()));
            signals.nudge(woken);
        }
    }
}
