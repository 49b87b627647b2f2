//! A machine: an operating system thread that can run tasks while it holds a processor.
//!
//! `Machine` is what other threads may see of it; `Local` is what only its own thread may touch. Machines come when a
//! processor has work and no thread, are kept as spares when theirs was taken, and leave after a keep-alive.

pub(crate) mod counters;
pub(crate) mod hog_poll;
pub(crate) mod offer;
pub(crate) mod ownership;
pub(crate) mod sleep_until;

use std::sync::OnceLock;
use std::time::Duration;

use crate::sched::state::machine::counters::TaskCounters;
use crate::sched::state::machine::offer::Offer;
use crate::sched::state::machine::ownership::{Ownership, ProcessorToken};
use crate::sched::state::machine::sleep_until::SleepUntil;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Mutex};
use crate::sys::thread_clock::ThreadClock;
use crate::sys::thread_state::{ThreadId, ThreadState};

#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) id: usize,
    pub(crate) ownership: Ownership,
    /// What the machine is to do when it wakes. Set by whoever took it off a list of `idle`, taken by the machine.
    assignment: Mutex<Option<Assignment>>,
    thread: OnceLock<OsThread>,
    /// SleepUntil when it sleeps in the poller.
    pub(crate) sleep_until: SleepUntil,
    /// Whether it is on the list of those that offer their processor.
    pub(in crate::sched) offer: Offer,
    pub(crate) counters: TaskCounters,
    /// The end of the runtime does not wait for it. Written by its own thread, read by whoever waits.
    pub(in crate::sched) not_awaited: AtomicBool,
    /// It may be inside a poll, and not in a blocking section of one. Written by its own thread, read by `last_poll`.
    pub(in crate::sched) may_poll: AtomicBool,
    /// How many want the thread to stay, whether there is work for it or not. Its own thread counts
    /// up, any counts down.
    dependants: AtomicUsize,
}

/// What a machine's thread is called by those who deal with it.
#[derive(Debug)]
struct OsThread {
    thread: Thread,
    clock: Option<ThreadClock>,
    id: Option<ThreadId>,
}

/// What a parked machine is woken for.
#[derive(Debug)]
pub(crate) enum Assignment {
    /// Run tasks with this processor; `spinning`: it was woken to look for work and counts as spinning.
    Run { token: ProcessorToken, spinning: bool },
    /// The runtime is shutting down.
    Exit,
}

impl Machine {
    pub(crate) fn new(id: usize) -> Arc<Machine> {
        Arc::new(Machine {
            id,
            ownership: Ownership::new(),
            assignment: Mutex::new(None),
            thread: OnceLock::new(),
            sleep_until: SleepUntil::new(),
            offer: Offer::new(),
            counters: TaskCounters::default(),
            not_awaited: AtomicBool::new(false),
            may_poll: AtomicBool::new(false),
            dependants: AtomicUsize::new(0),
        })
    }

    /// Called by the machine's own thread before anything else.
    pub(crate) fn bind(&self) {
        let bound = self.thread.set(OsThread {
            thread: thread::current(),
            clock: ThreadClock::of_current_thread(),
            id: ThreadId::of_current_thread(),
        });
        debug_assert!(bound.is_ok(), "a machine has one thread");
    }

    pub(crate) fn assign(&self, assignment: Assignment) {
        let before = self.assignment.lock().replace(assignment);
        debug_assert!(before.is_none(), "a machine is taken off a list by one thread");
    }

    pub(crate) fn unpark(&self) {
        // A machine that is not bound yet has not parked either: it looks at its assignment first.
        if let Some(this) = self.thread.get() {
            this.thread.unpark();
        }
    }

    pub(crate) fn take_assignment(&self) -> Option<Assignment> {
        self.assignment.lock().take()
    }

    /// Waits for an assignment; `None` after `limit`. Only for a machine that is on a list of `idle`.
    pub(crate) fn park(&self, limit: Option<Duration>) -> Option<Assignment> {
        if let Some(assignment) = self.take_assignment() {
            return Some(assignment);
        }
        match limit {
            None => thread::park(),
            Some(limit) => thread::park_timeout(limit),
        }
        self.take_assignment()
    }

    /// The thread does not end before the runtime until as many have let go.
    pub(crate) fn keep(&self) {
        self.dependants.fetch_add(1, SeqCst);
    }

    pub(crate) fn let_go(&self) {
        if self.dependants.fetch_sub(1, SeqCst) == 1 {
            // Its keep-alive may have passed.
            self.unpark();
        }
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.dependants.load(SeqCst) > 0
    }

    /// CPU time used by the machine's thread.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.thread.get().and_then(|this| this.clock).and_then(ThreadClock::read)
    }

    /// How long the machine's thread has been runnable, as far as the kernel says: what it has used of a core is the least.
    pub(crate) fn runnable_for(&self) -> Duration {
        let runnable = self.thread.get().and_then(|this| this.id).and_then(ThreadId::runnable_for);
        runnable.or_else(|| self.cpu_time()).unwrap_or_default()
    }

    /// What the kernel says that the machine's thread does; `None`: it does not say.
    pub(crate) fn state(&self) -> Option<ThreadState> {
        self.thread.get().and_then(|this| this.id).and_then(ThreadId::state)
    }
}

/// What a machine's thread does first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Birth {
    /// Its assignment is there already.
    Assigned,
    /// Somebody has set it aside and will assign something, or put it on the list of spares.
    Reserved,
    /// Looks for an idle processor by itself.
    Free,
}
