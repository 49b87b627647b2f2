//! A queue of timers by moment, in which cancelling needs no search.
//!
//! Many timers fire at the same moment (`grid`), and nearly all are cancelled before. So a heap
//! orders the *moments*; the timers of a moment are a list, linked through a slab in both
//! directions, in the order in which they were set. Firing a moment is one heap operation however
//! many timers it has, and cancelling takes the timer out of its list at once. A map finds the
//! moment of a new timer if another timer already has the same moment.
//!
//! A moment whose timers have all been cancelled stays in the heap, idle, until it comes, or until
//! a new timer has it: removing it from the heap would need a search, and the next timeout of 30 s
//! probably has the same moment as the last one. When more than a quarter of the moments are idle,
//! a sweep removes them. So idle moments cost a constant share of memory, and each cancel pays a
//! constant share of the sweep.
//!
//! Invariants: `heap`, `moments` and `by_time` have the same moments, each once. An entry is only
//! in the list of its field `moment`. `idle` is the number of empty lists.
//!
//! A generation is used once (in 2^32), so it distinguishes an entry from its predecessors in the
//! slab.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::task::Waker;

use slab::Slab;

/// Identifies a timer until it fires or is cancelled, and no timer after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimerSlot {
    key: u32,
    generation: u32,
}

#[derive(Debug)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<Item>>,
    moments: Slab<Moment>,
    by_time: HashMap<u64, u32, BuildHasherDefault<TimeHasher>>,
    entries: Slab<Entry>,
    next_generation: u32,
    idle: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    when: u64,
    moment: u32,
}

/// The ends of the list of a moment's timers; both are [`NOBODY`] if the moment is idle.
#[derive(Debug)]
struct Moment {
    first: u32,
    last: u32,
}

#[derive(Debug)]
struct Entry {
    moment: u32,
    generation: u32,
    previous: u32,
    next: u32,
    waker: Waker,
}

/// The end of a list.
const NOBODY: u32 = u32::MAX;

/// Room for fewer timers than this is kept: 32 KiB, which a program soon needs again.
const SHRINK_FROM: usize = 1024;

/// Fewer idle moments than this are not worth a sweep.
const SWEEP_FROM: usize = 64;

impl Queue {
    pub(super) fn new() -> Queue {
        Queue {
            heap: BinaryHeap::new(),
            moments: Slab::new(),
            by_time: HashMap::default(),
            entries: Slab::new(),
            next_generation: 0,
            idle: 0,
        }
    }

    pub(super) fn insert(&mut self, when: u64, waker: Waker) -> TimerSlot {
        let generation = self.next_generation.wrapping_add(1);
        self.next_generation = generation;
        let key = u32::try_from(self.entries.vacant_key()).expect("a processor has fewer than 2^32 timers");
        let (moment, previous) = self.link(key, when);
        self.entries.insert(Entry { moment, generation, previous, next: NOBODY, waker });
        TimerSlot { key, generation }
    }

    pub(super) fn waker_mut(&mut self, slot: TimerSlot) -> Option<&mut Waker> {
        let entry = self.entries.get_mut(slot.key as usize)?;
        (entry.generation == slot.generation).then_some(&mut entry.waker)
    }

    /// Returns `false` if the timer has fired or was cancelled.
    pub(super) fn reset(&mut self, slot: TimerSlot, when: u64) -> bool {
        let exists = self.waker_mut(slot).is_some();
        if exists {
            self.unlink(slot.key);
            let (moment, previous) = self.link(slot.key, when);
            let entry = &mut self.entries[slot.key as usize];
            (entry.moment, entry.previous, entry.next) = (moment, previous, NOBODY);
        }
        exists
    }

    pub(super) fn remove(&mut self, slot: TimerSlot) -> Option<Waker> {
        self.waker_mut(slot)?;
        self.unlink(slot.key);
        let waker = self.entries.remove(slot.key as usize).waker;
        self.sweep_if_worth_it();
        Some(waker)
    }

    /// Appends the wakers of all timers that are due.
    pub(super) fn remove_due(&mut self, now: u64, due: &mut Vec<Waker>) {
        while self.heap.peek().is_some_and(|Reverse(item)| item.when <= now) {
            let mut next = self.remove_first_moment().first;
            while next != NOBODY {
                let entry = self.entries.remove(next as usize);
                next = entry.next;
                due.push(entry.waker);
            }
        }
        self.shrink_if_worth_it();
    }

    pub(super) fn next_due(&mut self) -> Option<u64> {
        while let Some(&Reverse(item)) = self.heap.peek() {
            if self.moments[item.moment as usize].first != NOBODY {
                return Some(item.when);
            }
            self.remove_first_moment();
        }
        None
    }

    pub(super) fn drain(&mut self) -> Vec<Waker> {
        self.heap.clear();
        self.moments.clear();
        self.by_time.clear();
        self.idle = 0;
        self.entries.drain().map(|entry| entry.waker).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// For how many timers there is memory.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// The moments in the heap, idle ones included.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn moments(&self) -> usize {
        assert_eq!((self.moments.len(), self.by_time.len()), (self.heap.len(), self.heap.len()));
        self.heap.len()
    }

    /// Appends an entry to the list of the moment `when`. Returns the values for its fields
    /// `moment` and `previous`; there is no next entry.
    fn link(&mut self, key: u32, when: u64) -> (u32, u32) {
        let at = self.moment_at(when);
        let moment = &mut self.moments[at as usize];
        let previous = std::mem::replace(&mut moment.last, key);
        if previous == NOBODY {
            moment.first = key;
            self.idle -= 1;
        } else {
            self.entries[previous as usize].next = key;
        }
        (at, previous)
    }

    /// Removes the entry from its list.
    fn unlink(&mut self, key: u32) {
        let Entry { moment, previous, next, .. } = self.entries[key as usize];
        let moment = &mut self.moments[moment as usize];
        match previous {
            NOBODY => moment.first = next,
            _ => self.entries[previous as usize].next = next,
        }
        match next {
            NOBODY => moment.last = previous,
            _ => self.entries[next as usize].previous = previous,
        }
        self.idle += usize::from(moment.first == NOBODY);
    }

    /// Returns the key of the moment at `when`. A new moment is idle.
    fn moment_at(&mut self, when: u64) -> u32 {
        *self.by_time.entry(when).or_insert_with(|| {
            let moment = self.moments.insert(Moment { first: NOBODY, last: NOBODY }) as u32;
            self.heap.push(Reverse(Item { when, moment }));
            self.idle += 1;
            moment
        })
    }

    fn remove_first_moment(&mut self) -> Moment {
        let Reverse(item) = self.heap.pop().expect("the caller has seen it");
        self.by_time.remove(&item.when);
        let moment = self.moments.remove(item.moment as usize);
        self.idle -= usize::from(moment.first == NOBODY);
        moment
    }

    /// Gives the memory of a burst back once all timers are gone.
    pub(super) fn shrink_if_worth_it(&mut self) {
        if self.entries.is_empty() && self.entries.capacity() > SHRINK_FROM {
            self.entries.shrink_to_fit();
        }
    }

    fn sweep_if_worth_it(&mut self) {
        if self.idle >= SWEEP_FROM && self.idle * 4 > self.heap.len() {
            self.moments.retain(|_, moment| moment.first != NOBODY);
            self.heap.retain(|Reverse(item)| self.moments.contains(item.moment as usize));
            self.by_time.retain(|_, moment| self.moments.contains(*moment as usize));
            self.idle = 0;
        }
    }
}

/// Hashes one `u64`, whose low bits may always be the same. Not protected against chosen keys: no
/// attacker can choose the nanosecond at which a timer fires.
#[derive(Debug, Default)]
struct TimeHasher(u64);

impl Hasher for TimeHasher {
    fn write_u64(&mut self, when: u64) {
        let product = u128::from(when) * 0x9E37_79B9_7F4A_7C15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only moments are hashed");
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
