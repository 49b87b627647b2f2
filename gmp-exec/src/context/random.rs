//! Random numbers of a runtime with a seed, for the drop-in's `select!`.

use std::cell::Cell;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The seed of a runtime's random numbers; see
/// [`Builder::rng_seed`](crate::runtime::Builder::rng_seed).
#[derive(Clone, Debug)]
pub struct RngSeed(u64);

impl RngSeed {
    /// Makes a seed. The same bytes make the same seed, with the same version of the standard
    /// library.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, RngSeed};
    ///
    /// let seed = RngSeed::from_bytes(b"place your seed here");
    /// let runtime = Builder::new_current_thread().rng_seed(seed).build().unwrap();
    /// runtime.block_on(async {});
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> RngSeed {
        let mut hasher = DefaultHasher::default();
        hasher.write(bytes);
        RngSeed(hasher.finish())
    }
}

/// Gives each thread of a runtime a seed of its own.
#[derive(Debug)]
pub(crate) struct SeedSource(AtomicU64);

impl SeedSource {
    pub(crate) fn new(seed: &RngSeed) -> SeedSource {
        SeedSource(AtomicU64::new(seed.0))
    }

    fn next(&self) -> u64 {
        mix(self.0.fetch_add(STEP, Relaxed))
    }
}

thread_local! {
    /// The state of this thread's generator, while it is seeded.
    static STATE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// If the runtime has a seed, this thread's random numbers come from it until the guard is dropped.
pub(crate) fn enter_seed(source: Option<&SeedSource>) -> Option<ResetSeed> {
    source.map(|source| ResetSeed(STATE.replace(Some(source.next()))))
}

#[must_use]
pub(crate) struct ResetSeed(Option<u64>);

impl Drop for ResetSeed {
    fn drop(&mut self) {
        STATE.set(self.0);
    }
}

/// The next random number of a thread that is seeded.
pub(crate) fn seeded_random() -> Option<u32> {
    let state = STATE.get()?;
    STATE.set(Some(state.wrapping_add(STEP)));
    Some((mix(state) >> 32) as u32)
}

/// splitmix64: a counter that goes on by this odd number, and a hash of it.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn numbers(source: &SeedSource) -> Vec<u32> {
        let _seed = enter_seed(Some(source));
        (0..100).map(|_| seeded_random().unwrap()).collect()
    }

    #[test]
    fn a_seed_gives_the_same_numbers_and_each_thread_its_own() {
        let source = |bytes: &[u8]| SeedSource::new(&RngSeed::from_bytes(bytes));
        let (one, same, other) = (source(b"one"), source(b"one"), source(b"other"));
        let first = numbers(&one);
        assert_eq!(first, numbers(&same));
        assert_ne!(first, numbers(&other));
        assert_ne!(first, numbers(&one), "the next thread has another seed");
    }

    #[test]
    fn a_thread_is_seeded_until_it_leaves_the_runtime() {
        assert_eq!(seeded_random(), None);
        let source = SeedSource::new(&RngSeed::from_bytes(b""));
        drop(enter_seed(Some(&source)));
        assert_eq!(seeded_random(), None);
        assert!(enter_seed(None).is_none());
    }

    #[test]
    fn numbers_are_spread() {
        let source = SeedSource::new(&RngSeed::from_bytes(b"spread"));
        let low = numbers(&source).iter().filter(|&&number| number < u32::MAX / 2).count();
        assert!((30..=70).contains(&low), "{low} of 100");
    }
}
