//! The tables on stdout, and the JSON lines that the programs leave for `report`.

mod json;
mod line;
mod rows;
mod text;

use std::cmp::Reverse;
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

pub use self::json::{JsonLines, number, rounded};
pub use self::line::{Line, MEAN, Sides};
pub use self::rows::{Bar, Kind, Mix, Sending, Side, Ticker};
pub use self::text::{Column, decimals, headings, line, mark, or_dash, percentile, quantity, ratio};
use crate::measure::{Samples, Turns};

/// The first lines: what is compared and how, and the names of the columns.
pub fn header(procs: usize, go: Option<&str>, plans: &[Turns]) -> String {
    let go = go.map_or(String::new(), |version| format!(", Go's {version}"));
    let (cores, tokio) = (thread::available_parallelism().map_or(0, |cores| cores.get()), tokio_version());
    let reps = repetitions(plans);
    format!(
        "gmp {} beside tokio {tokio}{go}: {procs} Ps, workers or threads on {cores} cores, repetitions in turns: {reps}\n\
         medians of an operation, and the interquartile range in % of the median\n\
         ratio: gmp's median over tokio's\n\n{}",
        env!("CARGO_PKG_VERSION"),
        headings(&COLUMNS),
    )
}

/// The number of repetitions of most rows, and the rows that have another number.
fn repetitions(plans: &[Turns]) -> String {
    let mut numbers = grouped(plans, |turns| turns.reps);
    numbers.sort_by_key(|(_, rows)| Reverse(rows.len()));
    let number = |(place, (reps, rows)): (usize, &(usize, Vec<&Turns>))| match place {
        0 => reps.to_string(),
        _ => format!("{reps} of {}", rows.iter().map(|row| row.workload).collect::<Vec<_>>().join(" and ")),
    };
    numbers.iter().enumerate().map(number).collect::<Vec<_>>().join(", ")
}

/// The rows by kind, each kind at the place of its first row.
pub fn grouped<'a, T, K: PartialEq>(
    rows: impl IntoIterator<Item = &'a T>,
    kind: impl Fn(&T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for row in rows {
        let kind = kind(row);
        match groups.iter_mut().find(|group| group.0 == kind) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((kind, vec![row])),
        }
    }
    groups
}

pub const COLUMNS: [Column<Line>; 9] = [
    ("workload", -18, |row| row.name().to_owned()),
    ("gmp", 15, |row| cell(row, Some(row.gmp), Some(&row.samples.gmp))),
    ("tokio", 15, |row| cell(row, Some(row.tokio), Some(&row.samples.tokio))),
    ("smol", 15, |row| cell(row, row.smol, row.samples.smol.as_ref())),
    ("go", 15, |row| cell(row, row.go, row.samples.go.as_ref())),
    ("ratio", 8, |row| ratio(row.ratio())),
    ("limit", 11, |row| goal(row, row.goal().map(|goal| goal.limit))),
    ("aim", 10, |row| goal(row, row.goal().map(|goal| goal.aim))),
    ("met", 8, |row| or_dash(row.met())),
];

/// The last lines: the geometric mean of the scheduler's rows if all of them were run, and remarks.
pub fn footer(rows: &[Line]) -> String {
    let mean = Line::mean(rows).map(|mean| line(&COLUMNS, &mean) + "\n");
    let notes = rows.iter().filter_map(|row| Some(format!("\n{}\n", modes(row, row.known()?.modes?)?)));
    mean.into_iter().chain(notes).chain(far_apart(rows)).collect()
}

/// Names the rows in which the CPUs were farther apart than in others
/// ([`distance`](crate::distance)).
fn far_apart(rows: &[Line]) -> Option<String> {
    let farthest = |row: &Line| row.line_ns.map(|(before, after)| before.max(after));
    let nearest = rows.iter().filter_map(farthest).min_by(f64::total_cmp)?;
    let far: Vec<_> = rows.iter().filter(|row| farthest(row).is_some_and(|it| it > FAR * nearest)).collect();
    let most = far.iter().copied().filter_map(farthest).max_by(f64::total_cmp)?;
    let names = far.iter().map(|row| row.name()).collect::<Vec<_>>().join(", ");
    Some(format!(
        "\nthe CPUs were farther apart in {names}: a cache line took up to {most:.0} ns to the other one and back, \
         and {nearest:.0} ns in the nearest row; don't compare these rows with others\n"
    ))
}

/// How many times as far as in the nearest row. While two CPUs shared a cache, round trips of 49 to
/// 90 ns were seen; while they shared none, 315 to 350.
const FAR: f64 = 2.0;

/// A median and the interquartile range of the repetitions. A single repetition has no range, and
/// the mean of medians says nothing.
fn cell(row: &Line, median: Option<f64>, samples: Option<&Samples>) -> String {
    if row.is_mean() {
        return String::new();
    }
    or_dash(median.map(|median| {
        let several = samples.filter(|samples| samples.all().len() > 1).map(Samples::quartiles);
        let spread = several.map(|(low, high)| format!("{:.0}%", 100.0 * (high - low) / median));
        format!("{} {:>4}", quantity(median, &row.unit), or_dash(spread))
    }))
}

fn goal(row: &Line, goal: Option<f64>) -> String {
    or_dash(goal.map(|goal| row.goal_unit().map_or_else(|| ratio(goal), |unit| quantity(goal, unit))))
}

/// The goal for one of gmp's figures: above `limit` it is a fault, and it should be at most `aim`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Goal {
    pub limit: f64,
    pub aim: f64,
}

impl Goal {
    pub fn met(self, measured: f64) -> &'static str {
        match measured {
            _ if measured <= self.aim => "aim",
            _ if measured <= self.limit => "limit",
            _ => "MISSED",
        }
    }
}

/// The median of a workload with two modes says little without the share of each mode. The modes
/// occurred in this run if the repetitions of one library were in both: two libraries with one mode
/// each are just fast and slow.
fn modes(row: &Line, split: f64) -> Option<String> {
    let [(gmp_in_both, gmp), (tokio_in_both, tokio)] = [&row.samples.gmp, &row.samples.tokio].map(|samples| {
        let (below, all) = (samples.all().iter().filter(|&&sample| sample < split).count(), samples.all().len());
        ((1..all).contains(&below), format!("{below} of {all}"))
    });
    let fast = format!("has two modes; in the fast one (below {split:.0} ns) were");
    (gmp_in_both || tokio_in_both)
        .then(|| format!("{} {fast} {gmp} repetitions of gmp's and {tokio} of tokio's", row.workload))
}

/// The progress of a run on standard error, if that is a terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    pub fn new(rows: &[Turns]) -> Self {
        let style = ProgressStyle::with_template("[{bar:30}] {msg}").expect("the template is constant and good");
        let repetitions = rows.iter().map(Turns::repetitions).sum::<usize>();
        Progress(ProgressBar::new(repetitions as u64).with_style(style.progress_chars("##-")))
    }

    /// Reports that a row takes its turn number `rep` (from 0 on).
    pub fn show(&self, turns: &Turns, rep: usize) {
        self.0.set_message(format!("{}, repetition {} of {}", turns.workload, rep + 1, turns.repetitions()));
        self.0.inc(1);
    }

    /// Prints a row of the table, without the line.
    pub fn print(&self, row: &str) {
        self.0.suspend(|| println!("{row}"));
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
    use super::line::tests::line as row;
    use super::*;
    use crate::args::tests::options;

    #[test]
    fn a_side_that_cannot_run_a_workload_shows_a_dash() {
        let mut measured = row("spawn_local", &[100.0, 200.0, 300.0], &[400.0]);
        measured.smol = Some(800.0);
        let columns = line(&COLUMNS, &measured).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(columns, "spawn_local 200 ns 50% 400 ns – 800 ns – – 0.50 0.50 0.30 limit");
    }

    #[test]
    fn the_header_says_of_which_rows_there_are_fewer_repetitions() {
        let said = |arguments: &[&str]| repetitions(&options(arguments).turns());
        let quick =
            "3, 1 of spawn_1m and company_10k and company_100k and company_1m and echo_1000 and memory_idle_task";
        assert_eq!(said(&["--quick"]), quick);
        assert_eq!(said(&[]), "11, 3 of memory_idle_task");
        assert_eq!(said(&["--quick", "--only", "echo_1000"]), "1");
        assert!(tokio_version().starts_with("1."), "{}", tokio_version());
    }

    #[test]
    fn a_workload_had_two_modes_if_one_librarys_repetitions_were_in_both() {
        let said = |gmp: &[f64], tokio: &[f64]| modes(&row("mpsc_1", gmp, tokio), 360.0);
        assert_eq!([said(&[90.0, 91.0], &[250.0]), said(&[90.0], &[470.0, 471.0])], [None, None]);
        let text = said(&[90.0, 91.0], &[250.0, 470.0]).unwrap();
        assert!(text.ends_with("were 2 of 2 repetitions of gmp's and 1 of 2 of tokio's"), "{text}");
    }

    #[test]
    fn rows_in_which_the_cpus_were_farther_apart_are_named() {
        let rows = |far: f64| {
            let at = |name, trips| row(name, &[1.0], &[1.0]).at_distance(trips);
            let rows = [("spawn_local", Some((53.0, far))), ("mpsc_1", Some((61.0, 55.0))), ("echo_1", None)];
            far_apart(&rows.map(|(name, trips)| at(name, trips)))
        };
        assert_eq!(rows(90.0), None);
        let text = rows(320.4).unwrap();
        assert!(text.contains("in spawn_local: a cache line took up to 320 ns") && text.contains("61 ns"), "{text}");
    }

    #[test]
    fn a_goal_is_met_at_its_edge() {
        let goal = Goal { limit: 0.6, aim: 0.4 };
        assert_eq!([0.4, 0.5, 0.6, 0.61].map(|it| goal.met(it)), ["aim", "limit", "limit", "MISSED"]);
    }
}
