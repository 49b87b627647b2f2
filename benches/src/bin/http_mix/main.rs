//! HTTP requests beside others that hold their thread: how does the latency of those that don't
//! change?
//!
//! The load comes from this process: plain threads, the same for every side, because a generator on
//! one of the runtimes would be measured with it. Requests that hold a thread use connections of
//! their own; the percentiles are those of the other requests.

#[path = "../../../../gmp-io/examples/serve/app.rs"]
mod app;
mod args;
mod calibrate;
mod compare;
mod drift;
mod load;
mod measure;
mod minutes;
#[path = "../../../../gmp-io/examples/serve/query.rs"]
mod query;
mod server;
mod table;
mod variant;

use std::io;
use std::process::ExitCode;

use clap::Parser;
use gmp_benches::cli;

use crate::args::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(failures) if !failures.is_empty() => {
            failures.iter().for_each(|failure| eprintln!("http_mix: {failure}"));
            ExitCode::FAILURE
        }
        result => cli::exit_code("http_mix", result.map(drop)),
    }
}

/// Describes the faults.
fn run(options: &Options) -> io::Result<Vec<String>> {
    if let Some(side) = options.serve {
        return server::serve(side, options.procs).map(|()| Vec::new());
    }
    let rate = match options.rate {
        Some(rate) => rate,
        None => calibrate::rate(options.procs)?,
    };
    match options.minutes {
        Some(minutes) => minutes::run(options, rate, minutes),
        None => compare::run(options, rate).map(|()| Vec::new()),
    }
}
