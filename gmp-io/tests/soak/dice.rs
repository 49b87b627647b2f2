//! Random numbers that a seed decides.

use std::time::Duration;

use fastrand::Rng;

#[derive(Debug)]
pub(crate) struct Dice(Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(Rng::with_seed(seed))
    }

    /// Dice of their own for another actor or turn, decided by these.
    pub(crate) fn split(&mut self) -> Dice {
        Dice(self.0.fork())
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.u64(..end)
    }

    /// A duration of less than `millis` milliseconds.
    pub(crate) fn millis_below(&mut self, millis: u64) -> Duration {
        Duration::from_micros(self.below(millis * 1000))
    }

    /// From 1 to `most` bytes, of all values.
    pub(crate) fn bytes(&mut self, most: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.0.usize(1..=most as usize)];
        self.0.fill(&mut bytes);
        bytes
    }
}
