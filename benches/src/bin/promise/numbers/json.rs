//! A figure of a row as a line of JSON.

use gmp_benches::measure::Samples;
use gmp_benches::report::rounded;
use serde::Serialize;

use super::line;
use crate::args::Options;

#[derive(Serialize)]
pub(crate) struct Line {
    workload: &'static str,
    figure: &'static str,
    unit: &'static str,
    procs: usize,
    /// Of one repetition, where the row isn't a number of polls.
    secs: u64,
    reps: usize,
    /// All repetitions in ascending order; `None` where a side has nothing of the kind.
    gmp: Option<Vec<f64>>,
    tokio: Option<Vec<f64>>,
    /// What is wanted of the median of gmp's.
    limit: Option<f64>,
    aim: Option<f64>,
}

impl Line {
    pub(crate) fn new(line: &line::Line, options: &Options) -> Self {
        let all = |samples: &Samples| samples.all().iter().map(|&it| rounded(it, 3)).collect();
        let figure = line.figure;
        Line {
            workload: line.row,
            figure: figure.name,
            unit: figure.unit,
            procs: options.procs,
            secs: options.duration.as_secs(),
            reps: options.reps,
            gmp: line.gmp.as_ref().map(all),
            tokio: line.tokio.as_ref().map(all),
            limit: figure.goal.map(|goal| goal.limit),
            aim: figure.goal.map(|goal| goal.aim),
        }
    }
}
