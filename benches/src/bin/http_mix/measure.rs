//! One server under one load.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use gmp_benches::process::{self, Switches};

use crate::load::{Running, Seen};
use crate::plan::Plan;
use crate::server::Server;

/// How often the server's threads are counted.
const LOOK: Duration = Duration::from_millis(50);

/// The results of one server, or of several.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// The requests that don't hold their thread.
    pub(crate) others: Seen,
    /// The requests that do.
    pub(crate) holding: Seen,
    duration: Duration,
    /// The highest number of the server's threads seen at once.
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

/// Sends a load to `server`, and measures the server at the same time.
pub(crate) fn run(server: &Server, plan: &Plan) -> Result<Measured> {
    let pid = Some(server.pid());
    let used = || anyhow::Ok((process::cost(pid)?.cpu, process::cost(None)?.cpu, Switches::of(pid)?));
    let running = Running::start(server.address, plan)?;
    sleep_until(running.measured_from());
    let before = used()?;
    let threads = most_threads(server, running.until())?;
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
