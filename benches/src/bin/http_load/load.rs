//! The load: requests that are on time, and clients that keep a path busy.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{io, thread};

use gmp_benches::http::{Connection, Kind, Load, Pool, Reuse, Running, Seen, Share, Tally};

use crate::args::Options;

/// What a run gave.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The due requests of the measured path.
    pub(crate) measured: Seen,
    /// The requests of the busy path.
    pub(crate) busy: Tally,
    /// From the first due moment to the last answer.
    pub(crate) elapsed: Duration,
}

impl Outcome {
    pub(crate) fn errors(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        for (what, count) in self.measured.answers.errors().chain(self.busy.errors()) {
            *all.entry(what).or_default() += count;
        }
        all
    }
}

/// Runs the load that `options` describe.
pub(crate) fn run(options: &Options) -> io::Result<Outcome> {
    let mut total = Outcome::default();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let busy: Vec<_> = (0..options.busy_clients).map(|_| scope.spawn(|| keep_busy(options, &stop))).collect();
        let on_time = be_on_time(options, &mut total);
        stop.store(true, Relaxed);
        for client in busy {
            total.busy.add(&client.join().expect("a busy client's thread doesn't panic")?);
        }
        on_time
    })?;
    Ok(total)
}

/// Sends requests at their due moments.
fn be_on_time(options: &Options, total: &mut Outcome) -> io::Result<()> {
    let running = Running::start(&load(options))?;
    let start = running.measured_from();
    let mut seen = running.finish().into_iter();
    total.measured = seen.next().expect("something is measured");
    if let Some(busy) = seen.next() {
        total.busy.add(&busy.answers);
    }
    total.elapsed = start.elapsed();
    Ok(())
}

fn load(options: &Options) -> Load {
    let measured = Kind { path: options.path.clone(), share: Share::AllBut(options.busy_percent) };
    let busy = options.busy_path.clone().filter(|_| options.busy_percent > 0);
    let busy = busy.map(|path| Kind { path, share: Share::Percent(options.busy_percent) });
    Load {
        addr: options.addr,
        rate: options.rate,
        warm_up: Duration::ZERO,
        duration: Duration::from_secs(options.secs),
        reuse: Reuse::KeptAlive,
        pools: vec![Pool { connections: options.connections, kinds: [measured].into_iter().chain(busy).collect() }],
    }
}

/// Requests the busy path again and again.
fn keep_busy(options: &Options, stop: &AtomicBool) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let Some(path) = &options.busy_path else {
        return Ok(tally);
    };
    let mut connection = Connection::open(options.addr, Reuse::KeptAlive)?;
    while !stop.load(Relaxed) {
        let start = Instant::now();
        let result = connection.get(path);
        tally.record(start.elapsed(), result);
    }
    Ok(tally)
}
