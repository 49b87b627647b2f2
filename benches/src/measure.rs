//! Two runtimes taking turns at one workload.
//!
//! The machine's noise comes in stretches (a neighbour, the clock's frequency, the kernel's own work). Measuring one
//! runtime to the end and then the other would give each a stretch of its own, so the repetitions alternate, and the
//! order within a pair flips every time: neither side always runs into the caches that the other one left behind.

use std::time::Duration;

use crate::{rt::Rt, workloads::Workload};

/// Runs `reps` repetitions of the workload on each side, after one on each that isn't counted.
pub fn alternate<A: Rt, B: Rt>(a: (&A, &Workload<A>), b: (&B, &Workload<B>), reps: usize) -> Outcome {
    let mut samples = [Vec::with_capacity(reps), Vec::with_capacity(reps)];
    repetition(a);
    repetition(b);
    for rep in 0..reps {
        if rep % 2 == 0 {
            samples[0].push(repetition(a));
            samples[1].push(repetition(b));
        } else {
            samples[1].push(repetition(b));
            samples[0].push(repetition(a));
        }
    }
    let [gmp, tokio] = samples.map(Samples::new);
    Outcome { gmp, tokio }
}

/// Nanoseconds per operation of one repetition.
fn repetition<R: Rt>((rt, workload): (&R, &Workload<R>)) -> f64 {
    let total: Duration = (0..workload.rounds).map(|_| (workload.round)(rt)).sum();
    total.as_nanos() as f64 / f64::from(workload.rounds) / f64::from(workload.ops)
}

/// What both sides took for one workload.
#[derive(Debug)]
pub struct Outcome {
    /// gmp's repetitions.
    pub gmp: Samples,
    /// tokio's repetitions.
    pub tokio: Samples,
}

impl Outcome {
    /// gmp's median over tokio's: below 1, gmp is faster.
    pub fn ratio(&self) -> f64 {
        self.gmp.median() / self.tokio.median()
    }
}

/// The repetitions of one side, nanoseconds per operation unless told otherwise; at least one, in ascending order.
#[derive(Debug)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// `samples` in any order.
    pub fn new(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Samples(samples)
    }

    /// The middle one, or the mean of the two middle ones.
    pub fn median(&self) -> f64 {
        let (low, high) = ((self.0.len() - 1) / 2, self.0.len() / 2);
        f64::midpoint(self.0[low], self.0[high])
    }

    /// The fastest.
    pub fn min(&self) -> f64 {
        self.0[0]
    }

    /// How many of them took less than `nanos`.
    pub fn below(&self, nanos: f64) -> usize {
        self.0.partition_point(|&sample| sample < nanos)
    }
}

/// The geometric mean of `ratios`, the only mean under which "half" and "double" cancel out.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(Samples::new(vec![4.0, 1.0, 3.0, 100.0]).median(), 3.5);
        assert_eq!(Samples::new(vec![4.0, 1.0, 3.0]).median(), 3.0);
    }

    #[test]
    fn half_and_double_cancel_out() {
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
    }
}
