//! A row of the table as a line of JSON: `gmp-benches` writes it and `report` reads it.

use serde::{Deserialize, Serialize};

use super::json::{number, rounded};
use super::{Row, Table};
use crate::measure::Samples;
use crate::rt::Tokio;
use crate::workloads::{self, Goal, Group};
use crate::{measure, memory};

/// The name of the line with the geometric mean of the scheduler's rows.
pub const MEAN: &str = "geometric_mean";

/// A row's medians; a side without one has `null`. The keys are written in this order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Line {
    /// The workload.
    pub workload: String,
    /// The unit: `ns/op` or `bytes`.
    pub unit: String,
    /// gmp's median.
    #[serde(deserialize_with = "number")]
    pub gmp: f64,
    /// tokio's median.
    #[serde(deserialize_with = "number")]
    pub tokio: f64,
    /// gmp's median over tokio's, rounded.
    #[serde(default, deserialize_with = "number")]
    pub ratio: f64,
    /// The number of repetitions.
    #[serde(default)]
    pub reps: usize,
    /// smol's median.
    pub smol: Option<f64>,
    /// Go's median.
    pub go: Option<f64>,
    /// The number of Ps, workers or threads.
    pub procs: usize,
    /// All repetitions.
    #[serde(default)]
    pub samples: Sides,
}

/// All repetitions of each side, in ascending order. The line of a mean has none.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sides {
    /// gmp's.
    pub gmp: Vec<f64>,
    /// tokio's.
    pub tokio: Vec<f64>,
    /// smol's.
    pub smol: Option<Vec<f64>>,
    /// Go's.
    pub go: Option<Vec<f64>>,
}

impl Line {
    /// Creates the line of a row, measured with `procs` Ps.
    pub fn new(row: &Row, procs: usize) -> Self {
        let median = |samples: &Samples| tenths(samples.median());
        let samples = |samples: &Samples| samples.all().iter().copied().map(tenths).collect();
        Line {
            workload: row.name.to_owned(),
            unit: row.unit.to_owned(),
            gmp: median(&row.gmp),
            tokio: median(&row.tokio),
            ratio: rounded(row.ratio(), 4),
            reps: row.gmp.all().len(),
            smol: row.smol.as_ref().map(median),
            go: row.go.as_ref().map(median),
            procs,
            samples: Sides {
                gmp: samples(&row.gmp),
                tokio: samples(&row.tokio),
                smol: row.smol.as_ref().map(samples),
                go: row.go.as_ref().map(samples),
            },
        }
    }

    /// Creates the line with the geometric means of the scheduler's rows, if all of them were
    /// measured.
    pub fn mean(table: &Table) -> Option<Self> {
        let of = |side: fn(&Row) -> Option<&Samples>| table.mean_of(|row| side(row).map(Samples::median)).map(tenths);
        Some(Line {
            workload: MEAN.to_owned(),
            unit: "ns/op".to_owned(),
            gmp: of(|row| Some(&row.gmp))?,
            tokio: of(|row| Some(&row.tokio))?,
            ratio: rounded(table.geometric_mean()?, 4),
            reps: table.scheduler().map(|row| row.gmp.all().len()).min().unwrap_or_default(),
            smol: of(|row| row.smol.as_ref()),
            go: of(|row| row.go.as_ref()),
            procs: table.procs,
            samples: Sides::default(),
        })
    }

    /// gmp's median over tokio's.
    pub fn ratio(&self) -> f64 {
        self.gmp / self.tokio
    }

    /// The part of the table. A row that isn't timed measures memory.
    pub fn group(&self) -> Group {
        if self.unit == "bytes" { Group::Memory } else { self.workload().map_or(Group::Io, |workload| workload.group) }
    }

    /// The goal, if there is one for this number of Ps.
    pub fn goal(&self) -> Option<Goal> {
        let goal = match self.workload.as_str() {
            memory::NAME => (self.procs == 2).then_some(memory::GOAL),
            _ => self.workload().and_then(|workload| workload.goal(self.procs)),
        };
        goal.filter(|goal| !matches!(goal, Goal::Undecided))
    }

    /// The limit as a ratio.
    pub fn limit(&self) -> Option<f64> {
        match self.goal()? {
            Goal::Ratio { limit, .. } => Some(limit),
            Goal::Nanos { limit, .. } => Some(limit / self.tokio),
            Goal::Undecided => None,
        }
    }

    /// `aim`, `limit` or `MISSED`.
    pub fn met(&self) -> Option<&'static str> {
        self.goal()?.met(self.ratio(), self.gmp)
    }

    fn workload(&self) -> Option<workloads::Workload<Tokio>> {
        workloads::all().into_iter().find(|workload| workload.name == self.workload)
    }
}

/// The geometric mean of the ratios of the scheduler's rows, if `rows` has all of them.
pub fn geometric_mean(rows: &[Line]) -> Option<f64> {
    let scheduler = rows.iter().filter(|row| row.group() == Group::Scheduler);
    let ratios: Vec<f64> = scheduler.map(Line::ratio).filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
    (ratios.len() == Group::SCHEDULER_ROWS).then(|| measure::geometric_mean(&ratios))
}

/// No clock of these machines resolves more digits, and fifteen of them would hide the first three.
pub(super) fn tenths(value: f64) -> f64 {
    rounded(value, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(workload: &str, gmp: f64, tokio: f64) -> Line {
        let (workload, unit) = (workload.to_owned(), "ns/op".to_owned());
        Line { workload, unit, gmp, tokio, procs: 2, ..Line::default() }
    }

    #[test]
    fn a_limit_in_nanoseconds_is_a_ratio_to_what_tokio_took() {
        let row = line("sleep_50us", 90_000.0, 1_000_000.0);
        assert_eq!((row.limit(), row.met()), (Some(0.1), Some("limit")));
    }

    #[test]
    fn there_is_a_mean_only_of_all_rows() {
        let rows = workloads::scheduler::<Tokio>();
        let mut rows: Vec<_> = rows.iter().map(|workload| line(workload.name, 50.0, 100.0)).collect();
        assert!((geometric_mean(&rows).unwrap() - 0.5).abs() < 1e-9);
        rows[0].gmp = f64::NAN;
        assert_eq!(geometric_mean(&rows), None);
    }

    #[test]
    fn nothing_is_wanted_of_a_row_that_is_not_known() {
        assert!(line("of_another_version", 1.0, 1.0).goal().is_none());
    }
}
