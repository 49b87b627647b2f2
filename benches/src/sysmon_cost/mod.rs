//! The cost of the monitor thread: each row of the scheduler with it and without, and how often an
//! idle runtime wakes up.
//!
//! One percent is less than the difference between two repetitions of the same code. But drift
//! cancels out: a repetition with the thread and one without follow each other immediately, and the
//! result is the median of the ratios of such pairs, of five times as many pairs as the table has
//! repetitions.

mod idle;

use std::io;

use serde::{Deserialize, Serialize};

pub use self::idle::idle_limit;
use crate::args::Options;
use crate::measure::{Samples, Turns, geometric_mean, take_turns};
use crate::plan;
use crate::report::{JsonLines, Progress, number, rounded};
use crate::rt::{Gmp, Rt, Tokio};
use crate::sides::InProcess;
use crate::workloads;

/// Pairs for each repetition that was asked for.
const PAIRS: usize = 5;

/// The limit for a row's ratio of with to without the monitor thread.
pub const LIMIT: f64 = 1.01;

/// A result: `--sysmon-cost` writes it and `report` reads it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sysmon {
    /// A workload with the monitor thread and without.
    Row {
        /// The workload.
        workload: String,
        /// `ns/op`.
        unit: String,
        /// The median with the monitor thread.
        #[serde(deserialize_with = "number")]
        on: f64,
        /// The median without it.
        #[serde(deserialize_with = "number")]
        off: f64,
        /// The median of the pairs' ratios.
        #[serde(deserialize_with = "number")]
        ratio: f64,
        /// The error of the ratio.
        error: Option<f64>,
        /// The number of pairs.
        pairs: usize,
        /// The number of Ps.
        #[serde(default)]
        procs: usize,
    },
    /// How often the threads of an idle runtime were switched.
    Idle {
        /// The runtime.
        idle: String,
        /// `switches`.
        #[serde(default)]
        unit: String,
        /// The number of switches.
        switches: u64,
        /// The duration in seconds.
        seconds: u64,
        /// The number of Ps.
        #[serde(default)]
        procs: usize,
    },
}

/// Measures and prints.
pub fn run(options: &Options) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    // Runs first, while no other runtime exists whose threads could wake up.
    idle::run(options, &mut json)?;
    rows(options, &mut json)
}

fn rows(options: &Options, json: &mut JsonLines) -> io::Result<()> {
    let (plans, procs, mut ratios) = (plans(options), options.procs, Vec::new());
    let mut on = InProcess::of(Gmp::new(procs)?, workloads::scheduler());
    let mut off = InProcess::of(Gmp::without_sysmon(procs)?, workloads::scheduler());
    let progress = Progress::new(plans.len());
    header(options);
    for (row, turns) in plans.iter().enumerate() {
        let results = take_turns(&mut [&mut on, &mut off], turns, |rep| progress.show(row, turns, rep));
        let [on, off] = results.into_iter().collect::<io::Result<Vec<_>>>()?.try_into().expect("two sides");
        let cost = Cost::new(on, off);
        progress.clear();
        println!("{}", cost.line(turns.workload));
        json.line(&cost.json(turns.workload, procs))?;
        ratios.push(cost.ratio());
    }
    if !ratios.is_empty() {
        println!("{:<38}{:>8.3}{:>17.2}", "geometric mean", geometric_mean(&ratios), LIMIT);
    }
    Ok(())
}

fn header(options: &Options) {
    println!(
        "\nnanoseconds per operation of gmp with sysmon and without, {} Ps, medians of {} pairs\n\
         ratio: the median of the pairs' ratios, and how far off it may be (95 %)\n\n\
         {:<18}{:>10}{:>10}{:>8}{:>9}{:>8}  met",
        options.procs,
        options.reps() * PAIRS,
        "workload",
        "on",
        "off",
        "ratio",
        "+-",
        "limit"
    );
}

fn plans(options: &Options) -> Vec<Turns> {
    let rows: Vec<_> = workloads::scheduler::<Tokio>().iter().map(|workload| workload.name).collect();
    let plans = plan::selected(options).into_iter().filter(|turns| rows.contains(&turns.workload));
    plans.map(|turns| Turns { reps: options.reps() * PAIRS, ..turns }).collect()
}

/// One row: pairs of a repetition with the monitor thread and one without.
#[derive(Debug)]
struct Cost {
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
    fn ratio(&self) -> f64 {
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

    fn line(&self, workload: &str) -> String {
        let (on, off) = (self.on.median(), self.off.median());
        let (ratio, error, met) = (self.ratio(), self.error(), met(self.ratio(), self.error()));
        format!("{workload:<18}{on:>10.0}{off:>10.0}{ratio:>8.3}{error:>9.3}{LIMIT:>8.2}  {met}")
    }

    fn json(&self, workload: &str, procs: usize) -> Sysmon {
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

    #[test]
    fn drift_of_a_pair_cancels_out_and_a_row_misses_only_by_more_than_its_error() {
        for (ratios, verdict) in
            [([1.0; 3], "yes"), ([1.02; 3], "MISSED"), ([0.9, 1.02, 1.3], "can't be told: too noisy")]
        {
            let off = vec![100.0, 400.0, 200.0];
            let cost = Cost::new(off.iter().zip(ratios).map(|(off, ratio)| off * ratio).collect(), off);
            assert!((cost.ratio() - ratios[1]).abs() < 1e-9, "{cost:?}");
            assert_eq!((met(cost.ratio(), cost.error()), cost.error() < 1e-9), (verdict, ratios[0] == ratios[1]));
        }
    }
}
