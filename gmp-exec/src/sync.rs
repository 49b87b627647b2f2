//! The one place that chooses where atomics, locks and threads come from.
//!
//! Model checkers must see every shared access, production must pay nothing for them. So the rest of the crate names
//! `crate::sync` and never `std::sync`, and the choice between std, loom and shuttle is made here, once. Poisoning is
//! not part of the face: user code never runs under one of these locks, so a poisoned lock can only follow a bug that
//! already aborts.

#[cfg(not(any(loom, shuttle)))]
use std as imp;

#[cfg(loom)]
use loom as imp;

#[cfg(shuttle)]
use shuttle as imp;

pub(crate) use std::sync::Arc;

pub(crate) mod atomic {
    pub(crate) use super::imp::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, fence,
    };
    pub(crate) use std::sync::atomic::Ordering;
}

pub(crate) mod hint {
    pub(crate) use super::imp::hint::spin_loop;
}

/// A lock that ignores poisoning.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(imp::sync::Mutex<T>);

pub(crate) type MutexGuard<'a, T> = imp::sync::MutexGuard<'a, T>;

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(imp::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

pub(crate) mod thread {
    #[cfg(not(loom))]
    pub(crate) use super::imp::thread::park_timeout;
    pub(crate) use super::imp::thread::{Builder, Thread, current, park, yield_now};

    /// loom has no clock: a timed park is one that is always woken.
    #[cfg(loom)]
    pub(crate) fn park_timeout(_: std::time::Duration) {
        park();
    }
}
