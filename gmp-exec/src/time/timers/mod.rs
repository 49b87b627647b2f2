//! The timers of one processor.
//!
//! Setting and cancelling happen millions of times a second, mostly by the processor that owns the
//! timers, sometimes by a task that has moved on to another one. Looking whether something is due
//! happens even more often, and by everybody: the owner before each task, thieves, the machine that
//! is about to sleep. So everything that changes the timers goes through one lock, hardly ever
//! contended, and what everybody asks, the moment of the earliest timer, is published in an atomic
//! word under that lock and read without it.
//!
//! Three rules:
//!
//! - **`earliest` is never too late.** It may be too early: cancelling and postponing leave it as
//!   it is, since finding the next one would cost more than a look in vain. [`Timers::next`] and
//!   [`Timers::expire`] make it exact.
//! - **No waker is cloned, woken or dropped under the lock**, because that may run code of the
//!   user's, which may set a timer. Wakers are moved out, and go on after the lock is released.
//! - **Each waker leaves once**: `expire` hands it out, or `cancel` does, or `take_all`. Who comes
//!   second finds that the generation of the slot is not the one it knows.
//!
//! Publishing `earliest` is a release store, not a fence. Who inserts a timer and then looks
//! whether a machine sleeps past it needs the fence of the parking protocol in between, and so does
//! the machine that announces its sleep and then looks at `earliest`.

use std::task::Waker;

use crate::contain::contain;
use crate::sync::Mutex;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};

mod queue;
use queue::Queue;
pub(crate) use queue::TimerSlot;

#[cfg(all(test, loom))]
mod loom_timers;
#[cfg(all(test, not(loom), not(shuttle)))]
mod tests;

/// See the module. Moments are nanoseconds on the runtime's clock; every method may be called from
/// any thread.
#[derive(Debug)]
pub(crate) struct Timers {
    earliest: AtomicU64,
    queue: Mutex<Queue>,
}

impl Timers {
    /// What [`earliest`](Timers::earliest) and [`next`](Timers::next) say when there is no timer.
    pub(crate) const NONE: u64 = u64::MAX;

    /// The last moment for which a timer can be set. All that is due later is due then.
    pub(crate) const LAST: u64 = Timers::NONE - 1;

    pub(crate) fn new() -> Timers {
        Timers { earliest: AtomicU64::new(Timers::NONE), queue: Mutex::new(Queue::new()) }
    }

    /// Sets a timer. True: it is due before all others here, so a machine may be sleeping past it.
    pub(crate) fn insert(&self, when: u64, waker: Waker) -> (TimerSlot, bool) {
        let when = when.min(Timers::LAST);
        let mut queue = self.queue.lock();
        let slot = queue.insert(when, waker);
        (slot, self.publish_earlier(when))
    }

    /// Makes the timer wake `waker` from now on. False: it has fired, or was cancelled, and will
    /// wake nobody.
    pub(crate) fn update(&self, slot: TimerSlot, waker: &Waker) -> bool {
        match self.queue.lock().waker_mut(slot) {
            None => return false,
            Some(current) if current.will_wake(waker) => return true,
            Some(_) => {}
        }
        self.replace_waker(slot, waker.clone())
    }

    /// Moves the timer to another moment, with its waker. `None`: it has fired, or was cancelled.
    /// Otherwise whether it is now due before all others here.
    pub(crate) fn reset(&self, slot: TimerSlot, when: u64) -> Option<bool> {
        let when = when.min(Timers::LAST);
        let mut queue = self.queue.lock();
        queue.reset(slot, when).then(|| self.publish_earlier(when))
    }

    /// Takes the timer back, and its waker. `None`: it has fired, or was cancelled before.
    #[must_use = "the waker must not be dropped while a lock is held"]
    pub(crate) fn cancel(&self, slot: TimerSlot) -> Option<Waker> {
        let mut queue = self.queue.lock();
        let waker = queue.remove(slot)?;
        if queue.is_empty() {
            // The common end of a timeout. Left as it was, it would wake an idle machine once, for
            // nothing.
            self.earliest.store(Timers::NONE, Release);
        }
        Some(waker)
    }

    /// Takes out all timers due at `now` and appends their wakers to `fired`, by moment and for
    /// equal moments in the order in which they were set, or moved there.
    pub(crate) fn expire(&self, now: u64, fired: &mut Vec<Waker>) {
        if self.earliest() > now {
            return;
        }
        let mut queue = self.queue.lock();
        queue.remove_due(now, fired);
        self.publish_exact(&mut queue);
    }

    /// A moment before which no timer here is due. Without the lock; see the module for how exact
    /// it is.
    pub(crate) fn earliest(&self) -> u64 {
        self.earliest.load(Acquire)
    }

    /// The moment of the earliest timer, for who is going to sleep until then.
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

    /// Takes out all timers, due or not, for the shutdown.
    pub(crate) fn take_all(&self) -> Vec<Waker> {
        let mut queue = self.queue.lock();
        self.earliest.store(Timers::NONE, Release);
        queue.drain()
    }

    /// The lock was released for cloning the waker, so the timer may have fired meanwhile.
    fn replace_waker(&self, slot: TimerSlot, mut waker: Waker) -> bool {
        let mut queue = self.queue.lock();
        let current = queue.waker_mut(slot);
        let replaced = current.map(|current| std::mem::swap(current, &mut waker)).is_some();
        drop(queue);
        drop(waker);
        replaced
    }

    /// The lock is held: nobody else stores.
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

/// Wakes what [`Timers::expire`] or [`Timers::take_all`] has handed out. A waker may be anybody's:
/// a panic in one must not reach the caller, nor keep the others from being woken.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        contain(|| waker.wake());
    }
}
