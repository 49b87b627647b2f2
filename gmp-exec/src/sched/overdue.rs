//! Machines whose processor could be taken, but for which nothing was waiting.
//!
//! sysmon leaves a processor with its stuck machine while there is nothing to do (taking it would be pure overhead, Go
//! #60693), and a blocking section keeps its processor while nobody needs it. Both are noted here, and the next
//! submitter that finds no idle processor takes one. A note may be stale: it names a poll, and taking checks for it.

use super::idle::Reserved;
use super::machine::{Assignment, Birth, Machine};
use super::ownership::{ProcessorToken, Sighting, Take};
use super::scheduler::Scheduler;
use crate::sync::atomic::{AtomicUsize, Ordering::*, fence};
use crate::sync::{Arc, Mutex};
use crate::task::Offence;

#[derive(Debug)]
pub(crate) struct Overdue {
    /// Length of the list, readable without the lock.
    count: AtomicUsize,
    /// Also serialises takers: the ownership protocol allows one at a time.
    notes: Mutex<Vec<Note>>,
}

#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) machine: Arc<Machine>,
    pub(crate) seen: Sighting,
    pub(crate) offence: Offence,
}

impl Overdue {
    pub(crate) fn new() -> Overdue {
        Overdue { count: AtomicUsize::new(0), notes: Mutex::new(Vec::new()) }
    }

    /// Whether a submitter, after its fence, could take a processor.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.count.load(Relaxed) > 0
    }

    /// Adds a note, in place of older ones about the same machine. The caller must then fence and look for work once
    /// more.
    pub(crate) fn add(&self, note: Note) {
        let mut notes = self.notes.lock();
        notes.retain(|older| !Arc::ptr_eq(&older.machine, &note.machine));
        notes.push(note);
        self.count.store(notes.len(), Release);
    }

    /// Removes the notes about a machine.
    pub(crate) fn remove(&self, machine: &Arc<Machine>) {
        let mut notes = self.notes.lock();
        notes.retain(|note| !Arc::ptr_eq(&note.machine, machine));
        self.count.store(notes.len(), Release);
    }

    /// Removes the notes that are no longer true.
    pub(crate) fn prune(&self) {
        if !self.is_any() {
            return;
        }
        let mut notes = self.notes.lock();
        notes.retain(|note| note.machine.ownership.look() == Some(note.seen));
        self.count.store(notes.len(), Release);
    }

    fn pop(&self) -> Option<Note> {
        let mut notes = self.notes.lock();
        let note = notes.pop();
        self.count.store(notes.len(), Release);
        note
    }

    /// Takes a processor, one taker at a time.
    pub(super) fn take(&self, note: &Note) -> Take {
        let _one_taker = self.notes.lock();
        note.machine.ownership.take(note.seen, note.offence)
    }
}

impl Scheduler {
    /// A submitter found no idle processor: takes one that is overdue, if there is one.
    #[cold]
    pub(super) fn take_overdue(self: &Arc<Self>) {
        while let Some(note) = self.overdue.pop() {
            if self.retake(&note) {
                return;
            }
        }
    }

    /// Takes a processor from a stuck machine and gets it another one. The other one is found first: a processor must
    /// not be taken for nobody.
    pub(super) fn retake(self: &Arc<Self>, note: &Note) -> bool {
        if note.offence == Offence::Burning && !self.hogs.try_count() {
            return false;
        }
        let taken = self.retake_counted(note);
        if !taken && note.offence == Offence::Burning {
            self.hogs.uncount();
        }
        taken
    }

    fn retake_counted(self: &Arc<Self>, note: &Note) -> bool {
        let Some(reserved) = self.idle.reserve() else { return false };
        let Some(heir) = self.prepare(reserved) else { return false };
        match self.overdue.take(note) {
            Take::Refused => {
                self.idle.put_back(Reserved::Spare(heir));
                false
            }
            Take::Taken(token) => {
                self.count_taken(&token, note.offence);
                heir.assign(Assignment::Run { token, spinning: false });
                fence(SeqCst);
                heir.unpark();
                true
            }
        }
    }

    /// Takes a processor that nothing waits for from a blocking section, so that nobody has to watch the section any
    /// longer. It becomes idle; a machine is found for it only if there is nobody in the poller.
    pub(super) fn set_aside(self: &Arc<Self>, note: &Note) {
        if self.is_shutdown() || self.idle.snapshot().is_exhausted() {
            return;
        }
        if let Take::Taken(token) = self.overdue.take(note) {
            self.count_taken(&token, note.offence);
            self.overdue.remove(&note.machine);
            self.give_on(token);
        }
    }

    fn count_taken(&self, token: &ProcessorToken, offence: Offence) {
        let counters = &self.processors[token.index()].counters;
        match offence {
            Offence::Blocked => counters.taken_blocked.add_shared(1),
            Offence::Burning => counters.taken_burning.add_shared(1),
        }
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
