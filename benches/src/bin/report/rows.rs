//! What the saved rows of the table mean: where they belong, what was wanted of them, and whether it was reached.

use gmp_benches::rt::Tokio;
use gmp_benches::workloads::{self, GEOMETRIC_MEAN, Goal, Group};
use gmp_benches::{measure, memory, report};

use crate::saved::Row;

/// What was wanted of a row, in the terms in which it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wanted {
    /// Of the ratio.
    Ratio { limit: f64, aim: f64 },
    /// Of gmp's own median.
    Own { limit: f64, aim: f64 },
}

impl Row {
    /// Gmp's median over tokio's.
    pub(crate) fn ratio(&self) -> f64 {
        self.gmp / self.tokio
    }

    /// The part of the table. A row that isn't timed is one of memory.
    pub(crate) fn group(&self) -> Group {
        if self.unit == "bytes" { Group::Memory } else { self.workload().map_or(Group::Io, |workload| workload.group) }
    }

    /// What was wanted, if anything was decided for this number of Ps.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        let goal = match self.workload.as_str() {
            memory::NAME => (self.procs == 2).then_some(memory::GOAL),
            _ => self.workload().and_then(|workload| workload.goal(self.procs)),
        };
        wanted(goal?)
    }

    /// The limit in terms of the ratio.
    pub(crate) fn limit(&self) -> Option<f64> {
        self.wanted().map(|wanted| match wanted {
            Wanted::Ratio { limit, .. } => limit,
            Wanted::Own { limit, .. } => limit / self.tokio,
        })
    }

    /// `aim`, `limit` or `MISSED`.
    pub(crate) fn met(&self) -> Option<&'static str> {
        self.wanted().map(|wanted| match wanted {
            Wanted::Ratio { limit, aim } => report::met(self.ratio(), limit, aim),
            Wanted::Own { limit, aim } => report::met(self.gmp, limit, aim),
        })
    }

    fn workload(&self) -> Option<workloads::Workload<Tokio>> {
        workloads::all().into_iter().find(|workload| workload.name == self.workload)
    }
}

/// The geometric mean of the scheduler's rows, if all are there.
pub(crate) fn geometric_mean(rows: &[Row]) -> Option<f64> {
    let scheduler = rows.iter().filter(|row| row.group() == Group::Scheduler);
    let ratios: Vec<f64> = scheduler.map(Row::ratio).filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
    (ratios.len() == Group::SCHEDULER_ROWS).then(|| measure::geometric_mean(&ratios))
}

/// What was wanted of the geometric mean with so many Ps.
pub(crate) fn wanted_of_mean(procs: usize) -> Option<Wanted> {
    wanted(GEOMETRIC_MEAN.at(procs)?)
}

fn wanted(goal: Goal) -> Option<Wanted> {
    match goal {
        Goal::Ratio { limit, aim } => Some(Wanted::Ratio { limit, aim }),
        Goal::Nanos { limit, aim } => Some(Wanted::Own { limit, aim }),
        Goal::Undecided => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row that was measured with two Ps.
    pub(crate) fn row(workload: &str, gmp: f64, tokio: f64) -> Row {
        let (workload, unit) = (workload.to_owned(), "ns/op".to_owned());
        Row { workload, unit, gmp, tokio, smol: None, go: None, procs: 2, samples: Default::default() }
    }

    /// All rows of the scheduler, gmp's twice as fast as tokio's.
    pub(crate) fn scheduler() -> Vec<Row> {
        workloads::scheduler::<Tokio>().iter().map(|workload| row(workload.name, 50.0, 100.0)).collect()
    }

    #[test]
    fn a_limit_in_nanoseconds_is_a_ratio_to_what_tokio_took() {
        let row = row("sleep_50us", 90_000.0, 1_000_000.0);
        assert_eq!((row.limit(), row.met()), (Some(0.1), Some("limit")));
    }

    #[test]
    fn there_is_a_mean_only_of_all_rows() {
        let mut rows = scheduler();
        assert!((geometric_mean(&rows).unwrap() - 0.5).abs() < 1e-9);
        rows[0].gmp = f64::NAN;
        assert_eq!(geometric_mean(&rows), None);
    }

    #[test]
    fn nothing_is_wanted_of_a_row_that_is_not_known() {
        assert_eq!(row("of_another_version", 1.0, 1.0).wanted(), None);
    }
}
