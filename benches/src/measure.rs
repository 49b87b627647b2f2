//! Measures a workload on several sides, in turns; medians and percentiles of what was measured.
//!
//! The machine's noise comes in stretches (a neighbour, the clock's frequency, the kernel's own
//! work). So the repetitions alternate, and the order changes every time ([`order`]): no side
//! always runs with the caches that the same other side has left.

use std::time::Duration;

use anyhow::Result;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::report::rounded;

/// A workload and its number of repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    pub workload: &'static str,
    pub reps: usize,
    /// Whether each side has a first repetition that doesn't count.
    pub warm_up: bool,
}

impl Turns {
    /// All repetitions on each side, including the one that doesn't count.
    pub fn repetitions(&self) -> usize {
        self.reps + usize::from(self.warm_up)
    }
}

pub type Side<'a, T> = Box<dyn FnMut() -> Result<T> + 'a>;

/// Lets `sides` take turns and reports every repetition to `progress`, from 0 on; the result has an
/// entry for every side, with its repetitions in the order in which they were made.
///
/// A side that fails gets no further turns; the others continue.
pub fn take_turns<T>(
    mut sides: Vec<Side<'_, T>>,
    turns: &Turns,
    mut progress: impl FnMut(usize),
) -> Vec<Result<Vec<T>>> {
    let mut results: Vec<_> = sides.iter().map(|_| Ok(Vec::with_capacity(turns.reps))).collect();
    for rep in 0..turns.repetitions() {
        progress(rep);
        // The turn that doesn't count is not part of a pair.
        for side in order(rep.saturating_sub(usize::from(turns.warm_up)), sides.len()) {
            let Ok(samples) = &mut results[side] else {
                continue;
            };
            match sides[side]() {
                Ok(sample) if rep > 0 || !turns.warm_up => samples.push(sample),
                Ok(_) => {}
                Err(error) => results[side] = Err(error),
            }
        }
    }
    results
}

/// Measures `reps` times on each side, in turns. If one side fails, no result is of use.
pub fn take_all<T>(reps: usize, sides: Vec<Side<'_, T>>) -> Result<Vec<Vec<T>>> {
    take_turns(sides, &Turns { workload: "", reps, warm_up: false }, |_| ()).into_iter().collect()
}

/// The order of the sides in turn number `turn`, from 0 on.
///
/// Every other turn is the previous one in reverse: after each pair of turns every side has been
/// first as often as last, and before each other side as often as after it. Each pair begins with
/// another side: after as many pairs as there are sides, all have been first equally often.
pub fn order(turn: usize, sides: usize) -> impl Iterator<Item = usize> {
    let (pair, backwards) = (turn / 2, turn % 2 == 1);
    (0..sides)
        .map(move |place| if backwards { sides - 1 - place } else { place })
        .map(move |place| (place + pair) % sides)
}

/// A side's repetitions in ascending order, at least one; ns per operation, or the row's own unit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Takes `samples` in any order.
    pub fn new(mut samples: Vec<f64>) -> Self {
        assert!(!samples.is_empty(), "a median needs a repetition at least");
        samples.sort_by(f64::total_cmp);
        Samples(samples)
    }

    pub fn rounded(&self, digits: i32) -> Self {
        Samples(self.0.iter().map(|sample| rounded(*sample, digits)).collect())
    }

    pub fn all(&self) -> &[f64] {
        &self.0
    }

    /// The first and the third quartile: half of the repetitions lie between them.
    pub fn quartiles(&self) -> (f64, f64) {
        (self.quantile(0.25), self.quantile(0.75))
    }

    /// The middle repetition, or the mean of the two middle ones.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The value below which `share` of the repetitions lie, interpolated linearly.
    fn quantile(&self, share: f64) -> f64 {
        let position = share * (self.0.len() - 1) as f64;
        let (low, high) = (self.0[position.floor() as usize], self.0[position.ceil() as usize]);
        low + (high - low) * position.fract()
    }

    pub fn min(&self) -> f64 {
        self.0[0]
    }

    pub fn max(&self) -> f64 {
        self.0[self.0.len() - 1]
    }
}

/// The points of a curve of latencies.
const PERCENTILES: [f64; 9] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 100.0];

/// Many durations, of which only percentiles are asked for: from 1 µs to an hour with 3 digits.
#[derive(Debug, Clone)]
pub struct Durations(Histogram<u64>);

impl Default for Durations {
    fn default() -> Self {
        Durations(Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are constant and good"))
    }
}

impl FromIterator<Duration> for Durations {
    fn from_iter<T: IntoIterator<Item = Duration>>(iter: T) -> Self {
        let mut durations = Durations::default();
        iter.into_iter().for_each(|duration| durations.record(duration));
        durations
    }
}

impl Durations {
    pub fn record(&mut self, duration: Duration) {
        self.0.saturating_record(duration.as_micros() as u64);
    }

    pub fn add(&mut self, other: &Durations) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// In milliseconds: `percent` of the durations are at or below it.
    pub fn millis_at(&self, percent: f64) -> f64 {
        self.0.value_at_percentile(percent) as f64 / 1000.0
    }

    /// Percentiles, and the milliseconds at them.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        PERCENTILES.map(|percent| (percent, self.millis_at(percent))).to_vec()
    }
}

/// The geometric mean of `ratios`: the only mean in which "half" and "double" cancel out.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// A side that records its turns, and fails at its turn number `last`.
    fn scribe<'a>(name: char, log: &'a RefCell<String>, last: u8) -> Side<'a, u8> {
        let mut turns = 0;
        Box::new(move || {
            log.borrow_mut().push(name);
            turns += 1;
            if turns == last { Err(anyhow::anyhow!("enough")) } else { Ok(turns) }
        })
    }

    #[test]
    fn every_order_has_its_turn_and_one_that_does_not_count_is_no_half_of_a_pair() {
        for (sides, reps, warm_up, order) in
            [("abc", 6, false, " abc cba bca acb cab bac"), ("ab", 4, true, " ab ab ba ba ab")]
        {
            let log = RefCell::default();
            let sides = sides.chars().map(|name| scribe(name, &log, 100)).collect();
            take_turns(sides, &Turns { workload: "", reps, warm_up }, |_| log.borrow_mut().push(' '));
            assert_eq!(log.take(), order);
        }
    }

    #[test]
    fn a_side_that_fails_gets_no_further_turn_and_the_others_go_on() {
        let log = RefCell::default();
        let turns = Turns { workload: "ring", reps: 4, warm_up: true };
        let results = take_turns(vec![scribe('a', &log, 10), scribe('b', &log, 2)], &turns, |_| ());
        assert_eq!(results[0].as_ref().unwrap(), &[2, 3, 4, 5], "the first turn of all doesn't count");
        assert!(results[1].is_err() && log.borrow().matches('b').count() == 2);
    }

    #[test]
    fn medians_quartiles_and_means() {
        assert_eq!(Samples::new(vec![5.0, 1.0, 2.0, 4.0, 3.0]).quartiles(), (2.0, 4.0));
        assert_eq!(Samples::new(vec![1.0, 2.0]).quartiles(), (1.25, 1.75));
        assert_eq!(Samples::new(vec![4.0, 1.0, 3.0, 100.0]).median(), 3.5);
        // Half and double cancel out.
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
    }
}
