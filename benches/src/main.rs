//! Runs the workloads on gmp, tokio and others, side by side, and prints the table.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use gmp_benches::args::Options;
use gmp_benches::report::{self, JsonLines, Progress, Table};
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
    let mut table = Table::new(options, sides.go_version());
    let plans = plan::selected(options);
    println!("{}", report::header(&table, &plans));
    let progress = Progress::new(plans.len());
    for (number, plan) in plans.iter().enumerate() {
        let row = sides.measure(plan, |rep| progress.show(number, plan.turns(), rep))?;
        progress.clear();
        println!("{}", report::line(&row));
        json.row(&row, options.procs)?;
        table.rows.push(row);
    }
    print!("{}", report::footer(&table));
    json.mean(&table)
}
