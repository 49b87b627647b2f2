//! Rows that measure how late a task is beside tasks that hold their thread; each row is a
//! distribution.

mod go;
mod known;
mod repetition;
mod row;
mod strangers;
mod victim;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gmp_benches::measure::take_all;
use gmp_benches::report::{JsonLines, Ticker};
use gmp_benches::rt::{Gmp, Timers, Tokio};
use gmp_benches::side::Side;

use self::go::Go;
use self::known::Known;
pub(crate) use self::strangers::Strangers;
use self::victim::Victim;
use crate::args::Options;
use crate::goal::Goal;
use crate::way::Way;

/// A row: the task that may be late, the load beside it, and the goal for gmp's p99, in ms.
pub(crate) struct Lateness {
    pub(crate) name: &'static str,
    victim: Victim,
    load: Load,
    /// Whether other processes compute on all cores at the same time.
    cores_full: bool,
    goal: Goal,
}

#[derive(Clone, Copy)]
enum Load {
    Known(Known),
    Strangers(Strangers),
}

/// The rows.
pub(crate) const ROWS: [Lateness; 10] = [
    ticker("ticker: 2 known, sleep 50 ms", known(2, Way::Sleep(ms(50))), Goal::new(1.0, 0.2)),
    ticker("ticker: 8 known, sleep 50 ms", known(8, Way::Sleep(ms(50))), Goal::new(1.0, 0.2)),
    ticker("ticker: 2 known, compute 50 ms", known(2, Way::ComputeUntil(ms(50))), Goal::new(4.0, 1.0)),
    ticker("ticker: 8 known, compute 50 ms", known(8, Way::ComputeUntil(ms(50))), Goal::new(4.0, 1.0)),
    ticker("ticker: 16 new, sleep 50 ms", new(16, 100, Way::Sleep(ms(50))), Goal::new(0.5, 0.2)),
    ticker("ticker: 4 new, sleep 50 ms", new(4, 100, Way::Sleep(ms(50))), Goal::new(0.5, 0.2)),
    Lateness {
        cores_full: true,
        ..ticker("ticker: 16 new, cores full, sleep 50 ms", new(16, 100, Way::Sleep(ms(50))), Goal::new(1.0, 0.3))
    },
    ticker("ticker: 4 new, compute 20 ms", new(4, 100, Way::ComputeFor(ms(20))), Goal::new(10.0, 5.0)),
    spawn("spawn: 64 new at once, sleep 100 ms", new(64, 1000, Way::Sleep(ms(100))), Goal::new(10.0, 3.0)),
    spawn("spawn: 250 new a second, sleep 100 ms", new(1, 4, Way::Sleep(ms(100))), Goal::new(2.0, 0.5)),
];

const fn ticker(name: &'static str, load: Load, goal: Goal) -> Lateness {
    Lateness { name, victim: Victim::Ticker, load, cores_full: false, goal }
}

const fn spawn(name: &'static str, load: Load, goal: Goal) -> Lateness {
    Lateness { name, victim: Victim::OutsideSpawn, load, cores_full: false, goal }
}

const fn known(count: usize, way: Way) -> Load {
    Load::Known(Known { count, way })
}

const fn new(count: usize, every: u64, way: Way) -> Load {
    Load::Strangers(Strangers { count, every: ms(every), way })
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Load {
    /// Starts the load. Returns the tasks that end at `stop` and must be awaited.
    fn start<R: Timers>(self, rt: &R, stop: &Arc<AtomicBool>) -> Vec<R::JoinHandle<()>> {
        match self {
            Load::Known(known) => known.start(rt, stop),
            Load::Strangers(strangers) => {
                strangers.start(rt, stop);
                Vec::new()
            }
        }
    }
}

/// Measures `rows` and prints each as soon as its result is known.
pub(crate) fn table(rows: &[&Lateness], options: &Options, json: &mut JsonLines) -> io::Result<()> {
    let go = Go::build();
    println!("{}", row::header(options));
    for lateness in rows {
        for row in measure(lateness, go.as_ref(), options)? {
            println!("{}", row::line(&row, lateness.goal));
            json.line(&row)?;
        }
    }
    Ok(())
}

fn measure(lateness: &Lateness, go: Option<&Go>, options: &Options) -> io::Result<Vec<Ticker>> {
    let gmp = || repetition::measure::<Gmp>(lateness, options);
    let tokio = || repetition::measure::<Tokio>(lateness, options);
    let repetitions = match go {
        Some(go) => {
            let [gmp, tokio, go] = take_all(options.reps, [&gmp, &tokio, &|| go.measure(lateness, options)])?;
            vec![(Side::Gmp, gmp), (Side::Tokio, tokio), (Side::Go, go)]
        }
        None => {
            let [gmp, tokio] = take_all(options.reps, [&gmp, &tokio])?;
            vec![(Side::Gmp, gmp), (Side::Tokio, tokio)]
        }
    };
    Ok(repetitions.iter().map(|(side, reps)| row::row(lateness, *side, reps, options)).collect())
}
