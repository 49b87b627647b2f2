//! The table as data. The text, the JSON lines and the HTML report are made from it.

use std::thread;

use crate::args::Options;
use crate::measure::{Samples, geometric_mean};
use crate::workloads::{Goal, Group};

/// The whole table, after the run.
#[derive(Debug, Clone)]
pub struct Table {
    /// The number of gmp's Ps, tokio's workers, smol's threads, and Go's `GOMAXPROCS`.
    pub procs: usize,
    /// The cores that this process may use; 0 if the system doesn't report them.
    pub cores: usize,
    /// The version of tokio that was measured.
    pub tokio: String,
    /// The version of Go that was measured, if any.
    pub go: Option<String>,
    /// The rows in the order in which they were measured.
    pub rows: Vec<Row>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(options: &Options, go: Option<String>) -> Self {
        Table {
            procs: options.procs,
            cores: thread::available_parallelism().map_or(0, |cores| cores.get()),
            tokio: tokio_version().to_owned(),
            go,
            rows: Vec::new(),
        }
    }

    /// The geometric mean of the ratios of the scheduler's rows, if all of them were run.
    pub fn geometric_mean(&self) -> Option<f64> {
        self.mean_of(|row| Some(row.ratio()))
    }

    /// The geometric mean of one number of each of the scheduler's rows, if all of them were run
    /// and have that number.
    pub fn mean_of(&self, number: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
        let numbers: Vec<f64> = self.scheduler().filter_map(number).collect();
        (numbers.len() == Group::SCHEDULER_ROWS).then(|| geometric_mean(&numbers))
    }

    /// The geometric mean of gmp's medians over those of another side, and the number of the
    /// scheduler's rows in the mean: those that this side has.
    pub fn geometric_mean_over(&self, side: impl Fn(&Row) -> Option<&Samples>) -> Option<(f64, usize)> {
        let over = |row: &Row| Some(row.gmp.median() / side(row)?.median());
        let ratios: Vec<f64> = self.scheduler().filter_map(over).collect();
        (!ratios.is_empty()).then(|| (geometric_mean(&ratios), ratios.len()))
    }

    /// The rows of the geometric mean that were run.
    pub fn scheduler(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.group == Group::Scheduler)
    }
}

/// A measured row of the table.
#[derive(Debug, Clone)]
pub struct Row {
    /// The workload's name.
    pub name: &'static str,
    /// The part of the table that the row belongs to.
    pub group: Group,
    /// The unit of the samples: `ns/op` or `bytes`.
    pub unit: &'static str,
    /// The goal for this run's number of Ps, if there is one.
    pub goal: Option<Goal>,
    /// A value between the workload's two modes, if it has two.
    pub modes: Option<f64>,
    /// gmp's repetitions.
    pub gmp: Samples,
    /// tokio's repetitions.
    pub tokio: Samples,
    /// smol's repetitions, if smol can run the workload.
    pub smol: Option<Samples>,
    /// Go's repetitions, if Go is installed and can run the workload.
    pub go: Option<Samples>,
}

impl Row {
    /// gmp's median over tokio's: gmp is better if this is below 1.
    pub fn ratio(&self) -> f64 {
        self.gmp.median() / self.tokio.median()
    }
}

/// The version that this program was built with: tokio has no constant for it.
pub fn tokio_version() -> &'static str {
    let lock = include_str!("../../../Cargo.lock");
    let package = lock.split("[[package]]").find(|package| package.contains("\nname = \"tokio\"\n"));
    package.and_then(|package| package.split("version = \"").nth(1)?.split('"').next()).unwrap_or("of unknown version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokios_version_is_found() {
        assert!(tokio_version().starts_with("1."), "{}", tokio_version());
    }

    fn row(group: Group, gmp: f64, tokio: f64) -> Row {
        let [gmp, tokio] = [gmp, tokio].map(|it| Samples::new(vec![it]));
        Row { name: "", group, unit: "ns/op", goal: None, modes: None, gmp, tokio, smol: None, go: None }
    }

    fn table(rows: Vec<Row>) -> Table {
        Table { procs: 2, cores: 2, tokio: String::new(), go: None, rows }
    }

    #[test]
    fn the_geometric_mean_is_of_the_schedulers_rows_alone() {
        let mut rows = vec![row(Group::Scheduler, 1.0, 2.0); Group::SCHEDULER_ROWS];
        rows.push(row(Group::Io, 9.0, 1.0));
        assert!((table(rows).geometric_mean().unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_mean_over_another_side_is_of_the_rows_that_it_has() {
        let mut rows = vec![row(Group::Scheduler, 1.0, 2.0); 3];
        rows[1].go = Some(Samples::new(vec![4.0]));
        let table = table(rows);
        assert_eq!(table.geometric_mean_over(|row| row.go.as_ref()), Some((0.25, 1)));
        assert_eq!(table.geometric_mean_over(|row| row.smol.as_ref()), None);
    }

    #[test]
    fn there_is_no_geometric_mean_of_some_of_the_rows() {
        assert_eq!(table(vec![row(Group::Scheduler, 1.0, 2.0); Group::SCHEDULER_ROWS - 1]).geometric_mean(), None);
    }
}
