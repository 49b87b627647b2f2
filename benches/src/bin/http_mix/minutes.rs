//! The long run: one server, minute after minute.

use std::io;
use std::time::Duration;

use gmp_benches::child::Server;
use gmp_benches::http::{Running, Seen};
use gmp_benches::process;
use gmp_benches::report::{JsonLines, Minute};
use gmp_benches::side::Side;

use crate::args::Options;
use crate::compare::WARM_UP;
use crate::drift;
use crate::measure::{self, Plan};
use crate::table::{Column, cells};
use crate::variant::Variant;

const MINUTE: Duration = Duration::from_secs(60);

/// Runs each side for this many minutes, one after the other. Returns the faults.
pub(crate) fn run(options: &Options, rate: u64, minutes: u32) -> io::Result<Vec<String>> {
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

fn watch(side: Side, options: &Options, rate: u64, minutes: u32, json: &mut JsonLines) -> io::Result<Vec<String>> {
    let server = measure::start(side, options.procs)?;
    let (shared, reuse, duration) = (options.shared, options.reuse(), MINUTE * minutes);
    let plan = Plan { rate, shared, reuse, warm_up: WARM_UP, duration };
    let running = Running::start(&plan.load(&server, &Variant::BLOCK))?;
    println!();
    println!("{:<14}{}", side.key(), cells(&COLUMNS, |(heading, ..)| (*heading).to_owned()));
    let (mut seen, mut used) = (Vec::new(), cpu(&server)?);
    for number in 1..=minutes {
        let threads = measure::most_threads(&server, running.measured_from() + MINUTE * number);
        let look = Look::at(&server, threads, used)?;
        used += look.cpu;
        let minute = minute(side, rate, number, &running.take(), &look);
        println!("{:<14}{}", "", cells(&COLUMNS, |(_, _, value)| value(&minute)));
        json.line(&minute)?;
        seen.push(minute);
    }
    // Requests that were still being answered when the last minute ended.
    let rest: u64 = running.finish().iter().map(|seen| seen.answers.failed()).sum();
    let failed = rest + seen.iter().map(|minute| minute.failed).sum::<u64>();
    let failed = (failed > 0).then(|| format!("{failed} requests failed"));
    Ok(failed.into_iter().chain(drift::drift(&seen)).collect())
}

/// The server's resources at the end of a minute.
struct Look {
    /// The resources that the server used in that minute.
    cpu: Duration,
    rss: u64,
    threads: u64,
    descriptors: usize,
}

impl Look {
    fn at(server: &Server, threads: Option<u64>, cpu_before: Duration) -> io::Result<Self> {
        Ok(Look {
            cpu: cpu(server)? - cpu_before,
            rss: process::resident(Some(server.pid()))?,
            threads: threads.ok_or_else(|| io::Error::other("the server's threads can't be counted"))?,
            descriptors: process::descriptors(Some(server.pid()))?,
        })
    }
}

fn cpu(server: &Server) -> io::Result<Duration> {
    let cost = process::cost(Some(server.pid()));
    cost.map(|cost| cost.cpu).ok_or_else(|| io::Error::other("the server's CPU time can't be read"))
}

fn minute(side: Side, rate: u64, number: u32, seen: &[Seen], look: &Look) -> Minute {
    let others = &seen[0].answers;
    Minute {
        workload: "http_mix_minutes".to_owned(),
        side,
        minute: number,
        rate,
        requests: others.requests(),
        failed: seen.iter().map(|seen| seen.answers.failed()).sum(),
        p50: others.millis_at(50.0),
        p99: others.millis_at(99.0),
        max: others.millis_at(100.0),
        served_p99: seen[0].served.millis_at(99.0),
        sent_late_p99: seen[0].lateness.millis_at(99.0),
        sent_late_max: seen[0].lateness.millis_at(100.0),
        no_connection: seen[0].no_connection,
        cpu_s: look.cpu.as_secs_f64(),
        rss: look.rss,
        threads: look.threads,
        descriptors: look.descriptors,
    }
}

const COLUMNS: [Column<Minute>; 14] = [
    ("minute", 7, |minute| minute.minute.to_string()),
    ("requests", 10, |minute| minute.requests.to_string()),
    ("failed", 8, |minute| minute.failed.to_string()),
    ("p50", 9, |minute| format!("{:.2}", minute.p50)),
    ("p99", 9, |minute| format!("{:.2}", minute.p99)),
    ("max", 9, |minute| format!("{:.2}", minute.max)),
    ("sent p99", 10, |minute| format!("{:.2}", minute.served_p99)),
    ("late p99", 10, |minute| format!("{:.2}", minute.sent_late_p99)),
    ("late max", 9, |minute| format!("{:.2}", minute.sent_late_max)),
    ("no conn", 9, |minute| minute.no_connection.to_string()),
    ("CPU s", 8, |minute| format!("{:.2}", minute.cpu_s)),
    ("RSS MiB", 10, |minute| format!("{:.1}", drift::mib(minute.rss))),
    ("threads", 9, |minute| minute.threads.to_string()),
    ("descriptors", 13, |minute| minute.descriptors.to_string()),
];
