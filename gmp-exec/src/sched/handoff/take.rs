//! Taking a processor from a machine that is stuck, and finding another machine for it (Go:
//! `retake`).
//!
//! `Ownership::take` decides whether the processor is taken; §3 of sched/README.md proves that this
//! is safe. `Takeable::take` calls it, under a lock that admits one taker at a time.

use crate::observe;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::idle::Reserved;
use crate::sched::state::machine::ownership::{ClaimResult, ProcessorToken, Region};
use crate::sched::state::machine::{Assignment, Birth, Machine};
use crate::sched::state::sysmon::calls;
use crate::sched::state::takeable::Note;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::task::StuckBy;

/// The outcome of an attempt to take a processor.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::sched) enum TakeOutcome {
    /// The processor has another machine.
    Done,
    /// The machine is no longer where it was seen to be stuck.
    Stale,
    /// The machine computes, and as many machines as allowed compute without a processor.
    Refused,
    /// No machine was available for the processor.
    NoMachine,
}

/// The steps of a take, once the machine may be without its processor.
type Take = fn(&Arc<Scheduler>, &Note) -> TakeOutcome;

/// What came of a look at the list of takeable processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sched) enum Retaken {
    /// A processor was taken, or can't be because no machine is available.
    Done,
    /// None of the listed machines holds a processor that may be taken.
    Nothing,
}

impl Scheduler {
    /// Offers a machine's processor to submitters. The machine has begun a section that will block.
    pub(in crate::sched) fn offer(self: &Arc<Self>, machine: &Arc<Machine>) {
        self.takeable.offer(machine);
        if self.has_visible_work() {
            self.retake_listed();
        }
    }

    /// Offers the processor again when the machine returns from scheduler code into such a section.
    /// A taker that came in between found the processor in use, and will not come again.
    #[cold]
    pub(in crate::sched) fn offer_again(self: &Arc<Self>, machine: &Arc<Machine>) {
        if machine.ownership.holds().is_some() {
            self.offer(machine);
        }
    }

    /// For a submitter that found no idle processor: takes a listed processor, if there is one, and
    /// finds a machine for it. If no machine is available, the entry stays listed, and the next
    /// machine that comes back asks again (`park::ask_once_more`).
    #[cold]
    pub(in crate::sched) fn retake_listed(self: &Arc<Self>) -> Retaken {
        while !self.idle.snapshot().is_exhausted() {
            let Some(note) = self.takeable.pop() else { return Retaken::Nothing };
            match self.retake(&note) {
                // A refusal is temporary: sysmon takes beyond the limit after a while.
                TakeOutcome::Stale | TakeOutcome::Refused => {}
                TakeOutcome::Done => break,
                TakeOutcome::NoMachine => {
                    self.takeable.put_back(note);
                    if !self.sysmon.starts.may_start_here() {
                        self.sysmon.calls.add(calls::START);
                    }
                    // A machine that came back before the entry was listed again has not seen it,
                    // and may be the machine that was missing.
                    fence(SeqCst);
                    if self.is_shutdown() || self.idle.snapshot().spares == 0 {
                        break;
                    }
                }
            }
        }
        Retaken::Done
    }

    /// Takes a processor from a stuck machine and gives it to another one. The other machine is
    /// found first, so that no processor is taken without a machine to run it.
    pub(in crate::sched) fn retake(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        self.take_if_permitted(note, Self::reserve_and_retake)
    }

    /// Takes a processor that nothing waits for, so that sysmon need not watch the poll or section
    /// any longer. The processor becomes idle, unless no machine sleeps in the netpoll: then a
    /// machine is found for it.
    pub(in crate::sched) fn take_to_idle(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        let outcome = self.take_if_permitted(note, Self::take_then_hand_off);
        if outcome == TakeOutcome::Done {
            self.takeable.remove(&note.machine);
        }
        outcome
    }

    /// A machine that computes keeps its processor if as many compute without one as may.
    fn take_if_permitted(self: &Arc<Self>, note: &Note, take: Take) -> TakeOutcome {
        if self.is_beyond_limit(note) { TakeOutcome::Refused } else { take(self, note) }
    }

    /// Whether the machine would compute without a processor although as many do so as may.
    fn is_beyond_limit(&self, note: &Note) -> bool {
        note.cause == StuckBy::Computing
            && self.hogs.is_exhausted()
            && !self.computing.is_computing(&note.machine, note.seen.turn())
    }

    /// [`Scheduler::retake`], although as many machines compute without a processor as may.
    pub(in crate::sched) fn retake_beyond_limit(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        self.reserve_and_retake(note)
    }

    /// The steps that all of the above share: finds the next machine, takes the processor, and
    /// assigns the processor to that machine. Without such a machine, only the sleeper can get it.
    fn reserve_and_retake(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        let Some(reserved) = self.idle.reserve() else { return self.take_then_hand_off(note) };
        let Some(next) = self.prepare(reserved) else { return self.take_for_sleeper(note) };
        match self.take_with_slice(note) {
            ClaimResult::Refused => {
                self.idle.put_back(Reserved::Spare(next));
                // A submitter that arrived while this machine was reserved may have found no spare.
                // Wake one for it.
                fence(SeqCst);
                if self.has_visible_work() {
                    self.wake_one_unfenced();
                }
                TakeOutcome::Stale
            }
            ClaimResult::Taken(token) => {
                self.note_taken(&token, note);
                next.assign(Assignment::Run { token, spinning: false });
                fence(SeqCst);
                next.unpark();
                TakeOutcome::Done
            }
        }
    }

    /// The system has no thread to give. If a machine sleeps in the netpoll, it can take the
    /// processor.
    fn take_for_sleeper(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        if self.idle.has_sleeper() { self.take_then_hand_off(note) } else { TakeOutcome::NoMachine }
    }

    /// Takes the processor before its next machine is known. Needed when the next machine is the
    /// one that sleeps in the netpoll, which wakes only for a processor that already exists, and
    /// when the processor is to become idle.
    fn take_then_hand_off(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        if self.is_shutdown() || self.idle.snapshot().is_exhausted() {
            return TakeOutcome::NoMachine;
        }
        match self.take_with_slice(note) {
            ClaimResult::Refused => TakeOutcome::Stale,
            ClaimResult::Taken(token) => {
                self.note_taken(&token, note);
                self.hand_off(token);
                TakeOutcome::Done
            }
        }
    }

    fn note_taken(self: &Arc<Self>, token: &ProcessorToken, note: &Note) {
        observe::on_take(self, token.index(), note);
        let counters = &self.processors[token.index()].counters;
        match note.cause {
            StuckBy::Blocking => counters.taken_blocked.add_shared(1),
            StuckBy::Computing => {
                counters.taken_computing.add_shared(1);
                self.computing.add_taken(&note.machine, note.seen.turn());
                self.count_computing();
                self.suspect_place_of(&note.machine, note.seen.turn());
            }
        }
        if note.seen.region == Region::Blocking {
            self.closures.length.note(true);
        }
        if note.seen.region == Region::Poll {
            self.sysmon.long_poll_was_taken.store(true, Relaxed);
            self.watch(&note.machine, note.seen.turn());
        }
        // No machine has looked at this processor's timers while it was stuck, and its next tasks
        // may get stuck, too.
        self.processors[token.index()].ask_for_look();
    }

    /// Starts the thread of a reserved machine if it has none. `None`: the system has no thread to
    /// give, or only sysmon may start one.
    fn prepare(self: &Arc<Self>, reserved: Reserved) -> Option<Arc<Machine>> {
        match reserved {
            Reserved::Spare(machine) => Some(machine),
            Reserved::Start { .. } if !self.sysmon.starts.may_start_here() => {
                self.idle.uncount_machine();
                None
            }
            Reserved::Start { id } => {
                let machine = Machine::new(id);
                match self.spawn_thread(&machine, Birth::Reserved) {
                    Ok(()) => Some(machine),
                    Err(error) => {
                        self.say_no_thread(&error);
                        self.idle.uncount_machine();
                        None
                    }
                }
            }
        }
    }
}
