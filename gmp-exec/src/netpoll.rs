//! The plug for a source of readiness: how gmp-io's reactor gets its turn.
//!
//! gmp-exec owns no file descriptor. A reactor implements [`Netpoll`] and is installed the first
//! time somebody registers a descriptor, as Go initialises its poller on first use: a program
//! without I/O has no epoll. At most one thread is inside [`poll`](Netpoll::poll) at a time; the
//! scheduler calls it when a machine has nothing to do, every `event_interval` polls, and from
//! sysmon.

use std::io;
use std::time::Duration;

/// A source of readiness.
pub trait Netpoll: Send + Sync + 'static {
    /// Waits until a registered source is ready, `timeout` has passed (`None`: no limit, zero: only
    /// look), or [`wake`](Self::wake) was called, and wakes the tasks concerned by their wakers, on
    /// this thread. The scheduler collects them as one batch. May return early for no reason.
    /// Called by at most one thread at a time.
    ///
    /// # Errors
    ///
    /// An error means that polling is broken; an interrupted call is not one. The scheduler tries
    /// again later.
    fn poll(&self, timeout: Option<Duration>) -> io::Result<()>;

    /// Makes the `poll` under way return, or the next one if none is. May be called by any thread
    /// at any time.
    fn wake(&self);

    /// The runtime has ended: operations that wait, and those that would wait later, end with an
    /// error. Called once no task is polled any more, so it is told to those outside, in
    /// [`block_on`](crate::runtime::Handle::block_on) or on another runtime. May be called more
    /// than once. The scheduler keeps the netpoll as long as itself, so wakers must not be kept
    /// from here on.
    fn shutdown(&self) {}
}
