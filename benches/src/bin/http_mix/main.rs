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
mod plan;
#[path = "../../../../gmp-io/examples/serve/query.rs"]
mod query;
mod server;

use anyhow::{Result, ensure};
use clap::Parser;

use crate::args::Options;

fn main() -> Result<()> {
    let options = Options::parse();
    if let Some(side) = options.serve {
        return server::serve(side, options.procs);
    }
    let rate = match options.rate {
        Some(rate) => rate,
        None => calibrate::rate(options.procs)?,
    };
    match options.minutes {
        Some(minutes) => {
            let faults = minutes::run(&options, rate, minutes)?;
            ensure!(faults.is_empty(), "{}", faults.join("\n"));
            Ok(())
        }
        None => compare::run(&options, rate),
    }
}
