//! What the repetitions of a row come to on one side.

use gmp_benches::measure::Samples;
use gmp_benches::report::{PERCENTILES, or_dash};

use super::Lateness;
use super::repetition::Repetition;
use crate::args::Options;
use crate::histogram::millis;

/// Latenesses are in milliseconds.
pub(crate) struct Row {
    pub(crate) side: &'static str,
    /// Of all repetitions.
    pub(crate) ticks: u64,
    /// A sample a repetition.
    pub(crate) p50: Samples,
    /// A sample a repetition.
    pub(crate) p99: Samples,
    /// Of all ticks.
    pub(crate) max: f64,
    /// Of all ticks.
    pub(crate) curve: Vec<(f64, f64)>,
    /// The median of a plain thread's, which ticks beside the task.
    pub(crate) thread_p99: f64,
    /// The most seen at once.
    pub(crate) threads: Option<u64>,
    /// The median.
    pub(crate) cpu_s: Option<f64>,
}

impl Row {
    /// Of one repetition at least.
    pub(crate) fn new(side: &'static str, repetitions: &[Repetition]) -> Self {
        let samples = |of: &dyn Fn(&Repetition) -> f64| Samples::new(repetitions.iter().map(of).collect());
        let cpu: Option<Vec<f64>> = repetitions.iter().map(|it| it.cpu.map(|cpu| cpu.as_secs_f64())).collect();
        let mut all = repetitions[0].task.clone();
        for other in &repetitions[1..] {
            all.add(&other.task).expect("all have the same bounds");
        }
        Row {
            side,
            ticks: all.len(),
            p50: samples(&|it| millis(&it.task, 50.0)),
            p99: samples(&|it| millis(&it.task, 99.0)),
            max: millis(&all, 100.0),
            curve: PERCENTILES.map(|percentile| (percentile, millis(&all, percentile))).to_vec(),
            thread_p99: samples(&|it| millis(&it.thread, 99.0)).median(),
            threads: repetitions.iter().filter_map(|it| it.threads).max(),
            cpu_s: cpu.map(|cpu| Samples::new(cpu).median()),
        }
    }

    /// The lowest and the highest p99 of a repetition.
    pub(crate) fn p99_range(&self) -> (f64, f64) {
        (self.p99.min(), self.p99.max())
    }

    /// As text.
    pub(crate) fn line(&self, lateness: &Lateness) -> String {
        let (low, high) = self.p99_range();
        let p99 = self.p99.median();
        format!(
            "{:<42}{:<7}{:>7}{:>9.2}{p99:>9.2}{:>16}{:>9.2}{:>12.2}{:>9}{:>8}{:>9.1}{:>9.1}  {}",
            lateness.name,
            self.side,
            self.ticks,
            self.p50.median(),
            format!("{low:.2}..{high:.2}"),
            self.max,
            self.thread_p99,
            or_dash(self.threads),
            or_dash(self.cpu_s.map(|cpu| format!("{cpu:.2}"))),
            lateness.goal.limit,
            lateness.goal.aim,
            lateness.goal.met(p99),
        )
    }
}

/// What is measured how, and the names of the columns.
pub(crate) fn header(options: &Options) -> String {
    let Options { duration, reps, procs, .. } = options;
    format!(
        "lateness in ms of a 1 ms ticker, or how long a spawn from outside waits, beside tasks that hold their thread;\n\
         {procs} Ps and workers, {reps} repetitions of {} s in turns\n\
         p50, p99, thread p99, CPU s: medians of the repetitions; p99 spread: their lowest..highest; max: of all;\n\
         threads: the most at once, main included\n\n\
         {:<42}{:<7}{:>7}{:>9}{:>9}{:>16}{:>9}{:>12}{:>9}{:>8}{:>9}{:>9}  p99 met",
        duration.as_secs(),
        "row",
        "on",
        "times",
        "p50",
        "p99",
        "p99 spread",
        "max",
        "thread p99",
        "threads",
        "CPU s",
        "limit",
        "aim"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram;
    use crate::lateness::ROWS;

    /// All ticks of which were so many microseconds late.
    fn repetition(late: u64, threads: u64) -> Repetition {
        let mut task = histogram::new();
        task.record_n(late, 100).unwrap();
        Repetition { thread: task.clone(), task, threads: Some(threads), cpu: None }
    }

    #[test]
    fn one_bad_repetition_moves_neither_p99_nor_verdict_but_is_seen() {
        let row = Row::new("gmp", &[repetition(400, 5), repetition(40_000, 9), repetition(300, 5)]);
        assert_eq!((row.ticks, row.threads, row.cpu_s), (300, Some(9), None));
        let near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 0.01;
        let (low, high) = row.p99_range();
        let p99s = [(low, 0.3), (row.p99.median(), 0.4), (high, 40.0), (row.max, 40.0)];
        assert!(p99s.iter().all(|&(value, wanted)| near(value, wanted)), "{p99s:?}");
        assert!(row.line(&ROWS[0]).ends_with(" limit"), "{}", row.line(&ROWS[0]));
    }
}
