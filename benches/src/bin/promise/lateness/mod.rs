//! Rows that measure how late a task is beside tasks that hold their thread; each row is a
//! distribution.

mod go;
mod load;
mod row;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gmp_benches::durations::Durations;
use gmp_benches::measure::{self, take_all};
use gmp_benches::process;
use gmp_benches::report::{Goal, JsonLines, Ticker, line};
use gmp_benches::rt::{Gmp, Tokio, Twin, join_all};
use gmp_benches::side::Side;

use self::go::Go;
use self::load::Load;
pub(crate) use self::load::Strangers;
use crate::args::Options;
use crate::processes::fill_cores;
use crate::ticker::{self, Stop};
use crate::way::Way;

/// A row: the task that may be late, the load beside it, and the goal for gmp's p99, in ms.
pub(crate) struct Lateness {
    pub(crate) name: &'static str,
    /// The task that may be late wants to run every millisecond; or, if this is set, it does
    /// nothing, and a thread outside of the runtime spawns one every millisecond and doesn't wait.
    spawned: bool,
    load: Load,
    /// Whether other processes compute on all cores at the same time.
    cores_full: bool,
    goal: Goal,
}

pub(crate) const ROWS: [Lateness; 10] = [
    ticker("ticker: 2 known, sleep 50 ms", Load::Known(2, Way::Sleep(ms(50))), (1.0, 0.2)),
    ticker("ticker: 8 known, sleep 50 ms", Load::Known(8, Way::Sleep(ms(50))), (1.0, 0.2)),
    ticker("ticker: 2 known, compute 50 ms", Load::Known(2, Way::ComputeUntil(ms(50))), (4.0, 1.0)),
    ticker("ticker: 8 known, compute 50 ms", Load::Known(8, Way::ComputeUntil(ms(50))), (4.0, 1.0)),
    ticker("ticker: 16 new, sleep 50 ms", new(16, 100, Way::Sleep(ms(50))), (0.5, 0.2)),
    ticker("ticker: 4 new, sleep 50 ms", new(4, 100, Way::Sleep(ms(50))), (0.5, 0.2)),
    Lateness {
        cores_full: true,
        ..ticker("ticker: 16 new, cores full, sleep 50 ms", new(16, 100, Way::Sleep(ms(50))), (1.0, 0.3))
    },
    ticker("ticker: 4 new, compute 20 ms", new(4, 100, Way::ComputeFor(ms(20))), (10.0, 5.0)),
    spawn("spawn: 64 new at once, sleep 100 ms", new(64, 1000, Way::Sleep(ms(100))), (10.0, 3.0)),
    spawn("spawn: 250 new a second, sleep 100 ms", new(1, 4, Way::Sleep(ms(100))), (2.0, 0.5)),
];

const fn ticker(name: &'static str, load: Load, (limit, aim): (f64, f64)) -> Lateness {
    Lateness { name, spawned: false, load, cores_full: false, goal: Goal { limit, aim } }
}

const fn spawn(name: &'static str, load: Load, goal: (f64, f64)) -> Lateness {
    Lateness { spawned: true, ..ticker(name, load, goal) }
}

const fn new(count: usize, every: u64, way: Way) -> Load {
    Load::Strangers(Strangers { count, every: ms(every), way })
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Lateness {
    /// The name in JSON of the task that may be late.
    fn victim(&self) -> &'static str {
        if self.spawned { "outside_spawn" } else { "ticker" }
    }
}

/// Measures `rows` and prints each as soon as its result is known.
pub(crate) fn table(rows: &[&Lateness], options: &Options, json: &mut JsonLines) -> Result<()> {
    let go = Go::build();
    println!("{}", row::header(options));
    for lateness in rows {
        for row in measure(lateness, go.as_ref(), options)? {
            println!("{}", line(&Ticker::COLUMNS, &row));
            json.line(&row)?;
        }
    }
    Ok(())
}

fn measure(lateness: &Lateness, go: Option<&Go>, options: &Options) -> Result<Vec<Ticker>> {
    let mut sides: Vec<measure::Side<'_, Repetition>> =
        vec![Box::new(|| repetition::<Gmp>(lateness, options)), Box::new(|| repetition::<Tokio>(lateness, options))];
    if let Some(go) = go {
        sides.push(Box::new(|| go.measure(lateness, options)));
    }
    let sides = [Side::Gmp, Side::Tokio, Side::Go].into_iter().zip(take_all(options.reps, sides)?);
    Ok(sides.map(|(side, reps)| row::row(lateness, side, &reps, options)).collect())
}

/// The results of a repetition.
pub(crate) struct Repetition {
    task: Durations,
    thread: Durations,
    threads: Option<u64>,
    cpu: Option<Duration>,
}

/// Runs a row once on one side.
fn repetition<R: Twin>(row: &Lateness, options: &Options) -> Result<Repetition> {
    let _foreign = row.cores_full.then(|| fill_cores(options.duration)).transpose()?;
    let rt = R::new(options.procs)?;
    let before = process::cpu_time();
    let stop = Stop::default();
    let load = row.load.start(&rt, &stop);
    let ticker = (!row.spawned).then(|| rt.spawn_remote(ticker::tick::<R>(stop.clone())));
    let (wait, waits) = mpsc::channel();

    let mut threads = None;
    let thread = ticker::tick_on_thread(options.duration, |tick| {
        if row.spawned {
            let (wait, start) = (wait.clone(), Instant::now());
            drop(rt.spawn_remote(async move { wait.send(start.elapsed()).expect("the measurement goes on") }));
        }
        if tick % 100 == 0 {
            threads = threads.max(process::cost(None).ok().map(|cost| cost.threads));
        }
    });
    let after = process::cpu_time();

    stop.set();
    drop(wait);
    let task = match ticker {
        Some(ticker) => ticker::lateness(&rt.block_on(ticker).expect("the ticker doesn't panic")),
        // Tasks that are queued behind a late one are late, too, and count.
        None => waits.into_iter().collect(),
    };
    rt.block_on(join_all::<R>(load));
    rt.shutdown();
    Ok(Repetition { task, thread, threads, cpu: Some(after - before) })
}
