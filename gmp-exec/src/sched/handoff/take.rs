//! Taking a processor from a machine that is stuck, and finding it another machine.

use crate::sched::run::Birth;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::idle::Reserved;
use crate::sched::state::machine::ownership::{ProcessorToken, Region, Take};
use crate::sched::state::machine::{Assignment, Machine};
use crate::sched::state::takeable::Note;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::task::Offence;

/// What became of an attempt to take a processor.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::sched) enum Retake {
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
    /// A submitter found no idle processor: takes one that is overdue, if there is one, and a machine for it. If there is no
    /// machine, what is written down stays: the first machine that comes back asks again (`retire::ask_once_more`).
    #[cold]
    pub(in crate::sched) fn take_overdue(self: &Arc<Self>) {
        while !self.idle.snapshot().is_exhausted() {
            let Some(note) = self.overdue.pop() else { return };
            match self.retake(&note) {
                // sysmon sees to it that a poll that is refused is not so for long.
                Retake::Stale | Retake::Refused => {}
                Retake::Done => return,
                Retake::NoMachine => {
                    self.overdue.put_back(note);
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
    pub(in crate::sched) fn retake(self: &Arc<Self>, note: &Note) -> Retake {
        if note.offence == Offence::Blocked {
            return self.retake_counted(note);
        }
        if !self.hogs.try_count() {
            return Retake::Refused;
        }
        self.retake_with_place(note)
    }

    /// The same from a machine that computes, although as many do without a processor as may.
    pub(in crate::sched) fn retake_over(self: &Arc<Self>, note: &Note) -> Retake {
        self.hogs.count_over();
        self.retake_with_place(note)
    }

    fn retake_with_place(self: &Arc<Self>, note: &Note) -> Retake {
        let retake = self.retake_counted(note);
        if retake != Retake::Done {
            self.give_hog_place_up();
        }
        retake
    }

    fn retake_counted(self: &Arc<Self>, note: &Note) -> Retake {
        let Some(reserved) = self.idle.reserve() else { return self.take_and_give_on(note) };
        let Some(heir) = self.prepare(reserved) else { return self.give_to_poller(note) };
        match self.overdue.take(note, self.clock.running_ns()) {
            Take::Refused => {
                self.idle.put_back(Reserved::Spare(heir));
                // Who came meanwhile found no machine.
                fence(SeqCst);
                if self.has_visible_work() {
                    self.wake_one_unfenced();
                }
                Retake::Stale
            }
            Take::Taken(token) => {
                self.note_taken(&token, note);
                heir.assign(Assignment::Run { token, spinning: false });
                fence(SeqCst);
                heir.unpark();
                Retake::Done
            }
        }
    }

    /// The system has no thread to give. A machine in the poller can do without a new one.
    fn give_to_poller(self: &Arc<Self>, note: &Note) -> Retake {
        if self.idle.has_poller() { self.take_and_give_on(note) } else { Retake::NoMachine }
    }

    /// Takes a processor first and finds out second who gets it: for nobody in particular, or for the machine in the poller,
    /// which leaves its seat only for a processor that is there already.
    fn take_and_give_on(self: &Arc<Self>, note: &Note) -> Retake {
        if self.is_shutdown() || self.idle.snapshot().is_exhausted() {
            return Retake::NoMachine;
        }
        match self.overdue.take(note, self.clock.running_ns()) {
            Take::Refused => Retake::Stale,
            Take::Taken(token) => {
                self.note_taken(&token, note);
                self.give_on(token);
                Retake::Done
            }
        }
    }

    /// Takes a processor that nothing waits for from a blocking section, so that nobody has to watch the section any
    /// longer. It becomes idle; a machine is found for it only if there is nobody in the poller.
    pub(in crate::sched) fn set_aside(self: &Arc<Self>, note: &Note) {
        if self.take_and_give_on(note) == Retake::Done {
            self.overdue.remove(&note.machine);
        }
    }

    fn note_taken(&self, token: &ProcessorToken, note: &Note) {
        let counters = &self.processors[token.index()].counters;
        match note.offence {
            Offence::Blocked => counters.taken_blocked.add_shared(1),
            Offence::Burning => counters.taken_burning.add_shared(1),
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
