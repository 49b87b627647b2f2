//! How often the kernel switches the threads of a runtime that has nothing to do.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;

use crate::args::Options;
use crate::process::Switches;
use crate::report::{Column, JsonLines, headings, line, or_dash};
use crate::rt::{Gmp, Rt, Tokio, Twin};
use crate::workloads;

/// After this long without a switch, the runtime counts as idle.
const QUIET: Duration = Duration::from_secs(1);

/// The longest time to wait for that.
const SETTLE: Duration = Duration::from_secs(20);

#[derive(Debug, Serialize)]
struct Idle {
    idle: &'static str,
    unit: &'static str,
    switches: u64,
    seconds: u64,
    procs: usize,
}

impl Idle {
    const COLUMNS: [Column<Idle>; 5] = [
        ("runtime", -18, |row| row.idle.to_owned()),
        ("switches", 10, |row| row.switches.to_string()),
        ("in", 8, |row| format!("{} s", row.seconds)),
        ("limit", 8, |row| or_dash(row.limit())),
        ("met", 8, |row| or_dash(row.limit().map(|limit| if row.switches <= limit { "yes" } else { "MISSED" }))),
    ];

    /// tokio has none.
    fn limit(&self) -> Option<u64> {
        (self.idle != Tokio::NAME).then_some(0)
    }
}

/// Measures and prints: each runtime alone in this process, after it has run the workloads.
pub(super) fn run(options: &Options, json: &mut JsonLines) -> Result<()> {
    let (procs, seconds) = (options.procs, options.reps().clamp(3, 10) as u64);
    println!("context switches of all threads of an idle runtime with {procs} Ps in {seconds} s\n");
    println!("{}", headings(&Idle::COLUMNS));
    let duration = Duration::from_secs(seconds);
    for (name, switches) in [
        (Gmp::NAME, count(Gmp::new(procs)?, duration)?),
        ("gmp without sysmon", count(Gmp::without_sysmon(procs)?, duration)?),
        (Tokio::NAME, count(Tokio::new(procs)?, duration)?),
    ] {
        let row = Idle { idle: name, unit: "switches", switches, seconds, procs };
        println!("{}", line(&Idle::COLUMNS, &row));
        json.line(&row)?;
    }
    Ok(())
}

fn count<R: Twin>(rt: R, duration: Duration) -> Result<u64> {
    for workload in workloads::scheduler::<R>() {
        workload.repetition(&rt)?;
    }
    settle()?;
    let switches = switches(duration)?;
    rt.shutdown();
    Ok(switches)
}

/// Waits until no thread is switched for a while. What never rests is measured as it is.
fn settle() -> Result<()> {
    let deadline = Instant::now() + SETTLE;
    while Instant::now() < deadline && switches(QUIET)? > 0 {}
    Ok(())
}

/// Counts the switches of all other threads in this time.
fn switches(duration: Duration) -> Result<u64> {
    let before = Switches::of_others()?;
    thread::sleep(duration);
    Ok(Switches::of_others()?.since(&before))
}
