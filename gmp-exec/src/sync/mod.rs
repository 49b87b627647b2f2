//! Chooses where atomics, locks and threads come from: std, loom or shuttle.
//!
//! Model checkers must see every shared access, and a production build must not pay for them. So
//! the rest of the crate names `crate::sync` and never `std::sync`, and the choice is made here,
//! once. The locks ignore poisoning: user code never runs under one of them, so a poisoned lock can
//! only follow a bug that already aborts.

#[cfg(not(any(loom, shuttle)))]
use std as imp;
pub(crate) use std::sync::Arc;
use std::time::Duration;

#[cfg(gmp_lines)]
use gmp_lines as imp;
#[cfg(loom)]
use loom as imp;
#[cfg(all(shuttle, not(gmp_lines)))]
use shuttle as imp;

mod apart;
pub(crate) use apart::Apart;

/// An `Arc` that is cloned on hot paths, so that its count belongs to the budget of lines.
#[cfg(not(gmp_lines))]
pub(crate) use Arc as CountedArc;
#[cfg(gmp_lines)]
pub(crate) use gmp_lines::arc::CountedArc;

pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::Ordering;

    pub(crate) use super::imp::sync::atomic::{
        AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, fence,
    };
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

    #[cfg_attr(gmp_lines, track_caller)]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A condition variable for [`Mutex`].
#[derive(Debug, Default)]
pub(crate) struct Condvar(imp::sync::Condvar);

impl Condvar {
    #[cfg(any(loom, shuttle))]
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The second value tells whether the time is up. Under the model checkers it never is.
    pub(crate) fn wait_timeout<'a, T>(&self, guard: MutexGuard<'a, T>, limit: Duration) -> (MutexGuard<'a, T>, bool) {
        let (guard, timeout) = self.0.wait_timeout(guard, limit).unwrap_or_else(|poisoned| poisoned.into_inner());
        (guard, timeout.timed_out())
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[cfg(loom)]
mod once_lock;
#[cfg(loom)]
pub(crate) use once_lock::OnceLock;
#[cfg(not(loom))]
pub(crate) use std::sync::OnceLock;

#[cfg(all(any(loom, shuttle), not(gmp_lines)))]
mod model_thread;

pub(crate) mod thread {
    pub(crate) use super::imp::thread::{Builder, JoinHandle, yield_now};
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) use super::imp::thread::{Thread, current, park, park_timeout, sleep};
    #[cfg(all(any(loom, shuttle), not(gmp_lines)))]
    pub(crate) use super::model_thread::{Thread, current, park, park_timeout, sleep};
    #[cfg(gmp_lines)]
    pub(crate) use gmp_lines::park::{Thread, current, park, park_timeout, sleep};
}

/// Both checkers run their threads on one real thread, so they have their own thread-locals.
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::thread_local;

#[cfg(shuttle)]
pub(crate) use shuttle::thread_local;

/// loom's macro does not accept `const`.
#[cfg(loom)]
macro_rules! loom_thread_local {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = const $init:block;)*) => {
        loom::thread_local! { $($(#[$attribute])* static $name: $type = $init;)* }
    };
}

#[cfg(loom)]
pub(crate) use loom_thread_local as thread_local;
