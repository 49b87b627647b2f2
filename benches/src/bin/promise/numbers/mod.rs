//! Rows with a few numbers per repetition.

pub(crate) mod child;
mod closures_in_order;
mod forgiven;
mod known_hog;
mod line;
mod long_polls;
mod overload;
mod quota;
mod rare_bursts;
mod saturated;
mod sections;
mod short_sleeps;

use std::io;

use gmp_benches::measure::{Samples, take_all};
use gmp_benches::report::JsonLines;

use self::line::Line;
use crate::args::Options;
use crate::goal::Goal;

/// A row: its numbers and how they are measured.
pub(crate) struct Numbers {
    pub(crate) name: &'static str,
    figures: &'static [Figure],
    process: Process,
    gmp: Measure,
    /// `None` if tokio lacks the feature.
    tokio: Option<Measure>,
}

/// A repetition's numbers, one for each of the row's figures.
type Measure = fn(&Options) -> io::Result<Vec<f64>>;

/// One of a row's numbers.
struct Figure {
    name: &'static str,
    unit: &'static str,
    /// The goal for gmp's number, if there is one.
    goal: Option<Goal>,
}

impl Figure {
    const fn wanted(name: &'static str, unit: &'static str, limit: f64, aim: f64) -> Self {
        Figure { name, unit, goal: Some(Goal::new(limit, aim)) }
    }

    const fn shown(name: &'static str, unit: &'static str) -> Self {
        Figure { name, unit, goal: None }
    }
}

/// The process in which a row is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Process {
    /// In this process.
    This,
    /// A process of its own, whose standard output is a pipe.
    Own,
    /// A process of its own, which is stopped again and again as by a quota.
    Stopped,
}

/// The rows.
pub(crate) const ROWS: [Numbers; 12] = [
    rare_bursts::ROW,
    overload::ROW,
    overload::UNDER_A_QUOTA,
    long_polls::COMPUTING,
    long_polls::MOSTLY_SLEEPING,
    sections::EMPTY,
    sections::STDOUT,
    known_hog::ROW,
    forgiven::ROW,
    closures_in_order::ROW,
    short_sleeps::ROW,
    saturated::ROW,
];

/// Measures `rows` and prints the figures of each as soon as they are known.
pub(crate) fn table(rows: &[&Numbers], options: &Options, json: &mut JsonLines) -> io::Result<()> {
    println!("{}", line::header(options));
    for row in rows {
        let [gmp, tokio] = row.measure(options)?;
        for (place, figure) in row.figures.iter().enumerate() {
            let line = Line { row: row.name, figure, gmp: samples(&gmp, place), tokio: samples(&tokio, place) };
            println!("{line}");
            json.line(&line.json(options))?;
        }
    }
    Ok(())
}

impl Numbers {
    fn measure(&self, options: &Options) -> io::Result<[Vec<Option<Vec<f64>>>; 2]> {
        let gmp = || self.repetition(Some(self.gmp), "gmp", options);
        let tokio = || self.repetition(self.tokio, "tokio", options);
        take_all(options.reps, [&gmp, &tokio])
    }

    fn repetition(&self, measure: Option<Measure>, side: &str, options: &Options) -> io::Result<Option<Vec<f64>>> {
        let Some(measure) = measure else {
            return Ok(None);
        };
        match self.process {
            Process::This => measure(options),
            Process::Own | Process::Stopped => child::start(self, side, options),
        }
        .map(Some)
    }
}

/// A side's repetitions of the figure at `place`, if that side can measure the figure.
fn samples(repetitions: &[Option<Vec<f64>>], place: usize) -> Option<Samples> {
    let values: Option<Vec<f64>> =
        repetitions.iter().map(|values| values.as_ref().map(|values| values[place])).collect();
    values.map(Samples::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_sample_a_repetition_and_none_where_a_side_has_nothing_of_the_kind() {
        let repetitions = [Some(vec![1.0, 20.0]), Some(vec![3.0, 10.0])];
        assert_eq!(samples(&repetitions, 1).unwrap().all(), [10.0, 20.0]);
        assert!(samples(&[None, None], 0).is_none());
    }
}
