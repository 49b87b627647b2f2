//! A figure of a row as a line of text, and as JSON.

use std::fmt;

use gmp_benches::measure::Samples;
use gmp_benches::report::{or_dash, rounded};
use serde::Serialize;

use super::Figure;
use crate::args::Options;

/// The medians of the repetitions on both sides.
pub(crate) struct Line {
    pub(crate) row: &'static str,
    pub(crate) figure: &'static Figure,
    pub(crate) gmp: Option<Samples>,
    pub(crate) tokio: Option<Samples>,
}

/// The header: what is measured and how, and the names of the columns.
pub(crate) fn header(options: &Options) -> String {
    let Options { reps, procs, .. } = options;
    format!(
        "\n{procs} Ps and workers unless the row says 1 P; medians of {reps} repetitions in turns, and their lowest..highest\n\n\
         {:<42}{:<25}{:>8}{:>11}{:>20}{:>11}{:>20}{:>7}{:>7}  met",
        "row", "figure", "unit", "gmp", "", "tokio", "", "limit", "aim"
    )
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure { name, unit, goal } = self.figure;
        write!(f, "{:<42}{name:<25}{unit:>8}", self.row)?;
        for samples in [&self.gmp, &self.tokio] {
            let median = or_dash(samples.as_ref().map(|it| text(it.median())));
            let range = or_dash(samples.as_ref().map(|it| format!("{}..{}", text(it.min()), text(it.max()))));
            write!(f, "{median:>11}{range:>20}")?;
        }
        let (limit, aim) = (or_dash(goal.map(|it| it.limit)), or_dash(goal.map(|it| it.aim)));
        let met = self.gmp.as_ref().zip(*goal).map(|(gmp, goal)| goal.met(gmp.median()));
        write!(f, "{limit:>7}{aim:>7}  {}", or_dash(met))
    }
}

/// A figure of a row as JSON.
#[derive(Serialize)]
pub(crate) struct Json {
    workload: &'static str,
    figure: &'static str,
    unit: &'static str,
    procs: usize,
    /// The length of one repetition, unless the row has a fixed number of polls.
    secs: u64,
    reps: usize,
    /// All repetitions in ascending order; `None` if a side lacks the feature.
    gmp: Option<Vec<f64>>,
    tokio: Option<Vec<f64>>,
    /// The goal for the median of gmp's repetitions.
    limit: Option<f64>,
    aim: Option<f64>,
}

impl Line {
    pub(crate) fn json(&self, options: &Options) -> Json {
        let all = |samples: &Samples| samples.all().iter().map(|&it| rounded(it, 3)).collect();
        let Figure { name, unit, goal } = *self.figure;
        Json {
            workload: self.row,
            figure: name,
            unit,
            procs: options.procs,
            secs: options.duration.as_secs(),
            reps: options.reps,
            gmp: self.gmp.as_ref().map(all),
            tokio: self.tokio.as_ref().map(all),
            limit: goal.map(|goal| goal.limit),
            aim: goal.map(|goal| goal.aim),
        }
    }
}

/// Small numbers need their decimals; large numbers would be hard to read with them.
fn text(number: f64) -> String {
    if number.abs() < 100.0 { format!("{number:.2}") } else { format!("{number:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Goal;

    #[test]
    fn the_verdict_is_on_gmps_median_and_a_side_without_the_row_has_dashes() {
        static FIGURE: Figure = Figure { name: "gap", unit: "ms", goal: Some(Goal::new(30.0, 10.0)) };
        let gmp = Some(Samples::new(vec![2900.0, 12.5, 11.0]));
        let line = Line { row: "long", figure: &FIGURE, gmp, tokio: None }.to_string();
        let columns: Vec<_> = line.split_whitespace().collect();
        assert_eq!(columns, ["long", "gap", "ms", "12.50", "11.00..2900", "–", "–", "30", "10", "limit"]);
    }
}
