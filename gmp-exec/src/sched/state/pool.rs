//! The threads that run closures and never hold a processor: which of them wait for a closure.
//!
//! A submitter gives its closure to the thread that began to wait last: its stack and its core's
//! caches are warm, and the other threads reach the end of their keep-alive. If no thread waits,
//! the submitter starts one with its closure. So closures wait here only while the system has no
//! thread to give, or little would be left to the program. How many closures run at a time is the
//! matter of `permits`.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::hint::spin_loop;
use crate::sync::{Arc, Condvar, Mutex};
use crate::task::Runnable;

/// How long a thread waits for its next closure before it sleeps: about as long as the task that has
/// got the result takes to spawn the next one. Measured on two cores, one closure after the other: 13
/// to 18 µs each without, 8 to 10 µs with it. A longer wait gained nothing that was certain.
const SPIN: Duration = Duration::from_micros(10);

/// Lock order: `inner`, then a seat.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The threads that wait, the latest last.
    idle: Vec<Arc<Seat>>,
    /// Those of all threads.
    seats: Vec<Arc<Seat>>,
    /// Closures for which no thread could be started, or should be. The threads that exist take them.
    delayed: VecDeque<Runnable>,
    closed: bool,
}

/// Where one thread of the pool gets its closures.
#[derive(Debug, Default)]
pub(in crate::sched) struct Seat {
    slot: Mutex<Slot>,
    /// Something is in the slot. Only for the thread that spins, which then takes the lock.
    is_given: AtomicBool,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Slot {
    given: Given,
    /// The thread sleeps, or is about to.
    sleeps: bool,
}

#[derive(Debug, Default)]
enum Given {
    #[default]
    Nothing,
    Closure(Runnable),
    /// The pool is closed: the thread ends.
    Dismissal,
}

#[must_use]
pub(in crate::sched) enum Submitted {
    /// A thread has the closure.
    Given,
    /// The caller must start a thread for this seat, in which the closure is.
    Start(Arc<Seat>),
    /// The pool is closed.
    Closed(Runnable),
}

#[must_use]
pub(in crate::sched) enum NotStarted {
    /// Another thread has the closure, or will take it.
    Delayed,
    /// There is no thread, and none would ever run the closure, nor those that were delayed for the
    /// sake of a thread that could not be started either.
    Alone { closure: Runnable, delayed: VecDeque<Runnable> },
}

impl Pool {
    pub(in crate::sched) fn submit(&self, closure: Runnable) -> Submitted {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Submitted::Closed(closure);
        }
        let Some(seat) = inner.idle.pop() else {
            let seat = Arc::new(Seat::default());
            inner.seats.push(seat.clone());
            seat.give(Given::Closure(closure));
            return Submitted::Start(seat);
        };
        drop(inner);
        seat.give(Given::Closure(closure));
        Submitted::Given
    }

    /// The thread of the seat should rather not be started. `false`: it must be, because there is no
    /// other.
    pub(in crate::sched) fn leave_to_others(&self, seat: &Arc<Seat>) -> bool {
        self.inner.lock().leave_to_others(seat)
    }

    /// The system has no thread for the seat.
    pub(in crate::sched) fn not_started(&self, seat: &Arc<Seat>) -> NotStarted {
        let mut inner = self.inner.lock();
        if inner.leave_to_others(seat) {
            return NotStarted::Delayed;
        }
        inner.remove(seat);
        let Given::Closure(closure) = seat.take() else { return NotStarted::Delayed };
        NotStarted::Alone { closure, delayed: std::mem::take(&mut inner.delayed) }
    }

    /// Called by the thread of the seat: waits for its next closure. `None`: there was none for
    /// `keep_alive`, or the pool is closed. The thread no longer counts.
    pub(in crate::sched) fn next(&self, seat: &Arc<Seat>, keep_alive: Duration) -> Option<Runnable> {
        if let Given::Closure(first) = seat.take() {
            return Some(first);
        }
        let mut inner = self.inner.lock();
        if let Some(delayed) = inner.delayed.pop_front() {
            return Some(delayed);
        }
        if inner.closed {
            inner.remove(seat);
            return None;
        }
        inner.idle.push(seat.clone());
        drop(inner);
        seat.spin();
        self.wait(seat, keep_alive)
    }

    fn wait(&self, seat: &Arc<Seat>, keep_alive: Duration) -> Option<Runnable> {
        loop {
            match seat.wait(keep_alive) {
                Given::Closure(closure) => return Some(closure),
                Given::Dismissal => break,
                Given::Nothing if self.leave(seat) => return None,
                // A submitter has chosen this seat and is about to give it something.
                Given::Nothing => {}
            }
        }
        self.inner.lock().remove(seat);
        None
    }

    /// `false`: the thread was chosen, and must stay.
    fn leave(&self, seat: &Arc<Seat>) -> bool {
        let mut inner = self.inner.lock();
        let Some(index) = inner.idle.iter().position(|idle| Arc::ptr_eq(idle, seat)) else { return false };
        inner.idle.remove(index);
        inner.remove(seat);
        true
    }

    /// Returns the closures that no thread has taken.
    pub(in crate::sched) fn close(&self) -> VecDeque<Runnable> {
        let mut inner = self.inner.lock();
        inner.closed = true;
        let idle = std::mem::take(&mut inner.idle);
        let delayed = std::mem::take(&mut inner.delayed);
        drop(inner);
        idle.iter().for_each(|seat| seat.give(Given::Dismissal));
        delayed
    }

    /// Threads that run a closure or wait for one.
    pub(crate) fn threads(&self) -> usize {
        self.inner.lock().seats.len()
    }

    pub(crate) fn idle(&self) -> usize {
        self.inner.lock().idle.len()
    }

    /// Closures for which no thread could be started.
    pub(in crate::sched) fn delayed(&self) -> usize {
        self.inner.lock().delayed.len()
    }

    /// Shows those closures, and the ones that their threads have not begun, under the locks.
    pub(in crate::sched) fn look(&self, mut see: impl FnMut(&Runnable)) {
        let inner = self.inner.lock();
        inner.delayed.iter().for_each(&mut see);
        for seat in &inner.seats {
            if let Given::Closure(closure) = &seat.slot.lock().given {
                see(closure);
            }
        }
    }
}

impl Inner {
    /// Another thread gets the closure of a seat without a thread, at once or later. `false`: there
    /// is none, and the seat stays as it is.
    fn leave_to_others(&mut self, seat: &Arc<Seat>) -> bool {
        if self.seats.len() == 1 || self.closed {
            return false;
        }
        self.remove(seat);
        let Given::Closure(closure) = seat.take() else { return true };
        match self.idle.pop() {
            Some(other) => other.give(Given::Closure(closure)),
            None => self.delayed.push_back(closure),
        }
        true
    }

    /// The thread of this seat has ended, or never was.
    fn remove(&mut self, seat: &Arc<Seat>) {
        self.seats.retain(|other| !Arc::ptr_eq(other, seat));
    }
}

impl Seat {
    fn give(&self, given: Given) {
        let mut slot = self.slot.lock();
        slot.given = given;
        self.is_given.store(true, Relaxed);
        let sleeps = slot.sleeps;
        drop(slot);
        if sleeps {
            self.wake.notify_one();
        }
    }

    fn take(&self) -> Given {
        self.take_from(&mut self.slot.lock())
    }

    fn take_from(&self, slot: &mut Slot) -> Given {
        self.is_given.store(false, Relaxed);
        slot.sleeps = false;
        std::mem::take(&mut slot.given)
    }

    /// Waits for a moment without sleeping.
    fn spin(&self) {
        if cfg!(not(any(loom, shuttle))) {
            let since = Instant::now();
            while !self.is_given.load(Relaxed) && since.elapsed() < SPIN {
                spin_loop();
            }
        }
    }

    fn wait(&self, limit: Duration) -> Given {
        let mut slot = self.slot.lock();
        if matches!(slot.given, Given::Nothing) {
            slot.sleeps = true;
            slot = self.wake.wait_timeout(slot, limit).0;
        }
        self.take_from(&mut slot)
    }
}
