//! How a reactor learns of signals, on behalf of [`signal`](crate::signal).
//!
//! All reactors watch the same descriptor, which is never closed. Each epoll (or kqueue) keeps
//! track of the edges that it has reported itself.

use std::os::fd::AsRawFd;
use std::task::Waker;
use std::{io, mem};

use mio::unix::SourceFd;
use mio::{Interest, Token};

use super::Reactor;
use crate::lock::lock;
use crate::signal::table::SignalTable;

/// No source and no deadline has this token: a slab never returns such a key.
pub(super) const SIGNALS: Token = Token(usize::MAX - 2);

/// Whether signals were among the events of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signals {
    None,
    Came,
}

/// Whether a reactor watches the pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SignalWatch {
    /// No task of this runtime has asked for signals.
    #[default]
    Off,
    On,
    /// The reactor has been shut down.
    ShutDown,
}

impl Reactor {
    /// Makes this reactor watch the pipe, if it does not yet.
    ///
    /// # Errors
    ///
    /// The reactor has been shut down, or the system has no descriptors or memory left.
    pub(crate) fn watch_signals(&self) -> io::Result<()> {
        let mut signal_watch = lock(&self.signal_watch);
        match *signal_watch {
            SignalWatch::On => return Ok(()),
            SignalWatch::ShutDown => return Err(io::Error::other("signal driver gone")),
            SignalWatch::Off => {}
        }
        let pipe = SignalTable::get()?.receiver().as_raw_fd();
        self.registry.register(&mut SourceFd(&pipe), SIGNALS, Interest::READABLE)?;
        *signal_watch = SignalWatch::On;
        Ok(())
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        *lock(&self.signal_watch) == SignalWatch::ShutDown
    }

    /// Called when the pipe is readable, or was until another reactor read it.
    pub(super) fn deliver_signals(woken: &mut Vec<Waker>) {
        if let Some(signals) = SignalTable::existing() {
            signals.empty_pipe();
            signals.deliver(woken);
        }
    }

    /// Ends the delivery of signals through this reactor. Listeners that relied on it are woken, so
    /// that they look for another reactor.
    pub(super) fn end_signal_watch(&self, woken: &mut Vec<Waker>) {
        let before = mem::replace(&mut *lock(&self.signal_watch), SignalWatch::ShutDown);
        if let (SignalWatch::On, Some(signals)) = (before, SignalTable::existing()) {
            // This can't fail, because the descriptor is registered; and there is no caller to
            // report an error to.
            let _ = self.registry.deregister(&mut SourceFd(&signals.receiver().as_raw_fd()));
            signals.nudge(woken);
        }
    }
}
