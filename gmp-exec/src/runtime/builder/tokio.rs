//! Settings of tokio's that choose between two ways in which tokio works, neither of which is
//! gmp's. Programs that set them must compile, so they are accepted where tokio has them, with
//! `--cfg tokio_unstable`.

use crate::runtime::Builder;

/// # tokio's unstable settings
///
/// Only with `--cfg tokio_unstable`.
impl Builder {
    /// Enables timers, as [`enable_time`](Self::enable_time). gmp has one kind of timers, which
    /// belong to processors as tokio's alternative ones do.
    pub fn enable_alt_timer(&mut self) -> &mut Self {
        self.enable_time()
    }

    /// Does nothing: no task can keep the network or timers from being polled here, because sysmon
    /// takes the processor from a task that blocks, and polls the network itself.
    pub fn enable_eager_driver_handoff(&mut self) -> &mut Self {
        self
    }

    /// Does nothing: a blocking closure goes straight to a thread here, and not through a queue.
    pub fn enable_sharded_blocking_queue(&mut self) -> &mut Self {
        self
    }

    /// Does nothing but what [`enable_io`](Self::enable_io) does: gmp's files don't use io_uring.
    pub fn enable_io_uring(&mut self) -> &mut Self {
        self.enable_io()
    }
}
