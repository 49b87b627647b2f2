//! An `Arc` whose count is recorded, for one that is cloned on hot paths.

use std::ops::Deref;
use std::sync::Arc;

use super::caches::Access::Write;
use super::{recorder, step};

/// std's `Arc`. Each clone and each drop is recorded as a write of its count.
#[derive(Debug)]
pub struct CountedArc<T>(Arc<T>);

impl<T> CountedArc<T> {
    /// As std's.
    pub fn new(value: T) -> Self {
        CountedArc(Arc::new(value))
    }
}

/// Records a write of the counts of the `Arc` that holds this value. std puts the two counts before
/// the value.
#[track_caller]
pub fn touch_counts<T: ?Sized>(value: &T) {
    step();
    let counts = align_of_val(value).max(2 * size_of::<usize>());
    recorder::touch(std::ptr::from_ref(value).addr() - counts, size_of::<usize>(), Write);
}

impl<T> Clone for CountedArc<T> {
    fn clone(&self) -> Self {
        touch_counts(&**self);
        CountedArc(self.0.clone())
    }
}

impl<T> Drop for CountedArc<T> {
    fn drop(&mut self) {
        touch_counts(&**self);
    }
}

impl<T> Deref for CountedArc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
