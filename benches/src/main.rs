//! Runs the workloads on gmp, tokio and others, side by side, and prints the table.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use gmp_benches::args::Options;
use gmp_benches::report::{self, JsonLines, Line, Progress};
use gmp_benches::sides::Sides;
use gmp_benches::{cli, memory, plan, sysmon_cost};

fn main() -> ExitCode {
    let options = Options::parse().check().unwrap_or_else(|error| error.exit());
    let result = match &options.idle_tasks {
        Some(runtime) => memory::print_and_exit(runtime, options.procs).map(|never| match never {}),
        None if options.sysmon_cost => sysmon_cost::run(&options),
        None => table(&options),
    };
    cli::exit_code("gmp-benches", result)
}

fn table(options: &Options) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let mut sides = Sides::start(options)?;
    let (plans, mut rows) = (plan::selected(options), Vec::new());
    println!("{}", report::header(options.procs, sides.go_version(), &plans));
    let progress = Progress::new(plans.len());
    for (number, turns) in plans.iter().enumerate() {
        let row = sides.measure(turns, options.procs, |rep| progress.show(number, turns, rep))?;
        progress.clear();
        println!("{}", report::line(&row));
        json.line(&row.rounded())?;
        rows.push(row);
    }
    print!("{}", report::footer(&rows));
    Line::mean(&rows).map_or(Ok(()), |mean| json.line(&mean.rounded()))
}
