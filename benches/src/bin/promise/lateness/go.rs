//! The same rows in Go: `benches/go/lateness.go`, a process for each repetition.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use gmp_benches::sides::go;

use super::{Lateness, Repetition};
use crate::Options;
use crate::load::{Load, Way};
use crate::processes::fill_cores;
use crate::ticker;

pub(super) struct Go(PathBuf);

impl Go {
    /// `None`: Go isn't installed, or can't build the program. A message says which.
    pub(super) fn build() -> Option<Go> {
        let built = go::build().map(Go);
        built.inspect_err(|error| eprintln!("promise: without Go: {error}\n")).ok()
    }

    pub(super) fn measure(&self, row: &Lateness, options: &Options) -> Result<Repetition> {
        let _foreign = row.cores_full.then(|| fill_cores(options.duration)).transpose()?;
        let mut command = Command::new(&self.0);
        command.env("GOMAXPROCS", options.procs.to_string()).arg("lateness").args(arguments(row, options).split(' '));
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let duration = options.duration;
        let punctual = thread::spawn(move || ticker::tick_on_thread(duration, |_| ()));
        let output = child.wait_with_output()?;
        let thread = punctual.join().expect("the ticker doesn't panic");
        ensure!(output.status.success(), "the program in Go ended with {}", output.status);
        let task = lateness(&String::from_utf8_lossy(&output.stdout))?.into_iter().collect();
        Ok(Repetition { task, thread, threads: None, cpu: None })
    }
}

/// A line per tick, in microseconds.
fn lateness(output: &str) -> Result<Vec<Duration>> {
    let lines = output.lines().map(|line| line.parse().map(Duration::from_micros));
    lines.collect::<Result<_, _>>().with_context(|| format!("the program in Go wrote {output:.200}"))
}

fn arguments(row: &Lateness, options: &Options) -> String {
    let (count, every, way) = match row.load {
        Load::Known(count, way) => (count, Duration::ZERO, way),
        Load::Strangers(strangers) => (strangers.count, strangers.every, strangers.way),
    };
    let (way, length) = match way {
        Way::Sleep(length) => ("sleep", length),
        Way::ComputeUntil(length) => ("compute_until", length),
        Way::ComputeFor(length) => ("compute_for", length),
    };
    let [every, length, duration] = [every, length, options.duration].map(|it| format!("{}ms", it.as_millis()));
    let victim = row.victim();
    format!("-victim {victim} -count {count} -every {every} -way {way} -length {length} -duration {duration}")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::lateness::ROWS;

    #[test]
    fn a_row_of_bursts_is_described_for_go() {
        let row = ROWS.iter().find(|row| row.name == "ticker: 4 new, compute 20 ms").unwrap();
        let expected = "-victim ticker -count 4 -every 100ms -way compute_for -length 20ms -duration 3000ms";
        assert_eq!(arguments(row, &Options::parse_from(["promise", "--secs", "3"])), expected);
    }

    #[test]
    fn anything_but_a_number_in_each_line_is_refused() {
        assert_eq!(lateness("12\n0\n").unwrap(), [Duration::from_micros(12), Duration::ZERO]);
        let error = lateness("12\nerror no way\n").unwrap_err().to_string();
        assert!(error.contains("error no way"), "{error}");
    }
}
