//! Rows with a few numbers per repetition.

pub(crate) mod child;
mod closures_in_order;
mod gaps;
mod known_hog;
mod overload;
mod quota;
mod rare_bursts;
mod throughput;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gmp_benches::measure::{Samples, take_all};
use gmp_benches::report::{JsonLines, or_dash, rounded};
use gmp_benches::rt::{Gmp, Rt};
use serde::Serialize;

use crate::args::{Goal, Options};
use crate::ticker::{self, millis};

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
        Figure { name, unit, goal: Some(Goal { limit, aim }) }
    }

    const fn shown(name: &'static str, unit: &'static str) -> Self {
        Figure { name, unit, goal: None }
    }
}

/// The process in which a row is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Process {
    This,
    /// A process of its own, whose standard output is a pipe.
    Own,
    /// A process of its own, which is stopped again and again as by a quota.
    Stopped,
}

pub(crate) const ROWS: [Numbers; 13] = [
    rare_bursts::ROW,
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

/// One P, and a task whose polls sleep for 30 ms, with a short poll between each two, as in a
/// connection that reads before it asks a database. Once the scheduler knows the task, the task
/// should hand its P off by itself, so that sysmon need not take it. tokio has no Ps that can be
/// taken.
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
    let (ticks, ()) = ticker::beside(rt, &Arc::new(AtomicBool::new(false)), || {
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
    vec![rt.takes() as f64, millis(&ticks, 99.0), millis(&ticks, 100.0)]
}

/// Runs `measure` on a new runtime, and ends the runtime.
fn on<R: Rt, T>(procs: usize, measure: impl FnOnce(&R) -> T) -> io::Result<T> {
    let rt = R::new(procs)?;
    let measured = measure(&rt);
    rt.shutdown(Duration::from_secs(10));
    Ok(measured)
}

/// Measures `rows` and prints the figures of each as soon as they are known.
pub(crate) fn table(rows: &[&Numbers], options: &Options, json: &mut JsonLines) -> io::Result<()> {
    let Options { reps, procs, .. } = options;
    println!(
        "\n{procs} Ps and workers unless the row says 1 P; medians of {reps} repetitions in turns, and their lowest..highest\n\n\
         {:<42}{:<25}{:>8}{:>11}{:>20}{:>11}{:>20}{:>7}{:>7}  met",
        "row", "figure", "unit", "gmp", "", "tokio", "", "limit", "aim"
    );
    for row in rows {
        let [gmp, tokio] = row.measure(options)?;
        for (place, figure) in row.figures.iter().enumerate() {
            let (gmp, tokio) = (samples(&gmp, place), samples(&tokio, place));
            println!("{}", line(row.name, figure, &gmp, &tokio));
            json.line(&Json::new(row.name, figure, [gmp, tokio], options))?;
        }
    }
    Ok(())
}

impl Numbers {
    const fn new(name: &'static str, figures: &'static [Figure], gmp: Measure, tokio: Option<Measure>) -> Self {
        Numbers { name, figures, process: Process::This, gmp, tokio }
    }

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
    let values: Option<Vec<f64>> = repetitions.iter().map(|values| Some(values.as_ref()?[place])).collect();
    values.map(Samples::new)
}

/// A figure of a row as text: the medians of the repetitions on both sides, and gmp's verdict.
fn line(row: &str, figure: &Figure, gmp: &Option<Samples>, tokio: &Option<Samples>) -> String {
    let Figure { name, unit, goal } = figure;
    let cells = [gmp, tokio].map(|samples| {
        let median = or_dash(samples.as_ref().map(|it| text(it.median())));
        let range = or_dash(samples.as_ref().map(|it| format!("{}..{}", text(it.min()), text(it.max()))));
        format!("{median:>11}{range:>20}")
    });
    let (limit, aim) = (or_dash(goal.map(|it| it.limit)), or_dash(goal.map(|it| it.aim)));
    let met = or_dash(gmp.as_ref().zip(*goal).map(|(gmp, goal)| goal.met(gmp.median())));
    format!("{row:<42}{name:<25}{unit:>8}{}{limit:>7}{aim:>7}  {met}", cells.concat())
}

/// Small numbers need their decimals; large numbers would be hard to read with them.
fn text(number: f64) -> String {
    if number.abs() < 100.0 { format!("{number:.2}") } else { format!("{number:.0}") }
}

/// A figure of a row as JSON.
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
    gmp: Option<Vec<f64>>,
    tokio: Option<Vec<f64>>,
    /// The goal for the median of gmp's repetitions.
    limit: Option<f64>,
    aim: Option<f64>,
}

impl Json {
    fn new(workload: &'static str, figure: &Figure, sides: [Option<Samples>; 2], options: &Options) -> Self {
        let all = |samples: Samples| samples.all().iter().map(|&it| rounded(it, 3)).collect();
        let ([gmp, tokio], goal) = (sides.map(|samples| samples.map(all)), figure.goal);
        let (procs, secs, reps) = (options.procs, options.duration.as_secs(), options.reps);
        let (limit, aim) = (goal.map(|goal| goal.limit), goal.map(|goal| goal.aim));
        Json { workload, figure: figure.name, unit: figure.unit, procs, secs, reps, gmp, tokio, limit, aim }
    }
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

    #[test]
    fn the_verdict_is_on_gmps_median_and_a_side_without_the_row_has_dashes() {
        let gmp = Some(Samples::new(vec![2900.0, 12.5, 11.0]));
        let line = line("long", &Figure::wanted("gap", "ms", 30.0, 10.0), &gmp, &None);
        let columns: Vec<_> = line.split_whitespace().collect();
        assert_eq!(columns, ["long", "gap", "ms", "12.50", "11.00..2900", "–", "–", "30", "10", "limit"]);
    }
}
