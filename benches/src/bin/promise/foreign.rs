//! Other processes that compete for the cores.

use std::hint::spin_loop;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

/// One process per core, which computes until this value is dropped.
pub(crate) struct Foreign(Vec<Child>);

impl Foreign {
    /// The processes end by themselves some time after `duration`: a bench that was killed must not
    /// leave the machine busy.
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

/// Starts this program again.
fn start(limit: Duration) -> io::Result<Child> {
    let seconds = limit.as_secs().to_string();
    Command::new(env::current_exe()?).args(["--spin", &seconds]).stdin(Stdio::null()).stdout(Stdio::null()).spawn()
}

/// The work of the other process.
pub(crate) fn spin(limit: Duration) {
    end_with_parent();
    let end = Instant::now() + limit;
    while Instant::now() < end {
        spin_loop();
    }
}

/// Makes the kernel kill this process when the thread that started it ends, even if this process is
/// stopped: a program that was killed must not leave processes behind.
pub(crate) fn end_with_parent() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)) {
        eprintln!("promise: this process would outlive its parent: {error}");
    }
}
