//! One repetition with the monitor thread and one without, again and again.

use std::io;

use super::Sysmon;
use crate::measure::{Samples, take_turns};
use crate::plan::Plan;
use crate::report::rounded;
use crate::rt::{Gmp, Rt};
use crate::sides::InProcess;
use crate::workloads;

/// The limit for a row's ratio of with to without the monitor thread.
pub const LIMIT: f64 = 1.01;

/// Both runtimes.
#[derive(Debug)]
pub(super) struct Sides {
    on: InProcess<Gmp>,
    off: InProcess<Gmp>,
}

impl Sides {
    pub(super) fn start(procs: usize) -> io::Result<Self> {
        let (on, off) = (Gmp::new(procs)?, Gmp::without_sysmon(procs)?);
        Ok(Sides { on: InProcess::of(on, workloads::scheduler()), off: InProcess::of(off, workloads::scheduler()) })
    }

    /// Measures one of the scheduler's rows and reports every pair to `progress`.
    pub(super) fn measure(&mut self, plan: &Plan, progress: impl FnMut(usize)) -> io::Result<Cost> {
        let mut results = take_turns(&mut [&mut self.on, &mut self.off], plan.turns(), progress).into_iter();
        let mut next = || results.next().expect("both sides have a result");
        Ok(Cost::new(next()?, next()?))
    }
}

/// One row.
#[derive(Debug)]
pub(super) struct Cost {
    on: Samples,
    off: Samples,
    ratios: Samples,
}

impl Cost {
    fn new(on: Vec<f64>, off: Vec<f64>) -> Self {
        let ratios = on.iter().zip(&off).map(|(on, off)| on / off).collect();
        let [on, off, ratios] = [on, off, ratios].map(Samples::new);
        Cost { on, off, ratios }
    }

    /// With the monitor thread over without.
    pub(super) fn ratio(&self) -> f64 {
        self.ratios.median()
    }

    /// The error of the ratio: in 95 of 100 runs the ratio of infinitely many pairs is no further
    /// away than this. It is twice the standard error of a median, with the scatter taken from the
    /// quartiles, which an occasional interrupted repetition doesn't move.
    fn error(&self) -> f64 {
        let (low, high) = self.ratios.quartiles();
        let deviation = (high - low) / 1.349;
        2.0 * 1.253 * deviation / (self.ratios.all().len() as f64).sqrt()
    }

    pub(super) fn line(&self, workload: &str) -> String {
        let (on, off) = (self.on.median(), self.off.median());
        let (ratio, error, met) = (self.ratio(), self.error(), met(self.ratio(), self.error()));
        format!("{workload:<18}{on:>10.0}{off:>10.0}{ratio:>8.3}{error:>9.3}{LIMIT:>8.2}  {met}")
    }

    pub(super) fn json(&self, workload: &str, procs: usize) -> Sysmon {
        Sysmon::Row {
            workload: workload.to_owned(),
            unit: "ns/op".to_owned(),
            on: rounded(self.on.median(), 1),
            off: rounded(self.off.median(), 1),
            ratio: rounded(self.ratio(), 4),
            error: Some(rounded(self.error(), 4)),
            pairs: self.ratios.all().len(),
            procs,
        }
    }
}

/// Whether a row is within [`LIMIT`], if its ratio may be off by `error`.
pub fn met(ratio: f64, error: f64) -> &'static str {
    if ratio <= LIMIT {
        "yes"
    } else if ratio - error <= LIMIT {
        "can't be told: too noisy"
    } else {
        "MISSED"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(ratios: [f64; 3]) -> Cost {
        let off = vec![100.0, 400.0, 200.0];
        let on = off.iter().zip(ratios).map(|(off, ratio)| off * ratio).collect();
        Cost::new(on, off)
    }

    #[test]
    fn drift_that_hits_both_of_a_pair_cancels_out() {
        let cost = cost([1.02; 3]);
        assert!((cost.ratio() - 1.02).abs() < 1e-9 && cost.error() < 1e-9, "{cost:?}");
    }

    #[test]
    fn a_row_misses_only_what_it_is_further_away_from_than_its_error() {
        let met = |ratios| {
            let cost = cost(ratios);
            met(cost.ratio(), cost.error())
        };
        assert_eq!(met([1.0; 3]), "yes");
        assert_eq!(met([1.02; 3]), "MISSED");
        assert_eq!(met([0.9, 1.02, 1.3]), "can't be told: too noisy");
    }
}
