//! A row of the table: `gmp-benches` prints it and writes it as a line of JSON, `report` reads it.

use serde::{Deserialize, Serialize};

use super::Goal;
use super::json::{number, rounded};
use crate::measure::{self, Samples};
use crate::rt::Tokio;
use crate::workloads::{self, Group, Workload};

/// The name of the line with the geometric mean of the scheduler's rows.
pub const MEAN: &str = "geometric_mean";

/// A row's medians; a side without one has `null`. The keys are written in this order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Line {
    pub workload: String,
    /// The unit: `ns/op` or `bytes`.
    pub unit: String,
    #[serde(deserialize_with = "number")]
    pub gmp: f64,
    #[serde(deserialize_with = "number")]
    pub tokio: f64,
    #[serde(default, deserialize_with = "number")]
    pub ratio: f64,
    #[serde(default)]
    pub reps: usize,
    pub smol: Option<f64>,
    pub go: Option<f64>,
    pub procs: usize,
    /// The time in ns of a cache line to another CPU and back, before the row and after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_ns: Option<(f64, f64)>,
    #[serde(default)]
    pub samples: Sides,
}

/// All repetitions of each side. The line of a mean has none.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sides {
    pub gmp: Samples,
    pub tokio: Samples,
    pub smol: Option<Samples>,
    pub go: Option<Samples>,
}

impl Line {
    /// Creates the line of a row, measured with `procs` Ps on gmp, tokio, smol and Go.
    pub fn new(workload: &str, procs: usize, samples: [Option<Samples>; 4]) -> Self {
        let samples = samples.map(|samples| samples.map(|it| it.rounded(1)));
        let medians = samples.each_ref().map(|samples| samples.as_ref().map(Samples::median));
        let [gmp, tokio, smol, go] = samples;
        let (gmp, tokio) = gmp.zip(tokio).expect("gmp and tokio have every row");
        let (reps, samples) = (gmp.all().len(), Sides { gmp, tokio, smol, go });
        let line = Line { workload: workload.to_owned(), reps, procs, samples, ..Line::default() };
        line.with_medians(medians).expect("gmp and tokio have medians")
    }

    /// The geometric means of the scheduler's rows, if all of them are in `rows`.
    pub fn mean(rows: &[Line]) -> Option<Self> {
        let sides: [fn(&Line) -> Option<f64>; 4] =
            [|row| Some(row.gmp), |row| Some(row.tokio), |row| row.smol, |row| row.go];
        let reps = scheduler(rows).map(|row| row.reps).min()?;
        let line = Line { workload: MEAN.to_owned(), reps, procs: rows[0].procs, ..Line::default() };
        line.with_medians(sides.map(|side| mean_of_all(rows, side)))
    }

    /// Numbers are rounded: no clock of these machines resolves more than tenths, and fifteen
    /// digits would hide the first three.
    fn with_medians(self, medians: [Option<f64>; 4]) -> Option<Self> {
        let [gmp, tokio, smol, go] = medians.map(|median| median.map(|it| rounded(it, 1)));
        let (gmp, tokio) = (gmp?, tokio?);
        let unit = self.known().map_or("ns/op", |workload| workload.unit()).to_owned();
        Some(Line { unit, gmp, tokio, ratio: rounded(gmp / tokio, 4), smol, go, ..self })
    }

    pub fn at_distance(self, round_trips: Option<(f64, f64)>) -> Self {
        let line_ns = round_trips.map(|(before, after)| (rounded(before, 1), rounded(after, 1)));
        Line { line_ns, ..self }
    }

    pub fn ratio(&self) -> f64 {
        self.gmp / self.tokio
    }

    pub fn is_mean(&self) -> bool {
        self.workload == MEAN
    }

    pub fn name(&self) -> &str {
        if self.is_mean() { "geometric mean" } else { &self.workload }
    }

    pub fn group(&self) -> Group {
        let of_mean = if self.is_mean() { Group::Scheduler } else { Group::Io };
        self.known().map_or(of_mean, |workload| workload.group)
    }

    /// The goal, if there is one for this number of Ps.
    pub fn goal(&self) -> Option<Goal> {
        if self.is_mean() { workloads::mean_goal(self.procs) } else { self.known()?.goal(self.procs) }
    }

    /// The unit of the goal, if it is for gmp's own median and not for the ratio.
    pub fn goal_unit(&self) -> Option<&'static str> {
        self.known().filter(|workload| workload.goal_is_nanos).map(|_| "ns")
    }

    pub fn limit(&self) -> Option<f64> {
        let limit = self.goal()?.limit;
        Some(if self.goal_unit().is_some() { limit / self.tokio } else { limit })
    }

    pub fn met(&self) -> Option<&'static str> {
        let measured = if self.goal_unit().is_some() { self.gmp } else { self.ratio() };
        Some(self.goal()?.met(measured))
    }

    pub(super) fn known(&self) -> Option<Workload<Tokio>> {
        workloads::all().into_iter().find(|workload| workload.name == self.workload)
    }
}

fn mean_of_all(rows: &[Line], number: impl Fn(&Line) -> Option<f64>) -> Option<f64> {
    let is_number = |value: &f64| value.is_finite() && *value > 0.0;
    let numbers: Vec<f64> = scheduler(rows).filter_map(number).filter(is_number).collect();
    (numbers.len() == workloads::scheduler::<Tokio>().len()).then(|| measure::geometric_mean(&numbers))
}

fn scheduler(rows: &[Line]) -> impl Iterator<Item = &Line> {
    rows.iter().filter(|row| row.group() == Group::Scheduler)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A row with two Ps, of these repetitions.
    pub(in crate::report) fn line(workload: &str, gmp: &[f64], tokio: &[f64]) -> Line {
        Line::new(workload, 2, [Some(Samples::new(gmp.to_vec())), Some(Samples::new(tokio.to_vec())), None, None])
    }

    fn all() -> Vec<Line> {
        workloads::scheduler::<Tokio>().iter().map(|workload| line(workload.name, &[50.0], &[100.0])).collect()
    }

    #[test]
    fn a_limit_in_nanoseconds_is_a_ratio_to_what_tokio_took() {
        let row = line("sleep_50us", &[90_000.0], &[1_000_000.0]);
        assert_eq!((row.limit(), row.met()), (Some(0.1), Some("limit")));
        assert!(line("of_another_version", &[1.0], &[1.0]).goal().is_none());
    }

    #[test]
    fn the_mean_is_of_all_of_the_schedulers_rows_and_of_no_others() {
        let mut rows = [all(), vec![line("echo_1", &[9.0], &[1.0])]].concat();
        assert!((Line::mean(&rows).unwrap().ratio - 0.5).abs() < 1e-9);
        rows[0].gmp = f64::NAN;
        assert!(Line::mean(&rows).is_none() && Line::mean(&all()[1..]).is_none());
        let mean = Line::mean(&all()).unwrap();
        assert_eq!((mean.workload.as_str(), mean.gmp, mean.ratio, mean.smol), (MEAN, 50.0, 0.5, None));
    }
}
