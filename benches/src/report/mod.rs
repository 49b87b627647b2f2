//! The table on stdout, printed row by row during the measurement, and the same as data and as JSON
//! lines.

mod json;
mod line;
mod mix;
mod progress;
mod row;
mod ticker;

use std::cmp::Reverse;
use std::fmt;

pub use self::json::{JsonLines, PERCENTILES, number, rounded};
pub use self::line::{Line, MEAN, Sides, geometric_mean};
pub use self::mix::{Minute, Mix};
pub use self::progress::Progress;
pub use self::row::{Row, Table, tokio_version};
pub use self::ticker::Ticker;
use crate::measure::Samples;
use crate::memory;
use crate::plan::Plan;
use crate::workloads::{GEOMETRIC_MEAN, Goal};

/// The first lines: what is compared and how, and the names of the columns.
pub fn header(table: &Table, plans: &[Plan]) -> String {
    let Table { procs, cores, tokio, .. } = table;
    let go = table.go.as_ref().map_or(String::new(), |version| format!(", Go's {version}"));
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
fn repetitions(plans: &[Plan]) -> String {
    let mut numbers: Vec<(usize, Vec<&str>)> = Vec::new();
    for plan in plans {
        let reps = plan.turns().reps;
        match numbers.iter_mut().find(|(number, _)| *number == reps) {
            Some((_, names)) => names.push(plan.name),
            None => numbers.push((reps, vec![plan.name])),
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
pub fn line(row: &Row) -> String {
    let other = |samples: &Option<Samples>| samples.as_ref().map_or("-".to_owned(), cell);
    format!(
        "{:<18}{:>15}{:>15}{:>15}{:>15}{:>8.2}{}",
        row.name,
        cell(&row.gmp),
        cell(&row.tokio),
        other(&row.smol),
        other(&row.go),
        row.ratio(),
        Verdict { goal: row.goal, ratio: row.ratio(), own: row.gmp.median() },
    )
}

/// The last lines: the geometric mean of the scheduler's rows if all of them were run, and remarks.
pub fn footer(table: &Table) -> String {
    let mean = table.geometric_mean().map(|ratio| {
        let verdict = Verdict { goal: GEOMETRIC_MEAN.at(table.procs), ratio, own: f64::NAN };
        format!("{:<78}{ratio:>8.2}{verdict}\n", "geometric mean of the scheduler's rows, gmp over tokio")
    });
    let others = [
        ("smol", table.geometric_mean_over(|row| row.smol.as_ref())),
        ("Go", table.geometric_mean_over(|row| row.go.as_ref())),
    ];
    let others = others.into_iter().filter_map(|(side, mean)| {
        let (ratio, rows) = mean?;
        Some(format!("{:<78}{ratio:>8.2}\n", format!("the same of gmp over {side}, of its {rows} rows")))
    });
    let notes = table.rows.iter().filter_map(|row| Some(format!("\n{}\n", modes(row, row.modes?)?)));
    mean.into_iter().chain(others).chain(notes).collect()
}

/// A median and the interquartile range of the repetitions. A single repetition has no range.
fn cell(samples: &Samples) -> String {
    let (low, high) = samples.quartiles();
    let spread = match samples.all().len() {
        1 => "-".to_owned(),
        _ => format!("{:.0}%", 100.0 * (high - low) / samples.median()),
    };
    format!("{:.0} {spread:>4}", samples.median())
}

/// The columns limit, aim and met.
struct Verdict {
    goal: Option<Goal>,
    ratio: f64,
    own: f64,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [limit, aim] = match self.goal {
            None | Some(Goal::Undecided) => return write!(f, "{:>11}{:>10}", "-", "-"),
            Some(Goal::Ratio { limit, aim }) => [limit, aim].map(|it| format!("{it:.2}")),
            Some(Goal::Nanos { limit, aim }) => [limit, aim].map(|it| format!("{it:.0} ns")),
        };
        let met = self.goal.and_then(|goal| goal.met(self.ratio, self.own));
        write!(f, "{limit:>11}{aim:>10}  {}", or_dash(met))
    }
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
fn modes(row: &Row, split: f64) -> Option<String> {
    let in_both = |samples: &Samples| (1..samples.all().len()).contains(&samples.below(split));
    if !in_both(&row.gmp) && !in_both(&row.tokio) {
        return None;
    }
    let share = |samples: &Samples| format!("{} of {}", samples.below(split), samples.all().len());
    Some(format!(
        "{} has two modes; in the fast one (below {split:.0} ns) were {} repetitions of gmp's and {} of tokio's",
        row.name,
        share(&row.gmp),
        share(&row.tokio),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::options;
    use crate::plan;
    use crate::workloads::Group;

    fn row(smol: Option<Samples>) -> Row {
        Row {
            name: "spawn_local",
            group: Group::Scheduler,
            unit: "ns/op",
            goal: Some(Goal::Ratio { limit: 0.60, aim: 0.40 }),
            modes: None,
            gmp: Samples::new(vec![300.0, 100.0, 200.0]),
            tokio: Samples::new(vec![400.0]),
            smol,
            go: None,
        }
    }

    #[test]
    fn a_side_that_cannot_run_a_workload_shows_a_dash() {
        let columns = |smol| line(&row(smol)).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let without = ["spawn_local", "200", "50%", "400", "-", "-", "-", "0.50", "0.60", "0.40", "limit"];
        assert_eq!(columns(None), without);
        let with = ["spawn_local", "200", "50%", "400", "-", "800", "-", "-", "0.50", "0.60", "0.40", "limit"];
        assert_eq!(columns(Some(Samples::new(vec![800.0]))), with);
    }

    #[test]
    fn the_header_says_of_which_rows_there_are_fewer_repetitions() {
        let said = |arguments: &[&str]| repetitions(&plan::selected(&options(arguments)));
        assert_eq!(
            said(&["--quick"]),
            "3, 1 of company_10k and company_100k and company_1m and echo_1000 and memory_idle_task"
        );
        assert_eq!(said(&[]), "11, 3 of memory_idle_task");
        assert_eq!(said(&["--quick", "--only", "echo_1000"]), "1");
    }

    #[test]
    fn a_workload_had_two_modes_if_one_librarys_repetitions_were_in_both() {
        let said = |gmp: &[f64], tokio: &[f64]| {
            let [gmp, tokio] = [gmp, tokio].map(|it| Samples::new(it.to_vec()));
            modes(&Row { gmp, tokio, ..row(None) }, 360.0)
        };
        assert_eq!([said(&[90.0, 91.0], &[250.0]), said(&[90.0], &[470.0, 471.0])], [None, None]);
        let text = said(&[90.0, 91.0], &[250.0, 470.0]).unwrap();
        assert!(text.ends_with("were 2 of 2 repetitions of gmp's and 1 of 2 of tokio's"), "{text}");
    }

    #[test]
    fn a_goal_is_met_at_its_edge() {
        assert_eq!([0.4, 0.5, 0.6, 0.61].map(|it| met(it, 0.6, 0.4)), ["aim", "limit", "limit", "MISSED"]);
    }
}
