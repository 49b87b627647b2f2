//! The table on stdout, printed row by row during the measurement, and the JSON lines that the
//! programs leave for `report`.

mod json;
mod line;
mod mix;
mod progress;
mod ticker;

use std::cmp::Reverse;
use std::thread;

pub use self::json::{JsonLines, PERCENTILES, number, rounded};
pub use self::line::{Line, MEAN, Sides, geometric_mean, geometric_mean_over, spread};
pub use self::mix::{Minute, Mix};
pub use self::progress::Progress;
pub use self::ticker::Ticker;
use crate::measure::Turns;
use crate::memory;
use crate::workloads::Goal;

/// The first lines: what is compared and how, and the names of the columns.
pub fn header(procs: usize, go: Option<&str>, plans: &[Turns]) -> String {
    let go = go.map_or(String::new(), |version| format!(", Go's {version}"));
    let (cores, tokio) = (thread::available_parallelism().map_or(0, |cores| cores.get()), tokio_version());
    let reps = repetitions(plans);
    format!(
        "gmp {} beside tokio {tokio}{go}: {procs} Ps, workers or threads on {cores} cores, repetitions in turns: {reps}\n\
         medians in nanoseconds per operation ({}: bytes), and the interquartile range in % of the median\n\
         ratio: gmp's median over tokio's\n\n\
         {:<18}{:>15}{:>15}{:>15}{:>15}{:>8}{:>11}{:>10}  met",
        env!("CARGO_PKG_VERSION"),
        memory::NAME,
        "workload",
        "gmp",
        "tokio",
        "smol",
        "go",
        "ratio",
        "limit",
        "aim",
    )
}

/// The number of repetitions of most rows, and the rows that have another number.
fn repetitions(plans: &[Turns]) -> String {
    let mut numbers: Vec<(usize, Vec<&str>)> = Vec::new();
    for Turns { workload, reps, .. } in plans {
        match numbers.iter_mut().find(|(number, _)| number == reps) {
            Some((_, names)) => names.push(workload),
            None => numbers.push((*reps, vec![workload])),
        }
    }
    numbers.sort_by_key(|(_, names)| Reverse(names.len()));
    let number = |(place, (reps, names)): (usize, &(usize, Vec<&str>))| match place {
        0 => reps.to_string(),
        _ => format!("{reps} of {}", names.join(" and ")),
    };
    numbers.iter().enumerate().map(number).collect::<Vec<_>>().join(", ")
}

/// The measurements of one workload on every side that has it.
pub fn line(row: &Line) -> String {
    let Sides { gmp, tokio, smol, go } = &row.samples;
    format!(
        "{:<18}{:>15}{:>15}{:>15}{:>15}{:>8.2}{}",
        row.workload,
        cell(Some(row.gmp), gmp),
        cell(Some(row.tokio), tokio),
        cell(row.smol, smol.as_deref().unwrap_or_default()),
        cell(row.go, go.as_deref().unwrap_or_default()),
        row.ratio,
        verdict(row),
    )
}

/// The last lines: the geometric mean of the scheduler's rows if all of them were run, and remarks.
pub fn footer(rows: &[Line]) -> String {
    let mean = Line::mean(rows).map(|mean| {
        let what = "geometric mean of the scheduler's rows, gmp over tokio";
        format!("{what:<78}{:>8.2}{}\n", mean.ratio, verdict(&mean))
    });
    let over = |name, side: fn(&Line) -> Option<f64>| Some((name, geometric_mean_over(rows, side)?));
    let others = [over("smol", |row| row.smol), over("Go", |row| row.go)].into_iter().flatten();
    let others = others.map(|(name, (ratio, count))| {
        format!("{:<78}{ratio:>8.2}\n", format!("the same of gmp over {name}, of its {count} rows"))
    });
    let notes = rows.iter().filter_map(|row| Some(format!("\n{}\n", modes(row, row.modes()?)?)));
    mean.into_iter().chain(others).chain(notes).collect()
}

/// A median and the interquartile range of the repetitions. A single repetition has no range.
fn cell(median: Option<f64>, samples: &[f64]) -> String {
    let Some(median) = median else {
        return "-".to_owned();
    };
    let spread = spread(samples, median).map_or("-".to_owned(), |spread| format!("{spread:.0}%"));
    format!("{median:.0} {spread:>4}")
}

/// The columns limit, aim and met.
fn verdict(row: &Line) -> String {
    let [limit, aim] = match row.goal() {
        None => return format!("{:>11}{:>10}", "-", "-"),
        Some(Goal::Ratio { limit, aim }) => [limit, aim].map(|it| format!("{it:.2}")),
        Some(Goal::Nanos { limit, aim }) => [limit, aim].map(|it| format!("{it:.0} ns")),
    };
    format!("{limit:>11}{aim:>10}  {}", or_dash(row.met()))
}

/// The word in the last column.
pub fn met(measured: f64, limit: f64, aim: f64) -> &'static str {
    if measured <= aim {
        "aim"
    } else if measured <= limit {
        "limit"
    } else {
        "MISSED"
    }
}

/// A cell of a table. A missing value is a dash.
pub fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or("–".to_owned(), |value| value.to_string())
}

/// The median of a workload with two modes says little without the share of each mode. The modes
/// occurred in this run if the repetitions of one library were in both: two libraries with one mode
/// each are just fast and slow.
fn modes(row: &Line, split: f64) -> Option<String> {
    let sides = [&row.samples.gmp, &row.samples.tokio].map(|samples| {
        let below = samples.iter().filter(|&&sample| sample < split).count();
        ((1..samples.len()).contains(&below), format!("{below} of {}", samples.len()))
    });
    let [(gmp_in_both, gmp), (tokio_in_both, tokio)] = sides;
    (gmp_in_both || tokio_in_both).then(|| {
        let name = &row.workload;
        format!("{name} has two modes; in the fast one (below {split:.0} ns) were {gmp} repetitions of gmp's and {tokio} of tokio's")
    })
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
    use crate::plan;

    #[test]
    fn a_side_that_cannot_run_a_workload_shows_a_dash() {
        let mut measured = row("spawn_local", &[100.0, 200.0, 300.0], &[400.0]);
        let columns = |row: &Line| line(row).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let without = ["spawn_local", "200", "50%", "400", "-", "-", "-", "0.50", "0.60", "0.40", "limit"];
        assert_eq!(columns(&measured), without);
        measured.smol = Some(800.0);
        let with = ["spawn_local", "200", "50%", "400", "-", "800", "-", "-", "0.50", "0.60", "0.40", "limit"];
        assert_eq!(columns(&measured), with);
    }

    #[test]
    fn the_header_says_of_which_rows_there_are_fewer_repetitions() {
        let said = |arguments: &[&str]| repetitions(&plan::selected(&options(arguments)));
        let quick = "3, 1 of company_10k and company_100k and company_1m and echo_1000 and memory_idle_task";
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
    fn a_goal_is_met_at_its_edge() {
        assert_eq!([0.4, 0.5, 0.6, 0.61].map(|it| met(it, 0.6, 0.4)), ["aim", "limit", "limit", "MISSED"]);
    }
}
