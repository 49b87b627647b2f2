//! An `Arc` whose counts are recorded.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync;

use gmp_lines::arc::touch_counts;

/// Each clone and each drop is a write of the counts, which std puts before the value.
pub(crate) struct Arc<T: ?Sized>(sync::Arc<T>);

impl<T> Arc<T> {
    pub(crate) fn new(value: T) -> Arc<T> {
        Arc(sync::Arc::new(value))
    }

    pub(crate) fn into_raw(this: Arc<T>) -> *const T {
        Arc::as_ptr(&ManuallyDrop::new(this))
    }

    /// As std's, with the same conditions.
    pub(crate) unsafe fn from_raw(value: *const T) -> Arc<T> {
        // SAFETY: promised by the caller; `into_raw` gives out std's pointer.
        Arc(unsafe { sync::Arc::from_raw(value) })
    }

    /// As std's, with the same conditions.
    #[track_caller]
    pub(crate) unsafe fn increment_strong_count(value: *const T) {
        // SAFETY: the caller has a reference, so the value lives.
        touch_counts(unsafe { &*value });
        // SAFETY: promised by the caller.
        unsafe { sync::Arc::increment_strong_count(value) };
    }
}

impl<T: ?Sized> Arc<T> {
    pub(crate) fn as_ptr(this: &Arc<T>) -> *const T {
        sync::Arc::as_ptr(&this.0)
    }

    pub(crate) fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        sync::Arc::ptr_eq(&this.0, &other.0)
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        touch_counts(&**self);
        Arc(self.0.clone())
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        touch_counts(&**self);
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
