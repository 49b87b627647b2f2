//! Other processes: this program, started again.
//!
//! Some compete for the cores. Others measure a repetition: of rows that write to standard output,
//! because the table is printed there, and of rows whose process is stopped for 60 of every 100 ms,
//! as the kernel does with a group of processes that has used up its quota. A ticker can't tick in
//! a stopped process, and no scheduler can change that: so the parent reports when it stopped the
//! process, and that time is subtracted from the lateness. These processes write their numbers as
//! their last line.

use std::hint::spin_loop;
use std::io::{self, Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use gmp_benches::child::again;
use gmp_benches::rt::{Gmp, Rt};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use rustix::time::ClockId;

use crate::Options;
use crate::load::clock;
use crate::numbers::{Numbers, Process, ROWS};
use crate::ticker::Span;

/// A process that is killed, stopped or not, when this value is dropped.
pub(crate) struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        ended.inspect_err(|error| eprintln!("promise: another process can't be ended: {error}")).ok();
    }
}

/// One process per core, which computes until the value is dropped. The processes end by themselves
/// some time after `duration`: a bench that was killed must not leave the machine busy.
pub(crate) fn fill_cores(duration: Duration) -> Result<Vec<Other>> {
    let seconds = (duration.as_secs() + 20).to_string();
    let start = |_| Ok(Other(again(&["--spin", &seconds])?.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?));
    (0..thread::available_parallelism()?.get()).map(start).collect()
}

pub(crate) fn spin(limit: Duration) {
    end_with_parent();
    let end = Instant::now() + limit;
    while Instant::now() < end {
        spin_loop();
    }
}

/// Measures a repetition of `row` on `side` in another process.
pub(crate) fn measure_in_other(row: &Numbers, side: &str, options: &Options) -> Result<Vec<f64>> {
    let (secs, procs) = (options.duration.as_secs().to_string(), options.procs.to_string());
    let mut command = again(&["--child", side, "--only", row.name, "--secs", &secs, "--procs", &procs])?;
    let mut other = Other(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
    if row.process == Process::Stopped {
        enforce_quota(&mut other.0)?;
    }
    let mut said = String::new();
    other.0.stdout.take().expect("a pipe was asked for").read_to_string(&mut said)?;
    // Its last line is an array.
    let numbers = said.lines().last().and_then(|line| serde_json::from_str(line).ok());
    numbers.with_context(|| format!("`{}` on {side} said no numbers: {said}", row.name))
}

/// The work of that process: measures the row that `--only` names.
pub(crate) fn measure(side: &str, options: &Options) -> Result<()> {
    end_with_parent();
    let row = ROWS.iter().find(|row| options.only.as_deref() == Some(row.name));
    let measure = row.and_then(|row| if side == Gmp::NAME { Some(row.gmp) } else { row.tokio });
    let measure = measure.with_context(|| format!("{side} has no row {:?}", options.only))?;
    Ok(writeln!(io::stdout(), "\n{}", serde_json::to_string(&measure(options)?)?)?)
}

/// Makes the kernel kill this process when the thread that started it ends, even if this process is
/// stopped: a program that was killed must not leave processes behind.
fn end_with_parent() {
    let set = set_parent_process_death_signal(Some(Signal::KILL));
    set.inspect_err(|error| eprintln!("promise: this process would outlive its parent: {error}")).ok();
}

const RUN: Duration = Duration::from_millis(40);
const STOP: Duration = Duration::from_millis(60);

/// Stops `child` again and again until it ends, and reports the start and the end of each stop.
fn enforce_quota(child: &mut Child) -> Result<()> {
    let pid = Pid::from_child(child);
    loop {
        thread::sleep(RUN);
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        kill_process(pid, Signal::STOP)?;
        let from = clock(ClockId::Monotonic);
        thread::sleep(STOP);
        let line = serde_json::to_string(&Span(from, clock(ClockId::Monotonic)))? + "\n";
        // The pipe is closed if the process ended just before the stop.
        let stdin = child.stdin.as_mut().expect("a pipe was asked for");
        stdin.write_all(line.as_bytes()).unwrap_or_default();
        kill_process(pid, Signal::CONT)?;
    }
}

/// The times at which this process was stopped, which the parent reports on standard input.
pub(crate) fn listen() -> mpsc::Receiver<Span> {
    let (heard, stops) = mpsc::channel();
    thread::spawn(move || {
        let spans = io::stdin().lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
        // The receiver is gone when the row has been measured.
        spans.for_each(|span| heard.send(span).unwrap_or_default());
    });
    stops
}

/// The length of `late` without the times of `stops`.
pub(crate) fn without(stops: &[Span], late: Span) -> Duration {
    let stopped = |stop: &Span| stop.1.min(late.1).saturating_sub(stop.0.max(late.0));
    late.length().saturating_sub(stops.iter().map(stopped).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(from: u64, to: u64) -> Span {
        Span(Duration::from_millis(from), Duration::from_millis(to))
    }

    #[test]
    fn a_tick_is_not_late_for_as_long_as_the_process_was_stopped() {
        let stops = [millis(100, 160), millis(200, 260)];
        let late = |from, to| without(&stops, millis(from, to)).as_millis();
        assert_eq!([late(90, 170), late(150, 210), late(120, 130), late(165, 168)], [20, 40, 0, 3]);
    }
}
