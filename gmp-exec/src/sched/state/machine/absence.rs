//! The state of a poll that goes on without a processor: its turn, whether sysmon watches its
//! machine, and whether the poll holds a permit of hogs.
//!
//! | field       | written by                                        | read by |
//! |-------------|---------------------------------------------------|---------|
//! | `turn`      | a taker, the machine; only grows                  | sysmon  |
//! | `is_listed` | the thread that lists the machine; sysmon clears it | both    |
//! | `permit`    | takers, sysmon, the machine; every change by RMW  | all     |
//!
//! The steps of both sides are in sched/README.md §7, "Verdicts change". Orderings: the thread that
//! changes `permit` to 0 releases one permit, so its changes are decided by read-modify-writes. Two
//! SeqCst fences make sure that the machine, at the end of the poll, sees a permit that was given
//! to the poll late, or that the giver sees the end of the poll. `turn` and `is_listed` are ordered
//! by SeqCst fences, too.

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicU64, fence};

#[derive(Debug)]
pub(crate) struct Absence {
    /// The last turn that is known to go on, or to begin, without a processor, plus 1.
    turn: AtomicU64,
    is_listed: AtomicBool,
    /// The turn for which a permit is held, plus 1; 0: none.
    permit: AtomicU64,
}

impl Absence {
    pub(super) fn new() -> Absence {
        Absence { turn: AtomicU64::new(0), is_listed: AtomicBool::new(false), permit: AtomicU64::new(0) }
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

    /// Records that a permit is held for this turn, which may be under way. `false`: one is held
    /// already.
    #[must_use]
    pub(in crate::sched) fn give_permit(&self, turn: u64) -> bool {
        self.permit.compare_exchange(0, turn + 1, AcqRel, Relaxed).is_ok()
    }

    /// Takes the permit of this turn back. `true`: the caller has to release it.
    #[must_use]
    pub(in crate::sched) fn revoke_permit(&self, turn: u64) -> bool {
        self.permit.compare_exchange(turn + 1, 0, AcqRel, Relaxed).is_ok()
    }

    pub(in crate::sched) fn has_permit(&self, turn: u64) -> bool {
        self.permit.load(Relaxed) == turn + 1
    }

    /// The machine is about to begin this turn with a permit. `true`: sysmon has just given one to
    /// an earlier turn, which is over, and the machine has to release that one.
    #[must_use]
    pub(in crate::sched) fn bring_permit(&self, turn: u64) -> bool {
        self.permit.swap(turn + 1, AcqRel) != 0
    }

    /// The machine has ended a poll. `true`: it has to release one permit.
    #[must_use]
    pub(in crate::sched) fn take_permit(&self) -> bool {
        fence(SeqCst);
        self.permit.load(Relaxed) != 0 && self.permit.swap(0, AcqRel) != 0
    }
}
