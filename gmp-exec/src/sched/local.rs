//! A machine's own side: data that only its own thread may touch, and entering scheduler code. Until the
//! machine leaves that again, its processor can't be taken.
#![allow(unsafe_code, reason = "makes owner proofs")]

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::time::Instant;

use crate::context;
use crate::observe::{self, Tap};
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::state::deferred::Deferred;
use crate::sched::state::machine::ownership::{Loss, ProcessorToken, Region};
use crate::sched::state::machine::{Assignment, Machine};
use crate::sched::state::processor::Processor;
use crate::sched::state::processor::local_queue::OwnerProof;
use crate::sched::state::unusual::{CROWDED, SPINS, Unusual};
use crate::sync::Arc;
use crate::sys::thread_state::RunnableTime;
use crate::task::Runnable;

/// What a machine does next.
#[must_use]
pub(crate) enum Next {
    /// Looks for work, with a processor if one was free.
    Look,
    /// Runs a task that was found.
    Run(Runnable),
    /// Ends its thread.
    Exit,
}

/// The moment at which the poll of a known hog began, and the state of its thread then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HogPoll {
    pub(in crate::sched) at: Instant,
    /// How long the machine's thread had been runnable by then.
    pub(in crate::sched) runnable: RunnableTime,
    /// Where the task was spawned, if it has never waited.
    pub(in crate::sched) first_of: Option<&'static Location<'static>>,
}

/// The machine's own side, on the stack of its thread.
pub(crate) struct Local {
    pub(crate) scheduler: SchedulerRef,
    pub(crate) machine: Arc<Machine>,
    /// The thread inside `block_on` of the current-thread flavour, which is not in `all_machines`.
    pub(crate) is_current_thread: bool,
    /// Whether a task that the machine queues goes into `runnext`. Elsewhere the task goes to the end of
    /// the queue, which spills over to the processor itself on the current-thread flavour.
    pub(crate) has_runnext: bool,
    /// Why a poll or a submission takes its slow path.
    pub(crate) unusual: Unusual,
    /// The processor that the machine has acquired last.
    pub(crate) last_processor: Cell<usize>,
    /// The last turn whose budget was used up.
    forced_at: Cell<u64>,
    /// The loss of the processor during the poll under way, outside of a declared blocking section.
    pub(crate) lost_by: Cell<Option<Loss>>,
    /// Whether the machine is inside a declared blocking section. A loss in there says nothing
    /// about the task.
    pub(crate) in_section: Cell<bool>,
    /// Tasks that became ready inside `Netpoll::poll`, in order.
    pub(crate) ready: RefCell<Vec<Runnable>>,
    /// Wakers of futures that have yielded; on the current-thread flavour only.
    pub(crate) deferred: Deferred,
    /// How the poll under way began, if it is the poll of a known hog.
    pub(crate) hog: Cell<Option<HogPoll>>,
    /// For those that observe the machine.
    pub(crate) tap: Tap,
}

impl Local {
    /// Whether the machine is inside the poll of a task, and not in a blocking section of it.
    pub(crate) fn is_in_poll(&self) -> bool {
        self.enter().came_from == Region::Poll
    }

    /// The loss of the processor during the poll under way.
    pub(crate) fn loss(&self) -> Option<Loss> {
        if self.machine.ownership.is_claimed() {
            drop(self.enter());
        }
        self.lost_by.get()
    }

    pub(crate) fn new(scheduler: Arc<Scheduler>, machine: Arc<Machine>) -> Local {
        Local {
            is_current_thread: scheduler.config.is_current_thread(),
            unusual: Unusual::new(scheduler.observers.unusual()),
            tap: Tap::new(&scheduler.observers),
            last_processor: Cell::new(0),
            has_runnext: scheduler.config.has_runnext,
            scheduler: SchedulerRef::new(scheduler),
            machine,
            forced_at: Cell::new(u64::MAX),
            lost_by: Cell::new(None),
            in_section: Cell::new(false),
            ready: RefCell::new(Vec::new()),
            deferred: Deferred::default(),
            hog: Cell::new(None),
        }
    }

    /// Takes possession of a processor, which is busy from here on.
    #[doc(alias = "acquirep")]
    pub(crate) fn acquire(&self, token: ProcessorToken) {
        self.scheduler.processors[token.index()].set_holder(&self.machine);
        self.begin_busy(token.index());
        self.acquire_again(token);
    }

    /// The processor is busy from here on.
    pub(in crate::sched) fn begin_busy(&self, index: usize) {
        self.scheduler.processors[index].busy.begin(self.scheduler.clock.running_ns());
    }

    /// Acquires the processor whose last holder the machine is. The processor is not busy yet.
    pub(crate) fn acquire_again(&self, token: ProcessorToken) {
        self.last_processor.set(token.index());
        observe::on_acquire(self, token.index());
        self.machine.ownership.acquire(token);
    }

    /// The budget of the poll under way is used up. A poll with several futures is counted once.
    pub(crate) fn count_forced_yield(&self) {
        let turn = self.machine.ownership.turn();
        if self.forced_at.replace(turn) != turn {
            context::outside(&self.scheduler).forced_yields.add_shared(1);
        }
    }

    /// Acts on the assignment that the machine was woken for.
    pub(crate) fn accept(&self, assignment: Assignment) -> Next {
        match assignment {
            Assignment::Run { token, spinning } => {
                self.acquire(token);
                self.unusual.set(SPINS, spinning);
                self.unusual.set(CROWDED, self.scheduler.suspects.is_any());
                Next::Look
            }
            Assignment::Exit => Next::Exit,
        }
    }

    #[inline]
    pub(crate) fn record_loss(&self, loss: Option<Loss>) {
        if let Some(loss) = loss {
            if !self.in_section.get() {
                self.lost_by.set(Some(loss));
            }
        }
    }
}

/// Inside scheduler code: until the guard is dropped, the processor can't be taken.
pub(crate) struct InScheduler<'a> {
    local: &'a Local,
    /// The region that the machine was in before.
    pub(crate) came_from: Region,
}

/// A machine that holds a processor and is inside `Region::Scheduler`.
pub(crate) struct Held<'a> {
    pub(crate) processor: &'a Processor,
    pub(crate) index: usize,
    pub(crate) proof: OwnerProof,
}

impl Local {
    /// Enters scheduler code, from whichever region the machine is in.
    #[inline]
    pub(crate) fn enter(&self) -> InScheduler<'_> {
        let (came_from, loss) = self.machine.ownership.enter();
        self.record_loss(loss);
        InScheduler { local: self, came_from }
    }

    /// The processor. `None`: the machine holds none, or is not in scheduler code. For the machine's
    /// own loop, which stays there: to enter and leave would cost instructions on every turn.
    #[inline]
    pub(crate) fn held(&self) -> Option<Held<'_>> {
        if self.machine.ownership.region() == Region::Scheduler { self.held_here() } else { None }
    }

    /// The same for a caller in scheduler code.
    #[inline]
    fn held_here(&self) -> Option<Held<'_>> {
        let index = self.machine.ownership.holds()?;
        // SAFETY: in scheduler code the machine's processor can't be taken, and `ownership` makes sure
        // that no other machine holds it.
        let proof = unsafe { OwnerProof::new() };
        Some(Held { processor: &self.scheduler.processors[index], index, proof })
    }
}

impl InScheduler<'_> {
    /// The processor, if the machine still holds one.
    #[inline]
    pub(crate) fn held(&self) -> Option<Held<'_>> {
        self.local.held_here()
    }

    /// Leaves scheduler code for a blocking section, or returns to the region around one.
    pub(crate) fn leave_for(self, region: Region) {
        self.local.machine.ownership.begin_section(region);
        std::mem::forget(self);
    }
}

impl Drop for InScheduler<'_> {
    #[inline]
    fn drop(&mut self) {
        self.local.machine.ownership.leave(self.came_from);
    }
}
