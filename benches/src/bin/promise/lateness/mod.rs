//! Rows that measure how late a task is beside tasks that hold their thread: distributions.

mod go;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gmp_benches::measure::{self, Durations, Samples, take_all};
use gmp_benches::process;
use gmp_benches::report::{Goal, JsonLines, Side, Ticker, headings, line, rounded};
use gmp_benches::rt::{Gmp, Tokio, Twin, join_all};

use self::go::Go;
use crate::Options;
use crate::load::{Load, Strangers, Way};
use crate::processes::fill_cores;
use crate::ticker::{self, Stop};

/// A row: the task that may be late, the load beside it, and the goal for gmp's p99, in ms.
pub(crate) struct Lateness {
    pub(crate) name: &'static str,
    /// The task that may be late wants to run every millisecond; or, if this is set, it does
    /// nothing, and a thread outside of the runtime spawns one every millisecond and doesn't wait.
    spawned: bool,
    load: Load,
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

pub(crate) fn table(options: &Options, json: &mut JsonLines) -> Result<()> {
    let rows: Vec<_> = ROWS.iter().filter(|row| options.wants(row.name)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let go = Go::build();
    println!("{}", header(options));
    for lateness in rows {
        for row in measure(lateness, go.as_ref(), options)? {
            println!("{}", line(&Ticker::COLUMNS, &row));
            json.line(&row)?;
        }
    }
    Ok(())
}

fn header(options: &Options) -> String {
    let Options { duration, reps, procs, .. } = options;
    format!(
        "lateness in ms of a 1 ms ticker, or how long a spawn from outside waits, beside tasks that hold their thread;\n\
         {procs} Ps and workers, {reps} repetitions of {} s in turns\n\
         p50, p99, thread p99, CPU s: medians of the repetitions; p99 spread: their lowest..highest; max: of all;\n\
         threads: the most at once, main included\n\n{}",
        duration.as_secs(),
        headings(&Ticker::COLUMNS)
    )
}

fn measure(lateness: &Lateness, go: Option<&Go>, options: &Options) -> Result<Vec<Ticker>> {
    let mut sides: Vec<measure::Side<'_, Repetition>> =
        vec![Box::new(|| repetition::<Gmp>(lateness, options)), Box::new(|| repetition::<Tokio>(lateness, options))];
    if let Some(go) = go {
        sides.push(Box::new(|| go.measure(lateness, options)));
    }
    let sides = [Side::Gmp, Side::Tokio, Side::Go].into_iter().zip(take_all(options.reps, sides)?);
    Ok(sides.map(|(side, reps)| row(lateness, side, &reps, options)).collect())
}

struct Repetition {
    task: Durations,
    thread: Durations,
    threads: Option<u64>,
    cpu: Option<Duration>,
}

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

/// The summary of a row's repetitions on one side.
fn row(lateness: &Lateness, side: Side, repetitions: &[Repetition], options: &Options) -> Ticker {
    let samples = |of: &dyn Fn(&Repetition) -> f64| Samples::new(repetitions.iter().map(of).collect());
    let cpu: Option<Vec<f64>> = repetitions.iter().map(|it| it.cpu.map(|cpu| cpu.as_secs_f64())).collect();
    let p99 = samples(&|it| it.task.millis_at(99.0));
    let mut all = Durations::default();
    repetitions.iter().for_each(|it| all.add(&it.task));
    Ticker {
        workload: lateness.victim().to_owned(),
        hogs: lateness.name.to_owned(),
        side,
        procs: options.procs,
        secs: options.duration.as_secs(),
        reps: repetitions.len(),
        unit: "ms".to_owned(),
        ticks: all.count(),
        p50: rounded(samples(&|it| it.task.millis_at(50.0)).median(), 3),
        p99: rounded(p99.median(), 3),
        p99_range: Some((p99.min(), p99.max())),
        max: all.millis_at(100.0),
        curve: all.curve(),
        thread_p99: rounded(samples(&|it| it.thread.millis_at(99.0)).median(), 3),
        goal: (side == Side::Gmp).then_some(lateness.goal),
        threads: repetitions.iter().filter_map(|it| it.threads).max(),
        cpu_s: cpu.map(|cpu| Samples::new(cpu).median()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    /// A repetition in which all ticks were this many microseconds late.
    fn repetition(late: u64, threads: u64) -> Repetition {
        let task: Durations = [Duration::from_micros(late); 100].into_iter().collect();
        Repetition { thread: task.clone(), task, threads: Some(threads), cpu: None }
    }

    #[test]
    fn one_bad_repetition_moves_neither_p99_nor_verdict_but_is_seen() {
        let repetitions = [repetition(400, 5), repetition(40_000, 9), repetition(300, 5)];
        let row = row(&ROWS[0], Side::Gmp, &repetitions, &Options::parse_from(["promise"]));
        assert_eq!((row.ticks, row.threads, row.cpu_s), (300, Some(9), None));
        let near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 0.01;
        let (low, high) = row.p99_range.unwrap();
        let p99s = [(low, 0.3), (row.p99, 0.4), (high, 40.0), (row.max, 40.0)];
        assert!(p99s.iter().all(|&(value, wanted)| near(value, wanted)), "{p99s:?}");
        assert_eq!(row.goal.unwrap().met(row.p99), "limit");
    }
}
