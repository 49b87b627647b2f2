//! Small services as people write them, on tokio, on gmp and in Go, healthy and in trouble.
//!
//! `measure` starts the servers of two builds of this program, and of a twin in Go, in turns, sends each
//! the same requests, and prints a table. `serve` is one such server. `run.sh` builds both and measures.

mod clients;
mod load;
mod measure;
mod pools;
mod reclaimed;
mod report;
mod server;
mod services;
mod trouble;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

use crate::measure::Plan;
use crate::services::Service;
use crate::trouble::Trouble;

/// Small services, measured on tokio and on gmp
#[derive(Parser)]
enum Arguments {
    /// Serves until standard input ends, then prints what the process has used
    Serve { service: Service },
    /// Measures how long tasks wait for a connection of a pool, on the runtime of this build
    Pools,
    /// Measures the servers of two builds of this program and of a twin in Go, and prints a table
    Measure {
        /// This program, built with cargo
        tokio: PathBuf,
        /// This program, built with `cargo gmp`
        gmp: PathBuf,
        /// The same services in Go (the folder `go`)
        #[arg(long)]
        go: Option<PathBuf>,
        /// Only these services; all by default
        #[arg(long = "only", value_enum)]
        services: Vec<Service>,
        /// Only these troubles; all by default
        #[arg(long = "trouble", value_enum)]
        troubles: Vec<Trouble>,
        /// Seconds for which each server gets requests, after half a second that doesn't count
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=600))]
        secs: u64,
        /// Servers started for each row and side, in turns
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100))]
        rounds: u64,
    },
}

fn main() -> Result<()> {
    match Arguments::parse() {
        Arguments::Serve { service } => server::run(service),
        Arguments::Pools => pools::run(),
        Arguments::Measure { tokio, gmp, go, services, troubles, secs, rounds } => {
            let builds = [tokio, gmp].into_iter().chain(go).collect();
            let plan = Plan { builds, time: Duration::from_secs(secs), rounds };
            report::print(&measure::all(&plan, &or_all(services), &or_all(troubles))?);
            Ok(())
        }
    }
}

fn or_all<T: clap::ValueEnum + Clone>(chosen: Vec<T>) -> Vec<T> {
    if chosen.is_empty() { T::value_variants().to_vec() } else { chosen }
}
