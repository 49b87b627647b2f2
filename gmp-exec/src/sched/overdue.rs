//! Machines whose processor could be taken, but for which nothing was waiting.
//!
//! sysmon leaves a processor with its stuck machine while there is nothing to do (taking it would be pure overhead, Go
//! #60693), and a blocking section keeps its processor while nobody needs it. Both are written down here, and the next
//! submitter that finds no idle processor takes one. What is written may be stale, and taking checks for it:
//!
//! - sysmon's *note* names a poll.
//! - A machine's *offer* stands for every section that it begins, also when none is under way: a loop of short sections
//!   would otherwise lock the list twice in each. It ends when a taker has come for it, in vain or not.

use super::idle::Reserved;
use super::machine::{Assignment, Birth, Machine};
use super::ownership::{Loss, ProcessorToken, Region, Sighting, Take};
use super::scheduler::Scheduler;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicUsize, fence};
use crate::sync::{Arc, Mutex};
use crate::task::Offence;

#[derive(Debug)]
pub(crate) struct Overdue {
    /// Length of the lists, readable without the lock.
    count: AtomicUsize,
    /// Also serialises takers: the ownership protocol allows one at a time.
    lists: Mutex<Lists>,
}

#[derive(Debug, Default)]
struct Lists {
    notes: Vec<Note>,
    /// The machines whose `offer` stands.
    offers: Vec<Arc<Machine>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) machine: Arc<Machine>,
    pub(crate) seen: Sighting,
    pub(crate) offence: Offence,
}

/// Whether a machine is on the list of those that offer their processor. (README, "Overdue".)
///
/// Set by the machine, cleared by a taker, both under the lock of the lists. The machine reads it without: between its own
/// change of region and this look, and between a taker's clearing and its look at the region, is a SeqCst fence.
#[derive(Debug)]
pub(crate) struct Offer(AtomicBool);

impl Offer {
    pub(crate) fn new() -> Offer {
        Offer(AtomicBool::new(false))
    }

    /// Asked by the machine itself, after it has changed its region and fenced.
    #[inline]
    fn stands(&self) -> bool {
        self.0.load(Relaxed)
    }

    fn set(&self, stands: bool) {
        self.0.store(stands, Relaxed);
    }
}

impl Overdue {
    pub(crate) fn new() -> Overdue {
        Overdue { count: AtomicUsize::new(0), lists: Mutex::new(Lists::default()) }
    }

    /// Whether a submitter, after its fence, could take a processor.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.count.load(Relaxed) > 0
    }

    /// Adds a note, in place of older ones about the same machine. The caller must then fence and look for work once
    /// more.
    pub(crate) fn add(&self, note: Note) {
        self.change(|lists| lists.note(note));
    }

    /// Makes the calling machine's offer stand; its region says `Offered` already. In a loop of sections it stands since the
    /// first one. The machine must then look for work once more.
    #[inline]
    pub(super) fn offer(&self, machine: &Arc<Machine>) {
        fence(SeqCst);
        if !machine.offer.stands() {
            self.add_offer(machine);
            fence(SeqCst);
        }
    }

    #[cold]
    fn add_offer(&self, machine: &Arc<Machine>) {
        self.change(|lists| lists.offer(machine));
    }

    /// Removes the notes about a machine.
    pub(crate) fn remove(&self, machine: &Arc<Machine>) {
        self.change(|lists| lists.forget(machine));
    }

    /// Removes the offer of a machine whose thread ends.
    pub(super) fn withdraw(&self, machine: &Arc<Machine>) {
        if machine.offer.stands() {
            self.change(|lists| lists.offers.retain(|other| !Arc::ptr_eq(other, machine)));
        }
    }

    /// Removes the notes that are no longer true.
    pub(crate) fn prune(&self) {
        if self.is_any() {
            self.change(|lists| lists.notes.retain(|note| note.machine.ownership.look() == Some(note.seen)));
        }
    }

    /// A processor that may be taken, as far as one can see; it is written down no longer. Offers go first: whoever made one
    /// knows that it will block.
    pub(super) fn pop(&self) -> Option<Note> {
        while let Some(machine) = self.change(Lists::pop_offer) {
            fence(SeqCst);
            if let Some(seen) = machine.ownership.look().filter(|seen| seen.region == Region::Offered) {
                return Some(Note { machine, seen, offence: Offence::Blocked });
            }
        }
        self.change(|lists| lists.notes.pop())
    }

    /// What was written down holds, but there was no machine. Of an offer nobody else would know.
    fn put_back(&self, note: Note) {
        self.change(|lists| match note.seen.region {
            Region::Offered => lists.offer(&note.machine),
            _ => lists.note(note),
        });
    }

    fn change<R>(&self, change: impl FnOnce(&mut Lists) -> R) -> R {
        let mut lists = self.lists.lock();
        let result = change(&mut lists);
        self.count.store(lists.notes.len() + lists.offers.len(), Release);
        result
    }

    /// Takes a processor at a moment of the clock, one taker at a time.
    pub(super) fn take(&self, note: &Note, at: u64) -> Take {
        let runnable = note.machine.runnable_for();
        let _one_taker = self.lists.lock();
        note.machine.ownership.take(note.seen, Loss { offence: note.offence, runnable, at })
    }
}

impl Lists {
    fn note(&mut self, note: Note) {
        self.forget(&note.machine);
        self.notes.push(note);
    }

    fn offer(&mut self, machine: &Arc<Machine>) {
        if !machine.offer.stands() {
            machine.offer.set(true);
            self.offers.push(machine.clone());
        }
    }

    fn forget(&mut self, machine: &Arc<Machine>) {
        self.notes.retain(|note| !Arc::ptr_eq(&note.machine, machine));
    }

    fn pop_offer(&mut self) -> Option<Arc<Machine>> {
        let machine = self.offers.pop()?;
        machine.offer.set(false);
        Some(machine)
    }
}

/// What became of an attempt to take a processor.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Retake {
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
    pub(super) fn take_overdue(self: &Arc<Self>) {
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
    pub(super) fn retake(self: &Arc<Self>, note: &Note) -> Retake {
        if note.offence == Offence::Blocked {
            return self.retake_counted(note);
        }
        if !self.hogs.try_count() {
            return Retake::Refused;
        }
        self.retake_with_place(note)
    }

    /// The same from a machine that computes, although as many do without a processor as may.
    pub(super) fn retake_over(self: &Arc<Self>, note: &Note) -> Retake {
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
    pub(super) fn set_aside(self: &Arc<Self>, note: &Note) {
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
