//! The ids of a set's tasks, for the dump (`dump`), which shows them below the task that waits for
//! the set.
//!
//! A set gets a roll when a task first waits for it. The roll lists the set's tasks at that time,
//! and every later change is entered. So a set that is filled first and then waited for pays
//! nothing per task that it spawns, and other tasks never pay.
//!
//! The note of the task that waits ([`waiting`](crate::task::Wait)) has the number of the roll and
//! not its address: another task may drop the set while the note exists. No two rolls have the same
//! number, so a note never leads to a later set.
//!
//! | thread that polls or has the set | dump |
//! |---|---|
//! | adds the roll to [`ROLLS`] | reads that a task waits (Acquire), and the number |
//! | leaves the number in the task's note | takes a reference to the roll out of [`ROLLS`] |
//! | the poll ends: the task waits (Release) | reads the ids, under the roll's lock |
//! | changes the ids, under the roll's lock | |
//! | the set is dropped: takes the roll out of [`ROLLS`] | |
//!
//! *Claim: a number that is not found is that of a set that was dropped.* The dump has seen the end
//! of the poll, so the roll was added before it looks.
//!
//! *Claim: a task that the dump shows below another task was in the set for which that task
//! waited.* A task is entered by the set that has its handle, never by a second set, and
//! `detach_all` takes it out. The waiting task, the ids, and the other tasks are seen at different
//! moments: a set that changes during a dump is shown with some of its tasks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::task::Id;

/// The rolls of all live sets that a task has waited for, by their numbers.
static ROLLS: [Mutex<Shard>; SHARDS] = [const { Mutex::new(Shard { last: 0, rolls: BTreeMap::new() }) }; SHARDS];

/// So many, for threads that make many short-lived sets at a time.
const SHARDS: usize = 64;

#[derive(Debug)]
struct Shard {
    /// Counts the rolls that were added.
    last: u64,
    rolls: BTreeMap<u64, Arc<Mutex<Ids>>>,
}

/// The roll of a set, if a task has waited for the set.
#[derive(Debug, Default)]
pub(super) struct Roll(Option<Known>);

#[derive(Debug)]
struct Known {
    number: u64,
    ids: Arc<Mutex<Ids>>,
}

/// By the slots of the set.
#[derive(Debug, Default)]
struct Ids {
    of_slots: Vec<Option<Id>>,
    count: usize,
}

impl Roll {
    /// A task is about to wait for the set, which has these tasks. Returns the roll's number.
    pub(super) fn number(&mut self, tasks: impl Iterator<Item = (usize, Id)>) -> u64 {
        self.0.get_or_insert_with(|| Known::of(tasks)).number
    }

    #[inline]
    pub(super) fn insert(&self, slot: usize, id: Id) {
        if let Some(known) = &self.0 {
            lock(&known.ids).insert(slot, id);
        }
    }

    #[inline]
    pub(super) fn remove(&self, slot: usize) {
        if let Some(known) = &self.0 {
            lock(&known.ids).remove(slot);
        }
    }

    pub(super) fn clear(&self) {
        if let Some(known) = &self.0 {
            *lock(&known.ids) = Ids::default();
        }
    }
}

impl Known {
    #[cold]
    fn of(tasks: impl Iterator<Item = (usize, Id)>) -> Known {
        let mut ids = Ids::default();
        tasks.for_each(|(slot, id)| ids.insert(slot, id));
        let ids = Arc::new(Mutex::new(ids));
        Known { number: add(&ids), ids }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        let removed = lock(shard_of(self.number)).rolls.remove(&self.number);
        debug_assert!(removed.is_some());
    }
}

impl Ids {
    fn insert(&mut self, slot: usize, id: Id) {
        if slot >= self.of_slots.len() {
            self.of_slots.resize(slot + 1, None);
        }
        self.of_slots[slot] = Some(id);
        self.count += 1;
    }

    fn remove(&mut self, slot: usize) {
        self.of_slots[slot] = None;
        self.count -= 1;
    }
}

/// The number tells the shard. The shard depends on the address, so that threads, which have memory
/// of their own, use different shards.
fn add(ids: &Arc<Mutex<Ids>>) -> u64 {
    let address = Arc::as_ptr(ids).addr() as u64;
    let index = address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SHARDS.ilog2());
    let mut shard = lock(&ROLLS[index as usize]);
    shard.last += 1;
    let number = shard.last * SHARDS as u64 + index;
    shard.rolls.insert(number, ids.clone());
    number
}

fn shard_of(number: u64) -> &'static Mutex<Shard> {
    &ROLLS[number as usize % SHARDS]
}

/// Nothing panics while one of these locks is held, except for lack of memory.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn find(number: u64) -> Option<Arc<Mutex<Ids>>> {
    lock(shard_of(number)).rolls.get(&number).cloned()
}

/// How many tasks the set has whose roll has this number; 0 if the set was dropped.
pub(crate) fn size_of_set(roll: u64) -> usize {
    find(roll).map_or(0, |ids| lock(&ids).count)
}

/// The tasks of that set; none if the set was dropped.
pub(crate) fn tasks_of_set(roll: u64) -> Vec<Id> {
    find(roll).map_or(Vec::new(), |ids| lock(&ids).of_slots.iter().flatten().copied().collect())
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn id(id: u64) -> Id {
        Id::from_u64(id).unwrap()
    }

    #[test]
    fn a_roll_begins_with_the_tasks_of_its_set_and_follows_the_set() {
        let mut roll = Roll::default();
        roll.insert(0, id(7));
        roll.remove(0);
        let number = roll.number([(2, id(5)), (0, id(6))].into_iter());
        assert_eq!((tasks_of_set(number), size_of_set(number)), (vec![id(6), id(5)], 2));
        roll.insert(1, id(9));
        roll.remove(0);
        assert_eq!((tasks_of_set(number), size_of_set(number)), (vec![id(9), id(5)], 2));
        assert_eq!(roll.number(std::iter::empty()), number);
        roll.clear();
        assert_eq!((tasks_of_set(number), size_of_set(number)), (vec![], 0));
        roll.insert(0, id(1));
        assert_eq!((tasks_of_set(number), size_of_set(number)), (vec![id(1)], 1));
    }

    #[test]
    fn the_number_of_a_roll_that_has_gone_is_never_used_again() {
        let mut numbers = std::collections::HashSet::new();
        for count in 1..=1_000 {
            let mut roll = Roll::default();
            numbers.insert(roll.number([(0, id(1))].into_iter()));
            assert_eq!(numbers.len(), count);
        }
        assert!(numbers.iter().all(|number| size_of_set(*number) == 0 && *number < 1 << 44));
    }
}
