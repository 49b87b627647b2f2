//! Every variant on every side, in turns.

use std::time::Duration;

use anyhow::Result;
use gmp_benches::measure::Samples;
use gmp_benches::report::{JsonLines, Mix, Side, headings, line, rounded};

use crate::Options;
use crate::measure::{self, Measured};
use crate::plan::{Plan, Variant};
use crate::server::Server;

const WARM_UP: Duration = Duration::from_secs(1);

pub(crate) fn run(options: &Options, rate: u64) -> Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let cell = |side, variant| Cell { side, variant, measured: Measured::default(), p99s: vec![] };
    let cells = |side| Variant::ALL.map(|variant| cell(side, variant));
    let mut sides: Vec<[Cell; 3]> = options.sides().into_iter().map(cells).collect();
    for rep in 0..options.reps() {
        // A side's variants follow each other because they are compared with each other: the
        // machine's other activity differs less between two successive measurements than between
        // the first and the last of a round. The order of the sides changes from round to round.
        let mut turn: Vec<_> = sides.iter_mut().collect();
        turn.rotate_left(rep % options.sides().len());
        for cell in turn.into_iter().flatten() {
            eprintln!("round {} of {}: {} on {}", rep + 1, options.reps(), cell.variant.name, cell.side.key());
            let server = Server::start(cell.side, options.procs)?;
            let measured = measure::run(&server, &plan(options, rate, cell.variant, options.duration()))?;
            cell.p99s.push(measured.others.answers.millis_at(99.0));
            cell.measured.add(&measured);
        }
    }
    header(options, rate);
    for cells in &sides {
        for cell in cells {
            let row = cell.row(&cells[0], options, rate);
            println!("{}", line(&Mix::COLUMNS, &row));
            json.line(&row)?;
        }
    }
    sides.iter().flatten().for_each(Cell::print_failures);
    Ok(())
}

pub(crate) fn plan(options: &Options, rate: u64, variant: Variant, duration: Duration) -> Plan {
    let Options { shared, fresh, .. } = *options;
    Plan { rate, shared, fresh, warm_up: WARM_UP, duration, variant }
}

fn header(options: &Options, rate: u64) {
    let (procs, reps, secs) = (options.procs, options.reps(), options.duration().as_secs());
    println!(
        "\n{rate} requests a second, {procs} Ps and workers, {reps} servers for each row measured for {secs} s each, in turns"
    );
    if options.fresh {
        println!("a new connection for every request");
    }
    if options.shared {
        println!("all over the same connections");
    }
    println!(
        "plain: all ask for `/`; block: 5 % block their thread for 100 ms; compute: 5 % compute for 20 ms\n\
         latencies in ms from the due moment, of the requests for `/`; x plain: p99 over the side's own when none hold \
         their thread,\nthe median of the rounds, and the lowest and the highest; sent: p99 from the moment of sending; \
         served: the same until\nthe answer is at the client's socket; late: sent late by the generator itself; \
         no conn: sent late because each connection\nwas waiting for an answer; CPU and switches: the \
         server's, for one of the servers; busy: of the cores, generator included\n"
    );
    println!("{}", headings(&Mix::COLUMNS));
}

struct Cell {
    side: Side,
    variant: Variant,
    measured: Measured,
    /// The p99 in ms of each server.
    p99s: Vec<f64>,
}

impl Cell {
    /// The row; `plain` is the cell of the same side in which no request held its thread.
    fn row(&self, plain: &Cell, options: &Options, rate: u64) -> Mix {
        let Cell { side, variant, measured, p99s } = self;
        let (answers, reps) = (&measured.others.answers, options.reps());
        let limit = variant.limit.filter(|_| *side == Side::Gmp);
        let times = Samples::new(p99s.iter().zip(&plain.p99s).map(|(p99, plain)| p99 / plain).collect());
        Mix {
            workload: "http_mix".to_owned(),
            side: *side,
            variant: variant.name.to_owned(),
            percent: variant.percent,
            rate,
            procs: options.procs,
            reps,
            secs: options.duration().as_secs(),
            shared: options.shared,
            fresh: options.fresh,
            requests: answers.count(),
            failed: measured.others.failed(),
            holding_requests: measured.holding.answers.count(),
            holding_failed: measured.holding.failed(),
            unit: "ms".to_owned(),
            p50: answers.millis_at(50.0),
            p99: answers.millis_at(99.0),
            p99_9: answers.millis_at(99.9),
            max: answers.millis_at(100.0),
            curve: answers.curve(),
            times_plain: rounded(times.median(), 2),
            times_plain_range: [times.min(), times.max()].map(|times| rounded(times, 2)),
            limit,
            met: limit.map(|limit| times.median() <= limit),
            sending: measured.others.sending(),
            threads: measured.threads,
            cpu_s: rounded(measured.cpu.as_secs_f64() / reps as f64, 3),
            context_switches: measured.context_switches / reps as u64,
            busy: rounded(measured.busy(measure::cores(options.procs)), 3),
        }
    }

    fn print_failures(&self) {
        let Cell { side, variant, measured, .. } = self;
        for (what, count) in measured.others.failures.iter().chain(&measured.holding.failures) {
            println!("{} on {}: {count} times: {what}", variant.name, side.key());
        }
        let unknown = measured.others.without_arrival;
        if unknown > 0 {
            println!("{} on {}: {unknown} answers are not in `served`: no time of arrival", variant.name, side.key());
        }
    }
}
