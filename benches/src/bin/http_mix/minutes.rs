//! The long run: one server, minute after minute.

use std::mem;
use std::time::Duration;

use anyhow::{Result, ensure};
use gmp_benches::measure::Samples;
use gmp_benches::process;
use gmp_benches::report::{Column, JsonLines, Sending, Side, decimals, headings, line};
use serde::Serialize;

use crate::Options;
use crate::compare::plan;
use crate::load::{Running, Seen};
use crate::measure::most_threads;
use crate::plan::Variant;
use crate::server::Server;

const MINUTE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default, Serialize)]
struct Minute {
    workload: String,
    side: Side,
    minute: u32,
    rate: u64,
    requests: u64,
    /// How many of all requests failed.
    failed: u64,
    /// This and the other latencies are in milliseconds.
    p50: f64,
    p99: f64,
    max: f64,
    #[serde(flatten)]
    sending: Sending,
    cpu_s: f64,
    rss: u64,
    threads: u64,
    descriptors: usize,
}

const COLUMNS: [Column<Minute>; 15] = [
    ("minute", 7, |minute| minute.minute.to_string()),
    ("requests", 10, |minute| minute.requests.to_string()),
    ("failed", 8, |minute| minute.failed.to_string()),
    ("p50", 9, |minute| decimals(minute.p50)),
    ("p99", 9, |minute| decimals(minute.p99)),
    ("max", 9, |minute| decimals(minute.max)),
    ("sent p99", 10, |minute| decimals(minute.sending.sent_p99)),
    ("served", 9, |minute| decimals(minute.sending.served_p99)),
    ("late p99", 10, |minute| decimals(minute.sending.sent_late_p99)),
    ("late max", 9, |minute| decimals(minute.sending.sent_late_max)),
    ("no conn", 9, |minute| minute.sending.no_connection.to_string()),
    ("CPU s", 8, |minute| decimals(minute.cpu_s)),
    ("RSS MiB", 10, |minute| format!("{:.1}", mib(minute.rss))),
    ("threads", 9, |minute| minute.threads.to_string()),
    ("descriptors", 13, |minute| minute.descriptors.to_string()),
];

/// Runs each side for this many minutes, one after the other.
pub(crate) fn run(options: &Options, rate: u64, minutes: u32) -> Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let mut faults = Vec::new();
    println!("{rate} requests a second, 5 % of them block their thread for 100 ms; latencies in ms of the others");
    for side in options.sides() {
        let found = watch(side, options, rate, minutes, &mut json)?;
        if found.is_empty() {
            println!("{}: no request failed, nothing has drifted", side.key());
        }
        faults.extend(found.into_iter().map(|found| format!("{}: {found}", side.key())));
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

fn watch(side: Side, options: &Options, rate: u64, minutes: u32, json: &mut JsonLines) -> Result<Vec<String>> {
    let server = Server::start(side, options.procs)?;
    let running = Running::start(server.address, &plan(options, rate, Variant::BLOCK, MINUTE * minutes))?;
    println!("\n{:<14}{}", side.key(), headings(&COLUMNS));
    let pid = Some(server.pid());
    let (mut seen, mut cpu) = (Vec::new(), process::cost(pid)?.cpu);
    for number in 1..=minutes {
        let threads = most_threads(&server, running.clients.measured_from + MINUTE * number)?;
        let (before, taken) = (mem::replace(&mut cpu, process::cost(pid)?.cpu), running.take());
        let others = &taken[0];
        let minute = Minute {
            workload: "http_mix_minutes".to_owned(),
            side,
            minute: number,
            rate,
            requests: others.answers.count(),
            failed: taken.iter().map(Seen::failed).sum(),
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
    let last = running.finish();
    let failed = last.iter().map(Seen::failed).chain(seen.iter().map(|minute| minute.failed)).sum::<u64>();
    let failed = (failed > 0).then(|| format!("{failed} requests failed"));
    Ok(failed.into_iter().chain(drift(&seen)).collect())
}

/// A value that may not grow: the tolerance is a factor of the first quarter, and an amount on top.
struct Rule {
    what: &'static str,
    value: fn(&Minute) -> f64,
    of: fn(&Samples) -> f64,
    times: f64,
    plus: f64,
}

const RULES: [Rule; 5] = [
    Rule { what: "p50 in ms", value: |minute| minute.p50, of: Samples::median, times: 1.25, plus: 0.05 },
    Rule { what: "p99 in ms", value: |minute| minute.p99, of: Samples::median, times: 1.5, plus: 0.5 },
    // In the 45 minutes between the quarters of an hour, at 900 requests per second, that is less
    // than two bytes per request.
    Rule { what: "RSS in MiB", value: |minute| mib(minute.rss), of: Samples::median, times: 1.0, plus: 4.0 },
    // Two more handlers may once happen to block at the same time.
    Rule { what: "threads", value: |minute| minute.threads as f64, of: Samples::max, times: 1.0, plus: 2.0 },
    Rule { what: "descriptors", value: |minute| minute.descriptors as f64, of: Samples::max, times: 1.0, plus: 0.0 },
];

/// Describes in words whether the server still performs after an hour as it did at first.
///
/// A single minute proves nothing: a neighbour on the machine costs more than a drift. So quarters
/// are compared: by their medians for values that may be noisy in a minute, by their maximum for
/// the others.
fn drift(minutes: &[Minute]) -> Vec<String> {
    let quarter = minutes.len().div_ceil(4);
    let (first, last) = (&minutes[..quarter], &minutes[minutes.len() - quarter..]);
    RULES.iter().filter_map(|rule| rule.broken(first, last)).collect()
}

impl Rule {
    fn broken(&self, first: &[Minute], last: &[Minute]) -> Option<String> {
        let samples = |quarter: &[Minute]| Samples::new(quarter.iter().map(self.value).collect());
        let [before, after] = [first, last].map(|quarter| (self.of)(&samples(quarter)));
        let allowed = before * self.times + self.plus;
        (after > allowed).then(|| {
            let what = self.what;
            format!("{what}: {before:.2} in the first quarter, {after:.2} in the last one, {allowed:.2} are allowed")
        })
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Minute {
        let (rss, threads, descriptors) = (10 << 20, 9, 200);
        Minute { requests: 51_300, p50: 0.1, p99: 0.4, rss, threads, descriptors, ..Minute::default() }
    }

    fn hour(change: impl Fn(u32, &mut Minute)) -> Vec<Minute> {
        let minute = |number| {
            let mut minute = usual();
            change(number, &mut minute);
            minute
        };
        (0..60).map(minute).collect()
    }

    #[test]
    fn what_grows_over_an_hour_is_a_drift_be_it_a_descriptor_and_a_slow_minute_is_none() {
        let said = |change: fn(u32, &mut Minute)| drift(&hour(change)).join("; ");
        assert_eq!(said(|number, minute| minute.p99 += f64::from(number % 10 / 9) * 50.0), "");
        let latency = said(|number, minute| minute.p99 += f64::from(number) * 0.05);
        assert_eq!(latency, "p99 in ms: 0.75 in the first quarter, 3.00 in the last one, 1.62 are allowed");
        let two_bytes_a_request = said(|number, minute| minute.rss += u64::from(number) * minute.requests * 2);
        assert!(two_bytes_a_request.starts_with("RSS in MiB: 10.68"), "{two_bytes_a_request}");
        assert_eq!(two_bytes_a_request.matches("; ").count(), 0, "{two_bytes_a_request}");
        let descriptor_and_threads = said(|number, minute| {
            minute.descriptors += usize::from(number > 50);
            minute.threads += 3 * u64::from(number > 50);
        });
        assert_eq!(descriptor_and_threads.matches("; ").count(), 1, "{descriptor_and_threads}");
    }
}
