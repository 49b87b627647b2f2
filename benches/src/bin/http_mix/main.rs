//! HTTP requests beside others that hold their thread: how does the latency of those that don't
//! change? The load comes from plain threads of this process, the same for every side.

#[path = "../../../../gmp-io/examples/serve/app.rs"]
mod app;
mod compare;
mod load;
mod measure;
mod minutes;
mod plan;
#[path = "../../../../gmp-io/examples/serve/query.rs"]
mod query;
mod server;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use gmp_benches::args::{number, seconds};
use gmp_benches::report::Side;

/// The sides in the order of the table.
pub(crate) const SIDES: [Side; 3] = [Side::Gmp, Side::Tokio, Side::GmpWithoutSysmon];

/// Sends HTTP requests at a constant rate to one application on gmp, on tokio and on gmp without
/// sysmon, and prints the latencies, counted from the due moments, of those that don't hold their
/// thread: when none do, when 5 % block it for 100 ms, and when 5 % compute for 20 ms.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Requests per second (1 to 100000). By default the cost of a request is measured, and the
    /// rate keeps half of the cores busy when 5 % compute; it is the same for all sides and
    /// variants
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=100_000))]
    pub(crate) rate: Option<u64>,
    /// How long each server is measured (1 to 600, 5 by default), after a second that doesn't
    /// count; wins over --quick
    #[arg(long = "secs", value_name = "N", value_parser = seconds(1..=600))]
    secs: Option<Duration>,
    /// Servers started for each side and variant, in turns (1 to 100, 5 by default); wins over
    /// --quick
    #[arg(long, value_name = "N", value_parser = number::<usize>(1..=100))]
    reps: Option<usize>,
    /// 1 server for each, 2 s
    #[arg(long)]
    quick: bool,
    /// The sides to measure, separated by commas; all but go by default, gmp with --minutes
    #[arg(long, value_name = "SIDES", value_enum, value_delimiter = ',')]
    on: Vec<Side>,
    /// Instead of the table: 5 % block for N minutes (2 to 1440), with a line every minute. Exit
    /// code 1 if a request failed, or if latency, memory, threads or descriptors have grown from
    /// the first quarter to the last one
    #[arg(long, value_name = "N", value_parser = number::<u32>(2..=1440), conflicts_with_all = ["secs", "reps", "quick"])]
    pub(crate) minutes: Option<u32>,
    /// Send the requests that hold their thread over the same connections as the others: a
    /// connection's task then does both, and gmp can't know beforehand which kind comes next
    #[arg(long)]
    pub(crate) shared: bool,
    /// Open a new connection for every request: each is a task of its own, which gmp has never seen
    /// before
    #[arg(long)]
    pub(crate) fresh: bool,
    /// gmp's Ps and tokio's workers (1 to 1024)
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = number::<usize>(1..=1024))]
    pub(crate) procs: usize,
    /// Also write one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// For the program's own use: be the server until standard input ends
    #[arg(long, value_name = "SIDE", hide = true, value_enum)]
    pub(crate) serve: Option<Side>,
}

impl Options {
    pub(crate) fn duration(&self) -> Duration {
        self.secs.unwrap_or(Duration::from_secs(if self.quick { 2 } else { 5 }))
    }

    pub(crate) fn reps(&self) -> usize {
        self.reps.unwrap_or(if self.quick { 1 } else { 5 })
    }

    /// No side is measured twice in a turn.
    pub(crate) fn sides(&self) -> Vec<Side> {
        match (&self.on[..], self.minutes) {
            ([], None) => SIDES.to_vec(),
            ([], Some(_)) => vec![Side::Gmp],
            (on, _) => Side::value_variants().iter().copied().filter(|side| on.contains(side)).collect(),
        }
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    if let Some(side) = options.serve {
        return server::serve(side, options.procs);
    }
    let rate = options.rate.map_or_else(|| measure::half_busy_rate(options.procs), Ok)?;
    match options.minutes {
        Some(minutes) => minutes::run(&options, rate, minutes),
        None => compare::run(&options, rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_is_gmps_unless_told() {
        let sides = |arguments: &[&str]| Options::parse_from(["http_mix"].iter().chain(arguments)).sides();
        assert_eq!(sides(&["--minutes", "60"]), [Side::Gmp]);
        assert_eq!(sides(&["--on", "tokio,gmp,tokio", "--minutes", "60"]), [Side::Gmp, Side::Tokio]);
        assert_eq!(sides(&[]), SIDES);
    }
}
