//! Looking at the netpoll in passing, and sleeping in it (Go: `netpoll`).

use std::time::Duration;

use crate::netpoll::Netpoll;
use crate::sched::local::Local;
use crate::sched::state::netpoll_gate::NetpollGate;
use crate::sync::atomic::Ordering::*;
use crate::sync::thread;
use crate::task::Runnable;
use crate::trace::Kind;

impl NetpollGate {
    /// Sleeps after `announce`, until `deadline` (`u64::MAX`: none) at the latest. Returns the
    /// tasks that became ready.
    pub(crate) fn sleep(&self, local: &Local, deadline: u64, now: impl FnOnce() -> u64) -> Vec<Runnable> {
        local.machine.sleep_until.limit(deadline);
        let timeout = (deadline != u64::MAX).then(|| Duration::from_nanos(deadline.saturating_sub(now())));
        let ready = self.wait(local, timeout);
        local.machine.sleep_until.retract();
        ready
    }

    fn wait(&self, local: &Local, timeout: Option<Duration>) -> Vec<Runnable> {
        match (self.netpoll(), timeout) {
            (Some(netpoll), _) => self.poll(netpoll, local, timeout).unwrap_or_default(),
            (None, Some(timeout)) => {
                thread::park_timeout(timeout);
                Vec::new()
            }
            (None, None) => {
                thread::park();
                Vec::new()
            }
        }
    }

    /// Looks for ready descriptors, if there is a reactor and no other thread is inside it.
    #[doc(alias = "netpoll")]
    pub(crate) fn look(&self, local: &Local) -> Vec<Runnable> {
        self.netpoll().and_then(|netpoll| self.poll(netpoll, local, Some(Duration::ZERO))).unwrap_or_default()
    }

    /// `None`: another thread polls.
    fn poll(&self, netpoll: &dyn Netpoll, local: &Local, timeout: Option<Duration>) -> Option<Vec<Runnable>> {
        if self.polling.load(Relaxed) || self.polling.swap(true, SeqCst) {
            // Only a look can find the netpoll occupied for long. A sleeper at most meets a look
            // that is about to end.
            return (timeout != Some(Duration::ZERO)).then(|| {
                thread::yield_now();
                Vec::new()
            });
        }
        // The wake-up of the thread that interrupted this machine may have been consumed by the
        // thread that polled before. From now on no other thread polls, so this machine can't miss
        // a later wake-up.
        let is_look = timeout == Some(Duration::ZERO);
        let result = if is_look || local.machine.sleep_until.is_undisturbed() {
            local.detour.set_collecting(true);
            let result = netpoll.poll(timeout);
            local.detour.set_collecting(false);
            result
        } else {
            Ok(())
        };
        let ready = local.ready.take();
        if !ready.is_empty() {
            local.record(Kind::Ready, 0, ready.len());
        }
        self.polling.store(false, SeqCst);
        if result.is_err() && timeout != Some(Duration::ZERO) {
            // A broken netpoll must not turn this into a busy loop, nor keep timers from firing.
            let limit = Duration::from_millis(1);
            thread::park_timeout(timeout.map_or(limit, |timeout| timeout.min(limit)));
        }
        Some(ready)
    }
}
