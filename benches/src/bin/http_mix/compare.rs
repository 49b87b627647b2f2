//! Every variant on every side, in turns.

use std::io;
use std::time::Duration;

use gmp_benches::measure::Samples;
use gmp_benches::report::{JsonLines, Mix, PERCENTILES, line, rounded};
use gmp_benches::side::Side;

use crate::args::Options;
use crate::load::Plan;
use crate::measure::{self, Measured};
use crate::server::Server;
use crate::variant::Variant;
use crate::{calibrate, table};

/// The time that a server runs before it is measured.
const WARM_UP: Duration = Duration::from_secs(1);

/// Measures, and prints the table.
pub(crate) fn run(options: &Options, rate: u64) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let (sides, reps) = (options.sides(), options.reps());
    let mut cells = cells(&sides);
    for rep in 0..reps {
        // A side's variants follow each other because they are compared with each other: the
        // machine's other activity differs less between two successive measurements than between
        // the first and the last of a round. The order of the sides changes from round to round.
        let mut turn: Vec<&mut Cell> = cells.iter_mut().collect();
        turn.rotate_left(rep % sides.len() * Variant::ALL.len());
        for cell in turn {
            eprintln!("round {} of {}: {} on {}", rep + 1, reps, cell.variant.name, cell.side.key());
            let server = Server::start(cell.side, options.procs)?;
            cell.add(&measure::run(&server, &plan(options, rate, cell.variant, options.duration()))?);
        }
    }
    table::header(options, rate);
    for cell in &cells {
        let row = row(cell, &cell.times(plain(&cells, cell.side)), options, rate);
        println!("{}", line(&Mix::COLUMNS, &row));
        json.line(&row)?;
    }
    table::errors(&cells);
    Ok(())
}

/// The load that the options ask for.
pub(crate) fn plan(options: &Options, rate: u64, variant: Variant, duration: Duration) -> Plan {
    let Options { shared, fresh, .. } = *options;
    Plan { rate, shared, fresh, warm_up: WARM_UP, duration, variant }
}

/// A variant on a side.
pub(crate) struct Cell {
    pub(crate) side: Side,
    pub(crate) variant: Variant,
    /// The results of all servers together.
    pub(crate) measured: Measured,
    /// The p99 in ms of each server.
    p99s: Vec<f64>,
}

impl Cell {
    fn add(&mut self, measured: &Measured) {
        self.p99s.push(measured.others.answers.millis_at(99.0));
        self.measured.add(measured);
    }

    /// The p99 over that of `plain`, round by round.
    fn times(&self, plain: &Cell) -> Samples {
        Samples::new(self.p99s.iter().zip(&plain.p99s).map(|(p99, plain)| p99 / plain).collect())
    }
}

fn cells(sides: &[Side]) -> Vec<Cell> {
    let of_side =
        |&side| Variant::ALL.map(|variant| Cell { side, variant, measured: Measured::default(), p99s: vec![] });
    sides.iter().flat_map(of_side).collect()
}

/// The cell of `side` in which no request held its thread.
fn plain(cells: &[Cell], side: Side) -> &Cell {
    let mut of_side = cells.iter().filter(|cell| cell.side == side);
    of_side.find(|cell| cell.variant.path.is_none()).expect("every side is measured plain")
}

/// The row of `cell`, whose p99 is `times` that of the plain variant.
fn row(cell: &Cell, times: &Samples, options: &Options, rate: u64) -> Mix {
    let Cell { side, variant, measured, .. } = cell;
    let answers = &measured.others.answers;
    let limit = variant.limit.filter(|_| *side == Side::Gmp);
    let reps = options.reps();
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
        fresh: options.fresh,
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
        sending: measured.others.sending(),
        threads: measured.threads,
        cpu_s: rounded(measured.cpu.as_secs_f64() / reps as f64, 3),
        context_switches: measured.context_switches / reps as u64,
        busy: rounded(measured.busy(calibrate::cores(options.procs)), 3),
    }
}
