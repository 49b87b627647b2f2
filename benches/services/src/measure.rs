//! Starts the servers of all builds in turns, and measures each.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::load;
use crate::server::Used;
use crate::services::Service;
use crate::trouble::Trouble;

/// The names of the sides, in the order of all lists. Go is not always there.
const SIDES: [&str; 3] = ["tokio", "gmp", "Go"];

pub(crate) struct Plan {
    /// The programs of two or three sides.
    pub(crate) builds: Vec<PathBuf>,
    pub(crate) time: Duration,
    pub(crate) rounds: u64,
}

/// A service in a trouble, on all sides.
pub(crate) struct Row {
    pub(crate) service: Service,
    pub(crate) trouble: Trouble,
    /// For each side, each round. Go's list is empty if Go has no such service.
    pub(crate) rounds: [Vec<Figures>; 3],
}

/// One server's figures. Latencies are in microseconds.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) requests_per_second: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
    /// CPU time of the server, in microseconds, over the requests that counted. The warm-up is in the
    /// CPU time, on both sides alike.
    pub(crate) cpu_per_request: f64,
    pub(crate) switches_per_request: f64,
}

pub(crate) fn all(plan: &Plan, services: &[Service], troubles: &[Trouble]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &service in services {
        for &trouble in troubles {
            eprintln!("{} {}", service.name(), trouble.name());
            rows.push(row(plan, service, trouble)?);
        }
    }
    Ok(rows)
}

/// Each round begins with another side.
fn row(plan: &Plan, service: Service, trouble: Trouble) -> Result<Row> {
    let mut row = Row { service, trouble, rounds: Default::default() };
    let sides = if service.has_twin_in_go() { plan.builds.len() } else { 2 };
    for round in 0..plan.rounds as usize {
        for turn in 0..sides {
            let side = (round + turn) % sides;
            let figures = figures(&plan.builds[side], service, trouble, plan.time)
                .with_context(|| format!("{} {} on {}", service.name(), trouble.name(), SIDES[side]))?;
            row.rounds[side].push(figures);
        }
    }
    Ok(row)
}

fn figures(build: &Path, service: Service, trouble: Trouble, time: Duration) -> Result<Figures> {
    let mut server = Server::start(build, service)?;
    let seen = load::send(service, trouble, server.address.parse()?, time)?;
    let used = server.end()?;
    let requests = seen.latencies.len().max(1) as f64;
    let quantile = |quantile| seen.latencies.value_at_quantile(quantile) as f64;
    Ok(Figures {
        requests_per_second: seen.latencies.len() as f64 / seen.time.as_secs_f64(),
        p50: quantile(0.5),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: seen.latencies.max() as f64,
        cpu_per_request: used.cpu_us as f64 / requests,
        switches_per_request: used.switches as f64 / requests,
    })
}

struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(build: &Path, service: Service) -> Result<Server> {
        let mut process = Command::new(build)
            .args(["serve", &service.name()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} can't be started", build.display()))?;
        let mut address = String::new();
        let output = process.stdout.as_mut().context("standard output is piped")?;
        BufReader::with_capacity(1, output).read_line(&mut address)?;
        Ok(Server { process, address: address.trim().to_owned() })
    }

    fn end(&mut self) -> Result<Used> {
        drop(self.process.stdin.take());
        let mut line = String::new();
        self.process.stdout.as_mut().context("standard output is piped")?.read_to_string(&mut line)?;
        self.process.wait()?;
        Used::parse(&line).with_context(|| format!("the server's last line is {line:?}"))
    }
}

/// A server is not left behind if a measurement fails.
impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
