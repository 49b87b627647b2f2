//! Timers by moment, with cancelling that does not search.
//!
//! A binary heap finds the earliest timer but not a given one, and nearly every timer is cancelled. So the heap holds
//! small items that name an entry of a slab, where the truth about the timer is kept. Cancelling frees the entry and
//! leaves the item, dead; postponing writes the new moment into the entry and leaves the item where it is, stale. Both
//! are put right when the item gets to the head. Dead items are thrown out before that when they are more than a quarter
//! of the heap, so that they cost a constant share of memory and each cancel a constant share of the sweep.
//!
//! Invariant: for each entry the heap holds exactly one item with its key and generation, and that item's moment is not
//! after the entry's. Every other item is dead, and `dead` is their number.
//!
//! A generation is given out once (in 2^32), so it tells an entry's item from those of its predecessors in the slab, and
//! it orders timers of the same moment by age.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, binary_heap::PeekMut};
use std::task::Waker;

use slab::Slab;

/// Names a timer until it fires or is cancelled, and nothing after that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimerSlot {
    key: u32,
    generation: u32,
}

#[derive(Debug)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<Item>>,
    entries: Slab<Entry>,
    next_generation: u32,
    dead: usize,
}

/// The order of the fields is the order of firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    when: u64,
    generation: u32,
    key: u32,
}

#[derive(Debug)]
struct Entry {
    when: u64,
    generation: u32,
    waker: Waker,
}

/// Fewer dead items than this are not worth a sweep.
const SWEEP_FROM: usize = 64;

impl Queue {
    pub(super) fn new() -> Queue {
        Queue { heap: BinaryHeap::new(), entries: Slab::new(), next_generation: 0, dead: 0 }
    }

    pub(super) fn insert(&mut self, when: u64, waker: Waker) -> TimerSlot {
        let generation = self.generation();
        let key = self.entries.insert(Entry { when, generation, waker });
        let key = u32::try_from(key).expect("a processor has fewer than 2^32 timers");
        self.heap.push(Reverse(Item { when, generation, key }));
        TimerSlot { key, generation }
    }

    pub(super) fn waker_mut(&mut self, slot: TimerSlot) -> Option<&mut Waker> {
        self.entry_mut(slot).map(|entry| &mut entry.waker)
    }

    pub(super) fn reset(&mut self, slot: TimerSlot, when: u64) -> Option<TimerSlot> {
        let entry = self.entry_mut(slot)?;
        if when >= entry.when {
            entry.when = when;
            return Some(slot);
        }
        Some(self.bring_forward(slot, when))
    }

    pub(super) fn remove(&mut self, slot: TimerSlot) -> Option<Waker> {
        self.entry_mut(slot)?;
        let entry = self.entries.remove(slot.key as usize);
        self.count_dead_item();
        Some(entry.waker)
    }

    pub(super) fn pop_due(&mut self, now: u64) -> Option<Waker> {
        let head = self.clean_head().filter(|head| head.when <= now)?;
        self.heap.pop();
        Some(self.entries.remove(head.key as usize).waker)
    }

    pub(super) fn next_due(&mut self) -> Option<u64> {
        self.clean_head().map(|head| head.when)
    }

    pub(super) fn drain(&mut self) -> Vec<Waker> {
        self.heap.clear();
        self.dead = 0;
        self.entries.drain().map(|entry| entry.waker).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The items in the heap, dead ones included.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn items(&self) -> usize {
        self.heap.len()
    }

    /// Puts dead and stale items right until the head is neither.
    fn clean_head(&mut self) -> Option<Item> {
        while let Some(mut head) = self.heap.peek_mut() {
            match live_entry(&self.entries, head.0) {
                Some(entry) if entry.when == head.0.when => return Some(head.0),
                Some(entry) => head.0.when = entry.when,
                None => {
                    PeekMut::pop(head);
                    self.dead -= 1;
                }
            }
        }
        None
    }

    /// An item can't move up in the heap, so it is left behind as dead and the entry gets a new one.
    fn bring_forward(&mut self, slot: TimerSlot, when: u64) -> TimerSlot {
        let generation = self.generation();
        let entry = &mut self.entries[slot.key as usize];
        entry.when = when;
        entry.generation = generation;
        self.heap.push(Reverse(Item { when, generation, key: slot.key }));
        self.count_dead_item();
        TimerSlot { key: slot.key, generation }
    }

    fn count_dead_item(&mut self) {
        self.dead += 1;
        if self.entries.is_empty() {
            self.heap.clear();
            self.dead = 0;
        } else if self.dead >= SWEEP_FROM && self.dead * 4 > self.heap.len() {
            self.heap.retain(|&Reverse(item)| live_entry(&self.entries, item).is_some());
            self.dead = 0;
        }
    }

    fn entry_mut(&mut self, slot: TimerSlot) -> Option<&mut Entry> {
        self.entries.get_mut(slot.key as usize).filter(|entry| entry.generation == slot.generation)
    }

    fn generation(&mut self) -> u32 {
        self.next_generation = self.next_generation.wrapping_add(1);
        self.next_generation
    }
}

/// The entry to which the item belongs; `None` if the item is dead.
fn live_entry(entries: &Slab<Entry>, item: Item) -> Option<&Entry> {
    entries.get(item.key as usize).filter(|entry| entry.generation == item.generation)
}
