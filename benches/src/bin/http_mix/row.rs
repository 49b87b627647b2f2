//! The row of a variant on a side.

use gmp_benches::http::Reuse;
use gmp_benches::measure::Samples;
use gmp_benches::report::{Mix, PERCENTILES, rounded};
use gmp_benches::side::Side;

use crate::args::Options;
use crate::calibrate;
use crate::compare::Cell;

/// The row of `cell`, whose p99 is `times` that of the plain variant.
pub(crate) fn new(cell: &Cell, times: &Samples, options: &Options, rate: u64) -> Mix {
    let Cell { side, variant, measured, .. } = cell;
    let (answers, lateness) = (&measured.others.answers, &measured.others.lateness);
    let limit = variant.limit.filter(|_| *side == Side::Gmp);
    let (cost, reps) = (measured.cost, options.reps());
    Mix {
        workload: "http_mix".to_owned(),
        side: *side,
        variant: variant.name.to_owned(),
        percent: variant.percent(),
        rate,
        procs: options.procs,
        reps,
        secs: options.duration().as_secs(),
        shared: options.shared,
        fresh: options.reuse() == Reuse::Never,
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
        times_plain: rounded(times.median(), 2),
        times_plain_range: [times.min(), times.max()].map(|times| rounded(times, 2)),
        limit,
        met: limit.map(|limit| times.median() <= limit),
        served_p99: measured.others.served.millis_at(99.0),
        sent_late_p99: lateness.millis_at(99.0),
        sent_late_max: lateness.millis_at(100.0),
        no_connection: measured.others.no_connection,
        threads: cost.map(|cost| cost.threads),
        cpu_s: cost.map(|cost| rounded(cost.cpu.as_secs_f64() / reps as f64, 3)),
        context_switches: cost.map(|cost| cost.context_switches / reps as u64),
        busy: measured.busy(calibrate::cores(options.procs)).map(|busy| rounded(busy, 3)),
    }
}
