//! Runs the workloads on gmp and on tokio, side by side, and prints the table.

use std::{io, process::ExitCode};

use gmp_benches::{
    args::{self, Options},
    cli, measure,
    report::{JsonLines, Report},
    rt::{Gmp, Rt, Tokio},
    workloads,
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
    let json = JsonLines::create(options.json.as_deref())?;
    let gmp = Gmp::new(options.procs)?;
    let tokio = Tokio::new(options.procs)?;

    let mut report = Report::new(options, json);
    report.header();
    for (ours, theirs) in workloads::all().into_iter().zip(workloads::all()) {
        if options.selects(ours.name) {
            let outcome = measure::alternate((&gmp, &ours), (&tokio, &theirs), options.reps);
            report.row(&ours, &outcome)?;
        }
    }
    report.footer();
    Ok(())
}
