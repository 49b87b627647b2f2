//! How often the threads of a runtime are switched while it has nothing to do.

use std::time::{Duration, Instant};
use std::{io, thread};

use super::Sysmon;
use crate::args::Options;
use crate::process::Switches;
use crate::report::JsonLines;
use crate::rt::{Gmp, Rt, Tokio};
use crate::workloads;

/// A stretch without a switch this long: the runtime has come to rest.
const QUIET: Duration = Duration::from_secs(1);

/// How long to wait for that.
const SETTLE: Duration = Duration::from_secs(20);

/// Measures and prints: each runtime alone in this process, after it has had something to do.
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

/// How often the threads of the idle runtime of this name may be switched, and whether they were
/// switched more often; of tokio nothing is wanted.
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

/// Waits until nothing has happened for a while. A runtime that never rests is measured as it is.
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
