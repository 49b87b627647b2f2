//! How often the kernel switches the threads of a runtime that has nothing to do.

use std::time::{Duration, Instant};
use std::{io, thread};

use super::Sysmon;
use crate::args::Options;
use crate::process::Switches;
use crate::report::JsonLines;
use crate::rt::{Gmp, Rt, Tokio};
use crate::workloads;

/// After this long without a switch, the runtime counts as idle.
const QUIET: Duration = Duration::from_secs(1);

/// The longest time to wait for that.
const SETTLE: Duration = Duration::from_secs(20);

/// Measures and prints: each runtime alone in this process, after it has run the workloads.
pub(super) fn run(options: &Options, json: &mut JsonLines) -> io::Result<()> {
    let duration = Duration::from_secs(options.reps().clamp(3, 10) as u64);
    let seconds = duration.as_secs();
    println!("context switches of all threads of an idle runtime with {} Ps in {seconds} s\n", options.procs);
    println!("{:<18}{:>10}{:>8}  met", "runtime", "switches", "limit");
    for (name, switches) in [
        (Gmp::NAME, count(Gmp::new(options.procs)?, duration)?),
        ("gmp without sysmon", count(Gmp::without_sysmon(options.procs)?, duration)?),
        (Tokio::NAME, count(Tokio::new(options.procs)?, duration)?),
    ] {
        match idle_limit(name, switches) {
            Some((limit, met)) => println!("{name:<18}{switches:>10}{limit:>8}  {met}"),
            None => println!("{name:<18}{switches:>10}{:>8}", "-"),
        }
        let (idle, unit, procs) = (name.to_owned(), "switches".to_owned(), options.procs);
        json.line(&Sysmon::Idle { idle, unit, switches, seconds, procs })?;
    }
    Ok(())
}

/// The limit for switches of the named idle runtime's threads, and whether the runtime is within
/// it; tokio has no limit.
pub fn idle_limit(runtime: &str, switches: u64) -> Option<(u64, &'static str)> {
    let met = if switches == 0 { "yes" } else { "MISSED" };
    (runtime != Tokio::NAME).then_some((0, met))
}

fn count<R: Rt>(rt: R, duration: Duration) -> io::Result<u64> {
    for workload in workloads::scheduler::<R>() {
        (workload.round)(&rt);
    }
    settle()?;
    let before = Switches::of_others()?;
    thread::sleep(duration);
    let switches = Switches::of_others()?.since(&before);
    rt.shutdown(Duration::from_secs(10));
    Ok(switches)
}

/// Waits until no thread has been switched for a while. A runtime that never rests is measured as
/// it is.
fn settle() -> io::Result<()> {
    let deadline = Instant::now() + SETTLE;
    while Instant::now() < deadline {
        let before = Switches::of_others()?;
        thread::sleep(QUIET);
        if Switches::of_others()? == before {
            return Ok(());
        }
    }
    Ok(())
}
