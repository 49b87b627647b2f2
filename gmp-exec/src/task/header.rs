//! What the scheduler knows of a task: async-task's metadata.
//!
//! A task is one allocation of async-task: its state word, this header, and the future or its output. The header must
//! answer "where do I go when I am woken?" without a captured schedule function (a capturing one costs a waker clone
//! per schedule: measured 9 ns a yield), so the schedule function is a zero-sized type and the way home is a field.
//!
//! | field      | who writes                            | who reads         |
//! |------------|---------------------------------------|-------------------|
//! | `home`     | nobody after `new`                    | anybody           |
//! | `id`       | nobody after `new`                    | anybody           |
//! | `flags`    | anybody, by `fetch_or` / `fetch_and`  | anybody           |
//! | `short_polls` | the machine that polls the task    | that machine      |
//! | `listing`  | see [`Listing`]                       | as written        |
//! | `key`      | under the lock of the registry shard  | under that lock   |

use super::Id;
use super::at_shutdown::AtShutdown;
use super::local_set::LocalHome;
use super::registry::Registry;
use crate::context;
use crate::sched::SchedulerRef;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU8, AtomicU32};

/// The scheduled form of a task. A linear token: it exists exactly while the task is scheduled, and whoever holds it
/// must run it, queue it, or [`cancel`](super::cancel) it.
pub(crate) type Runnable = async_task::Runnable<Header>;

#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) home: Home,
    pub(crate) id: Id,
    flags: AtomicU8,
    /// Short polls in a row, of a task that is known for long ones.
    short_polls: AtomicU8,
    pub(super) listing: Listing,
    /// Where the registry lists this task, if it does.
    pub(super) key: AtomicU32,
}

/// Whether the registry has an entry that points here, and whether the future is gone.
///
/// A task that has waited is listed, and everything about it happens under the lock of its shard. A task that has never
/// waited ends without that lock, while an abort handle may be about to list it: both change this word by RMW, so
/// whoever comes second sees the first. An entry goes when the future does, and none is made afterwards.
#[derive(Debug)]
pub(super) struct Listing(AtomicU8);

const UNLISTED: u8 = 0;
const LISTED: u8 = 1;
const FINISHED: u8 = 2;

impl Listing {
    /// The task is about to wait; it can't finish meanwhile. Under the shard's lock. Whether an entry must be made.
    pub(super) fn wait(&self) -> bool {
        let is_new = self.0.load(Relaxed) == UNLISTED;
        self.0.store(LISTED, Relaxed);
        is_new
    }

    /// An abort handle wants an entry. Under the shard's lock.
    pub(super) fn list(&self) -> List {
        match self.0.compare_exchange(UNLISTED, LISTED, AcqRel, Acquire) {
            Ok(_) => List::New,
            Err(LISTED) => List::Already,
            Err(_) => List::Finished,
        }
    }

    /// The future of a task that has never waited is gone. Whether there is an entry to remove.
    #[must_use = "a listed task must leave the registry"]
    pub(super) fn finish(&self) -> bool {
        self.0.swap(FINISHED, AcqRel) == LISTED
    }

    /// The entry has been removed. Under the shard's lock.
    pub(super) fn removed(&self) {
        self.0.store(FINISHED, Relaxed);
    }
}

#[must_use]
pub(super) enum List {
    /// There was no entry yet: the caller makes it.
    New,
    /// There is an entry.
    Already,
    /// The future is gone: there must be no entry.
    Finished,
}

/// Who runs a task, and where it goes when it is woken.
#[derive(Clone, Debug)]
pub(crate) enum Home {
    /// Any machine of this scheduler.
    Scheduler(SchedulerRef),
    /// The thread of this `LocalSet`, and no other.
    Local(Arc<LocalHome>),
}

impl Home {
    pub(super) fn count_finished(&self) {
        match self {
            Home::Scheduler(scheduler) => context::count(scheduler, |counters| &counters.finished),
            Home::Local(home) => home.count_finished(),
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
        match self {
            Home::Scheduler(scheduler) => scheduler.registry(),
            Home::Local(home) => home.registry(),
        }
    }
}

/// The future is to be dropped instead of polled.
const ABORTED: u8 = 1;
/// The body is a closure that may block: it counts against `max_blocking_threads`.
const CLOSURE: u8 = 2;
/// A poll of this task held on to its thread by sleeping in the kernel.
const BLOCKS: u8 = 4;
/// A poll of this task held on to its thread by computing.
const COMPUTES: u8 = 8;
/// The closure runs even if the runtime ends before it has begun.
const FINISHES: u8 = 16;
/// The end of the runtime does not wait for the closure once it runs.
const ABANDONED: u8 = 32;

/// The task has waited in line for a place (`sched::admission`), and has got one.
const HAS_PERMIT: u8 = 64;

/// So many short polls in a row end a task's bad reputation. More than one: a connection whose requests block now and then
/// has short polls in between, and each poll that blocks as a stranger costs others a look of sysmon's. Not many more: each
/// of them costs a change of threads.
const SHORT_POLLS: u8 = 8;

/// How a poll held on to its thread for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StuckBy {
    /// The thread slept in the kernel.
    Blocking,
    /// The thread computed.
    Computing,
}

/// What is special about the next poll of a task; `None` for nearly all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// Runs a blocking closure.
    Closure,
    /// An earlier poll was an cause.
    Hog(StuckBy),
}

impl Header {
    pub(crate) fn new(home: Home, kind: Kind) -> Self {
        let flags = match kind {
            Kind::Future => 0,
            Kind::Closure(AtShutdown::Wait) => CLOSURE,
            Kind::Closure(AtShutdown::Finish) => CLOSURE | FINISHES,
            Kind::Closure(AtShutdown::Abandon) => CLOSURE | ABANDONED,
        };
        Header {
            home,
            id: Id::next(),
            flags: AtomicU8::new(flags),
            short_polls: AtomicU8::new(0),
            listing: Listing(AtomicU8::new(UNLISTED)),
            key: AtomicU32::new(0),
        }
    }

    /// Asks for the future to be dropped instead of polled. The caller must see to it that the task is scheduled.
    pub(crate) fn set_aborted(&self) {
        self.flags.fetch_or(ABORTED, AcqRel);
    }

    #[inline]
    pub(crate) fn is_aborted(&self) -> bool {
        self.flags.load(Acquire) & ABORTED != 0
    }

    #[inline]
    pub(crate) fn special(&self) -> Option<Special> {
        let flags = self.flags.load(Relaxed);
        if flags & (CLOSURE | COMPUTES | BLOCKS) == 0 {
            None
        } else if flags & CLOSURE != 0 {
            Some(Special::Closure)
        } else if flags & ABORTED != 0 {
            // Its future is only dropped.
            None
        } else if flags & COMPUTES != 0 {
            Some(Special::Hog(StuckBy::Computing))
        } else {
            Some(Special::Hog(StuckBy::Blocking))
        }
    }

    pub(super) fn is_closure(&self) -> bool {
        self.flags.load(Relaxed) & CLOSURE != 0
    }

    /// Whether the end of the runtime must not drop the closure. An abort still does.
    pub(crate) fn must_finish(&self) -> bool {
        self.flags.load(Acquire) & (FINISHES | ABORTED) == FINISHES
    }

    /// Whether it is a closure that the end of the runtime runs if it can.
    pub(crate) fn may_run_at_end(&self) -> bool {
        self.flags.load(Acquire) & (CLOSURE | ABANDONED | ABORTED) == CLOSURE
    }

    pub(crate) fn may_be_abandoned(&self) -> bool {
        self.flags.load(Relaxed) & ABANDONED != 0
    }

    /// A poll of the task has held on to its thread. The last one says how the next one probably will.
    pub(crate) fn mark_hog(&self, cause: StuckBy) {
        let (flag, other) = match cause {
            StuckBy::Blocking => (BLOCKS, COMPUTES),
            StuckBy::Computing => (COMPUTES, BLOCKS),
        };
        self.short_polls.store(0, Relaxed);
        self.flags.fetch_and(!other, Relaxed);
        self.flags.fetch_or(flag, Relaxed);
    }

    /// A poll of a task that is known for long ones was short.
    pub(crate) fn note_short_poll(&self) {
        let in_a_row = self.short_polls.load(Relaxed) + 1;
        self.short_polls.store(in_a_row, Relaxed);
        if in_a_row >= SHORT_POLLS {
            self.short_polls.store(0, Relaxed);
            self.flags.fetch_and(!(BLOCKS | COMPUTES), Relaxed);
        }
    }

    /// Whether the task may wait in line for the right to compute.
    pub(super) fn may_wait_for_permit(&self) -> bool {
        self.flags.load(Relaxed) & COMPUTES != 0
    }

    /// The task got a place while it waited for one. Called by who takes it out of the line.
    pub(crate) fn give_permit(&self) {
        self.flags.fetch_or(HAS_PERMIT, Relaxed);
    }

    /// Whether the task has a place already. From now on its place is the caller's to give up.
    pub(crate) fn take_permit(&self) -> bool {
        self.flags.load(Relaxed) & HAS_PERMIT != 0 && self.flags.fetch_and(!HAS_PERMIT, Relaxed) & HAS_PERMIT != 0
    }
}

/// What the body of a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Future,
    Closure(AtShutdown),
}
