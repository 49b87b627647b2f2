//! A machine: an operating system thread that can run tasks while it holds a processor.
//!
//! `Machine` is what other threads may see of it; `Local` is what only its own thread may touch. Machines come when a
//! processor has work and no thread, are kept as spares when theirs was taken, and leave after a keep-alive.
#![allow(unsafe_code, reason = "vouches for owner proofs")]

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;
use std::time::Duration;

use super::deferred::Deferred;
use super::hogs::HogPoll;
use super::overdue::Offer;
use super::ownership::{Entry, Loss, Ownership, ProcessorToken, Region};
use super::poller::Until;
use super::processor::Processor;
use super::roster::TaskCounters;
use super::{Anchor, OwnerProof, Scheduler, handoff, last_poll};
use crate::runtime::context;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, Mutex};
use crate::sys::thread_clock::ThreadClock;
use crate::sys::thread_state::{ThreadId, ThreadState};
use crate::task::Runnable;

#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) id: usize,
    pub(crate) ownership: Ownership,
    /// What the machine is to do when it wakes. Set by whoever took it off a list of `idle`, taken by the machine.
    assignment: Mutex<Option<Assignment>>,
    thread: OnceLock<OsThread>,
    /// Until when it sleeps in the poller.
    pub(crate) until: Until,
    /// Whether it is on the list of those that offer their processor.
    pub(super) offer: Offer,
    pub(crate) counters: TaskCounters,
    /// The end of the runtime does not wait for it. Written by its own thread, read by whoever waits.
    pub(super) excused: AtomicBool,
    /// It may be inside a poll, and not in a blocking section of one. Written by its own thread, read by `last_poll`.
    pub(super) may_poll: AtomicBool,
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
            until: Until::new(),
            offer: Offer::new(),
            counters: TaskCounters::default(),
            excused: AtomicBool::new(false),
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

/// The machine's own side: lives on the stack of its thread.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) scheduler: Anchor,
    pub(crate) machine: Arc<Machine>,
    /// The thread inside `block_on` of the current-thread flavour: not on the roster.
    pub(crate) is_current_thread: bool,
    /// Counts as spinning in `idle`.
    pub(crate) spinning: Cell<bool>,
    /// The processor was taken during the poll under way, outside of a declared blocking section.
    pub(crate) lost: Cell<Option<Loss>>,
    /// Inside a declared blocking section: losing the processor is no offence.
    pub(crate) in_section: Cell<bool>,
    /// The machine is inside `Netpoll::poll`: tasks that become ready go into `ready`.
    pub(crate) collecting: Cell<bool>,
    /// Tasks that became ready, in order.
    pub(crate) ready: RefCell<Vec<Runnable>>,
    /// Who has yielded; on the current-thread flavour only.
    pub(crate) deferred: Deferred,
    /// The poll under way is one of a known hog, and this is how it began.
    pub(crate) hog: Cell<Option<HogPoll>>,
}

/// Inside scheduler code: until it is dropped the processor can't be taken.
pub(crate) struct InSched<'a> {
    local: &'a Local,
    back_to: Region,
}

/// A machine that holds a processor and is inside `Sched`.
pub(crate) struct Held<'a> {
    pub(crate) processor: &'a Processor,
    pub(crate) index: usize,
    pub(crate) proof: OwnerProof,
}

impl Local {
    /// Inside the poll of a task, and not in a blocking section of it.
    pub(crate) fn is_in_poll(&self) -> bool {
        self.enter().interrupted() == Region::Poll
    }

    /// The loss of the processor during the poll under way.
    pub(crate) fn loss(&self) -> Option<Loss> {
        if self.machine.ownership.is_claimed() {
            drop(self.enter());
        }
        self.lost.get()
    }

    pub(crate) fn new(scheduler: Arc<Scheduler>, machine: Arc<Machine>) -> Local {
        Local {
            is_current_thread: scheduler.config.is_current_thread(),
            scheduler: Anchor::new(scheduler),
            machine,
            spinning: Cell::new(false),
            lost: Cell::new(None),
            in_section: Cell::new(false),
            collecting: Cell::new(false),
            ready: RefCell::new(Vec::new()),
            deferred: Deferred::default(),
            hog: Cell::new(None),
        }
    }

    /// Takes a processor, which is busy from here on.
    pub(crate) fn acquire(&self, token: ProcessorToken) {
        let processor = &self.scheduler.processors[token.index()];
        processor.begin_busy(self.scheduler.clock.running_ns());
        processor.set_holder(&self.machine);
        self.machine.ownership.acquire(token);
    }

    /// Enters scheduler code from wherever the machine is.
    #[inline]
    pub(crate) fn enter(&self) -> InSched<'_> {
        let (back_to, entry) = self.machine.ownership.enter();
        self.note(entry);
        InSched { local: self, back_to }
    }

    #[inline]
    pub(crate) fn note(&self, entry: Entry) {
        if let Entry::Lost(loss) = entry {
            if !self.in_section.get() {
                self.lost.set(Some(loss));
            }
        }
    }
}

impl InSched<'_> {
    /// The processor, if the machine still has one.
    #[inline]
    pub(crate) fn held(&self) -> Option<Held<'_>> {
        let index = self.local.machine.ownership.holds()?;
        // SAFETY: `enter` made sure that the machine's processor can't be taken until this guard is dropped, and
        // `ownership` that no other machine holds it.
        let proof = unsafe { OwnerProof::new() };
        Some(Held { processor: &self.local.scheduler.processors[index], index, proof })
    }
}

impl InSched<'_> {
    /// Where the machine was before.
    pub(crate) fn interrupted(&self) -> Region {
        self.back_to
    }

    /// For the machine's own loop, which was in scheduler code before and stays there: nothing is to be done, and at every turn
    /// that counts. Elsewhere the processor could not be taken any more.
    #[inline]
    pub(crate) fn remain(self) {
        debug_assert_eq!(self.back_to, Region::Sched);
        std::mem::forget(self);
    }

    /// Leaves scheduler code for a blocking section, or for what was before one.
    pub(crate) fn into_section(self, region: Region) {
        self.local.machine.ownership.begin_section(region);
        std::mem::forget(self);
    }
}

impl Drop for InSched<'_> {
    #[inline]
    fn drop(&mut self) {
        self.local.machine.ownership.leave(self.back_to);
        if self.back_to == Region::Offered {
            handoff::offer_again(self.local);
        }
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

/// The body of a machine's thread.
pub(crate) fn run(scheduler: Arc<Scheduler>, machine: Arc<Machine>, birth: Birth) {
    machine.bind();
    crate::sys::timer_slack::minimise();
    last_poll::begin(&machine);
    let local = Local::new(scheduler, machine);
    context::as_machine(&local, |local| {
        super::run::run(local, birth);
        last_poll::leave(local);
    });
    local.scheduler.overdue.withdraw(&local.machine);
}
