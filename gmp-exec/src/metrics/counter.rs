//! A counter with one writer.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;

/// Counts events. One thread at a time writes, any thread reads: a plain load and store, no
/// read-modify-write. No scheduling decision depends on a counter.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

impl Default for Counter {
    fn default() -> Self {
        Counter(AtomicU64::new(0))
    }
}

impl Counter {
    #[inline]
    #[cfg_attr(gmp_lines, track_caller)]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    /// For the few counters that several threads write at once.
    #[inline]
    #[cfg_attr(gmp_lines, track_caller)]
    pub(crate) fn add_shared(&self, n: u64) {
        self.0.fetch_add(n, Relaxed);
    }

    /// Counts one event beside other threads that do so. Returns how many were before it.
    #[inline]
    pub(crate) fn next_shared(&self) -> u64 {
        self.0.fetch_add(1, Relaxed)
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    pub(crate) fn raise_to(&self, value: u64) {
        self.0.fetch_max(value, Relaxed);
    }
}
