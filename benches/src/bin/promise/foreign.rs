//! Other processes that want the cores for themselves.

use std::hint::spin_loop;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

use crate::orphan;

/// A process for each core, which computes until this is dropped.
pub(crate) struct Foreign(Vec<Child>);

impl Foreign {
    /// They end by themselves some time after `duration`: a bench that was killed must not leave a
    /// machine behind that is busy for ever.
    pub(crate) fn fill_cores(duration: Duration) -> io::Result<Self> {
        let limit = duration + Duration::from_secs(20);
        let mut foreign = Foreign(Vec::new());
        for _ in 0..thread::available_parallelism()?.get() {
            foreign.0.push(start(limit)?);
        }
        Ok(foreign)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        for child in &mut self.0 {
            if let Err(error) = child.kill().and_then(|()| child.wait()) {
                eprintln!("promise: a process that computes can't be ended: {error}");
            }
        }
    }
}

/// This program, started again.
fn start(limit: Duration) -> io::Result<Child> {
    let seconds = limit.as_secs().to_string();
    Command::new(env::current_exe()?).args(["--spin", &seconds]).stdin(Stdio::null()).stdout(Stdio::null()).spawn()
}

/// What the other process does.
pub(crate) fn spin(limit: Duration) {
    orphan::end_with_parent();
    let end = Instant::now() + limit;
    while Instant::now() < end {
        spin_loop();
    }
}
