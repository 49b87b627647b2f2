//! The timers of one processor.
//!
//! Timers are set and cancelled millions of times a second, mostly by the machine that holds the
//! processor, sometimes by a task that has moved to another one. Even more often machines check
//! whether a timer is due: the owner before each task, thieves, and machines that are about to
//! sleep. So every change of the timers takes one lock, which is hardly ever contended. The moment
//! of the earliest timer is published in an atomic word, which is written under that lock and read
//! without it.
//!
//! Three rules:
//!
//! - **`earliest` is never too late.** It may be too early: cancelling and postponing leave it as
//!   it is, since finding the next moment would cost more than an unnecessary look.
//!   [`Timers::next`] and [`Timers::expire`] make it exact.
//! - **No waker is cloned, woken or dropped under the lock**, because that may run user code, which
//!   may set a timer. Wakers are moved out and used after the lock is released.
//! - **Each waker is returned once**: by `expire`, `cancel` or `take_all`. A later call finds that
//!   the generation of the slot has changed.
//!
//! Publishing `earliest` is a release store, not a fence. A thread that inserts a timer and then
//! checks whether a machine sleeps past it needs the fence of the parking protocol in between, and
//! so does the machine that announces its sleep and then reads `earliest`.

use std::task::Waker;

use crate::contain::contain;
use crate::seeded;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{Apart, Mutex};

mod queue;
use queue::Queue;
pub(crate) use queue::TimerSlot;

#[cfg(all(test, loom))]
mod loom_timers;
#[cfg(all(test, not(loom), not(shuttle)))]
mod tests;

/// The timers of one processor. Moments are nanoseconds on the runtime's clock. Every method may be
/// called from any thread.
#[derive(Debug)]
pub(crate) struct Timers {
    /// Apart, because every machine reads it when it looks for work, and it hardly ever changes,
    /// while the owner of the processor writes the words around it on every turn.
    earliest: Apart<AtomicU64>,
    queue: Mutex<Queue>,
}

impl Timers {
    /// The value of [`earliest`](Timers::earliest) and [`next`](Timers::next) when there is no
    /// timer.
    pub(crate) const NONE: u64 = u64::MAX;

    /// The last moment for which a timer can be set. Later timers are due then.
    pub(crate) const LAST: u64 = Timers::NONE - 1;

    pub(crate) fn new() -> Timers {
        Timers { earliest: Apart::new(AtomicU64::new(Timers::NONE)), queue: Mutex::new(Queue::new()) }
    }

    /// Sets a timer. Returns `true` if it is due before all others here, so that a machine may be
    /// sleeping past it.
    ///
    /// Not inlined, so that its callers are: that saves 15 instructions.
    #[inline(never)]
    pub(crate) fn insert(&self, when: u64, waker: Waker) -> (TimerSlot, bool) {
        let when = when.min(Timers::LAST);
        let mut queue = self.queue.lock();
        let slot = queue.insert(when, waker);
        (slot, self.publish_earlier(when))
    }

    /// Makes the timer wake `waker` from now on. Returns `false` if the timer has fired or was
    /// cancelled, so that it will wake no waker.
    pub(crate) fn update(&self, slot: TimerSlot, waker: &Waker) -> bool {
        match self.queue.lock().waker_mut(slot) {
            None => return false,
            Some(current) if current.will_wake(waker) => return true,
            Some(_) => {}
        }
        self.replace_waker(slot, waker.clone())
    }

    /// Moves the timer to another moment, with its waker. Returns whether it is now due before all
    /// others here; `None` if it has fired or was cancelled.
    pub(crate) fn reset(&self, slot: TimerSlot, when: u64) -> Option<bool> {
        let when = when.min(Timers::LAST);
        let mut queue = self.queue.lock();
        queue.reset(slot, when).then(|| self.publish_earlier(when))
    }

    /// Removes the timer and returns its waker; `None` if it has fired or was cancelled before.
    #[must_use = "the waker must not be dropped while a lock is held"]
    pub(crate) fn cancel(&self, slot: TimerSlot) -> Option<Waker> {
        let mut queue = self.queue.lock();
        let waker = queue.remove(slot)?;
        if queue.is_empty() {
            // The common end of a timeout. An unchanged `earliest` would wake an idle machine once
            // for nothing.
            self.earliest.store(Timers::NONE, Release);
            queue.shrink_if_worth_it();
        }
        Some(waker)
    }

    /// Removes all timers due at `now` and appends their wakers to `fired`: by moment, and for
    /// equal moments in the order in which they were set or moved there.
    pub(crate) fn expire(&self, now: u64, fired: &mut Vec<Waker>) {
        if self.earliest() > now {
            return;
        }
        let mut queue = self.queue.lock();
        queue.remove_due(now, fired);
        self.publish_exact(&mut queue);
    }

    /// A moment before which no timer here is due. Takes no lock; may be too early, see the module
    /// docs.
    pub(crate) fn earliest(&self) -> u64 {
        self.earliest.load(Acquire)
    }

    /// The exact moment of the earliest timer, for a machine that is going to sleep until then.
    pub(crate) fn next(&self) -> u64 {
        if self.earliest() == Timers::NONE {
            return Timers::NONE;
        }
        self.publish_exact(&mut self.queue.lock())
    }

    /// The number of timers set.
    pub(crate) fn len(&self) -> usize {
        self.queue.lock().len()
    }

    /// Removes all timers, due or not, for the shutdown.
    pub(crate) fn take_all(&self) -> Vec<Waker> {
        let mut queue = self.queue.lock();
        self.earliest.store(Timers::NONE, Release);
        queue.drain()
    }

    /// The lock was released while the waker was cloned, so the timer may have fired.
    fn replace_waker(&self, slot: TimerSlot, mut waker: Waker) -> bool {
        let mut queue = self.queue.lock();
        let current = queue.waker_mut(slot);
        let replaced = current.map(|current| std::mem::swap(current, &mut waker)).is_some();
        drop(queue);
        drop(waker);
        replaced
    }

    /// The caller holds the lock, so no other thread stores.
    fn publish_earlier(&self, when: u64) -> bool {
        let is_earliest = when < self.earliest.load(Relaxed);
        if is_earliest {
            self.earliest.store(when, Release);
        }
        is_earliest
    }

    fn publish_exact(&self, queue: &mut Queue) -> u64 {
        let next = queue.next_due().unwrap_or(Timers::NONE);
        self.earliest.store(next, Release);
        next
    }
}

/// Wakes the wakers that [`Timers::expire`] or [`Timers::take_all`] has returned. A waker may be
/// foreign code: its panic must not reach the caller, nor prevent the other wakers from being
/// woken.
pub(crate) fn wake_all(mut wakers: Vec<Waker>) {
    seeded::shuffle(&mut wakers);
    for waker in wakers {
        contain(|| waker.wake());
    }
}
