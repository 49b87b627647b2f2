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
//! | `key`      | under the lock of the registry shard  | under that lock   |

use super::Id;
use super::registry::Registry;
use crate::sched::Anchor;
use crate::sync::atomic::{AtomicU8, AtomicU32, Ordering::*};

/// The scheduled form of a task. A linear token: it exists exactly while the task is scheduled, and whoever holds it
/// must run it, queue it, or [`cancel`](super::cancel) it.
pub(crate) type Runnable = async_task::Runnable<Header>;

#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) home: Home,
    pub(crate) id: Id,
    flags: AtomicU8,
    /// Where the registry lists this task, if [`LISTED`] is set.
    pub(super) key: AtomicU32,
}

/// Who runs a task, and where it goes when it is woken.
#[derive(Clone, Debug)]
pub(crate) enum Home {
    /// Any machine of this scheduler.
    Scheduler(Anchor),
}

impl Home {
    pub(crate) fn registry(&self) -> &Registry {
        match self {
            Home::Scheduler(scheduler) => scheduler.registry(),
        }
    }
}

/// The future is to be dropped instead of polled.
const ABORTED: u8 = 1;
/// The future has been dropped. Set once, by the drop itself; no listing is made from then on.
const FINISHED: u8 = 16;
/// The registry has an entry that points here. Set under the lock of the registry's shard and never taken back: the
/// entry goes when the future does. FINISHED and LISTED are bits of one word, so whoever comes second sees the first.
const LISTED: u8 = 32;
/// The body is a closure that may block: it counts against `max_blocking_threads`.
const CLOSURE: u8 = 2;
/// A processor had to be taken from a poll of this task while its thread slept in the kernel.
const BLOCKS: u8 = 4;
/// A processor had to be taken from a poll of this task while its thread was computing.
const BURNS: u8 = 8;

/// How a poll held on to its processor for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offence {
    /// The thread's CPU clock stood still.
    Blocked,
    /// The thread's CPU clock advanced.
    Burning,
}

/// What is special about the next poll of a task; `None` for nearly all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// Runs a blocking closure.
    Closure,
    /// An earlier poll was an offence.
    Known(Offence),
}

impl Header {
    pub(crate) fn new(home: Home, kind: Kind) -> Self {
        let flags = match kind {
            Kind::Future => 0,
            Kind::Closure => CLOSURE,
        };
        Header { home, id: Id::next(), flags: AtomicU8::new(flags), key: AtomicU32::new(0) }
    }

    /// Asks for the future to be dropped instead of polled. The caller must see to it that the task is scheduled.
    pub(crate) fn set_aborted(&self) {
        self.flags.fetch_or(ABORTED, AcqRel);
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.flags.load(Acquire) & ABORTED != 0
    }

    /// Announces an entry in the registry. Called under the lock of the registry's shard.
    pub(super) fn set_listed(&self) -> SetListed {
        let before = self.flags.fetch_or(LISTED, AcqRel);
        if before & FINISHED != 0 {
            SetListed::Finished
        } else if before & LISTED != 0 {
            SetListed::Already
        } else {
            SetListed::First
        }
    }

    /// Announces that the future is gone. Returns whether there is an entry in the registry to remove.
    #[must_use = "a listed task must leave the registry"]
    pub(super) fn set_finished(&self) -> bool {
        self.flags.fetch_or(FINISHED, AcqRel) & LISTED != 0
    }

    pub(crate) fn special(&self) -> Option<Special> {
        let flags = self.flags.load(Relaxed);
        if flags & (CLOSURE | BURNS | BLOCKS) == 0 {
            None
        } else if flags & CLOSURE != 0 {
            Some(Special::Closure)
        } else if flags & BURNS != 0 {
            Some(Special::Known(Offence::Burning))
        } else {
            Some(Special::Known(Offence::Blocked))
        }
    }

    pub(crate) fn remember(&self, offence: Offence) {
        let flag = match offence {
            Offence::Blocked => BLOCKS,
            Offence::Burning => BURNS,
        };
        self.flags.fetch_or(flag, Relaxed);
    }

    pub(crate) fn forgive(&self) {
        self.flags.fetch_and(!(BLOCKS | BURNS), Relaxed);
    }
}

#[must_use]
pub(super) enum SetListed {
    /// There was no entry yet: the caller makes it.
    First,
    /// There is an entry.
    Already,
    /// The future is gone: there must be no entry.
    Finished,
}

/// What the body of a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Future,
    Closure,
}
