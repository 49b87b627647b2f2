//! A row of the table.

use gmp_benches::report::{Mix, PERCENTILES, met, or_dash, rounded};

use crate::{args::Options, calibrate, compare::Cell, side::Side};

/// The p99 of the other requests may be so many times what it is when no handler holds its thread.
const LIMIT: f64 = 3.0;

/// The row of `cell`.
pub(crate) fn new(cell: &Cell, plain_p99: f64, options: &Options, rate: u64) -> Mix {
    let Cell { side, variant, measured } = cell;
    let (answers, lateness) = (&measured.others.answers, &measured.others.lateness);
    let times_plain = answers.millis_at(99.0) / plain_p99;
    let limit = (*side == Side::Gmp && variant.path.is_some()).then_some(LIMIT);
    let cost = measured.cost;
    Mix {
        workload: "http_mix".to_owned(),
        side: side.reported(),
        variant: variant.name.to_owned(),
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
        unit: "ms".to_owned(),
        p50: answers.millis_at(50.0),
        p99: answers.millis_at(99.0),
        p99_9: answers.millis_at(99.9),
        max: answers.millis_at(100.0),
        curve: PERCENTILES.map(|percent| (percent, answers.millis_at(percent))).to_vec(),
        times_plain: rounded(times_plain, 2),
        limit,
        met: limit.map(|limit| times_plain <= limit),
        sent_late_p99: lateness.millis_at(99.0),
        sent_late_max: lateness.millis_at(100.0),
        no_connection: measured.others.no_connection,
        threads: cost.map(|cost| cost.threads),
        cpu_s: cost.map(|cost| rounded(cost.cpu.as_secs_f64() / options.reps as f64, 3)),
        context_switches: cost.map(|cost| cost.context_switches / options.reps as u64),
        busy: measured.busy(calibrate::cores(options.procs)).map(|busy| rounded(busy, 3)),
    }
}

pub(crate) fn print(side: Side, row: &Mix) {
    println!(
        "{:<9}{:<14}{:>9}{:>7}{:>9.2}{:>9.2}{:>9.2}{:>9.2}{:>8.2}{:>8}  {:<7}{:>7}{:>8}{:>10}{:>6}{:>10.2}{:>9.2}{:>9}",
        row.variant,
        side.name(),
        row.requests,
        row.failed + row.holding_failed,
        row.p50,
        row.p99,
        row.p99_9,
        row.max,
        row.times_plain,
        or_dash(row.limit.map(|limit| format!("{limit:.2}"))),
        or_dash(row.limit.map(|limit| met(row.times_plain, limit, 0.0))),
        or_dash(row.threads),
        or_dash(row.cpu_s.map(|cpu| format!("{cpu:.2}"))),
        or_dash(row.context_switches),
        or_dash(row.busy.map(|busy| format!("{:.0}%", busy * 100.0))),
        row.sent_late_p99,
        row.sent_late_max,
        row.no_connection,
    );
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
