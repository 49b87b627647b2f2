//! One server under one load, and the load that keeps the machine about half busy.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use gmp_benches::process::{self, Switches};
use gmp_benches::report::Side;

use crate::load::{Running, Seen};
use crate::plan::{Plan, Variant};
use crate::server::Server;

const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) others: Seen,
    pub(crate) holding: Seen,
    duration: Duration,
    pub(crate) threads: u64,
    /// The server's CPU time while requests were due.
    pub(crate) cpu: Duration,
    /// This process's CPU time in the same time.
    generator: Duration,
    pub(crate) context_switches: u64,
}

impl Measured {
    pub(crate) fn add(&mut self, other: &Measured) {
        self.others.add(&other.others);
        self.holding.add(&other.holding);
        self.duration += other.duration;
        self.threads = self.threads.max(other.threads);
        self.cpu += other.cpu;
        self.generator += other.generator;
        self.context_switches += other.context_switches;
    }

    /// The share of `cores` that the server and the load used; 1 is all of them, all the time.
    pub(crate) fn busy(&self, cores: usize) -> f64 {
        (self.cpu + self.generator).div_duration_f64(self.duration) / cores as f64
    }
}

pub(crate) fn run(server: &Server, plan: &Plan) -> Result<Measured> {
    let pid = Some(server.pid());
    let used = || anyhow::Ok((process::cost(pid)?.cpu, process::cost(None)?.cpu, Switches::of(pid)?));
    let running = Running::start(server.address, plan)?;
    sleep_until(running.clients.measured_from);
    let before = used()?;
    let threads = most_threads(server, running.clients.until)?;
    let after = used()?;
    let [others, holding] = running.finish();
    Ok(Measured {
        others,
        holding,
        duration: plan.duration,
        threads,
        cpu: after.0 - before.0,
        generator: after.1 - before.1,
        context_switches: after.2.since(&before.2),
    })
}

/// Counts the server's threads until a moment, at least once: a machine that stood still may wake
/// up when the moment has passed. Returns the highest count.
pub(crate) fn most_threads(server: &Server, until: Instant) -> Result<u64> {
    let mut most = 0;
    loop {
        most = process::cost(Some(server.pid()))?.threads.max(most);
        if Instant::now() >= until {
            return Ok(most);
        }
        sleep_until(until.min(Instant::now() + LOOK));
    }
}

fn sleep_until(moment: Instant) {
    thread::sleep(moment.saturating_duration_since(Instant::now()));
}

const PROBE: Plan = Plan {
    rate: 1000,
    shared: false,
    fresh: false,
    warm_up: Duration::from_millis(500),
    duration: Duration::from_secs(2),
    variant: Variant::PLAIN,
};

/// Measures what a request costs on gmp, server and generator together. Returns the rate at which
/// requests and the most expensive variant of holding handlers need half of the server's cores.
pub(crate) fn half_busy_rate(procs: usize) -> Result<u64> {
    let measured = run(&Server::start(Side::Gmp, procs)?, &PROBE)?;
    let (cost, cores) = (measured.busy(1) / PROBE.rate as f64, cores(procs));
    let rate = half_busy(cores, cost);
    println!(
        "calibration: a request costs {:.0} us of CPU time; {rate} a second keep {cores} cores half busy",
        cost * 1e6
    );
    Ok(rate)
}

pub(crate) fn cores(procs: usize) -> usize {
    thread::available_parallelism().map_or(procs, |cores| procs.min(cores.get()))
}

/// `cost` is in CPU seconds per request.
fn half_busy(cores: usize, cost: f64) -> u64 {
    let cpu = |it: &Variant| it.computes.as_secs_f64() * it.percent as f64 / 100.0;
    let holding = Variant::ALL.iter().map(cpu).fold(0.0, f64::max);
    let rate = 0.5 * cores as f64 / (cost + holding);
    // Two seconds of measurement give no more digits.
    (rate / 10.0).round().max(1.0) as u64 * 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_two_cores_is_a_millisecond_of_computing_for_each_of_a_thousand_requests() {
        assert_eq!(half_busy(2, 0.0), 1000);
        assert_eq!(half_busy(2, 0.001), 500);
        assert_eq!(half_busy(4, 0.000_1), 1820);
    }
}
