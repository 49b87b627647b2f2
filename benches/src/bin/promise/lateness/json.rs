//! A row as a line of JSON.

use gmp_benches::report::rounded;
use gmp_benches::rt::{Gmp, Rt};
use serde::Serialize;

use super::{Lateness, Row};
use crate::args::Options;

/// Latenesses are in milliseconds.
#[derive(Serialize)]
pub(crate) struct Line {
    /// Who was late.
    workload: &'static str,
    /// The row's name.
    hogs: &'static str,
    side: &'static str,
    procs: usize,
    /// Of one repetition.
    secs: u64,
    reps: usize,
    unit: &'static str,
    ticks: u64,
    /// The median of the repetitions', as `p99` and `thread_p99`.
    p50: f64,
    p99: f64,
    /// The lowest and the highest of the repetitions'.
    p99_range: (f64, f64),
    /// Of all ticks, as the curve.
    max: f64,
    curve: Vec<(f64, f64)>,
    /// Of a plain thread that ticks meanwhile.
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
    pub(crate) fn new(lateness: &Lateness, row: &Row, options: &Options) -> Self {
        let wanted = |goal| Some(goal).filter(|_| row.side == Gmp::NAME);
        Line {
            workload: lateness.victim.name(),
            hogs: lateness.name,
            side: row.side,
            procs: options.procs,
            secs: options.duration.as_secs(),
            reps: options.reps,
            unit: "ms",
            ticks: row.ticks,
            p50: rounded(row.p50.median(), 3),
            p99: rounded(row.p99.median(), 3),
            p99_range: row.p99_range(),
            max: row.max,
            curve: row.curve.clone(),
            thread_p99: rounded(row.thread_p99, 3),
            limit: wanted(lateness.goal.limit),
            aim: wanted(lateness.goal.aim),
            threads: row.threads,
            cpu_s: row.cpu_s,
        }
    }
}
