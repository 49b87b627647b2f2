//! A lock that ignores poisoning.

use gmp_lines::sync::{self, MutexGuard};

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    pub(crate) const fn const_new(value: T) -> Mutex<T> {
        Mutex::new(value)
    }

    #[track_caller]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("never poisoned")
    }
}
