//! An `Arc` whose count is recorded, for one that is cloned on hot paths.

use std::ops::Deref;

use super::caches::Access::Write;
use super::{recorder, step};
use std::sync::Arc;

/// std's `Arc`. Each clone and each drop is recorded as a write of its count.
#[derive(Debug)]
pub struct CountedArc<T>(Arc<T>);

impl<T> CountedArc<T> {
    /// As std's.
    pub fn new(value: T) -> Self {
        CountedArc(Arc::new(value))
    }

    /// std puts the two counts before the value.
    #[track_caller]
    fn touch_count(&self) {
        step();
        let counts = align_of::<T>().max(2 * size_of::<usize>());
        recorder::touch(Arc::as_ptr(&self.0).addr() - counts, size_of::<usize>(), Write);
    }
}

impl<T> Clone for CountedArc<T> {
    fn clone(&self) -> Self {
        self.touch_count();
        CountedArc(self.0.clone())
    }
}

impl<T> Drop for CountedArc<T> {
    fn drop(&mut self) {
        self.touch_count();
    }
}

impl<T> Deref for CountedArc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
