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

use crate::netpoll::Netpoll;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;

pub(crate) struct NetpollGate {
    /// A thread is inside `Netpoll::poll`.
    pub(in crate::sched) polling: AtomicBool,
    netpoll: OnceLock<Installed>,
    /// Serialises installation.
    installing: StdMutex<()>,
}

struct Installed {
    netpoll: Arc<dyn Netpoll>,
    /// The same, to be handed out under its own type.
    any: Arc<dyn Any + Send + Sync>,
}

impl NetpollGate {
    pub(crate) fn new() -> NetpollGate {
        NetpollGate { polling: AtomicBool::new(false), netpoll: OnceLock::new(), installing: StdMutex::new(()) }
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

    /// Wakes the sleeper, if it was not interrupted before. The caller has fenced after its reason.
    pub(crate) fn interrupt(&self, sleeper: &Machine) {
        if !sleeper.sleep_until.interrupt() {
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

impl std::fmt::Debug for NetpollGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetpollGate")
            .field("installed", &self.netpoll.get().is_some())
            .field("polling", &self.polling.load(Relaxed))
            .finish()
    }
}
