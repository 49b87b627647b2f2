//! Finds the rate that keeps the machine about half busy.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use gmp_benches::side::Side;

use crate::measure;
use crate::plan::{Plan, Variant};
use crate::server::Server;

/// The load under which the cost of a request is measured.
const PROBE: Plan = Plan {
    rate: 1000,
    shared: false,
    fresh: false,
    warm_up: Duration::from_millis(500),
    duration: Duration::from_secs(2),
    variant: Variant::PLAIN,
};

/// Measures the cost of a request on gmp, server and generator together, and returns the rate at
/// which requests and the most expensive variant of holding handlers need half of the cores that
/// the server may use.
pub(crate) fn rate(procs: usize) -> Result<u64> {
    let measured = measure::run(&Server::start(Side::Gmp, procs)?, &PROBE)?;
    let (cost, cores) = (measured.busy(1) / PROBE.rate as f64, cores(procs));
    let rate = half_busy(cores, cost);
    println!(
        "calibration: a request costs {:.0} us of CPU time; {rate} a second keep {cores} cores half busy",
        cost * 1e6
    );
    Ok(rate)
}

/// The number of cores that `procs` Ps can use.
pub(crate) fn cores(procs: usize) -> usize {
    thread::available_parallelism().map_or(procs, |cores| procs.min(cores.get()))
}

/// `cost` is in CPU seconds per request.
fn half_busy(cores: usize, cost: f64) -> u64 {
    let holding = Variant::ALL.iter().map(Variant::cpu_per_request).fold(0.0, f64::max);
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
