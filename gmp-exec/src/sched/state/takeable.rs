//! Machines whose processor could be taken, but for which nothing was waiting.
//!
//! sysmon leaves a processor with its stuck machine while there is nothing to do (taking it would be pure overhead, Go
//! #60693), and a blocking section keeps its processor while nobody needs it. Both are written down here, and the next
//! submitter that finds no idle processor takes one. What is written may be stale, and taking checks for it:
//!
//! - sysmon's *note* names a poll.
//! - A machine's *offer* stands for every section that it begins, also when none is under way: a loop of short sections
//!   would otherwise lock the list twice in each. It ends when a taker has come for it, in vain or not.

use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{ClaimResult, Loss, Region, Sighting};
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicUsize, fence};
use crate::sync::{Arc, Mutex};
use crate::task::StuckBy;

#[derive(Debug)]
pub(crate) struct Takeable {
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
    pub(crate) cause: StuckBy,
}

impl Takeable {
    pub(crate) fn new() -> Takeable {
        Takeable { count: AtomicUsize::new(0), lists: Mutex::new(Lists::default()) }
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
    pub(in crate::sched) fn offer(&self, machine: &Arc<Machine>) {
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
    pub(in crate::sched) fn withdraw(&self, machine: &Arc<Machine>) {
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
    pub(in crate::sched) fn pop(&self) -> Option<Note> {
        while let Some(machine) = self.change(Lists::pop_offer) {
            fence(SeqCst);
            if let Some(seen) = machine.ownership.look().filter(|seen| seen.region == Region::Offered) {
                return Some(Note { machine, seen, cause: StuckBy::Blocking });
            }
        }
        self.change(|lists| lists.notes.pop())
    }

    /// What was written down holds, but there was no machine. Of an offer nobody else would know.
    pub(in crate::sched) fn put_back(&self, note: Note) {
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
    pub(in crate::sched) fn take(&self, note: &Note, at: u64) -> ClaimResult {
        let runnable = note.machine.runnable_for();
        let _one_taker = self.lists.lock();
        note.machine.ownership.take(note.seen, Loss { cause: note.cause, runnable, at })
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
