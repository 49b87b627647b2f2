//! Looking at the netpoll in passing, and sleeping in it (Go: `netpoll`).

use std::io;
use std::time::Duration;

use crate::netpoll::Netpoll;
use crate::observe::{self, Event};
use crate::sched::local::Local;
use crate::sched::state::netpoll_gate::NetpollGate;
use crate::sched::state::unusual::COLLECTS;
use crate::sync::atomic::Ordering::*;
use crate::sync::thread;
use crate::sys::sigurg::asleep;
use crate::task::Runnable;

/// The tasks that became ready, in order, or why polling is broken.
pub(in crate::sched) type Ready = io::Result<Vec<Runnable>>;

impl NetpollGate {
    /// Sleeps after `announce`, until `deadline` (`u64::MAX`: none) at the latest. Returns the
    /// tasks that became ready.
    ///
    /// # Errors
    ///
    /// See [`look`](Self::look).
    pub(in crate::sched) fn sleep(&self, local: &Local, deadline: u64) -> Ready {
        local.machine.sleep_until.limit(deadline);
        let timeout = (deadline != u64::MAX)
            .then(|| Duration::from_nanos(deadline.saturating_sub(local.scheduler.clock.now_ns())));
        let ready = self.wait(local, timeout);
        local.machine.sleep_until.retract();
        ready
    }

    fn wait(&self, local: &Local, timeout: Option<Duration>) -> Ready {
        match (self.netpoll(), timeout) {
            (Some(netpoll), _) => return self.poll(netpoll, local, timeout),
            // The thread is the user's, so its slack is left alone.
            (None, Some(timeout)) if local.is_current_thread => asleep(|| thread::park_timeout(timeout)),
            (None, Some(timeout)) => {
                local.scheduler.config.timer_slack.sleep_precisely(|| thread::park_timeout(timeout));
            }
            (None, None) => asleep(thread::park),
        }
        Ok(Vec::new())
    }

    /// Looks for ready descriptors, if there is a reactor and no other thread is inside it.
    ///
    /// # Errors
    ///
    /// Fails if polling is broken, and no task became ready. The next poll would fail, too.
    #[doc(alias = "netpoll")]
    pub(in crate::sched) fn look(&self, local: &Local) -> Ready {
        self.netpoll().map_or_else(|| Ok(Vec::new()), |netpoll| self.poll(netpoll, local, Some(Duration::ZERO)))
    }

    fn poll(&self, netpoll: &dyn Netpoll, local: &Local, timeout: Option<Duration>) -> Ready {
        if self.polling.load(Relaxed) || self.polling.swap(true, SeqCst) {
            // Only a look can find the netpoll occupied for long. A sleeper at most meets a look
            // that is about to end.
            if timeout != Some(Duration::ZERO) {
                thread::yield_now();
            }
            return Ok(Vec::new());
        }
        // The wake-up of the thread that interrupted this machine may have been consumed by the
        // thread that polled before. From now on no other thread polls, so this machine can't miss
        // a later wake-up.
        let is_look = timeout == Some(Duration::ZERO);
        let result = if is_look || local.machine.sleep_until.is_undisturbed() {
            local.unusual.set(COLLECTS, true);
            let result = netpoll.poll(timeout);
            local.unusual.set(COLLECTS, false);
            result
        } else {
            Ok(())
        };
        let ready = local.ready.take();
        if !ready.is_empty() {
            observe::on(local, Event::Ready(ready.len()));
        }
        self.polling.store(false, SeqCst);
        // No task is dropped because of an error, which the next poll finds again.
        if ready.is_empty() { result.map(|()| ready) } else { Ok(ready) }
    }
}

/// The tasks that became ready. Without the network, what waits for it would wait for ever in
/// silence: the thread panics, with tokio's text.
pub(in crate::sched) fn or_panic(ready: Ready) -> Vec<Runnable> {
    ready.unwrap_or_else(|error| panic!("unexpected error when polling the I/O driver: {error:?}"))
}
