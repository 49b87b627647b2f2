//! What the monitor thread costs: each row of the scheduler with it and without, and how often an idle runtime wakes up.
//!
//! One percent is less than two repetitions of the same thing differ by. What cancels out is drift: a repetition with and
//! one without are made one right after the other, and the result is the median of the ratios of such pairs, of five times
//! as many pairs as the table has repetitions.

mod idle;

use std::io;

use serde::Serialize;

use crate::{
    args::Options,
    measure::Samples,
    plan::{self, Plan},
    report::{JsonLines, Progress, met},
    sides::SysmonSides,
    workloads::Group,
};

/// How much more a row may take with the monitor thread.
const LIMIT: f64 = 1.01;

/// Pairs for each repetition that was asked for.
const PAIRS: usize = 5;

/// Measures and prints.
///
/// # Errors
///
/// A runtime can't be started, or the JSON file can't be written.
pub fn run(options: &Options) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    // First, while no other runtime is there whose threads could wake up.
    idle::run(options, &mut json)?;
    rows(options, &mut json)
}

fn rows(options: &Options, json: &mut JsonLines) -> io::Result<()> {
    let mut sides = SysmonSides::start(options.procs)?;
    let plans = plans(options);
    let progress = Progress::new(plans.len());
    println!(
        "\nnanoseconds per operation of gmp with sysmon and without, {} Ps, medians of {} pairs\n\
         ratio: the median of the pairs' ratios, and their quartiles\n\n{:<18}{:>10}{:>10}{:>8}{:>16}{:>8}  met",
        options.procs,
        options.reps * PAIRS,
        "workload",
        "on",
        "off",
        "ratio",
        "quartiles",
        "limit"
    );
    for (row, plan) in plans.iter().enumerate() {
        let (on, off) = sides.measure(plan, |rep| progress.show(row, plan.turns(), rep))?;
        progress.clear();
        let cost = Cost::new(&on, &off);
        println!("{}", cost.line(plan.name));
        json.line(&cost.json(plan.name, options.procs))?;
    }
    Ok(())
}

fn plans(options: &Options) -> Vec<Plan> {
    let reps = options.reps * PAIRS;
    plan::selected(options).into_iter().filter(|plan| plan.group == Group::Scheduler).map(|it| it.with(reps)).collect()
}

/// One row.
struct Cost {
    on: f64,
    off: f64,
    ratios: Samples,
}

impl Cost {
    fn new(on: &[f64], off: &[f64]) -> Self {
        let ratios = on.iter().zip(off).map(|(on, off)| on / off).collect();
        let median = |samples: &[f64]| Samples::new(samples.to_vec()).median();
        Cost { on: median(on), off: median(off), ratios: Samples::new(ratios) }
    }

    fn line(&self, workload: &str) -> String {
        let (ratio, (low, high)) = (self.ratios.median(), self.ratios.quartiles());
        let quartiles = format!("{low:.3} - {high:.3}");
        let met = met(ratio, LIMIT, LIMIT);
        format!("{workload:<18}{:>10.0}{:>10.0}{ratio:>8.3}{quartiles:>16}{LIMIT:>8.2}  {met}", self.on, self.off)
    }

    fn json(&self, workload: &'static str, procs: usize) -> Line {
        let Cost { on, off, ratios } = self;
        Line { workload, unit: "ns/op", on: *on, off: *off, ratio: ratios.median(), pairs: ratios.all().len(), procs }
    }
}

/// A row as a JSON object.
#[derive(Serialize)]
struct Line {
    workload: &'static str,
    unit: &'static str,
    on: f64,
    off: f64,
    ratio: f64,
    pairs: usize,
    procs: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_that_hits_both_of_a_pair_cancels_out() {
        let off = [100.0, 400.0, 200.0];
        let on = off.map(|it| it * 1.02);
        let cost = Cost::new(&on, &off);
        assert!((cost.ratios.median() - 1.02).abs() < 1e-9, "{}", cost.line("ring_500"));
        assert!(cost.line("ring_500").ends_with("MISSED"), "{}", cost.line("ring_500"));
        assert!(!Cost::new(&off, &off).line("ring_500").ends_with("MISSED"));
    }
}
