//! Runs the workloads on gmp, tokio and others, side by side, and prints the table.

use anyhow::Result;
use clap::Parser;
use gmp_benches::args::Options;
use gmp_benches::report::{self, JsonLines, Line, Progress};
use gmp_benches::sides::Sides;
use gmp_benches::{distance, memory, sysmon_cost};

fn main() -> Result<()> {
    let options = Options::parse();
    match &options.idle_tasks {
        Some(runtime) => match memory::print_and_exit(runtime, options.procs)? {},
        None if options.sysmon_cost => sysmon_cost::run(&options),
        None => table(&options),
    }
}

fn table(options: &Options) -> Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let mut sides = Sides::start(options)?;
    let (all, mut rows) = (options.turns(), Vec::new());
    println!("{}", report::header(options.procs, sides.go_version(), &all));
    let progress = Progress::new(&all);
    for turns in &all {
        let before = distance::round_trip();
        let row = sides.measure(turns, options.procs, |rep| progress.show(turns, rep))?;
        let row = row.at_distance(before.zip(distance::round_trip()));
        progress.print(&report::line(&report::COLUMNS, &row));
        json.line(&row)?;
        rows.push(row);
    }
    print!("{}", report::footer(&rows));
    Line::mean(&rows).map_or(Ok(()), |mean| json.line(&mean))
}
