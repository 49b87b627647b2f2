//! How far gmp and tokio are above about the least that the scheduler's rows could take on one
//! core: the same rows in one queue on one thread, with the same tasks and channels
//! (`rt::OneQueue`).

use anyhow::Result;
use clap::Parser;
use gmp_benches::args::number;
use gmp_benches::measure::{Samples, Side, Turns, take_turns};
use gmp_benches::report::{Column, headings, line, quantity, ratio};
use gmp_benches::rt::{Gmp, OneQueue, Rt, Tokio};
use gmp_benches::workloads::{self, Workload};

/// Measures the scheduler's rows on gmp, on tokio and in one queue on one thread, in turns, and
/// prints medians.
#[derive(Debug, Parser)]
struct Options {
    /// gmp's Ps and tokio's workers (1 to 1024)
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = number::<usize>(1..=1024))]
    procs: usize,
    /// Repetitions of each row on each side (1 to 1000)
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = number::<usize>(1..=1000))]
    reps: usize,
}

/// The medians of a row in ns an operation, or their geometric means.
struct Row {
    name: &'static str,
    gmp: f64,
    tokio: f64,
    floor: f64,
}

const COLUMNS: [Column<Row>; 6] = [
    ("workload", -16, |row| row.name.to_owned()),
    ("gmp", 10, |row| quantity(row.gmp, "ns")),
    ("tokio", 10, |row| quantity(row.tokio, "ns")),
    ("one queue", 12, |row| quantity(row.floor, "ns")),
    ("gmp/tokio", 12, |row| ratio(row.gmp / row.tokio)),
    ("one queue/tokio", 18, |row| ratio(row.floor / row.tokio)),
];

fn main() -> Result<()> {
    let options = Options::parse();
    let (gmp, tokio, floor) = (Gmp::new(options.procs)?, Tokio::new(options.procs)?, OneQueue::new(1)?);
    println!("{}", headings(&COLUMNS));
    let mut rows = Vec::new();
    for workload in workloads::scheduler::<Gmp>() {
        let turns = Turns { workload: workload.name, reps: options.reps, warm_up: true };
        let sides = vec![side(&gmp, turns.workload), side(&tokio, turns.workload), side(&floor, turns.workload)];
        let medians = take_turns(sides, &turns, |_| ()).into_iter().map(|it| anyhow::Ok(Samples::new(it?).median()));
        let medians = medians.collect::<Result<Vec<_>>>()?;
        let row = Row { name: turns.workload, gmp: medians[0], tokio: medians[1], floor: medians[2] };
        println!("{}", line(&COLUMNS, &row));
        rows.push(row);
    }
    println!("{}", line(&COLUMNS, &mean(&rows)));
    Ok(())
}

fn side<'a, R: Rt>(rt: &'a R, name: &str) -> Side<'a, f64> {
    let find = |it: &Workload<R>| it.name == name;
    let workload = workloads::scheduler().into_iter().find(find).expect("each side has the same rows");
    Box::new(move || workload.repetition(rt))
}

fn mean(rows: &[Row]) -> Row {
    let mean = |of: fn(&Row) -> f64| (rows.iter().map(|row| of(row).ln()).sum::<f64>() / rows.len() as f64).exp();
    Row { name: "geometric mean", gmp: mean(|it| it.gmp), tokio: mean(|it| it.tokio), floor: mean(|it| it.floor) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_ratios_is_the_ratio_of_means() {
        let row = |gmp, tokio, floor| Row { name: "", gmp, tokio, floor };
        let mean = mean(&[row(1.0, 2.0, 1.0), row(4.0, 2.0, 1.0)]);
        assert!((mean.gmp / mean.tokio - 1.0).abs() < 1e-9 && (mean.floor / mean.tokio - 0.5).abs() < 1e-9);
    }
}
