//! A constant-rate HTTP/1.1 load generator.

mod args;
mod load;

use std::fmt::Display;
use std::process::ExitCode;

use gmp_benches::cli;
use gmp_benches::http::{Connection, Reuse, Tally};
use gmp_benches::process::{self, Cost};

use crate::args::Options;
use crate::load::Outcome;

fn main() -> ExitCode {
    let options = cli::parse_or_exit(args::USAGE, Options::parse);
    match run(&options) {
        Ok(outcome) if outcome.errors().is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("http_load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<Outcome, String> {
    for path in [Some(&options.path), options.busy_path.as_ref()].into_iter().flatten() {
        let failed = |why: &dyn Display| format!("http://{}{path}: {why}", options.addr);
        let mut connection = Connection::open(options.addr, Reuse::KeptAlive).map_err(|error| failed(&error))?;
        connection.get(path).map_err(|failure| failed(&failure))?;
    }
    let before = server_cost(options)?;
    let outcome = load::run(options).map_err(|error| error.to_string())?;
    let after = server_cost(options)?;
    print(options, &outcome);
    if let (Some(before), Some(after)) = (before, after) {
        print_cost(before, after);
    }
    Ok(outcome)
}

fn server_cost(options: &Options) -> Result<Option<Cost>, String> {
    let cost = |pid| process::cost(Some(pid)).ok_or_else(|| format!("nothing is known of a process {pid}"));
    options.server_pid.map(cost).transpose()
}

fn print(options: &Options, outcome: &Outcome) {
    println!(
        "{} requests of {} in {:.2} s, {} a second asked for",
        outcome.measured.answers.requests(),
        options.path,
        outcome.elapsed.as_secs_f64(),
        options.rate
    );
    println!("{:<24}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}", "latency in ms", "count", "p50", "p99", "p99.9", "max", "errors");
    print_row(&options.path, &outcome.measured.answers);
    if let Some(path) = &options.busy_path {
        print_row(path, &outcome.busy);
    }
    print_row("sent late by", &outcome.measured.lateness);
    if outcome.measured.no_connection > 0 {
        println!("sent late because no connection was free: {}", outcome.measured.no_connection);
    }
    for (what, count) in outcome.errors() {
        println!("error, {count} times: {what}");
    }
}

fn print_row(path: &str, tally: &Tally) {
    let percentile = |percent| tally.millis_at(percent);
    println!(
        "{path:<24}{:>9}{:>9.2}{:>9.2}{:>9.2}{:>9.2}{:>8}",
        tally.requests(),
        percentile(50.0),
        percentile(99.0),
        percentile(99.9),
        percentile(100.0),
        tally.failed(),
    );
}

fn print_cost(before: Cost, after: Cost) {
    let cpu = (after.cpu - before.cpu).as_secs_f64();
    println!("server: {} threads at the end, {cpu:.2} s of CPU time", after.threads);
}
