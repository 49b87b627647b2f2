//! The netpoll of a runtime, with a gate that admits one thread at a time.
//!
//! One idle machine, the sleeper, sleeps until the earliest timer: in the netpoll if one is
//! installed, else parked. There is at most one sleeper, so that a ready descriptor wakes one
//! thread and a new timer interrupts one. `Idle` knows which machine is the sleeper; its
//! `SleepUntil` knows until when it sleeps. Going to sleep races with giving a reason not to sleep:
//!
//! ```text
//! sleeper:  sleep_until = FOREVER             │  interrupter:  assign / set a timer / publish
//!           SeqCst fence                      │                SeqCst fence
//!           any assignment, timer, work?      │                sleep_until later than the reason?
//!           sleep_until: FOREVER → earliest   │                  yes: sleep_until → AWAKE (swap),
//!                        (CAS)                │                       wake the sleeper
//! ```
//!
//! Either the sleeper sees the reason, or the interrupter sees that a machine sleeps. The wake-up
//! itself is sticky. Each machine has its own `sleep_until`: while a machine that was woken is
//! still leaving the netpoll, the next sleeper may already announce itself, and neither must
//! overwrite the other's word.

use std::any::Any;
use std::io;
use std::sync::{Mutex as StdMutex, OnceLock};

use crate::netpoll::Netpoll;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sync::atomic::AtomicBool;

#[derive(Default)]
pub(crate) struct NetpollGate {
    /// A thread is inside `Netpoll::poll`.
    pub(in crate::sched) polling: AtomicBool,
    netpoll: OnceLock<Installed>,
    /// Serialises installation.
    installing: StdMutex<()>,
}

struct Installed {
    netpoll: Arc<dyn Netpoll>,
    /// The same netpoll, to be returned as its own type.
    any: Arc<dyn Any + Send + Sync>,
}

impl NetpollGate {
    /// The installed netpoll, or a new one. The second value says whether this call has installed
    /// it.
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

    /// Wakes the sleeper, unless it was interrupted before. The caller has made a SeqCst fence
    /// after its reason.
    #[doc(alias = "netpollBreak")]
    pub(crate) fn interrupt(&self, sleeper: &Machine) {
        if !sleeper.sleep_until.interrupt() {
            return;
        }
        if let Some(netpoll) = self.netpoll() {
            netpoll.wake();
        }
        // Also with a netpoll: it may have been installed after the sleeper parked without it.
        sleeper.unpark();
    }
}

impl Installed {
    fn downcast<N: Netpoll>(&self) -> Arc<N> {
        let any = self.any.clone();
        any.downcast().unwrap_or_else(|_| panic!("another kind of netpoll is installed in this runtime"))
    }
}
