//! A set of values that are woken one by one.
//!
//! Whoever waits for "any of these thousand tasks" has one waker, and the tasks must be told apart
//! when it wakes. Polling all of them at each wake-up would cost a thousand polls per finished
//! task. So every value has a waker of its own, which puts the value's key into a queue before it
//! wakes the one who waits: finding a woken value is a pop, whatever the size of the set.
//!
//! The values belong to the set alone. What its wakers share is the queue: a lock around keys and
//! one waker. User code (a waker's clone, wake or drop) never runs under it.
//!
//! A slot is used again after its value left, while wakers of the old value may live on. Keys
//! therefore carry a serial number, and a key whose value is gone is passed over. An intrusive pair
//! of lists, as tokio has it, needs no serial numbers but unsafe code.

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

/// Names a value, and never another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    slot: usize,
    serial: u64,
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

    /// The value that was woken the longest ago. Where there is none, `waker` is woken by the next
    /// value that is.
    pub(super) fn next_woken_or_register(&mut self, waker: &Waker) -> Option<Key> {
        loop {
            let key = self.queue.pop_or_register(waker)?;
            if self.has(key) {
                return Some(key);
            }
        }
    }

    /// The value that was woken the longest ago.
    pub(super) fn next_woken(&mut self) -> Option<Key> {
        loop {
            let key = self.queue.lock().woken.pop_front()?;
            if self.has(key) {
                return Some(key);
            }
        }
    }

    /// Calls `poll` with the value and a context that wakes it. Wake-ups before this call are
    /// forgotten.
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
        self.entries.iter().map(|(_, entry)| &entry.value)
    }

    pub(super) fn clear(&mut self) {
        self.queue.lock().woken.clear();
        self.entries.clear();
    }

    fn has(&self, key: Key) -> bool {
        self.entries.get(key.slot).is_some_and(|entry| entry.notify.key == key)
    }
}

/// A waker of a value may be the last to hold the queue, on any thread. It must not be the one to
/// drop the waker of the one who waits.
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
    /// Of the one who waits for the set.
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
            // async-task aborts the process when it is woken by the end of a task, and panics.
            contain(|| waker.wake());
        }
    }

    /// The lock is given up to clone the waker. What was pushed meanwhile may have woken the old
    /// waker, so the queue is looked at again afterwards.
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

/// What the waker of a value points to.
struct Notify {
    key: Key,
    /// Whether the value was woken since it was last polled. It keeps the key from being in the
    /// queue many times.
    ///
    /// Both sides swap it: the one who wakes publishes what it did before, and the one who polls
    /// sees that, also where the wake-up found the flag set and pushed nothing.
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
