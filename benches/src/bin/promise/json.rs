//! A row as a line of JSON.

use gmp_benches::{
    report::PERCENTILES,
    rt::{Gmp, Rt},
};
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::{Outcome, args::Options, hogs::Hogs};

/// Latenesses are in milliseconds.
#[derive(Serialize)]
pub(crate) struct Line {
    workload: &'static str,
    hogs: String,
    side: &'static str,
    procs: usize,
    secs: u64,
    unit: &'static str,
    ticks: u64,
    p50: f64,
    p99: f64,
    max: f64,
    curve: Vec<(f64, f64)>,
    /// Of a plain thread that ticks beside the task.
    thread_p99: f64,
    /// What is wanted of the p99, of gmp's only.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aim: Option<f64>,
    threads: Option<u64>,
    cpu_s: Option<f64>,
}

impl Line {
    pub(crate) fn new<R: Rt>(hogs: &Hogs, outcome: &Outcome, options: &Options) -> Self {
        let at = |percentile| millis(&outcome.task, percentile);
        let wanted = |goal| Some(goal).filter(|_| R::NAME == Gmp::NAME);
        Line {
            workload: "ticker",
            hogs: hogs.to_string(),
            side: R::NAME,
            procs: options.procs,
            secs: options.duration.as_secs(),
            unit: "ms",
            ticks: outcome.task.len(),
            p50: at(50.0),
            p99: at(99.0),
            max: at(100.0),
            curve: PERCENTILES.map(|percentile| (percentile, at(percentile))).to_vec(),
            thread_p99: millis(&outcome.thread, 99.0),
            limit: wanted(hogs.limit),
            aim: wanted(hogs.aim),
            threads: outcome.threads,
            cpu_s: outcome.cpu.map(|cpu| cpu.as_secs_f64()),
        }
    }
}

/// What so many percent of the latenesses are at or below, in ms.
pub(crate) fn millis(lateness: &Histogram<u64>, percentile: f64) -> f64 {
    lateness.value_at_percentile(percentile) as f64 / 1000.0
}
