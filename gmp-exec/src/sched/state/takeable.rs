//! Machines whose processor may be taken, although nothing waits for it yet.
//!
//! sysmon leaves a processor with its stuck machine for a while if no work waits, because taking the
//! processor would be pure overhead (Go #60693). A blocking section keeps its processor for the
//! same reason. Both are listed here, and the next submitter that finds no idle processor takes one
//! of these. An entry may be stale; the take checks it:
//!
//! - sysmon's *note* names a poll.
//! - A machine's *offer* stands for every section that the machine begins, and stays between
//!   sections: a loop of short sections would otherwise lock the list twice in each. It ends when a
//!   taker removes it, whether or not the taker then gets the processor.

use std::time::Instant;

use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{Loss, ProcessorToken, Region, Sighting};
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicUsize, fence};
use crate::sync::{Arc, Mutex};
use crate::task::StuckBy;

pub(crate) struct Takeable {
    /// Length of the lists, readable without the lock.
    count: AtomicUsize,
    /// The lock also serialises takers: the ownership protocol allows one at a time.
    lists: Mutex<Lists>,
}

#[derive(Debug, Default)]
struct Lists {
    notes: Vec<Note>,
    /// The machines that have set `offers`.
    offers: Vec<Arc<Machine>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) machine: Arc<Machine>,
    pub(crate) seen: Sighting,
    pub(crate) cause: StuckBy,
    /// When this poll or section was seen first.
    pub(crate) since: Instant,
}

impl Takeable {
    pub(crate) fn new() -> Takeable {
        Takeable { count: AtomicUsize::new(0), lists: Mutex::new(Lists::default()) }
    }

    /// Whether a submitter, after its fence, may find a processor to take.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.count.load(Relaxed) > 0
    }

    /// Adds a note, in place of older notes about the same machine. The caller must then make a
    /// SeqCst fence and look for work once more.
    pub(crate) fn add(&self, note: Note) {
        self.change(|lists| lists.add_note(note));
    }

    /// Makes the calling machine's offer stand. Its region is already `Offered`. In a loop of
    /// sections the offer has stood since the first section. The machine must then look for work
    /// once more.
    #[inline]
    pub(in crate::sched) fn offer(&self, machine: &Arc<Machine>) {
        fence(SeqCst);
        if !machine.offers.load(Relaxed) {
            self.add_offer(machine);
            fence(SeqCst);
        }
    }

    #[cold]
    fn add_offer(&self, machine: &Arc<Machine>) {
        self.change(|lists| lists.add_offer(machine));
    }

    /// Removes the offer of a machine whose thread ends.
    pub(in crate::sched) fn withdraw(&self, machine: &Arc<Machine>) {
        if machine.offers.load(Relaxed) {
            self.change(|lists| lists.offers.retain(|other| !Arc::ptr_eq(other, machine)));
        }
    }

    /// Removes stale notes.
    pub(crate) fn prune(&self) {
        if self.is_any() {
            self.change(|lists| lists.notes.retain(|note| note.machine.ownership.look() == Some(note.seen)));
        }
    }

    /// Removes and returns a machine whose processor can probably be taken. Offers go first,
    /// because their machines know that they will block.
    pub(in crate::sched) fn pop(&self) -> Option<Note> {
        while let Some(machine) = self.change(Lists::pop_offer) {
            fence(SeqCst);
            if let Some(seen) = machine.ownership.look().filter(|seen| seen.region == Region::Offered) {
                return Some(Note { machine, seen, cause: StuckBy::Blocking, since: Instant::now() });
            }
        }
        self.change(|lists| lists.notes.pop())
    }

    /// Puts an entry back that is still valid, because no machine was available for the processor.
    /// An offer is recorded nowhere else.
    pub(in crate::sched) fn put_back(&self, note: Note) {
        self.change(|lists| match note.seen.region {
            Region::Offered => lists.add_offer(&note.machine),
            _ => lists.add_note(note),
        });
    }

    fn change<R>(&self, change: impl FnOnce(&mut Lists) -> R) -> R {
        let mut lists = self.lists.lock();
        let result = change(&mut lists);
        self.count.store(lists.notes.len() + lists.offers.len(), Release);
        result
    }

    /// Takes a processor, one taker at a time. `at`: the clock's `running_ns`.
    #[doc(alias = "retake")]
    #[must_use = "a lost token is a lost processor"]
    pub(in crate::sched) fn take(&self, note: &Note, at: u64) -> Option<ProcessorToken> {
        let runnable = note.machine.runnable_time().total();
        let _one_taker = self.lists.lock();
        note.machine.ownership.take(note.seen, Loss { cause: note.cause, runnable, at })
    }
}

impl Lists {
    fn add_note(&mut self, note: Note) {
        self.notes.retain(|other| !Arc::ptr_eq(&other.machine, &note.machine));
        self.notes.push(note);
    }

    fn add_offer(&mut self, machine: &Arc<Machine>) {
        if !machine.offers.load(Relaxed) {
            machine.offers.store(true, Relaxed);
            self.offers.push(machine.clone());
        }
    }

    fn pop_offer(&mut self) -> Option<Arc<Machine>> {
        let machine = self.offers.pop()?;
        machine.offers.store(false, Relaxed);
        Some(machine)
    }
}
