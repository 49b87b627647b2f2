//! std's lock, recorded; and a condition variable for it.
//!
//! A thread that finds the lock held asks for its line once, then waits, and asks again when the
//! lock has become free. std's lock also spins for a while, and asks each time the line changes;
//! the record is a lower bound there. The value inside counts as written by each thread that locks,
//! all lines of it that lie in the lock itself, and none that it points to.

use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LockResult, TryLockError};
use std::time::Duration;

use super::atomics::AtomicU32;
use super::caches::Access::Write;
use super::{recorder, step, waiting};

/// std's, recorded. It is never poisoned.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

/// As std's.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    lock: &'a Mutex<T>,
    place: recorder::Place,
    /// `None` once the lock is free.
    guard: Option<std::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// As std's.
    pub const fn new(value: T) -> Self {
        Mutex(std::sync::Mutex::new(value))
    }

    /// As std's.
    ///
    /// # Errors
    ///
    /// None.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        let guard = loop {
            self.touch_word(place);
            match self.0.try_lock() {
                Ok(guard) => break guard,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => waiting::wait_on(self.word()),
            }
        };
        recorder::touch_at(place, std::ptr::from_ref(&*guard).addr(), size_of::<T>(), Write);
        Ok(MutexGuard { lock: self, place, guard: Some(guard) })
    }

    /// std puts the word that threads compete for first.
    fn word(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn touch_word(&self, place: recorder::Place) {
        step();
        recorder::touch_at(place, self.word(), size_of::<u32>(), Write);
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("only `drop` takes it")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("only `drop` takes it")
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.touch_word(self.place);
        drop(self.guard.take());
        waiting::release_one(self.lock.word());
    }
}

/// A condition variable, as wide as std's.
#[derive(Debug, Default)]
pub struct Condvar(AtomicU32);

/// There is no clock: no wait ends because its time is up.
#[derive(Debug)]
pub struct NeverTimedOut;

impl NeverTimedOut {
    /// `false`.
    pub fn timed_out(&self) -> bool {
        false
    }
}

impl Condvar {
    /// As std's.
    pub fn new() -> Self {
        Condvar::default()
    }

    /// As std's.
    ///
    /// # Errors
    ///
    /// None.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let lock = guard.lock;
        // No other thread comes between the unlock and the wait: `release_one` does not step.
        drop(guard);
        waiting::wait_on(self.word());
        lock.lock()
    }

    /// Waits until a thread notifies.
    ///
    /// # Errors
    ///
    /// None.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, NeverTimedOut)> {
        let Ok(guard) = self.wait(guard) else { unreachable!("these locks ignore poisoning") };
        Ok((guard, NeverTimedOut))
    }

    /// As std's.
    pub fn notify_one(&self) {
        self.0.swap(0, Relaxed);
        waiting::release_one(self.word());
    }

    /// As std's.
    pub fn notify_all(&self) {
        self.0.swap(0, Relaxed);
        waiting::release_all(self.word());
    }

    fn word(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}
