//! The long run: one server, minute after minute.

use std::mem;
use std::time::Duration;

use anyhow::Result;
use gmp_benches::process;
use gmp_benches::report::{Column, JsonLines, Sending, decimals, headings, line};
use gmp_benches::side::Side;
use serde::Serialize;

use crate::args::Options;
use crate::compare::plan;
use crate::drift;
use crate::load::{Running, Seen};
use crate::measure::most_threads;
use crate::plan::Variant;
use crate::server::Server;

const MINUTE: Duration = Duration::from_secs(60);

/// A minute as JSON.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Minute {
    pub(crate) workload: String,
    pub(crate) side: Side,
    /// From 1 on.
    pub(crate) minute: u32,
    pub(crate) rate: u64,
    /// The number of requests that don't hold their thread.
    pub(crate) requests: u64,
    /// How many of all requests failed.
    pub(crate) failed: u64,
    /// This and the other latencies are in milliseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    #[serde(flatten)]
    pub(crate) sending: Sending,
    /// The server's CPU time in this minute.
    pub(crate) cpu_s: f64,
    /// The server's memory in bytes.
    pub(crate) rss: u64,
    /// The highest number of the server's threads at once.
    pub(crate) threads: u64,
    /// The server's descriptors.
    pub(crate) descriptors: usize,
}

const COLUMNS: [Column<Minute>; 14] = [
    ("minute", 7, |minute| minute.minute.to_string()),
    ("requests", 10, |minute| minute.requests.to_string()),
    ("failed", 8, |minute| minute.failed.to_string()),
    ("p50", 9, |minute| decimals(minute.p50)),
    ("p99", 9, |minute| decimals(minute.p99)),
    ("max", 9, |minute| decimals(minute.max)),
    ("sent p99", 10, |minute| decimals(minute.sending.served_p99)),
    ("late p99", 10, |minute| decimals(minute.sending.sent_late_p99)),
    ("late max", 9, |minute| decimals(minute.sending.sent_late_max)),
    ("no conn", 9, |minute| minute.sending.no_connection.to_string()),
    ("CPU s", 8, |minute| decimals(minute.cpu_s)),
    ("RSS MiB", 10, |minute| format!("{:.1}", drift::mib(minute.rss))),
    ("threads", 9, |minute| minute.threads.to_string()),
    ("descriptors", 13, |minute| minute.descriptors.to_string()),
];

/// Runs each side for this many minutes, one after the other. Returns the faults.
pub(crate) fn run(options: &Options, rate: u64, minutes: u32) -> Result<Vec<String>> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let mut failures = Vec::new();
    println!("{rate} requests a second, 5 % of them block their thread for 100 ms; latencies in ms of the others");
    for side in options.sides() {
        let found = watch(side, options, rate, minutes, &mut json)?;
        if found.is_empty() {
            println!("{}: no request failed, nothing has drifted", side.key());
        }
        failures.extend(found.into_iter().map(|found| format!("{}: {found}", side.key())));
    }
    Ok(failures)
}

fn watch(side: Side, options: &Options, rate: u64, minutes: u32, json: &mut JsonLines) -> Result<Vec<String>> {
    let server = Server::start(side, options.procs)?;
    let running = Running::start(server.address, &plan(options, rate, Variant::BLOCK, MINUTE * minutes))?;
    println!("\n{:<14}{}", side.key(), headings(&COLUMNS));
    let pid = Some(server.pid());
    let (mut seen, mut cpu) = (Vec::new(), process::cost(pid)?.cpu);
    for number in 1..=minutes {
        let threads = most_threads(&server, running.measured_from() + MINUTE * number)?;
        let (before, taken) = (mem::replace(&mut cpu, process::cost(pid)?.cpu), running.take());
        let others = &taken[0];
        let minute = Minute {
            workload: "http_mix_minutes".to_owned(),
            side,
            minute: number,
            rate,
            requests: others.answers.count(),
            failed: failed(&taken),
            p50: others.answers.millis_at(50.0),
            p99: others.answers.millis_at(99.0),
            max: others.answers.millis_at(100.0),
            sending: others.sending(),
            cpu_s: (cpu - before).as_secs_f64(),
            rss: process::resident(pid)?,
            threads,
            descriptors: process::descriptors(server.pid())?,
        };
        println!("{:<14}{}", "", line(&COLUMNS, &minute));
        json.line(&minute)?;
        seen.push(minute);
    }
    // With the requests that were still being answered when the last minute ended.
    let failed = failed(&running.finish()) + seen.iter().map(|minute| minute.failed).sum::<u64>();
    let failed = (failed > 0).then(|| format!("{failed} requests failed"));
    Ok(failed.into_iter().chain(drift::drift(&seen)).collect())
}

fn failed(seen: &[Seen]) -> u64 {
    seen.iter().map(Seen::failed).sum()
}
