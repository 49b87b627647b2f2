//! Taking a processor from a machine that is stuck, and finding it another machine.

use crate::sched::scheduler::Scheduler;
use crate::sched::state::idle::Reserved;
use crate::sched::state::machine::ownership::{ClaimResult, ProcessorToken, Region};
use crate::sched::state::machine::{Assignment, Birth, Machine};
use crate::sched::state::takeable::Note;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::task::StuckBy;

/// What became of an attempt to take a processor.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::sched) enum TakeOutcome {
    /// It has another machine.
    Done,
    /// The machine is not stuck there any more.
    Stale,
    /// It computes, and as many do without a processor as may.
    Refused,
    /// Nobody was to be had for it.
    NoMachine,
}

impl Scheduler {
    /// Offers a machine's processor to submitters. The machine has begun a section that will block.
    pub(in crate::sched) fn offer(self: &Arc<Self>, machine: &Arc<Machine>) {
        self.takeable.offer(machine);
        if self.has_visible_work() {
            self.retake_listed();
        }
    }

    /// Offers the processor again when the machine returns from scheduler code into such a section: a taker that came in
    /// between found the processor in use, and will not come again.
    #[cold]
    pub(in crate::sched) fn offer_again(self: &Arc<Self>, machine: &Arc<Machine>) {
        if machine.ownership.holds().is_some() {
            self.offer(machine);
        }
    }

    /// A submitter found no idle processor: takes one that is overdue, if there is one, and a machine for it. If there is no
    /// machine, what is written down stays: the first machine that comes back asks again (`retire::ask_once_more`).
    #[cold]
    pub(in crate::sched) fn retake_listed(self: &Arc<Self>) {
        while !self.idle.snapshot().is_exhausted() {
            let Some(note) = self.takeable.pop() else { return };
            match self.retake(&note) {
                // sysmon sees to it that a poll that is refused is not so for long.
                TakeOutcome::Stale | TakeOutcome::Refused => {}
                TakeOutcome::Done => return,
                TakeOutcome::NoMachine => {
                    self.takeable.put_back(note);
                    // Who came back meanwhile has not seen it, and may be the machine that was missing.
                    fence(SeqCst);
                    if self.is_shutdown() || self.idle.snapshot().spares == 0 {
                        return;
                    }
                }
            }
        }
    }

    /// Takes a processor from a stuck machine and gets it another one. The other one is found first: a processor must
    /// not be taken for nobody.
    pub(in crate::sched) fn retake(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        if note.cause == StuckBy::Blocking {
            return self.reserve_and_retake(note);
        }
        if !self.hogs.try_acquire() {
            return TakeOutcome::Refused;
        }
        self.retake_with_permit(note)
    }

    /// The same from a machine that computes, although as many do without a processor as may.
    pub(in crate::sched) fn retake_beyond_limit(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        self.hogs.acquire_extra();
        self.retake_with_permit(note)
    }

    fn retake_with_permit(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        let retake = self.reserve_and_retake(note);
        if retake != TakeOutcome::Done {
            self.release_hog_permit();
        }
        retake
    }

    fn reserve_and_retake(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        let Some(reserved) = self.idle.reserve() else { return self.take_then_hand_off(note) };
        let Some(heir) = self.prepare(reserved) else { return self.take_for_sleeper(note) };
        match self.takeable.take(note, self.clock.running_ns()) {
            ClaimResult::Refused => {
                self.idle.put_back(Reserved::Spare(heir));
                // Who came meanwhile found no machine.
                fence(SeqCst);
                if self.has_visible_work() {
                    self.wake_one_unfenced();
                }
                TakeOutcome::Stale
            }
            ClaimResult::Taken(token) => {
                self.note_taken(&token, note);
                heir.assign(Assignment::Run { token, spinning: false });
                fence(SeqCst);
                heir.unpark();
                TakeOutcome::Done
            }
        }
    }

    /// The system has no thread to give. A machine in the poller can do without a new one.
    fn take_for_sleeper(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        if self.idle.has_sleeper() { self.take_then_hand_off(note) } else { TakeOutcome::NoMachine }
    }

    /// Takes a processor first and finds out second who gets it: for nobody in particular, or for the machine in the poller,
    /// which leaves its seat only for a processor that is there already.
    fn take_then_hand_off(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        if self.is_shutdown() || self.idle.snapshot().is_exhausted() {
            return TakeOutcome::NoMachine;
        }
        match self.takeable.take(note, self.clock.running_ns()) {
            ClaimResult::Refused => TakeOutcome::Stale,
            ClaimResult::Taken(token) => {
                self.note_taken(&token, note);
                self.hand_off(token);
                TakeOutcome::Done
            }
        }
    }

    /// Takes a processor that nothing waits for from a blocking section, so that nobody has to watch the section any
    /// longer. It becomes idle; a machine is found for it only if there is nobody in the poller.
    pub(in crate::sched) fn take_to_idle(self: &Arc<Self>, note: &Note) {
        if self.take_then_hand_off(note) == TakeOutcome::Done {
            self.takeable.remove(&note.machine);
        }
    }

    fn note_taken(&self, token: &ProcessorToken, note: &Note) {
        let counters = &self.processors[token.index()].counters;
        match note.cause {
            StuckBy::Blocking => counters.taken_blocked.add_shared(1),
            StuckBy::Computing => counters.taken_computing.add_shared(1),
        }
        if note.seen.region == Region::Blocking {
            self.closures.length.note(true);
        }
        // Nobody has looked at its timers while it was stuck, and its next tasks may get stuck, too.
        self.processors[token.index()].ask_for_look();
    }

    /// Makes a reserved machine real. `None`: the system has no thread to give.
    fn prepare(self: &Arc<Self>, reserved: Reserved) -> Option<Arc<Machine>> {
        match reserved {
            Reserved::Spare(machine) => Some(machine),
            Reserved::Start { id } => {
                let machine = Machine::new(id);
                match self.spawn_thread(&machine, Birth::Reserved) {
                    Ok(()) => Some(machine),
                    Err(_) => {
                        self.idle.uncount_machine();
                        None
                    }
                }
            }
        }
    }
}
