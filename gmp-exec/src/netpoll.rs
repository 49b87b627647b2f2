//! The interface between the scheduler and a source of readiness, such as gmp-io's reactor.
//!
//! gmp-exec owns no file descriptor. A reactor implements [`Netpoll`] and is installed when the
//! first descriptor is registered, as Go initialises its poller on first use: a program without I/O
//! has no epoll. At most one thread is inside [`poll`](Netpoll::poll) at a time. A machine calls it
//! when the machine has nothing to do, and every
//! [`event_interval`](crate::runtime::Builder::event_interval) turns. If no machine has polled for
//! a while, sysmon wakes one to do so.

use std::io;
use std::time::Duration;

/// A source of readiness.
pub trait Netpoll: Send + Sync + 'static {
    /// Waits until a registered source is ready, `timeout` has passed (`None`: no limit, zero: do
    /// not wait), or [`wake`](Self::wake) was called. Then wakes the tasks that wait for the
    /// sources that are ready, on this thread; the scheduler queues them as one batch. May return
    /// early for no reason. Called by at most one thread at a time.
    ///
    /// # Errors
    ///
    /// Fails if polling is broken. An interrupted call is not an error. The runtime can't go on: the
    /// thread panics, as on tokio. That aborts the process on the multi-thread flavour, and is a
    /// panic of `block_on` on the current-thread flavour.
    fn poll(&self, timeout: Option<Duration>) -> io::Result<()>;

    /// Makes the `poll` under way return, or the next `poll` if none is under way. May be called by
    /// any thread at any time.
    fn wake(&self);

    /// Called when the runtime has ended: operations that wait, and operations that would wait
    /// later, must fail with an error. No task of the runtime is polled any more, so the operations
    /// are those of futures elsewhere: in [`block_on`](crate::runtime::Handle::block_on), or on
    /// another runtime. May be called more than once. The netpoll lives as long as the scheduler,
    /// so it must not keep wakers after this call.
    fn shutdown(&self) {}

    /// What the netpoll has done until now, for
    /// [`RuntimeMetrics`](crate::runtime::RuntimeMetrics).
    fn counts(&self) -> NetpollCounts {
        NetpollCounts::default()
    }

    /// Returns whether a descriptor or a signal may still wake a task. A runtime with such a source
    /// is never called deadlocked; see
    /// [`Builder::deadlock_after`](crate::runtime::Builder::deadlock_after).
    fn has_sources(&self) -> bool {
        let counts = self.counts();
        counts.registered > counts.deregistered
    }
}

/// What a [`Netpoll`] has done. All three only grow.
///
/// # Examples
///
/// ```
/// use gmp_exec::netpoll::NetpollCounts;
///
/// let counts = NetpollCounts { registered: 2, deregistered: 1, ready: 7 };
/// assert_eq!(counts.registered - counts.deregistered, 1); // there is one source
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetpollCounts {
    /// Sources that were registered.
    pub registered: u64,
    /// Sources that were removed.
    pub deregistered: u64,
    /// Times a source was ready.
    pub ready: u64,
}
