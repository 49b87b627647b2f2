//! Every variant on every side, in turns.

use std::{io, time::Duration};

use gmp_benches::report::JsonLines;

use crate::{
    args::Options,
    measure::{self, Measured, Plan},
    row,
    side::Side,
    variant::Variant,
};

/// What a server does before it is measured.
pub(crate) const WARM_UP: Duration = Duration::from_secs(1);

/// Measures, and prints the table.
pub(crate) fn run(options: &Options, rate: u64) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let plan = Plan { rate, shared: options.shared, warm_up: WARM_UP, duration: options.duration };
    let mut cells = cells(options);
    for rep in 0..options.reps {
        let mut turn: Vec<&mut Cell> = cells.iter_mut().collect();
        // Whoever comes first in one round comes last in the next.
        turn.chunks_mut(options.sides.len()).for_each(|sides| sides.rotate_left(rep % options.sides.len()));
        for cell in turn {
            eprintln!("round {} of {}: {} on {}", rep + 1, options.reps, cell.variant.name, cell.side.name());
            let server = measure::start(cell.side, options.procs)?;
            cell.measured.add(&measure::run(&server, &plan.load(&server, &cell.variant))?);
        }
    }
    row::header(options, rate);
    for cell in &cells {
        let row = row::new(cell, plain_p99(&cells, cell.side), options, rate);
        row::print(cell.side, &row);
        json.line(&row)?;
    }
    row::errors(&cells);
    Ok(())
}

/// A variant on a side.
pub(crate) struct Cell {
    pub(crate) side: Side,
    pub(crate) variant: Variant,
    pub(crate) measured: Measured,
}

fn cells(options: &Options) -> Vec<Cell> {
    let of_variant = |variant| options.sides.iter().map(move |&side| (side, variant));
    let all = Variant::ALL.into_iter().flat_map(of_variant);
    all.map(|(side, variant)| Cell { side, variant, measured: Measured::default() }).collect()
}

/// The p99 of the requests that `side` answered when none held their thread.
fn plain_p99(cells: &[Cell], side: Side) -> f64 {
    let plain = cells.iter().find(|cell| cell.side == side && cell.variant.path.is_none());
    plain.expect("every side is measured plain").measured.others.answers.millis_at(99.0)
}
