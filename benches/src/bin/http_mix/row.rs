//! A row of the table, and the same as JSON.

use gmp_benches::report::met;
use serde::Serialize;

use crate::{args::Options, calibrate, compare::Cell, side::Side};

/// The p99 of the other requests may be so many times what it is when no handler holds its thread.
const LIMIT: f64 = 3.0;

/// The points of a curve.
const PERCENTILES: [f64; 9] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 100.0];

/// Latencies are in milliseconds, and those of the requests that don't hold their thread.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    workload: &'static str,
    side: &'static str,
    variant: &'static str,
    percent: u64,
    rate: u64,
    procs: usize,
    reps: usize,
    secs: u64,
    shared: bool,
    requests: u64,
    failed: u64,
    holding_requests: u64,
    holding_failed: u64,
    unit: &'static str,
    p50: f64,
    p99: f64,
    p99_9: f64,
    max: f64,
    curve: Vec<(f64, f64)>,
    /// The p99 over the same side's without handlers that hold their thread.
    times_plain: f64,
    /// Something is promised for gmp only.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    met: Option<bool>,
    sent_late_p99: f64,
    sent_late_max: f64,
    no_connection: u64,
    threads: Option<u64>,
    /// Of a repetition.
    cpu_s: Option<f64>,
    context_switches: Option<u64>,
    /// The share of the cores that server and generator used.
    busy: Option<f64>,
}

impl Row {
    pub(crate) fn new(cell: &Cell, plain_p99: f64, options: &Options, rate: u64) -> Self {
        let Cell { side, variant, measured } = cell;
        let (answers, lateness) = (&measured.others.answers, &measured.others.lateness);
        let times_plain = answers.millis_at(99.0) / plain_p99;
        let limit = (*side == Side::Gmp && variant.path.is_some()).then_some(LIMIT);
        let cost = measured.cost;
        Row {
            workload: "http_mix",
            side: side.name(),
            variant: variant.name,
            percent: variant.percent(),
            rate,
            procs: options.procs,
            reps: options.reps,
            secs: options.duration.as_secs(),
            shared: options.shared,
            requests: answers.requests(),
            failed: answers.failed(),
            holding_requests: measured.holding.requests(),
            holding_failed: measured.holding.failed(),
            unit: "ms",
            p50: answers.millis_at(50.0),
            p99: answers.millis_at(99.0),
            p99_9: answers.millis_at(99.9),
            max: answers.millis_at(100.0),
            curve: PERCENTILES.map(|percent| (percent, answers.millis_at(percent))).to_vec(),
            times_plain: digits(times_plain, 2),
            limit,
            met: limit.map(|limit| times_plain <= limit),
            sent_late_p99: lateness.millis_at(99.0),
            sent_late_max: lateness.millis_at(100.0),
            no_connection: measured.others.no_connection,
            threads: cost.map(|cost| cost.threads),
            cpu_s: cost.map(|cost| digits(cost.cpu.as_secs_f64() / options.reps as f64, 3)),
            context_switches: cost.map(|cost| cost.context_switches / options.reps as u64),
            busy: measured.busy(calibrate::cores(options.procs)).map(|busy| digits(busy, 3)),
        }
    }

    pub(crate) fn print(&self) {
        println!(
            "{:<9}{:<14}{:>9}{:>7}{:>9.2}{:>9.2}{:>9.2}{:>9.2}{:>8.2}{:>8}  {:<7}{:>7}{:>8}{:>10}{:>6}{:>10.2}{:>9.2}{:>9}",
            self.variant,
            self.side,
            self.requests,
            self.failed + self.holding_failed,
            self.p50,
            self.p99,
            self.p99_9,
            self.max,
            self.times_plain,
            self.limit.map_or("-".to_owned(), |limit| format!("{limit:.2}")),
            self.limit.map_or("-", |limit| met(self.times_plain, limit, 0.0)),
            or_dash(self.threads),
            or_dash(self.cpu_s.map(|cpu| format!("{cpu:.2}"))),
            or_dash(self.context_switches),
            or_dash(self.busy.map(|busy| format!("{:.0}%", busy * 100.0))),
            self.sent_late_p99,
            self.sent_late_max,
            self.no_connection,
        );
    }
}

pub(crate) fn header(options: &Options, rate: u64) {
    println!(
        "\n{rate} requests a second, {} Ps and workers, {} servers for each row measured for {} s each, in turns",
        options.procs,
        options.reps,
        options.duration.as_secs()
    );
    if options.shared {
        println!("all over the same connections");
    }
    println!(
        "plain: all ask for `/`; block: 5 % block their thread for 100 ms; compute: 5 % compute for 20 ms\n\
         latencies in ms from the due moment, of the requests for `/`; x plain: p99 over the side's own when none hold \
         their thread\nCPU and switches: the server's, for one of the servers; busy: of the cores, generator included; \
         late: sent late by the generator\nitself (p99 and max in ms); no conn: sent late because each connection was \
         waiting for an answer\n"
    );
    println!(
        "{:<9}{:<14}{:>9}{:>7}{:>9}{:>9}{:>9}{:>9}{:>8}{:>8}  {:<7}{:>7}{:>8}{:>10}{:>6}{:>10}{:>9}{:>9}",
        "variant",
        "on",
        "requests",
        "failed",
        "p50",
        "p99",
        "p99.9",
        "max",
        "x plain",
        "limit",
        "met",
        "threads",
        "CPU s",
        "switches",
        "busy",
        "late p99",
        "late max",
        "no conn",
    );
}

/// Why requests failed.
pub(crate) fn errors(cells: &[Cell]) {
    for Cell { side, variant, measured } in cells {
        for (what, count) in measured.others.answers.errors().chain(measured.holding.errors()) {
            println!("{} on {}: {count} times: {what}", variant.name, side.name());
        }
    }
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

/// `value` with so many digits after the point.
fn digits(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}
