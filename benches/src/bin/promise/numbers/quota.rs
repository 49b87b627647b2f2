//! A process that is stopped for 60 of every 100 ms, as the kernel does with a group of processes
//! that has used up its quota.
//!
//! A ticker can't tick in a stopped process, and no scheduler can change that. So the parent
//! reports when it stopped the process, and that time is subtracted from the lateness.

use std::io::{self, Write};
use std::process::Child;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::ClockId;

use crate::load::clock;
use crate::ticker::Span;

const RUN: Duration = Duration::from_millis(40);
const STOP: Duration = Duration::from_millis(60);

/// Stops `child` again and again until it ends, and reports the start and the end of each stop.
pub(crate) fn enforce(child: &mut Child) -> Result<()> {
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
