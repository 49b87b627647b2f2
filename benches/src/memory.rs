//! The row `memory_idle_task`: the bytes of memory that a waiting task occupies.
//!
//! An allocator keeps memory that was freed, so a second measurement in the same process would
//! reuse the memory of the first. So each measurement is this program, started again.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::AcqRel;

use tokio::sync::Notify;

use crate::child::again;
use crate::process;
use crate::rt::{Gmp, Rt, Smol, Tokio, in_task};

/// The row's name.
pub const NAME: &str = "memory_idle_task";

/// The number of waiting tasks.
pub const TASKS: u32 = 1_000_000;

/// The possible values of `--idle-tasks`.
pub const RUNTIMES: [&str; 3] = [Gmp::NAME, Tokio::NAME, Smol::NAME];

/// How many tasks are spawned before they get a turn: this row measures waiting tasks, not the
/// queue of tasks that have never run.
const AT_ONCE: u32 = 64;

/// Starts this program again to measure `runtime`; returns the bytes per task.
pub fn in_own_process(runtime: &str, procs: usize) -> io::Result<f64> {
    let output = again(&["--idle-tasks", runtime, "--procs", &procs.to_string()])?.output()?;
    let bytes = String::from_utf8_lossy(&output.stdout).trim().parse();
    bytes.map_err(|_| {
        let message = String::from_utf8_lossy(&output.stderr);
        io::Error::other(format!("idle tasks on {runtime} can't be measured ({}): {message}", output.status))
    })
}

/// The measuring program: prints the bytes per task, and exits without waking all tasks first.
pub fn print_and_exit(runtime: &str, procs: usize) -> io::Result<Infallible> {
    match runtime {
        Gmp::NAME => print_and_exit_on::<Gmp>(procs),
        Tokio::NAME => print_and_exit_on::<Tokio>(procs),
        _ => print_and_exit_on::<Smol>(procs),
    }
}

fn print_and_exit_on<R: Rt>(procs: usize) -> io::Result<Infallible> {
    let rt = R::new(procs)?;
    let hall = Arc::new(Hall { missing: AtomicU32::new(TASKS), last: Notify::new(), bell: Notify::new() });
    let before = process::resident(None)?;
    in_task(&rt, fill::<R>(hall));
    let after = process::resident(None)?;
    println!("{:.1}", (after as f64 - before as f64) / f64::from(TASKS));
    std::process::exit(0)
}

/// A `Notify` that is never notified, on which the tasks wait, and a way to tell when all of them
/// do.
struct Hall {
    missing: AtomicU32,
    last: Notify,
    bell: Notify,
}

async fn fill<R: Rt>(hall: Arc<Hall>) {
    for number in 0..TASKS {
        drop(R::spawn(wait(hall.clone())));
        if number % AT_ONCE == 0 {
            R::yield_now().await;
        }
    }
    hall.last.notified().await;
}

async fn wait(hall: Arc<Hall>) {
    if hall.missing.fetch_sub(1, AcqRel) == 1 {
        hall.last.notify_one();
    }
    hall.bell.notified().await;
}
