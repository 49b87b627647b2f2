//! The cost of the monitor thread: each row of the scheduler with it and without, and how often an
//! idle runtime wakes up.
//!
//! One percent is less than the difference between two repetitions of the same code. But drift
//! cancels out: a repetition with the thread and one without follow each other immediately, and the
//! result is the median of the ratios of such pairs.

mod idle;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::args::Options;
use crate::measure::{Samples, Turns, geometric_mean, take_turns};
use crate::report::{Column, JsonLines, Progress, decimals, headings, line, rounded};
use crate::rt::{Gmp, Rt};
use crate::sides::side;
use crate::workloads;

const PAIRS: usize = 5;

/// The limit for a row's ratio of with to without the monitor thread.
const LIMIT: f64 = 1.01;

/// A workload with the monitor thread and without, as JSON.
#[derive(Debug, Serialize)]
struct Row {
    workload: &'static str,
    unit: &'static str,
    on: f64,
    off: f64,
    /// The median of the pairs' ratios.
    ratio: f64,
    error: f64,
    pairs: usize,
    procs: usize,
}

pub fn run(options: &Options) -> Result<()> {
    if let Some(name) = options.only.iter().find(|name| !is_row(name)) {
        bail!("--sysmon-cost is about the scheduler's rows, and `{name}` is none of them");
    }
    let mut json = JsonLines::create(options.json.as_deref())?;
    // Runs first, while no other runtime exists whose threads could wake up.
    idle::run(options, &mut json)?;
    rows(options, &mut json)
}

fn is_row(name: &str) -> bool {
    workloads::scheduler::<Gmp>().iter().any(|row| row.name == name)
}

fn rows(options: &Options, json: &mut JsonLines) -> Result<()> {
    let (procs, pairs, mut ratios) = (options.procs, options.reps() * PAIRS, Vec::new());
    let (on, off) = (Gmp::new(procs)?, Gmp::without_sysmon(procs)?);
    let all = options.turns().into_iter().filter(|turns| is_row(turns.workload));
    let all: Vec<_> = all.map(|turns| Turns { reps: pairs, ..turns }).collect();
    let progress = Progress::new(&all);
    println!(
        "\nnanoseconds per operation of gmp with sysmon and without, {procs} Ps, medians of {pairs} pairs\n\
         ratio: the median of the pairs' ratios, and how far off it may be (95 %)\n\n{}",
        headings(&Row::COLUMNS)
    );
    for turns in &all {
        let sides = [&on, &off].into_iter().filter_map(|rt| side(rt, workloads::scheduler(), turns.workload));
        let results = take_turns(sides.collect(), turns, |rep| progress.show(turns, rep)).into_iter();
        let [on, off] = results.collect::<Result<Vec<_>>>()?.try_into().expect("two sides");
        let row = Row::new(turns.workload, procs, on, off);
        progress.print(&line(&Row::COLUMNS, &row));
        json.line(&row)?;
        ratios.push(row.ratio);
    }
    if !ratios.is_empty() {
        println!("{:<38}{:>8.3}{:>17.2}", "geometric mean", geometric_mean(&ratios), LIMIT);
    }
    Ok(())
}

impl Row {
    const COLUMNS: [Column<Row>; 8] = [
        ("workload", -18, |row| row.workload.to_owned()),
        ("on", 10, |row| format!("{:.0}", row.on)),
        ("off", 10, |row| format!("{:.0}", row.off)),
        // The difference is about a percent: two digits would round it away.
        ("ratio", 8, |row| format!("{:.3}", row.ratio)),
        ("+-", 9, |row| format!("{:.3}", row.error)),
        ("pairs", 7, |row| row.pairs.to_string()),
        ("limit", 8, |_| decimals(LIMIT)),
        ("met", 26, |row| row.met().to_owned()),
    ];

    /// Of pairs of a repetition with the monitor thread and one without.
    fn new(workload: &'static str, procs: usize, on: Vec<f64>, off: Vec<f64>) -> Self {
        let ratios = Samples::new(on.iter().zip(&off).map(|(on, off)| on / off).collect());
        let [on, off] = [on, off].map(|side| rounded(Samples::new(side).median(), 1));
        let (ratio, error, pairs) = (rounded(ratios.median(), 4), rounded(error(&ratios), 4), ratios.all().len());
        Row { workload, unit: "ns/op", on, off, ratio, error, pairs, procs }
    }

    fn met(&self) -> &'static str {
        match self.ratio {
            ratio if ratio <= LIMIT => "yes",
            ratio if ratio - self.error <= LIMIT => "can't be told: too noisy",
            _ => "MISSED",
        }
    }
}

/// The error of a median of ratios: in 95 of 100 runs the ratio of infinitely many pairs is no
/// further away than this. It is twice the standard error of a median, with the scatter taken from
/// the quartiles, which an occasional interrupted repetition doesn't move.
fn error(ratios: &Samples) -> f64 {
    let (low, high) = ratios.quartiles();
    let deviation = (high - low) / 1.349;
    2.0 * 1.253 * deviation / (ratios.all().len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_of_a_pair_cancels_out_and_a_row_misses_only_by_more_than_its_error() {
        for (ratios, verdict) in
            [([1.0; 3], "yes"), ([1.02; 3], "MISSED"), ([0.9, 1.02, 1.3], "can't be told: too noisy")]
        {
            let off = vec![100.0, 400.0, 200.0];
            let on = off.iter().zip(ratios).map(|(off, ratio)| off * ratio).collect();
            let row = Row::new("ring_500", 2, on, off);
            assert_eq!((row.ratio, row.met(), row.error == 0.0), (ratios[1], verdict, ratios[0] == ratios[1]));
        }
    }
}
