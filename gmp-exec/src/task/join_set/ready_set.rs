//! A set of values that are woken one by one.
//!
//! A task that waits for any of a thousand tasks has one waker, and when it is woken it must find
//! the task that has finished. Polling all of them at each wake-up would cost a thousand polls per
//! finished task. So every value has its own waker, which puts the value's key into a queue before
//! it wakes the waiting task. Finding a woken value is a pop, whatever the size of the set.
//!
//! Only the set accesses the values. The set and its wakers share the queue: a lock around keys and
//! one waker. User code (a waker's clone, wake or drop) never runs under that lock.
//!
//! A slot is reused after its value was removed, while wakers of the old value may still exist.
//! Keys therefore have a serial number, and a key whose value was removed is skipped. tokio's
//! intrusive pair of lists needs no serial numbers, but unsafe code.

use std::collections::VecDeque;
use std::mem;
use std::task::{Context, Wake, Waker};

use slab::Slab;

use crate::contain::contain;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, MutexGuard};

pub(super) struct ReadySet<V> {
    entries: Slab<Entry<V>>,
    queue: Arc<ReadyQueue>,
    next_serial: u64,
}

struct Entry<V> {
    value: V,
    notify: Arc<Notify>,
}

/// The key of a value. Never reused for another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    slot: usize,
    serial: u64,
}

impl Key {
    /// Another value may have the slot once this one was removed.
    pub(super) fn slot(self) -> usize {
        self.slot
    }
}

impl<V> ReadySet<V> {
    pub(super) fn new() -> ReadySet<V> {
        ReadySet { entries: Slab::new(), queue: Arc::default(), next_serial: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn insert(&mut self, value: V) -> Key {
        let slot = self.entries.vacant_entry();
        let key = Key { slot: slot.key(), serial: self.next_serial };
        self.next_serial += 1;
        slot.insert(Entry {
            value,
            notify: Arc::new(Notify { key, queued: AtomicBool::new(false), queue: Arc::clone(&self.queue) }),
        });
        key
    }

    /// Returns the value that was woken the longest ago. If there is none, the next value that is
    /// woken wakes `waker`.
    pub(super) fn next_woken_or_register(&mut self, waker: &Waker) -> Option<Key> {
        loop {
            let key = self.queue.pop_or_register(waker)?;
            if self.has(key) {
                return Some(key);
            }
        }
    }

    /// Returns the value that was woken the longest ago.
    pub(super) fn next_woken(&mut self) -> Option<Key> {
        loop {
            let key = self.queue.lock().woken.pop_front()?;
            if self.has(key) {
                return Some(key);
            }
        }
    }

    /// Calls `poll` with the value and a context whose waker queues the value. Wake-ups before this
    /// call are forgotten.
    ///
    /// # Panics
    ///
    /// Panics if the value isn't in the set any more.
    pub(super) fn poll<R>(&mut self, key: Key, poll: impl FnOnce(&mut V, &mut Context<'_>) -> R) -> R {
        let entry = &mut self.entries[key.slot];
        entry.notify.listen();
        let waker = Waker::from(Arc::clone(&entry.notify));
        poll(&mut entry.value, &mut Context::from_waker(&waker))
    }

    /// # Panics
    ///
    /// Panics if the value isn't in the set any more.
    pub(super) fn wake(&self, key: Key) {
        self.entries[key.slot].notify.wake_by_ref();
    }

    /// # Panics
    ///
    /// Panics if the value isn't in the set any more.
    pub(super) fn remove(&mut self, key: Key) -> V {
        self.entries.remove(key.slot).value
    }

    /// Every value, in no particular order.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Every value and its slot.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &V)> {
        self.entries.iter().map(|(slot, entry)| (slot, &entry.value))
    }

    pub(super) fn clear(&mut self) {
        self.queue.lock().woken.clear();
        self.entries.clear();
    }

    fn has(&self, key: Key) -> bool {
        self.entries.get(key.slot).is_some_and(|entry| entry.notify.key == key)
    }
}

/// A value's waker may be the last owner of the queue, on any thread. It must not drop the waker of
/// the waiting task, which is user code, so the set drops it here.
impl<V> Drop for ReadySet<V> {
    fn drop(&mut self) {
        let state = mem::take(&mut *self.queue.lock());
        drop(state);
    }
}

#[derive(Default)]
struct ReadyQueue {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    woken: VecDeque<Key>,
    /// The waker of the task that waits for the set.
    waker: Option<Waker>,
}

impl ReadyQueue {
    fn push(&self, key: Key) {
        let waker = {
            let mut state = self.lock();
            state.woken.push_back(key);
            state.waker.take()
        };
        if let Some(waker) = waker {
            // If the waker panics when the end of a task wakes it, async-task aborts the process.
            contain(|| waker.wake());
        }
    }

    /// The lock is released while the waker is cloned. A push during that time may have woken the
    /// old waker, so the queue is checked again afterwards.
    fn pop_or_register(&self, waker: &Waker) -> Option<Key> {
        {
            let mut state = self.lock();
            let key = state.woken.pop_front();
            if key.is_some() || state.waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
                return key;
            }
        }
        let new = waker.clone();
        let (key, _old) = {
            let mut state = self.lock();
            (state.woken.pop_front(), state.waker.replace(new))
        };
        key
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// The data behind the waker of a value.
struct Notify {
    key: Key,
    /// Whether the value was woken since it was last polled, so that its key is in the queue only
    /// once.
    ///
    /// Both sides swap the flag: the waking side publishes its earlier writes, and the polling side
    /// sees them, even when the waking side found the flag set and pushed nothing.
    queued: AtomicBool,
    queue: Arc<ReadyQueue>,
}

impl Notify {
    fn listen(&self) {
        self.queued.swap(false, Ordering::AcqRel);
    }

    fn wake_by_ref(&self) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.queue.push(self.key);
        }
    }
}

impl Wake for Notify {
    fn wake(self: Arc<Self>) {
        Notify::wake_by_ref(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        Notify::wake_by_ref(self);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn waker_of<V>(set: &mut ReadySet<V>, key: Key) -> Waker {
        set.poll(key, |_, cx| cx.waker().clone())
    }

    #[test]
    fn a_value_that_is_woken_many_times_is_found_once() {
        let mut set = ReadySet::new();
        let key = set.insert(());
        let waker = waker_of(&mut set, key);
        waker.wake_by_ref();
        waker.wake_by_ref();
        assert_eq!(set.next_woken(), Some(key));
        assert_eq!(set.next_woken(), None);
    }

    #[test]
    fn a_wake_up_during_the_poll_is_found() {
        let mut set = ReadySet::new();
        let key = set.insert(());
        set.wake(key);
        assert_eq!(set.next_woken(), Some(key));
        set.poll(key, |(), cx| cx.waker().wake_by_ref());
        assert_eq!(set.next_woken(), Some(key));
    }

    #[test]
    fn a_wake_up_of_a_removed_value_is_passed_over() {
        let mut set = ReadySet::new();
        let old = set.insert("old");
        let waker = waker_of(&mut set, old);
        assert_eq!(set.remove(old), "old");
        waker.wake_by_ref();
        assert_eq!(set.next_woken(), None);

        let new = set.insert("new");
        assert_eq!(new.slot, old.slot);
        set.wake(new);
        assert_eq!(set.next_woken(), Some(new));

        let waker = waker_of(&mut set, new);
        set.clear();
        set.insert("newer");
        waker.wake();
        assert_eq!(set.next_woken_or_register(Waker::noop()), None);
    }

    #[test]
    fn the_oldest_wake_up_is_found_first() {
        let mut set = ReadySet::new();
        let keys = [(); 3].map(|()| set.insert(()));
        for index in [2, 0, 1] {
            set.wake(keys[index]);
        }
        let found = [(); 3].map(|()| set.next_woken());
        assert_eq!(found, [Some(keys[2]), Some(keys[0]), Some(keys[1])]);
    }
}
