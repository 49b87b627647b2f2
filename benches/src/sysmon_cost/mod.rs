//! The cost of the monitor thread: each row of the scheduler with it and without, and how often an
//! idle runtime wakes up.
//!
//! One percent is less than the difference between two repetitions of the same code. But drift
//! cancels out: a repetition with the thread and one without follow each other immediately, and the
//! result is the median of the ratios of such pairs, of five times as many pairs as the table has
//! repetitions.

mod idle;
mod pairs;

use std::io;

use serde::{Deserialize, Serialize};

pub use self::idle::idle_limit;
use self::pairs::Sides;
pub use self::pairs::{LIMIT, met};
use crate::args::Options;
use crate::measure::geometric_mean;
use crate::plan::{self, Plan};
use crate::report::{JsonLines, Progress, number};
use crate::workloads::Group;

/// Pairs for each repetition that was asked for.
const PAIRS: usize = 5;

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
///
/// # Errors
///
/// A runtime can't be started, or the JSON file can't be written.
pub fn run(options: &Options) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    // Runs first, while no other runtime exists whose threads could wake up.
    idle::run(options, &mut json)?;
    rows(options, &mut json)
}

fn rows(options: &Options, json: &mut JsonLines) -> io::Result<()> {
    let mut sides = Sides::start(options.procs)?;
    let plans = plans(options);
    let progress = Progress::new(plans.len());
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
    let mut ratios = Vec::new();
    for (row, plan) in plans.iter().enumerate() {
        let cost = sides.measure(plan, |rep| progress.show(row, plan.turns(), rep))?;
        progress.clear();
        println!("{}", cost.line(plan.name));
        json.line(&cost.json(plan.name, options.procs))?;
        ratios.push(cost.ratio());
    }
    if !ratios.is_empty() {
        println!("{:<38}{:>8.3}{:>17.2}", "geometric mean", geometric_mean(&ratios), LIMIT);
    }
    Ok(())
}

fn plans(options: &Options) -> Vec<Plan> {
    let reps = options.reps() * PAIRS;
    plan::selected(options).into_iter().filter(|plan| plan.group == Group::Scheduler).map(|it| it.with(reps)).collect()
}
