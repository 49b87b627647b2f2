//! The table on stdout, row by row as it is measured, and the JSON lines.

use std::{
    fmt,
    fs::File,
    io::{self, Write},
    thread,
};

use serde::Serialize;

use crate::{
    args::Options,
    measure::{Outcome, geometric_mean},
    workloads::{GEOMETRIC_MEAN, Goal, Group, Workload},
};

/// Where the rows go, and what is remembered of them for the footer.
#[derive(Debug)]
pub struct Report {
    procs: usize,
    reps: usize,
    json: JsonLines,
    scheduler_ratios: Vec<f64>,
    notes: Vec<String>,
}

impl Report {
    /// A report that has no row yet; every row also goes to `json`.
    pub fn new(options: &Options, json: JsonLines) -> Self {
        Report { procs: options.procs, reps: options.reps, json, scheduler_ratios: Vec::new(), notes: Vec::new() }
    }

    /// Says what is compared on what, and names the columns.
    pub fn header(&self) {
        let cores = thread::available_parallelism().map_or(0, |cores| cores.get());
        println!(
            "gmp {} beside tokio {}: {} Ps and workers on {cores} cores, medians (minima) of {} alternating repetitions",
            env!("CARGO_PKG_VERSION"),
            tokio_version(),
            self.procs,
            self.reps,
        );
        println!("nanoseconds per operation; ratio: gmp's median over tokio's\n");
        println!("{:<16}{:>22}{:>22}{:>8}{:>10}{:>10}  met", "workload", "gmp", "tokio", "ratio", "limit", "aim");
    }

    /// Prints what one workload took.
    ///
    /// # Errors
    ///
    /// The JSON line can't be written.
    pub fn row<R>(&mut self, workload: &Workload<R>, outcome: &Outcome) -> io::Result<()> {
        let goal = workload.goal(self.procs);
        let (gmp, tokio, ratio) = (&outcome.gmp, &outcome.tokio, outcome.ratio());
        println!(
            "{:<16}{:>22}{:>22}{ratio:>8.2}{}",
            workload.name,
            format!("{:.0} ({:.0})", gmp.median(), gmp.min()),
            format!("{:.0} ({:.0})", tokio.median(), tokio.min()),
            Verdict { goal, ratio, nanos: gmp.median() },
        );
        if workload.group == Group::Scheduler {
            self.scheduler_ratios.push(ratio);
        }
        self.notes.extend(workload.modes.map(|split| modes(workload.name, split, outcome, self.reps)));
        self.json.row(workload.name, "ns/op", (gmp.median(), tokio.median()), (self.reps, self.procs))
    }

    /// The geometric mean of the scheduler's rows if all of them were run, and remarks.
    pub fn footer(&self) {
        if self.scheduler_ratios.len() == Group::SCHEDULER_ROWS {
            let ratio = geometric_mean(&self.scheduler_ratios);
            let verdict = Verdict { goal: GEOMETRIC_MEAN.at(self.procs), ratio, nanos: f64::NAN };
            println!("{:<60}{ratio:>8.2}{verdict}", "geometric mean of the scheduler's rows");
        }
        for note in &self.notes {
            println!("\n{note}");
        }
    }
}

/// A file with a JSON object a line, or none.
#[derive(Debug)]
pub struct JsonLines(Option<File>);

impl JsonLines {
    /// Creates the file at `path`; without a path, rows go nowhere.
    ///
    /// # Errors
    ///
    /// The file can't be created.
    pub fn create(path: Option<&str>) -> io::Result<Self> {
        let create = |path| {
            let file = File::create(path);
            file.map_err(|error| io::Error::new(error.kind(), format!("cannot write {path}: {error}")))
        };
        path.map(create).transpose().map(JsonLines)
    }

    /// Writes any object.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn line(&mut self, object: &impl Serialize) -> io::Result<()> {
        let Some(file) = &mut self.0 else {
            return Ok(());
        };
        let mut line = serde_json::to_string(object)?;
        line.push('\n');
        file.write_all(line.as_bytes())
    }

    /// Writes a row: the medians of gmp and of tokio, in `unit`, of so many repetitions with so many Ps.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn row(&mut self, name: &str, unit: &str, medians: (f64, f64), of: (usize, usize)) -> io::Result<()> {
        let Some(file) = &mut self.0 else {
            return Ok(());
        };
        let ((gmp, tokio), (reps, procs)) = (medians, of);
        let ratio = gmp / tokio;
        writeln!(
            file,
            r#"{{"workload":"{name}","unit":"{unit}","gmp":{gmp:.1},"tokio":{tokio:.1},"ratio":{ratio:.4},"reps":{reps},"procs":{procs}}}"#,
        )
    }
}

/// The columns limit, aim and met.
struct Verdict {
    goal: Option<Goal>,
    ratio: f64,
    nanos: f64,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (measured, limit, aim, text) = match self.goal {
            None | Some(Goal::Undecided) => return write!(f, "{:>10}{:>10}", "-", "-"),
            Some(Goal::Ratio { limit, aim }) => (self.ratio, limit, aim, [limit, aim].map(|it| format!("{it:.2}"))),
            Some(Goal::Nanos { limit, aim }) => (self.nanos, limit, aim, [limit, aim].map(|it| format!("{it:.0} ns"))),
        };
        write!(f, "{:>10}{:>10}  {}", text[0], text[1], met(measured, limit, aim))
    }
}

/// The word for the last column.
pub fn met(measured: f64, limit: f64, aim: f64) -> &'static str {
    if measured <= aim {
        "aim"
    } else if measured <= limit {
        "limit"
    } else {
        "MISSED"
    }
}

/// A median of a workload with two modes says little without the share of each.
fn modes(name: &str, split: f64, outcome: &Outcome, reps: usize) -> String {
    format!(
        "{name} has two modes; in the fast one (below {split:.0} ns) were {} of gmp's and {} of tokio's {reps} repetitions",
        outcome.gmp.below(split),
        outcome.tokio.below(split),
    )
}

/// The version that this program was built with: tokio itself has no constant for it.
fn tokio_version() -> &'static str {
    let lock = include_str!("../../Cargo.lock");
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

    #[test]
    fn a_file_that_cannot_be_created_is_named() {
        let error = JsonLines::create(Some("/nowhere/rows.json")).unwrap_err().to_string();
        assert!(error.starts_with("cannot write /nowhere/rows.json: "), "{error}");
    }

    #[test]
    fn a_goal_is_met_at_its_edge() {
        assert_eq!([0.4, 0.5, 0.6, 0.61].map(|it| met(it, 0.6, 0.4)), ["aim", "limit", "limit", "MISSED"]);
    }
}
