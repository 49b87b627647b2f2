//! A constant-rate HTTP/1.1 load generator.
//!
//! A client that sends its next request when the last one was answered asks least when the server is slowest, and
//! reports the few latencies it saw then: it omits exactly what matters. Here every request has a due moment that
//! the server can't move, and its latency counts from that moment. One thread a connection, on purpose: a thread that
//! sleeps until a due moment and blocks in `read` adds microseconds to what it measures, an event loop that is busy
//! with other connections adds whatever those take.

mod args;
mod connection;
mod due;
mod load;
mod tally;

use std::process::ExitCode;

use gmp_benches::{
    cli,
    process::{self, Cost},
};

use crate::{args::Options, connection::Connection, load::Outcome, tally::Tally};

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
        let answer = Connection::new(options.addr).get(path);
        answer.map_err(|failure| format!("http://{}{path}: {failure}", options.addr))?;
    }
    let before = server_cost(options)?;
    let outcome = load::run(options);
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
        outcome.measured.len(),
        options.path,
        outcome.elapsed.as_secs_f64(),
        options.rate
    );
    println!("{:<24}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}", "latency in ms", "count", "p50", "p99", "p99.9", "max", "errors");
    print_row(&options.path, &outcome.measured);
    if let Some(path) = &options.busy_path {
        print_row(path, &outcome.busy);
    }
    print_row("sent late by", &outcome.sending);
    for (what, count) in outcome.errors() {
        println!("error, {count} times: {what}");
    }
}

fn print_row(path: &str, tally: &Tally) {
    let quantile = |quantile| tally.millis_at(quantile);
    println!(
        "{path:<24}{:>9}{:>9.2}{:>9.2}{:>9.2}{:>9.2}{:>8}",
        tally.len(),
        quantile(0.50),
        quantile(0.99),
        quantile(0.999),
        quantile(1.0),
        tally.errors.values().sum::<u64>(),
    );
}

fn print_cost(before: Cost, after: Cost) {
    let cpu = (after.cpu - before.cpu).as_secs_f64();
    println!("server: {} threads at the end, {cpu:.2} s of CPU time", after.threads);
}
