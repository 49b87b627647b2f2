//! The threads: some that are on time, some that keep a path busy.

use std::{
    collections::BTreeMap,
    num::NonZeroU64,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use crate::{args::Options, connection::Connection, due::DueMoments, tally::Tally};

/// Time for the threads to start before the first request is due.
const HEAD_START: Duration = Duration::from_millis(100);

/// What a run gave, or one of its threads.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The due requests of the measured path.
    pub(crate) measured: Tally,
    /// The requests of the busy path.
    pub(crate) busy: Tally,
    /// By how much the due requests were sent late: this machine's own part in their latency, as long as a connection
    /// was free for each.
    pub(crate) sending: Tally,
    /// From the first due moment to the last answer.
    pub(crate) elapsed: Duration,
}

impl Outcome {
    fn add(&mut self, other: &Outcome) {
        self.measured.add(&other.measured);
        self.busy.add(&other.busy);
        self.sending.add(&other.sending);
    }

    pub(crate) fn errors(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        for (what, count) in self.measured.errors.iter().chain(&self.busy.errors) {
            *all.entry(what.as_str()).or_default() += count;
        }
        all
    }
}

/// Runs the load that `options` describe.
pub(crate) fn run(options: &Options) -> Outcome {
    let start = Instant::now() + HEAD_START;
    let moments = DueMoments::new(start, options.rate, options.secs);
    let stop = AtomicBool::new(false);
    let mut total = Outcome::default();
    thread::scope(|scope| {
        let busy: Vec<_> = (0..options.busy_clients).map(|_| scope.spawn(|| keep_busy(options, &stop))).collect();
        let on_time: Vec<_> = (0..options.connections).map(|_| scope.spawn(|| be_on_time(options, &moments))).collect();
        for client in on_time {
            total.add(&client.join().expect("a client's thread doesn't panic"));
        }
        total.elapsed = start.elapsed();
        stop.store(true, Relaxed);
        for client in busy {
            total.busy.add(&client.join().expect("a busy client's thread doesn't panic"));
        }
    });
    total
}

/// Sends requests at their due moments.
fn be_on_time(options: &Options, moments: &DueMoments) -> Outcome {
    sleep_precisely();
    let mut connection = Connection::new(options.addr);
    let mut seen = Outcome::default();
    while let Some(due) = moments.wait() {
        seen.sending.record(due.at.elapsed(), Ok(()));
        let busy_path = options.busy_path.as_deref().filter(|_| is_share(due.number, options.busy_percent));
        let result = connection.get(busy_path.unwrap_or(&options.path));
        let tally = if busy_path.is_some() { &mut seen.busy } else { &mut seen.measured };
        tally.record(due.at.elapsed(), result);
    }
    seen
}

/// Requests the busy path again and again.
fn keep_busy(options: &Options, stop: &AtomicBool) -> Tally {
    let mut tally = Tally::default();
    let Some(path) = &options.busy_path else {
        return tally;
    };
    let mut connection = Connection::new(options.addr);
    while !stop.load(Relaxed) {
        let start = Instant::now();
        let result = connection.get(path);
        tally.record(start.elapsed(), result);
    }
    tally
}

/// Whether request `number` is one of `percent` in a hundred, evenly spread.
fn is_share(number: u64, percent: u64) -> bool {
    (number + 1) * percent / 100 > number * percent / 100
}

/// The kernel may let a sleeping thread sleep 50 µs longer, to wake several at once: not these. Where it can't be
/// told so, the latencies are a little too long, for every server alike.
fn sleep_precisely() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_exact_and_spread() {
        let shared: Vec<u64> = (0..100).filter(|&number| is_share(number, 5)).collect();
        assert_eq!(shared, [19, 39, 59, 79, 99]);
        assert!(!(0..100).any(|number| is_share(number, 0)));
        assert!((0..100).all(|number| is_share(number, 100)));
    }
}
