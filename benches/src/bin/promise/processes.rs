//! Other processes: this program, started again.
//!
//! Some compete for the cores. Others measure a repetition: of rows that write to standard output,
//! because the table is printed there, and of rows whose process is stopped, because a process that
//! stops itself can't continue by itself. These write their numbers as their last line.

use std::hint::spin_loop;
use std::io::{self, Read, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use gmp_benches::child::again;
use gmp_benches::rt::{Gmp, Rt};

use crate::Options;
use crate::numbers::{Numbers, Process, ROWS, quota};

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
        quota::enforce(&mut other.0)?;
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
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)) {
        eprintln!("promise: this process would outlive its parent: {error}");
    }
}
