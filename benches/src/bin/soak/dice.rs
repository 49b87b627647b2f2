//! Random numbers that a seed decides.

use std::time::Duration;

/// SplitMix64: a step of a constant, then a mix. Good enough to choose with, and any seed is a good one.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// Dice of their own for somebody else, decided by these.
    pub(crate) fn split(&mut self) -> Dice {
        Dice(self.next())
    }

    /// A number below `end`. The bias of the remainder is of no matter here.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A duration of less than `millis` milliseconds.
    pub(crate) fn millis_below(&mut self, millis: u64) -> Duration {
        Duration::from_micros(self.below(millis * 1000))
    }

    /// From 1 to `most` bytes, of all values.
    pub(crate) fn bytes(&mut self, most: u64) -> Vec<u8> {
        let first = self.next();
        (0..=self.below(most)).map(|index| first.wrapping_add(index) as u8).collect()
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything() {
        let rolls = |seed| {
            let mut dice = Dice::new(seed);
            [dice.below(1000), dice.split().below(1000), dice.bytes(1000).len() as u64]
        };
        assert_eq!(rolls(7), rolls(7));
        assert_ne!(rolls(7), rolls(8));
    }

    #[test]
    fn every_side_comes_up() {
        let mut dice = Dice::new(0);
        let mut seen = [false; 6];
        (0..1000).for_each(|_| seen[dice.below(6) as usize] = true);
        assert_eq!(seen, [true; 6]);
    }
}
