//! Runs the workloads on gmp, tokio and others, side by side, and prints the table.

use std::{io, process::ExitCode};

use gmp_benches::{
    args::{self, Options},
    cli, plan,
    report::{self, JsonLines, Table},
    sides::Sides,
};

fn main() -> ExitCode {
    let options = cli::parse_or_exit(args::USAGE, Options::parse);
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gmp-benches: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let mut sides = Sides::start(options)?;
    let mut table = Table::new(options, None);
    println!("{}", report::header(&table));
    for plan in plan::selected(options) {
        let row = sides.measure(&plan, |_| ())?;
        println!("{}", report::line(&row));
        json.row(&row, options.procs)?;
        table.rows.push(row);
    }
    print!("{}", report::footer(&table));
    Ok(())
}
