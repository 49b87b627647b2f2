//! One server under one load.

use std::time::{Duration, Instant};
use std::{io, thread};

use gmp_benches::child::Server;
use gmp_benches::http::{Holding, Load, Running, Seen, Tally};
use gmp_benches::process::{self, Switches};
use gmp_benches::side::Side;

use crate::variant::Variant;

/// Connections of the requests that don't hold their thread. Enough for a server that stands still
/// for 100 ms at a rate of 1000 per second; if it stands still for longer, requests wait in the
/// generator instead of the server, and no latency changes.
const CONNECTIONS: usize = 128;

/// Connections of the requests that hold their thread.
const HOLDING_CONNECTIONS: usize = 64;

/// The most descriptors that the server or this process needs: an end of every connection, and a
/// few more.
pub(crate) const DESCRIPTORS: u64 = (CONNECTIONS + HOLDING_CONNECTIONS + 64) as u64;

/// How often the server's threads are counted.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn start(side: Side, procs: usize) -> io::Result<Server> {
    Server::start(&["--serve", side.key(), "--procs", &procs.to_string()])
}

/// The load for a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rate: u64,
    /// Whether both kinds of requests go over the same connections.
    pub(crate) shared: bool,
    /// Whether every request has a new connection.
    pub(crate) fresh: bool,
    pub(crate) warm_up: Duration,
    pub(crate) duration: Duration,
}

impl Plan {
    pub(crate) fn load(&self, server: &Server, variant: &Variant) -> Load {
        let Plan { rate, shared, fresh, warm_up, duration } = *self;
        let (connections, own) =
            if shared { (CONNECTIONS + HOLDING_CONNECTIONS, 0) } else { (CONNECTIONS, HOLDING_CONNECTIONS) };
        let holding = |path: &str| Holding { path: path.to_owned(), percent: variant.percent(), connections: own };
        Load {
            addr: server.address,
            rate,
            warm_up,
            duration,
            fresh,
            path: "/".to_owned(),
            connections: if variant.path.is_some() { connections } else { CONNECTIONS },
            holding: variant.path.map(holding),
        }
    }
}

/// The results of one server, or of several.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// The requests that don't hold their thread.
    pub(crate) others: Seen,
    /// The requests that do.
    pub(crate) holding: Tally,
    pub(crate) duration: Duration,
    /// The cost while requests were due; `None` if it can't be seen.
    pub(crate) cost: Option<Cost>,
}

/// The cost of a server, and of this process at the same time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// The highest number of threads seen at once.
    pub(crate) threads: u64,
    pub(crate) cpu: Duration,
    /// This process's CPU time.
    generator: Duration,
    pub(crate) context_switches: u64,
}

impl Measured {
    pub(crate) fn add(&mut self, other: &Measured) {
        self.others.add(&other.others);
        self.holding.add(&other.holding);
        self.duration += other.duration;
        if let Some(cost) = other.cost {
            let sum = self.cost.get_or_insert_default();
            sum.threads = sum.threads.max(cost.threads);
            sum.cpu += cost.cpu;
            sum.generator += cost.generator;
            sum.context_switches += cost.context_switches;
        }
    }

    /// The share of `cores` that the server and the load used; 1 is all of them, all the time.
    pub(crate) fn busy(&self, cores: usize) -> Option<f64> {
        let cost = self.cost?;
        let cpu = cost.cpu + cost.generator;
        Some(cpu.as_secs_f64() / self.duration.as_secs_f64() / cores as f64)
    }
}

/// Sends `load` to `server`, and measures the server at the same time.
pub(crate) fn run(server: &Server, load: &Load) -> io::Result<Measured> {
    let running = Running::start(load)?;
    sleep_until(running.measured_from());
    let before = used(server);
    let threads = most_threads(server, running.until());
    let after = used(server);
    let [others, holding] = running.finish();
    let cost = before.zip(after).zip(threads).map(|((before, after), threads)| Cost {
        threads,
        cpu: after.0 - before.0,
        generator: after.1 - before.1,
        context_switches: after.2.since(&before.2),
    });
    Ok(Measured { others, holding: holding.answers, duration: load.duration, cost })
}

/// The CPU time that the server and this process have used so far, and the server's switches.
fn used(server: &Server) -> Option<(Duration, Duration, Switches)> {
    let pid = Some(server.pid());
    Some((process::cost(pid)?.cpu, process::cost(None)?.cpu, Switches::of(pid).ok()?))
}

/// Counts the server's threads until a moment; returns the highest count.
pub(crate) fn most_threads(server: &Server, until: Instant) -> Option<u64> {
    most(until, || process::cost(Some(server.pid())).map(|cost| cost.threads))
}

/// Counts at least once: a machine that stood still may wake up when the moment has passed.
fn most(until: Instant, look: impl Fn() -> Option<u64>) -> Option<u64> {
    let mut most = look();
    while Instant::now() < until {
        sleep_until(until.min(Instant::now() + LOOK));
        most = most.max(look());
    }
    most
}

fn sleep_until(moment: Instant) {
    thread::sleep(moment.saturating_duration_since(Instant::now()));
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_most_is_kept_when_there_are_fewer_again_and_is_found_even_when_the_moment_has_passed() {
        assert_eq!(most(Instant::now(), || Some(3)), Some(3));
        let looks = Cell::new([4, 9, 4].iter());
        let look = || {
            let mut rest = looks.take();
            let next = rest.next().copied().unwrap_or(4);
            looks.set(rest);
            Some(next)
        };
        assert_eq!(most(Instant::now() + 4 * LOOK, look), Some(9));
    }
}
