//! The summary of a row's repetitions on one side.

use gmp_benches::durations::Durations;
use gmp_benches::measure::Samples;
use gmp_benches::report::{Ticker, headings, rounded};
use gmp_benches::side::Side;

use super::{Lateness, Repetition};
use crate::args::Options;

pub(crate) fn row(lateness: &Lateness, side: Side, repetitions: &[Repetition], options: &Options) -> Ticker {
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

/// The header: what is measured and how, and the names of the columns.
pub(crate) fn header(options: &Options) -> String {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::lateness::ROWS;

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
