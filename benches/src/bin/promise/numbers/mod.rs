//! Rows with a few numbers per repetition.

mod closures_in_order;
mod gaps;
mod known_hog;
mod overload;
mod throughput;

use std::time::Duration;

use anyhow::Result;
use gmp_benches::measure::{Samples, Side, take_all};
use gmp_benches::report::{Column, Goal, JsonLines, headings, line, or_dash};
use gmp_benches::rt::{Gmp, Rt, Twin};
use serde::Serialize;

use crate::Options;
use crate::processes::measure_in_other;
use crate::ticker::{self, Stop};

pub(crate) struct Numbers {
    pub(crate) name: &'static str,
    figures: &'static [Figure],
    pub(crate) process: Process,
    pub(crate) gmp: Measure,
    /// `None` if tokio lacks the feature.
    pub(crate) tokio: Option<Measure>,
}

/// A repetition's numbers, one for each of the row's figures.
type Measure = fn(&Options) -> Result<Vec<f64>>;

struct Figure {
    name: &'static str,
    unit: &'static str,
    /// The goal for gmp's number, if there is one.
    goal: Option<Goal>,
}

impl Figure {
    const fn wanted(name: &'static str, unit: &'static str, limit: f64, aim: f64) -> Self {
        Figure { name, unit, goal: Some(Goal { limit, aim }) }
    }

    const fn shown(name: &'static str, unit: &'static str) -> Self {
        Figure { name, unit, goal: None }
    }

    fn measured(&self, workload: &'static str, [gmp, tokio]: [Option<Samples>; 2], of: &Options) -> Json {
        let (procs, secs, reps) = (of.procs, of.duration.as_secs(), of.reps);
        let (limit, aim) = self.goal.map(|goal| (goal.limit, goal.aim)).unzip();
        Json { workload, figure: self.name, unit: self.unit, procs, secs, reps, gmp, tokio, limit, aim }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Process {
    This,
    /// A process of its own, whose standard output is a pipe.
    Own,
    /// A process of its own, which is stopped again and again as by a quota.
    Stopped,
}

pub(crate) const ROWS: [Numbers; 13] = [
    gaps::RARE_BURSTS,
    overload::ROW,
    overload::UNDER_A_QUOTA,
    overload::AFTER_A_SLEEP,
    gaps::COMPUTING,
    gaps::MOSTLY_SLEEPING,
    gaps::EMPTY_SECTIONS,
    gaps::STDOUT,
    known_hog::ROW,
    FORGIVEN,
    closures_in_order::ROW,
    throughput::SHORT_SLEEPS,
    throughput::SATURATED,
];

/// Once the scheduler knows a task whose polls sleep, the task should hand its P off by itself, so
/// that sysmon need not take it. tokio has no Ps that can be taken.
const FORGIVEN: Numbers = Numbers::new(
    "forgiven: 1 P, 60 polls sleep 30 ms",
    &[
        Figure::wanted("Ps taken", "takes", 10.0, 2.0),
        Figure::shown("ticker p99", "ms"),
        Figure::shown("ticker max", "ms"),
    ],
    |_| on(1, forgiven),
    None,
);

fn forgiven(rt: &Gmp) -> Vec<f64> {
    let (ticks, ()) = ticker::beside(rt, &Stop::default(), || {
        let long_and_short = async {
            for _ in 0..60 {
                std::thread::sleep(Duration::from_millis(30));
                Gmp::yield_now().await;
                // The next poll is the short one.
                Gmp::yield_now().await;
            }
        };
        rt.block_on(rt.spawn_remote(long_and_short)).expect("the task that sleeps doesn't panic");
    });
    let ticks = ticker::lateness(&ticks);
    vec![rt.takes() as f64, ticks.millis_at(99.0), ticks.millis_at(100.0)]
}

/// Runs `measure` on a new runtime, and ends the runtime.
fn on<R: Twin, T>(procs: usize, measure: impl FnOnce(&R) -> T) -> Result<T> {
    let rt = R::new(procs)?;
    let measured = measure(&rt);
    rt.shutdown();
    Ok(measured)
}

pub(crate) fn table(options: &Options, json: &mut JsonLines) -> Result<()> {
    let rows: Vec<_> = ROWS.iter().filter(|row| options.wants(row.name)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let Options { reps, procs, .. } = options;
    println!(
        "\n{procs} Ps and workers unless the row says 1 P; medians of {reps} repetitions in turns, and their lowest..highest\n\n{}",
        headings(&Json::COLUMNS)
    );
    for row in rows {
        let sides = row.measure(options)?;
        for (place, figure) in row.figures.iter().enumerate() {
            let samples = sides.each_ref().map(|side| samples(side.as_deref()?, place));
            let figure = figure.measured(row.name, samples, options);
            println!("{}", line(&Json::COLUMNS, &figure));
            json.line(&figure)?;
        }
    }
    Ok(())
}

impl Numbers {
    const fn new(name: &'static str, figures: &'static [Figure], gmp: Measure, tokio: Option<Measure>) -> Self {
        Numbers { name, figures, process: Process::This, gmp, tokio }
    }

    fn measure(&self, options: &Options) -> Result<[Option<Vec<Vec<f64>>>; 2]> {
        let side = |(name, measure): (&'static str, Measure)| -> Side<'_, Vec<f64>> {
            Box::new(move || match self.process {
                Process::This => measure(options),
                Process::Own | Process::Stopped => measure_in_other(self, name, options),
            })
        };
        let sides = [Some(("gmp", self.gmp)), self.tokio.map(|tokio| ("tokio", tokio))];
        let mut measured = take_all(options.reps, sides.into_iter().flatten().map(side).collect())?.into_iter();
        Ok([measured.next(), measured.next()])
    }
}

fn samples(repetitions: &[Vec<f64>], place: usize) -> Option<Samples> {
    Some(Samples::new(repetitions.iter().map(|values| values[place]).collect()).rounded(3))
}

fn range(samples: &Samples) -> String {
    format!("{}..{}", text(samples.min()), text(samples.max()))
}

/// Small numbers need their decimals; large numbers would be hard to read with them.
fn text(number: f64) -> String {
    if number.abs() < 100.0 { format!("{number:.2}") } else { format!("{number:.0}") }
}

#[derive(Serialize)]
struct Json {
    workload: &'static str,
    figure: &'static str,
    unit: &'static str,
    procs: usize,
    /// The length of one repetition, unless the row has a fixed number of polls.
    secs: u64,
    reps: usize,
    /// All repetitions in ascending order; `None` if a side lacks the feature.
    gmp: Option<Samples>,
    tokio: Option<Samples>,
    /// The goal for the median of gmp's repetitions.
    limit: Option<f64>,
    aim: Option<f64>,
}

impl Json {
    const COLUMNS: [Column<Json>; 10] = [
        ("row", -42, |row| row.workload.to_owned()),
        ("figure", -25, |row| row.figure.to_owned()),
        ("unit", 8, |row| row.unit.to_owned()),
        ("gmp", 11, |row| or_dash(row.gmp.as_ref().map(|gmp| text(gmp.median())))),
        ("", 20, |row| or_dash(row.gmp.as_ref().map(range))),
        ("tokio", 11, |row| or_dash(row.tokio.as_ref().map(|tokio| text(tokio.median())))),
        ("", 20, |row| or_dash(row.tokio.as_ref().map(range))),
        ("limit", 7, |row| or_dash(row.limit)),
        ("aim", 7, |row| or_dash(row.aim)),
        ("met", 8, |row| or_dash(row.verdict())),
    ];

    fn verdict(&self) -> Option<&'static str> {
        Some(Goal { limit: self.limit?, aim: self.aim? }.met(self.gmp.as_ref()?.median()))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn the_verdict_is_on_gmps_median_and_a_side_without_the_row_has_dashes() {
        let gmp = samples(&[2900.0, 12.5, 11.0].map(|gap| vec![1.0, gap]), 1);
        let figure = Figure::wanted("gap", "ms", 30.0, 10.0);
        let row = figure.measured("long", [gmp, None], &Options::parse_from(["promise"]));
        let columns = line(&Json::COLUMNS, &row).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(columns, "long gap ms 12.50 11.00..2900 – – 30 10 limit");
    }
}
