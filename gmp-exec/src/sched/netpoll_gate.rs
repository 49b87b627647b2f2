//! Where one idle machine sleeps: in the reactor if there is one, else on its own, until the earliest timer.
//!
//! At most one thread sleeps here, so that a ready descriptor wakes one thread and a new timer interrupts one. Who it is
//! stands in `idle`; this file knows *until when* it sleeps. Going to sleep and giving a reason not to race:
//!
//! ```text
//! sleeper:  until = FOREVER                   │  interrupter:  assign / set a timer / publish
//!           SeqCst fence                      │                SeqCst fence
//!           any assignment, timer, work?      │                until later than the reason?
//!           until: FOREVER → earliest (CAS)   │                  yes: until → AWAKE (swap), wake it
//! ```
//!
//! Either the sleeper sees the reason, or the interrupter sees that somebody sleeps; the wake-up itself is sticky. The
//! word is the machine's own: while one that was sent for is still on its way out of the poller, the next one may lie
//! down already, and neither must overwrite what is said about the other.

use std::any::Any;
use std::io;
use std::sync::{Mutex as StdMutex, OnceLock};
use std::time::Duration;

use crate::netpoll::Netpoll;
use crate::sched::local::Local;
use crate::sched::state::machine::Machine;
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Arc, thread};
use crate::task::Runnable;

pub(crate) struct Poller {
    /// A thread is inside `Netpoll::poll`.
    polling: AtomicBool,
    netpoll: OnceLock<Installed>,
    /// Serialises installation.
    installing: StdMutex<()>,
}

struct Installed {
    netpoll: Arc<dyn Netpoll>,
    /// The same, to be handed out under its own type.
    any: Arc<dyn Any + Send + Sync>,
}

impl Poller {
    pub(crate) fn new() -> Poller {
        Poller { polling: AtomicBool::new(false), netpoll: OnceLock::new(), installing: StdMutex::new(()) }
    }

    /// The installed netpoll, or a new one; the second value says whether it was installed just now.
    pub(crate) fn install<N: Netpoll>(&self, make: impl FnOnce() -> io::Result<N>) -> io::Result<(Arc<N>, bool)> {
        if let Some(installed) = self.netpoll.get() {
            return Ok((installed.downcast(), false));
        }
        let _installing = self.installing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(installed) = self.netpoll.get() {
            return Ok((installed.downcast(), false));
        }
        let netpoll = Arc::new(make()?);
        let _ = self.netpoll.set(Installed { netpoll: netpoll.clone(), any: netpoll.clone() });
        Ok((netpoll, true))
    }

    pub(crate) fn netpoll(&self) -> Option<&dyn Netpoll> {
        self.netpoll.get().map(|installed| &*installed.netpoll)
    }

    // ---- the sleeper's side ----

    /// Sleeps after `announce`, until `deadline` (`u64::MAX`: none) at the latest; returns what became ready.
    pub(crate) fn sleep(&self, local: &Local, deadline: u64, now: impl FnOnce() -> u64) -> Vec<Runnable> {
        local.machine.until.limit(deadline);
        let timeout = (deadline != u64::MAX).then(|| Duration::from_nanos(deadline.saturating_sub(now())));
        let ready = self.wait(local, timeout);
        local.machine.until.retract();
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

    // ---- for those who are awake ----

    /// Looks for ready descriptors, if there is a reactor and nobody else is inside it.
    pub(crate) fn look(&self, local: &Local) -> Vec<Runnable> {
        self.netpoll().and_then(|netpoll| self.poll(netpoll, local, Some(Duration::ZERO))).unwrap_or_default()
    }

    /// `None`: another thread polls.
    fn poll(&self, netpoll: &dyn Netpoll, local: &Local, timeout: Option<Duration>) -> Option<Vec<Runnable>> {
        if self.polling.load(Relaxed) || self.polling.swap(true, SeqCst) {
            // Only a look can find it taken for long; a sleeper at most meets a look that is about to end.
            return (timeout != Some(Duration::ZERO)).then(|| {
                thread::yield_now();
                Vec::new()
            });
        }
        // The call of whoever interrupted this machine may have been swallowed by the thread that was in here before.
        // From now on nobody else is, so a later one can't be missed.
        let is_look = timeout == Some(Duration::ZERO);
        let result = if is_look || local.machine.until.is_undisturbed() {
            local.collecting.set(true);
            let result = netpoll.poll(timeout);
            local.collecting.set(false);
            result
        } else {
            Ok(())
        };
        let ready = local.ready.take();
        self.polling.store(false, SeqCst);
        if result.is_err() && timeout != Some(Duration::ZERO) {
            // A broken poller must not become a busy loop, nor keep timers from firing.
            let limit = Duration::from_millis(1);
            thread::park_timeout(timeout.map_or(limit, |timeout| timeout.min(limit)));
        }
        Some(ready)
    }

    /// Wakes the sleeper, if it was not interrupted before. The caller has fenced after its reason.
    pub(crate) fn interrupt(&self, sleeper: &Machine) {
        if !sleeper.until.interrupt() {
            return;
        }
        if let Some(netpoll) = self.netpoll() {
            netpoll.wake();
        }
        // Also with a netpoll: it may have been installed after the sleeper went to sleep without one.
        sleeper.unpark();
    }

    /// A netpoll was installed while `sleeper` slept on its own.
    pub(crate) fn move_to_netpoll(&self, sleeper: &Machine) {
        sleeper.unpark();
    }
}

impl Installed {
    fn downcast<N: Netpoll>(&self) -> Arc<N> {
        let any = self.any.clone();
        any.downcast().unwrap_or_else(|_| panic!("another kind of netpoll is installed in this runtime"))
    }
}

impl std::fmt::Debug for Poller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poller")
            .field("installed", &self.netpoll.get().is_some())
            .field("polling", &self.polling.load(Relaxed))
            .finish()
    }
}
