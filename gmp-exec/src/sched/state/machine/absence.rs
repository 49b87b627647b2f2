//! The state of a poll that goes on without a processor: its turn, whether sysmon watches its
//! machine, whether the poll has a permit of hogs, and whether it is over.
//!
//! | field       | written by                                          | read by            |
//! |-------------|-----------------------------------------------------|--------------------|
//! | `turn`      | a taker, the machine; only grows                    | sysmon             |
//! | `is_listed` | the thread that lists the machine; sysmon clears it | both               |
//! | `permitted` | the machine                                         | takers, sysmon     |
//! | `ended`     | the machine                                         | `state::computing` |
//!
//! `turn` and `is_listed` are ordered by SeqCst fences. `permitted` and `ended` only help to count
//! polls that compute, so a thread may read an old value: sysmon's next look counts again.

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicU64, fence};

#[derive(Debug)]
pub(crate) struct Absence {
    /// The last turn that is known to go on, or to begin, without a processor, plus 1.
    turn: AtomicU64,
    is_listed: AtomicBool,
    /// The last turn for which the machine holds, or has held, a permit, plus 1; 0: none.
    permitted: AtomicU64,
    /// The last turn without a processor that is known to be over, plus 1; 0: none.
    ended: AtomicU64,
}

impl Absence {
    pub(super) fn new() -> Absence {
        Absence {
            turn: AtomicU64::new(0),
            is_listed: AtomicBool::new(false),
            permitted: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }
    }

    /// This turn is without a processor until it ends. Returns whether the caller has to list the
    /// machine.
    #[must_use]
    pub(in crate::sched) fn begin(&self, turn: u64) -> bool {
        self.turn.fetch_max(turn + 1, AcqRel);
        fence(SeqCst);
        !self.is_listed.load(Relaxed) && !self.is_listed.swap(true, AcqRel)
    }

    /// The last turn without a processor, which may be over.
    pub(in crate::sched) fn turn(&self) -> Option<u64> {
        self.turn.load(Acquire).checked_sub(1)
    }

    /// sysmon no longer watches the machine, because this turn is over. `false`: another one has
    /// begun, and no other thread will list the machine for it.
    #[must_use]
    pub(in crate::sched) fn unlist(&self, seen: Option<u64>) -> bool {
        self.is_listed.store(false, Relaxed);
        fence(SeqCst);
        self.turn() == seen || self.is_listed.swap(true, AcqRel)
    }

    /// The machine is about to begin this turn with a permit.
    pub(in crate::sched) fn bring_permit(&self, turn: u64) {
        self.permitted.store(turn + 1, Relaxed);
    }

    pub(in crate::sched) fn has_permit(&self, turn: u64) -> bool {
        self.permitted.load(Relaxed) == turn + 1
    }

    /// The machine has ended a poll without a processor.
    pub(in crate::sched) fn end(&self, turn: u64) {
        self.ended.store(turn + 1, Relaxed);
    }

    pub(in crate::sched) fn has_ended(&self, turn: u64) -> bool {
        self.ended.load(Relaxed) == turn + 1
    }
}
