//! `OnceLock` for loom, which has none: what was written before `set` is visible after a `get` that
//! finds the value, and loom knows it.

use std::sync;

use loom::sync::atomic::AtomicBool;
use loom::sync::atomic::Ordering::*;

#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    value: sync::OnceLock<T>,
    is_set: AtomicBool,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> OnceLock<T> {
        OnceLock { value: sync::OnceLock::new(), is_set: AtomicBool::new(false) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        // Before it is set there is nothing to explore.
        let value = self.value.get()?;
        if self.is_set.load(Acquire) { Some(value) } else { None }
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        self.value.set(value)?;
        self.is_set.store(true, Release);
        Ok(())
    }
}
