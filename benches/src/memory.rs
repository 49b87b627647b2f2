//! The row `memory_idle_task`: the bytes of memory that a waiting task occupies. Each measurement
//! is this program, started again: an allocator keeps memory that was freed, and would use it
//! again.

use std::convert::Infallible;
use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::sync::Notify;

use crate::child::again;
use crate::process;
use crate::rt::{Gmp, Rt, Smol, Tokio, in_task};
use crate::workloads::Countdown;

pub const NAME: &str = "memory_idle_task";

pub const TASKS: u32 = 1_000_000;

/// The possible values of `--idle-tasks`.
pub const RUNTIMES: [&str; 3] = [Gmp::NAME, Tokio::NAME, Smol::NAME];

/// How many tasks are spawned before they get a turn: this row measures waiting tasks, not the
/// queue of tasks that have never run.
const AT_ONCE: u32 = 64;

/// Starts this program again to measure `runtime`; returns the bytes per task.
pub fn in_own_process(runtime: &str, procs: usize) -> Result<f64> {
    let output = again(&["--idle-tasks", runtime, "--procs", &procs.to_string()])?.output()?;
    let bytes = String::from_utf8_lossy(&output.stdout).trim().parse();
    let message = String::from_utf8_lossy(&output.stderr);
    bytes.with_context(|| format!("idle tasks on {runtime} can't be measured ({}): {message}", output.status))
}

/// The measuring program: prints the bytes per task, and exits without waking all tasks first.
pub fn print_and_exit(runtime: &str, procs: usize) -> Result<Infallible> {
    match runtime {
        Gmp::NAME => print_and_exit_on::<Gmp>(procs),
        Tokio::NAME => print_and_exit_on::<Tokio>(procs),
        _ => print_and_exit_on::<Smol>(procs),
    }
}

fn print_and_exit_on<R: Rt>(procs: usize) -> Result<Infallible> {
    let rt = R::new(procs)?;
    let hall = Arc::new((Countdown::new(TASKS), Notify::new()));
    let before = process::resident(None)?;
    in_task(&rt, fill::<R>(hall));
    let after = process::resident(None)?;
    println!("{:.1}", (after as f64 - before as f64) / f64::from(TASKS));
    std::process::exit(0)
}

/// A way to tell when all tasks wait, and a `Notify` that is never notified, on which they do.
type Hall = Arc<(Countdown, Notify)>;

async fn fill<R: Rt>(hall: Hall) {
    for number in 0..TASKS {
        drop(R::spawn(wait(hall.clone())));
        if number % AT_ONCE == 0 {
            R::yield_now().await;
        }
    }
    hall.0.finished().await;
}

async fn wait(hall: Hall) {
    hall.0.decrement();
    hall.1.notified().await;
}
