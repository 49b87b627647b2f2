//! A value on cache lines of its own.

use std::ops::Deref;

/// Keeps other values off the cache line of a value that one core writes and others read, or off
/// that of a value that all of them write. 128 bytes, because some processors fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Apart<T>(T);

impl<T> Apart<T> {
    pub(crate) const fn new(value: T) -> Apart<T> {
        Apart(value)
    }
}

impl<T> Deref for Apart<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
